//! A real ClickHouse server, and one in the middle that is slow or says that it is full.

use std::{
    io::{Read, Write},
    net::{Ipv4Addr, TcpListener, TcpStream},
    path::Path,
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicU8, Ordering},
    },
    thread,
    time::Duration,
};

use super::{PATIENCE, free_port, need, tls::issue, wait_for};

/// A running server; dropping it ends the process.
#[derive(Debug)]
pub(crate) struct ClickHouse {
    child: Child,
    pub(crate) port: u16,
    folder: tempfile::TempDir,
}

impl ClickHouse {
    /// Starts a server over an empty folder, with the database `beadle`; `None` if it is not installed.
    pub(crate) fn start() -> Option<Self> {
        Self::start_with("", "")
    }

    /// Starts one that also listens with TLS on this port, by a certificate for 127.0.0.1, and has a user
    /// `beadle` with this password. Both files of the certificate are in the folder.
    pub(crate) fn start_with_tls(port: u16, password: &str, certificate: &Path) -> Option<Self> {
        let at = certificate.display();
        let tls = format!(
            "<https_port>{port}</https_port><openSSL><server>\
             <certificateFile>{at}/server.pem</certificateFile>\
             <privateKeyFile>{at}/server.key</privateKeyFile>\
             <verificationMode>none</verificationMode><cacheSessions>true</cacheSessions>\
             </server></openSSL>"
        );
        let user = format!(
            "<beadle><password>{password}</password><networks><ip>127.0.0.1</ip></networks>\
             <profile>default</profile><quota>default</quota></beadle>"
        );
        issue(&["127.0.0.1"]).write(certificate, "server");
        Self::start_with(&tls, &user)
    }

    fn start_with(more: &str, users: &str) -> Option<Self> {
        let program = need("clickhouse-server")?;
        let folder = tempfile::tempdir().expect("a folder for temporary files");
        let port = free_port();
        let at = folder.path().display();
        for name in ["data", "tmp"] {
            std::fs::create_dir(folder.path().join(name)).expect("the folder is ours");
        }
        let config = format!(
            "<yandex><logger><level>warning</level><log>{at}/log</log><errorlog>{at}/errors</errorlog>\
             </logger><http_port>{port}</http_port><listen_host>127.0.0.1</listen_host>\
             <path>{at}/data/</path><tmp_path>{at}/tmp/</tmp_path>\
             <mark_cache_size>67108864</mark_cache_size><users_config>users.xml</users_config>\
             <default_profile>default</default_profile><default_database>default</default_database>\
             {more}</yandex>"
        );
        let users = format!(
            "<yandex><profiles><default/></profiles><users><default><password></password>\
             <networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota>\
             </default>{users}</users><quotas><default/></quotas></yandex>"
        );
        for (name, text) in [("config.xml", config), ("users.xml", users)] {
            std::fs::write(folder.path().join(name), text).expect("the folder is ours");
        }
        let child = spawn(&program, folder.path());
        let server = Self { child, port, folder };
        server.wait_until_ready();
        server.ask("CREATE DATABASE IF NOT EXISTS beadle");
        Some(server)
    }

    /// Kills the process at once.
    pub(crate) fn kill(&mut self) {
        self.child.kill().expect("it is our child");
        self.child.wait().expect("it is our child");
    }

    /// Starts the server again over its data.
    pub(crate) fn start_again(&mut self) {
        let program = need("clickhouse-server").expect("it was there");
        self.child = spawn(&program, self.folder.path());
        self.wait_until_ready();
    }

    /// Sends a signal: `STOP` hangs the server, `CONT` lets it go on.
    pub(crate) fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        let status = Command::new("kill").args(["-s", name, &pid]).status();
        assert!(status.is_ok_and(|status| status.success()), "kill -s {name}");
    }

    /// The answer to a question, without its line feed.
    pub(crate) fn ask(&self, sql: &str) -> String {
        try_ask(self.port, sql).unwrap_or_else(|| panic!("no answer to {sql}"))
    }

    /// The number that answers a question.
    pub(crate) fn number(&self, sql: &str) -> u64 {
        let answer = self.ask(sql);
        answer.parse().unwrap_or_else(|_| panic!("{sql}: {answer}"))
    }

    fn wait_until_ready(&self) {
        wait_for("ClickHouse", || try_ask(self.port, "SELECT 1").filter(|answer| answer == "1"));
    }
}

impl Drop for ClickHouse {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn spawn(program: &Path, folder: &Path) -> Child {
    Command::new(program)
        .arg(format!("--config-file={}", folder.join("config.xml").display()))
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the server can be started")
}

/// Asks over a connection of its own.
fn try_ask(port: u16, sql: &str) -> Option<String> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).ok()?;
    stream.set_read_timeout(Some(PATIENCE)).ok()?;
    let length = sql.len();
    let head = format!("POST /?database=beadle HTTP/1.0\r\nContent-Length: {length}\r\n\r\n{sql}");
    let head = if sql.starts_with("CREATE DATABASE") || sql == "SELECT 1" {
        head.replace("?database=beadle", "")
    } else {
        head
    };
    stream.write_all(head.as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    let is_fine = head.split(' ').nth(1) == Some("200");
    assert!(is_fine, "{sql}: {body}");
    Some(body.trim_end_matches('\n').to_owned())
}

/// A server in the middle, in one of these states.
#[derive(Clone, Debug)]
pub(crate) struct Middle {
    pub(crate) port: u16,
    state: Arc<AtomicU8>,
}

/// Passes everything on, passes answers on after two seconds, answers that the disk is full.
pub(crate) const PASS: u8 = 0;
pub(crate) const SLOW: u8 = 1;
pub(crate) const FULL: u8 = 2;

impl Middle {
    /// A server before this port.
    pub(crate) fn before(port: u16) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port is free");
        let own = listener.local_addr().expect("it has an address").port();
        let state = Arc::new(AtomicU8::new(PASS));
        let of_threads = Arc::clone(&state);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let state = Arc::clone(&of_threads);
                thread::spawn(move || pass(client, port, &state));
            }
        });
        Self { port: own, state }
    }

    pub(crate) fn set(&self, state: u8) {
        self.state.store(state, Ordering::SeqCst);
    }
}

/// Passes the requests of a connection on, one after the other.
fn pass(mut client: TcpStream, port: u16, state: &AtomicU8) -> Option<()> {
    let mut server = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).ok()?;
    let mut rest = Vec::new();
    loop {
        let request = message(&mut client, &mut rest)?;
        if state.load(Ordering::SeqCst) == FULL {
            let text = "Code: 243, e.displayText() = DB::Exception: Cannot reserve 1.00 MiB, not \
                        enough space";
            let length = text.len();
            let head = format!("HTTP/1.1 500 No\r\nContent-Length: {length}\r\n\r\n{text}");
            client.write_all(head.as_bytes()).ok()?;
            continue;
        }
        server.write_all(&request).ok()?;
        let (mut buffer, mut is_first) = (vec![0; 1 << 16], true);
        // The server ends an answer by a pause; its own framing passes through.
        loop {
            let patience = if is_first { PATIENCE } else { Duration::from_millis(30) };
            server.set_read_timeout(Some(patience)).ok()?;
            match server.read(&mut buffer) {
                Ok(0) => return None,
                Ok(count) => {
                    if is_first && state.load(Ordering::SeqCst) == SLOW {
                        thread::sleep(Duration::from_secs(2));
                    }
                    is_first = false;
                    client.write_all(&buffer[..count]).ok()?;
                }
                Err(_) if is_first => return None,
                Err(_) => break,
            }
        }
    }
}

/// Reads a request with its body.
fn message(client: &mut TcpStream, rest: &mut Vec<u8>) -> Option<Vec<u8>> {
    let mut buffer = vec![0; 1 << 16];
    loop {
        let head = rest.windows(4).position(|four| four == b"\r\n\r\n").map(|at| at + 4);
        if let Some(head) = head {
            let text = String::from_utf8_lossy(&rest[..head]).to_ascii_lowercase();
            let length = text.lines().find_map(|line| line.strip_prefix("content-length: "));
            let end = head + length.map_or(0, |length| length.trim().parse().unwrap_or(0));
            if rest.len() >= end {
                let left = rest.split_off(end);
                return Some(std::mem::replace(rest, left));
            }
        }
        match client.read(&mut buffer) {
            Ok(0) | Err(_) => return None,
            Ok(count) => rest.extend_from_slice(&buffer[..count]),
        }
    }
}
