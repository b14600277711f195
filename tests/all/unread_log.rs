//! A log that nobody reads stops no request, no page and no signal.

use std::{
    io::Read,
    process::{Child, Command, Stdio},
};

use crate::support::{
    client::Request,
    free_port,
    origin::Origin,
    program::{PROGRAM, Setup, try_status},
    wait_for,
};

/// The program, whose standard error is a pipe.
struct Server {
    child: Child,
    port: u16,
    admin: u16,
    _folder: tempfile::TempDir,
}

impl Server {
    fn start(origin: u16) -> Self {
        let folder = tempfile::tempdir().expect("a folder for temporary files");
        let (port, admin) = (free_port(), free_port());
        let rules = "    robots_txt: { groups: [{ user_agents: ['*'], disallow: [/private/] }] }\n    \
                     enforcement: { mode: block }\n";
        // The lines about many sites fill the pipe and the queue.
        let site = |number| {
            format!("  - {{ hosts: [s{number}.example], origin: 'http://127.0.0.1:1' }}\n")
        };
        let many: String = (0..1_000).map(site).collect();
        let setup = Setup::sites(&format!(
            "{many}{}",
            format_args!(
                "  - hosts: [site.example]\n    origin: http://127.0.0.1:{origin}\n{rules}"
            )
        ));
        let text = setup.text(port, admin, folder.path());
        let file = folder.path().join("beadle.yaml");
        std::fs::write(&file, text).expect("the folder is ours");
        let child = Command::new(PROGRAM)
            .args(["serve", "--config"])
            .arg(file)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program can be started");
        wait_for("/readyz", || (try_status(admin, "/readyz") == Some(200)).then_some(()));
        Self { child, port, admin, _folder: folder }
    }

    fn health(&self) -> String {
        Request::get("/healthz").host("localhost").send(self.admin).text()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_log_that_nobody_reads_stops_nothing() {
    let origin = Origin::plain();
    for is_read_again in [false, true] {
        let mut server = Server::start(origin.port);
        wait_for("lines without room", || {
            server.health().contains("log: standard error is not read").then_some(())
        });
        assert_eq!(Request::get("/page").send(server.port).status, 200);
        let closed = Request::get("/private/x").user_agent("GPTBot/1.2");
        assert_eq!(closed.send(server.port).status, 403);
        let metrics = Request::get("/metrics").host("localhost").send(server.admin).text();
        assert!(metrics.contains("beadle_log_blocked 1"), "{metrics}");
        let reader = is_read_again.then(|| {
            let mut log = server.child.stderr.take().expect("it is piped");
            std::thread::spawn(move || {
                let mut text = Vec::new();
                log.read_to_end(&mut text).map(|_| text)
            })
        });
        if is_read_again {
            wait_for("health", || (server.health() == "ok\n").then_some(()));
        }
        let pid = server.child.id().to_string();
        let told = Command::new("kill").args(["-s", "TERM", &pid]).status();
        assert!(told.is_ok_and(|status| status.success()));
        assert_eq!(server.child.wait().expect("it ends").code(), Some(0));
        let text = reader.map(|reader| reader.join().expect("no panic").expect("it is read"));
        let text = text.unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        assert_eq!(text.contains("log lines were dropped"), is_read_again);
        assert_eq!(text.contains("stopped"), is_read_again, "the last lines are written");
    }
}
