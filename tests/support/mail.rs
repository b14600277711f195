//! A real mail server: aiosmtpd, with STARTTLS and a login, with TLS from the beginning, or without any.

use std::{
    fs,
    io::{BufRead, BufReader},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::Arc,
};

use parking_lot::Mutex;
use serde_json::Value;

use super::{free_port, need, tls, wait_for};

/// A running server; dropping it ends the process.
#[derive(Debug)]
pub(crate) struct MailServer {
    child: Child,
    pub(crate) port: u16,
    kind: String,
    folder: tempfile::TempDir,
    lines: Arc<Mutex<Vec<Value>>>,
}

impl MailServer {
    /// Starts a server of this kind: `starttls`, `implicit` or `none`; with `refusal`, it refuses each
    /// letter so. `None` if it is not installed.
    pub(crate) fn start(kind: &str, refusal: &str) -> Option<Self> {
        need("aiosmtpd")?;
        let folder = tempfile::tempdir().expect("a folder");
        tls::issue(&["localhost", "127.0.0.1"]).write(folder.path(), "mail");
        let password = folder.path().join("password");
        fs::write(&password, "T0PSECRET\n").expect("it is ours");
        fs::set_permissions(&password, fs::Permissions::from_mode(0o600)).expect("it is ours");
        let port = free_port();
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/mail_server.py");
        // The system's Python has the system's packages.
        let mut child = Command::new("/usr/bin/python3")
            .arg(script)
            .args([kind, &port.to_string(), "mail.pem", "mail.key", refusal])
            .current_dir(folder.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("Python can be started");
        let lines = Arc::new(Mutex::new(Vec::new()));
        let (output, read) = (child.stdout.take().expect("a pipe"), Arc::clone(&lines));
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                read.lock().push(serde_json::from_str(&line).expect("JSON"));
            }
        });
        let server = Self { child, port, kind: kind.to_owned(), folder, lines };
        wait_for("the mail server", || (!server.lines.lock().is_empty()).then_some(()));
        Some(server)
    }

    /// The certificate that a client has to trust.
    pub(crate) fn authority(&self) -> PathBuf {
        self.folder.path().join("mail.pem")
    }

    /// The section of a policy with this server.
    pub(crate) fn section(&self) -> String {
        let (port, kind, folder) = (self.port, &self.kind, self.folder.path().display());
        let login = match kind.as_str() {
            "starttls" => format!("username: beadle, password_file: '{folder}/password', "),
            _ => String::new(),
        };
        format!(
            "email: {{ server: 'localhost:{port}', tls: {kind}, {login}from: beadle@site.example }}\n"
        )
    }

    /// The letters that came.
    pub(crate) fn letters(&self) -> Vec<Value> {
        self.lines.lock().iter().skip(1).cloned().collect()
    }

    /// The first letter whose subject begins so. Waits for it.
    pub(crate) fn letter(&self, subject: &str) -> Value {
        wait_for(subject, || self.about(subject).into_iter().next())
    }

    /// The letters whose subject begins so.
    pub(crate) fn about(&self, subject: &str) -> Vec<Value> {
        let mut letters = self.letters();
        letters.retain(|one| {
            one["fields"]["Subject"].as_str().is_some_and(|it| it.starts_with(subject))
        });
        letters
    }
}

impl Drop for MailServer {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
