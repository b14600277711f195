//! A receiver of alerts that takes every event.

use std::{fs, os::unix::fs::PermissionsExt};

use serde_json::Value;
use tempfile::TempDir;

use super::{
    origin::{After, Origin},
    wait_for,
};

/// A receiver, with the file of the secret that signs its events.
pub(crate) struct Receiver {
    origin: Origin,
    folder: TempDir,
}

impl Receiver {
    pub(crate) fn start() -> Self {
        let origin = Origin::playing(|exchange| {
            exchange.read_body();
            exchange.answer("204 No Content", &[], b"");
            After::Keep
        });
        let receiver = Self { origin, folder: tempfile::tempdir().expect("a folder") };
        let secret = receiver.folder.path().join("secret");
        fs::write(&secret, "a secret that signs the events of this test").expect("it is ours");
        fs::set_permissions(&secret, fs::Permissions::from_mode(0o600)).expect("it is ours");
        receiver
    }

    /// The section of a policy that sends it all events.
    pub(crate) fn alerts(&self) -> String {
        let (port, secret) = (self.origin.port, self.folder.path().join("secret"));
        let secret = secret.display();
        format!("alerts: [{{ url: 'http://127.0.0.1:{port}/', secret_file: '{secret}' }}]\n")
    }

    /// The data of the first event of this kind. Waits for it.
    pub(crate) fn event(&self, kind: &str) -> Value {
        wait_for(kind, || {
            let bodies = self.origin.received().into_iter().filter(|one| !one.body.is_empty());
            let mut events =
                bodies.filter_map(|one| serde_json::from_slice::<Value>(&one.body).ok());
            events.find(|event| event["type"] == kind).map(|event| event["data"].clone())
        })
    }
}
