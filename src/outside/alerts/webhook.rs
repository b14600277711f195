//! One webhook: its URL, its secret, and one attempt to send an event.

use std::{
    fmt,
    fs::File,
    io::{self, Read},
    os::unix::fs::MetadataExt,
    path::Path,
};

use jiff::Timestamp;
use uuid::Uuid;

use crate::{
    base::{
        diagnostic::Diagnostic,
        fetch::{self, Client, Failure, Post, Reach, Redirects},
    },
    rules::policy::{Alert, Policy},
};

use super::{
    event::Event,
    webhook_signature::{self, Secret},
};

/// The mode bits that let every user of the machine read a file.
const WORLD: u32 = 0o004;

/// A webhook. Copies share its connections.
#[derive(Clone, Debug)]
pub struct Webhook {
    /// Its settings.
    pub alert: Alert,
    secret: Secret,
    client: Client,
}

/// The answer of a webhook to an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It accepted the event, with this status.
    Accepted(u16),
    /// It answered with another status.
    Refused(u16),
    /// It did not answer.
    Failed(Failure),
}

/// An event on its way, with the id that all attempts share.
#[derive(Clone, Debug)]
pub(super) struct Message {
    pub(super) id: String,
    pub(super) kind: &'static str,
    body: String,
}

impl Message {
    pub(super) fn new(id: String, event: &Event) -> Self {
        Self { id, kind: event.kind, body: event.body() }
    }

    /// An id that no other event has. Those of later events are greater.
    pub(super) fn new_id() -> String {
        format!("msg_{}", Uuid::now_v7().simple())
    }
}

impl Webhook {
    /// The webhooks of a policy, with their secrets.
    ///
    /// # Errors
    /// A secret is missing, weak or readable by every user.
    pub fn of(policy: &Policy) -> Result<Vec<Self>, Diagnostic> {
        policy.alerts.iter().enumerate().map(|(number, alert)| Self::new(number, alert)).collect()
    }

    fn new(number: usize, alert: &Alert) -> Result<Self, Diagnostic> {
        let file = &alert.secret_file;
        let refused = |why: String, help: &str| {
            let message = format!("alerts[{number}].secret_file: '{}': {why}", file.display());
            Diagnostic::error("alerts.secret", message).help(help)
        };
        let (bytes, mode) = read(file).map_err(|error| {
            refused(error.to_string(), "write it by 'openssl rand -hex 32', or name another file")
        })?;
        if mode & WORLD != 0 {
            let why = "every user of this machine can read it".to_owned();
            let help = format!("chmod o= '{}'", file.display());
            return Err(refused(why, &help));
        }
        let secret = Secret::read(&bytes)
            .map_err(|why| refused(why.to_owned(), "write a long one by 'openssl rand -hex 32'"))?;
        let client = Client::new(fetch::Settings {
            user_agent: fetch::PRODUCT,
            // The operator named the URL: it may well be in the private network.
            reach: Reach::Any,
            // A redirect would take the event to a place that the policy does not name.
            redirects: Redirects::Return,
            authorities: None,
            resolver: None,
        });
        let client = client.map_err(|error| Diagnostic::error("alerts.client", error))?;
        Ok(Self { alert: alert.clone(), secret, client })
    }

    /// What tells it from others in all nodes of a fleet, whatever its place in the policy. It does not show
    /// the URL, which may be a secret.
    pub fn key(&self) -> String {
        let text = format!("{} {:?}", self.alert.url.reveal(), self.alert.on);
        let digest = ring::digest::digest(&ring::digest::SHA256, text.as_bytes());
        digest.as_ref().iter().take(8).map(|octet| format!("{octet:02x}")).collect()
    }

    /// Whether two webhooks have the same settings and the same secret.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.alert == other.alert && self.secret == other.secret
    }

    /// Sends an event once.
    pub async fn try_once(&self, event: &Event) -> Answer {
        self.attempt(&Message::new(Message::new_id(), event)).await
    }

    /// Sends a message once, signed for this moment.
    pub(super) async fn attempt(&self, message: &Message) -> Answer {
        let second = Timestamp::now().as_second();
        let signature = self.secret.sign(&message.id, second, &message.body);
        let second = second.to_string();
        let fields = [
            ("content-type", "application/json"),
            ("webhook-id", message.id.as_str()),
            ("webhook-timestamp", &second),
            ("webhook-signature", &signature),
        ];
        let url = self.alert.url.reveal();
        let post = Post { url, fields: &fields, body: message.body.as_bytes(), deadline: None };
        let response = self.client.post(post).await;
        match response.map(|response| response.status()) {
            Ok(status @ 200..=299) => Answer::Accepted(status),
            Ok(status) => Answer::Refused(status),
            Err(failure) => Answer::Failed(failure),
        }
    }
}

impl Answer {
    /// Its kind in a word.
    pub fn outcome(&self) -> &'static str {
        match self {
            Self::Accepted(_) => "accepted",
            Self::Refused(_) => "refused",
            Self::Failed(_) => "failed",
        }
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Accepted(status) => write!(f, "accepted with status {status}"),
            Self::Refused(status) => write!(f, "refused with status {status}"),
            Self::Failed(failure) => write!(f, "no answer: {failure}"),
        }
    }
}

/// The bytes of a regular file, and its mode.
fn read(file: &Path) -> io::Result<(Vec<u8>, u32)> {
    // Opening a named pipe would wait for a writer, and a device may have no end.
    if !std::fs::metadata(file)?.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    let file = File::open(file)?;
    let mode = file.metadata()?.mode();
    let mut bytes = Vec::new();
    file.take(webhook_signature::MOST as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > webhook_signature::MOST {
        return Err(io::Error::other("larger than 4 KiB"));
    }
    Ok((bytes, mode))
}
