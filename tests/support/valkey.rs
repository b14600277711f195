//! A real Redis server (Valkey speaks the same), on its own port with its data in its own folder.

use std::{
    net::{Ipv4Addr, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use super::{free_port, need, tls, wait_for};

/// A running server; dropping it ends the process.
#[derive(Debug)]
pub(crate) struct Valkey {
    program: PathBuf,
    arguments: Vec<String>,
    child: Child,
    pub(crate) port: u16,
    folder: tempfile::TempDir,
    /// The options of `redis-cli`.
    options: Vec<String>,
}

impl Valkey {
    /// Starts a server without a disk; `None` if it is not installed.
    pub(crate) fn start() -> Option<Self> {
        Self::start_with(&[])
    }

    /// Starts a server with these arguments beside.
    pub(crate) fn start_with(arguments: &[&str]) -> Option<Self> {
        Self::start_on(free_port(), arguments)
    }

    /// Starts a server on a port.
    pub(crate) fn start_on(port: u16, arguments: &[&str]) -> Option<Self> {
        let program = need("redis-server")?;
        need("redis-cli")?;
        let folder = tempfile::tempdir().expect("a folder for temporary files");
        let port_text = port.to_string();
        let own = ["--port", &port_text, "--save", "", "--appendonly", "no"];
        let own = own.iter().chain(&["--bind", "127.0.0.1"]).chain(arguments);
        let arguments: Vec<String> = own.map(|&argument| argument.to_owned()).collect();
        let child = spawn(&program, &arguments, folder.path());
        let server = Self { program, arguments, child, port, folder, options: Vec::new() };
        server.wait();
        Some(server)
    }

    /// Starts a server that speaks TLS alone, with a certificate that signs itself.
    pub(crate) fn start_tls() -> Option<Self> {
        let program = need("redis-server")?;
        need("redis-cli")?;
        let folder = tempfile::tempdir().expect("a folder for temporary files");
        tls::issue(&["localhost", "127.0.0.1"]).write(folder.path(), "valkey");
        let port = free_port();
        let (port_text, certificate, key) = (port.to_string(), "valkey.pem", "valkey.key");
        let arguments = [
            "--port",
            "0",
            "--tls-port",
            &port_text,
            "--tls-cert-file",
            certificate,
            "--tls-key-file",
            key,
            "--tls-ca-cert-file",
            certificate,
            "--tls-auth-clients",
            "no",
            "--save",
            "",
            "--bind",
            "127.0.0.1",
        ];
        let arguments: Vec<String> = arguments.iter().map(|&one| one.to_owned()).collect();
        let child = spawn(&program, &arguments, folder.path());
        let options = vec!["--tls".to_owned(), "--insecure".to_owned()];
        let server = Self { program, arguments, child, port, folder, options };
        server.wait();
        Some(server)
    }

    /// Starts a Sentinel that watches this server under the name `mymaster`.
    pub(crate) fn sentinel(&self) -> Self {
        let program = need("redis-server").expect("the server runs it");
        let folder = tempfile::tempdir().expect("a folder for temporary files");
        let port = free_port();
        let file = folder.path().join("sentinel.conf");
        let text = format!(
            "port {port}\nbind 127.0.0.1\nsentinel monitor mymaster 127.0.0.1 {} 1\n\
             sentinel down-after-milliseconds mymaster 500\nsentinel failover-timeout mymaster 2000\n",
            self.port
        );
        std::fs::write(&file, text).expect("the folder is ours");
        let arguments = vec![file.display().to_string(), "--sentinel".to_owned()];
        let child = spawn(&program, &arguments, folder.path());
        let sentinel = Self { program, arguments, child, port, folder, options: Vec::new() };
        sentinel.wait();
        sentinel
    }

    /// The file of the certificate that signs itself.
    pub(crate) fn certificate(&self) -> PathBuf {
        self.folder.path().join("valkey.pem")
    }

    /// The URL.
    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// The output of a command.
    pub(crate) fn ask(&self, command: &[&str]) -> String {
        let port = self.port.to_string();
        let output = Command::new("redis-cli")
            .args(["-h", "127.0.0.1", "-p", &port])
            .args(&self.options)
            .args(command)
            .output()
            .expect("the client can be started");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Sends a signal, for example `STOP`.
    pub(crate) fn signal(&self, name: &str) {
        let status = Command::new("kill").args(["-s", name, &self.child.id().to_string()]).status();
        assert!(status.is_ok_and(|status| status.success()), "kill -s {name}");
    }

    /// Ends the process at once. Without a disk, its data is gone.
    pub(crate) fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Starts it again on the same port.
    pub(crate) fn start_again(&mut self) {
        self.child = spawn(&self.program, &self.arguments, self.folder.path());
        self.wait();
    }

    fn wait(&self) {
        wait_for("the Redis server", || TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).ok());
        if self.options.is_empty() && !self.arguments.iter().any(|one| one.contains("sentinel")) {
            wait_for("its answer", || {
                let answer = self.ask(&["PING"]);
                (answer.contains("PONG") || answer.contains("NOAUTH")).then_some(())
            });
        }
    }
}

impl Drop for Valkey {
    fn drop(&mut self) {
        // A stopped process ends, too.
        self.kill();
    }
}

fn spawn(program: &Path, arguments: &[String], folder: &Path) -> Child {
    Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the server can be started")
}
