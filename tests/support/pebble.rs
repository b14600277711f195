//! A real ACME server: pebble, with a name server that says 127.0.0.1 to every name.

use std::{
    net::{Ipv4Addr, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use super::{free_port, need, tls, wait_for};

/// A running pebble; dropping it ends both processes.
#[derive(Debug)]
pub(crate) struct Pebble {
    server: Child,
    names: Child,
    port: u16,
    folder: tempfile::TempDir,
}

impl Pebble {
    /// Starts pebble, which asks for proofs on this port; `None` if it is not installed.
    pub(crate) fn start(http_port: u16) -> Option<Self> {
        Self::start_on(free_port(), http_port)
    }

    /// Starts pebble on a port.
    pub(crate) fn start_on(port: u16, http_port: u16) -> Option<Self> {
        let (program, names) = (need("pebble")?, need("pebble-challtestsrv")?);
        let folder = tempfile::tempdir().expect("a folder for temporary files");
        tls::issue(&["127.0.0.1"]).write(folder.path(), "pebble");
        let (management, dns, names_management) = (free_port(), free_port(), free_port());
        let configuration = format!(
            "{{\"pebble\": {{\"listenAddress\": \"127.0.0.1:{port}\",\
             \"managementListenAddress\": \"127.0.0.1:{management}\",\
             \"certificate\": \"pebble.pem\", \"privateKey\": \"pebble.key\",\
             \"httpPort\": {http_port}, \"tlsPort\": 1}}}}"
        );
        std::fs::write(folder.path().join("pebble.json"), configuration).expect("it is ours");
        let names = quiet(Command::new(names).args([
            "-defaultIPv6",
            "",
            "-dns01",
            &format!("127.0.0.1:{dns}"),
            "-http01",
            "",
            "-https01",
            "",
            "-tlsalpn01",
            "",
            "-management",
            &format!("127.0.0.1:{names_management}"),
        ]));
        let server =
            quiet(
                Command::new(program)
                    .current_dir(folder.path())
                    .env("PEBBLE_VA_NOSLEEP", "1")
                    .args(["-config", "pebble.json", "-dnsserver", &format!("127.0.0.1:{dns}")]),
            );
        let pebble = Self { server, names, port, folder };
        for port in [dns, port] {
            wait_for("pebble", || TcpStream::connect((Ipv4Addr::LOCALHOST, port)).ok());
        }
        Some(pebble)
    }

    /// The URL of the directory.
    pub(crate) fn directory(&self) -> String {
        format!("https://127.0.0.1:{}/dir", self.port)
    }

    /// The certificate that pebble's own is signed with: itself.
    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().join("pebble.pem")
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Copies the root to a place that outlives pebble.
    pub(crate) fn copy_root(&self, to: &Path) {
        std::fs::copy(self.root(), to).expect("the folder is ours");
    }
}

fn quiet(command: &mut Command) -> Child {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it can be started")
}

impl Drop for Pebble {
    fn drop(&mut self) {
        for child in [&mut self.server, &mut self.names] {
            // It may have ended already.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
