//! One receiver: its address, its secrets, and one attempt to send events.
//!
//! Events are signed in the form of Standard Webhooks: HMAC-SHA256 over id, time and body.

use std::{
    fmt,
    fs::{self, OpenOptions},
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use base64::{Engine, engine::general_purpose::STANDARD};
use derive_more::Display;
use jiff::Timestamp;
use ring::hmac;

use super::{
    chats,
    event::{Event, Message},
};
use crate::{
    base::{
        diagnostic::Diagnostic,
        escape::{hex, shown},
        fetch::{Client, Post, Reach, Redirects, Response, Settings},
        secret_file,
    },
    outside::mail::{Answer, Letter, Server},
    rules::policy::{Alert, Destination, Policy, WebhookUrl},
};

const MOST_SAID: usize = 2 << 10;

/// A receiver.
#[derive(Clone, Debug)]
pub struct Receiver {
    pub(crate) alert: Alert,
    client: Client,
    secret: Option<Secret>,
    server: Option<Server>,
    /// Where events are collected for one mail.
    pub(super) digest: Option<Digest>,
}

/// The answer to a test event.
#[derive(Clone, Debug, Display)]
#[display("{to}: {answer}, after {milliseconds} ms")]
pub struct Tested {
    pub(crate) to: String,
    pub(crate) answer: Answer,
    pub(crate) milliseconds: u64,
}

#[derive(Debug)]
pub(super) enum Parcel {
    Event(Message),
    Digest(Letter),
}

impl Receiver {
    /// The receivers of a policy, with their secrets.
    ///
    /// # Errors
    /// A secret is missing, weak or readable by every user.
    pub fn of(policy: &Policy) -> Result<Vec<Self>, Diagnostic> {
        let server = Server::of(policy)?;
        // The operator named the URL: it may well be in the private network. A redirect would take the
        // event to a place that the policy does not name.
        let client = Client::new(Settings::new(Reach::Any, Redirects::Return));
        let client = client.map_err(|error| Diagnostic::error("alerts.client", error))?;
        let database = policy.violations.local_database();
        let receiver = |(number, alert): (usize, &Alert)| -> Result<Self, Diagnostic> {
            let (client, server) = (client.clone(), server.clone());
            let secret = secret(number, alert)?;
            let mut receiver = Self { alert: alert.clone(), client, secret, server, digest: None };
            if let Destination::Email { digest: Some(every), .. } = alert.to {
                receiver.digest = database.map(|file| Digest::beside(file, &receiver.key(), every));
            }
            Ok(receiver)
        };
        policy.alerts.iter().enumerate().map(receiver).collect()
    }

    /// What tells it from others in all nodes of a fleet, whatever its place in the policy. It does not show
    /// the URL, which may be a secret.
    pub fn key(&self) -> String {
        let Alert { to, on, .. } = &self.alert;
        let text = match to {
            Destination::Web { url, .. } => format!("{} {on:?}", url.reveal()),
            Destination::Email { to, .. } => format!("{to:?} {on:?}"),
        };
        let digest = ring::digest::digest(&ring::digest::SHA256, text.as_bytes());
        hex(digest.as_ref().iter().take(8))
    }

    /// Whether two receivers have the same settings and the same secrets.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let is_same_secret = self.secret == other.secret && self.server == other.server;
        self.alert == other.alert && is_same_secret
    }

    pub(crate) async fn test(&self) -> Tested {
        let event = Event::test(Timestamp::now());
        let started = Instant::now();
        let answer = self.attempt(&Parcel::Event(Message { id: Message::new_id(), event })).await;
        let milliseconds = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        Tested { to: self.alert.shown().into_owned(), answer, milliseconds }
    }

    pub(super) async fn attempt(&self, parcel: &Parcel) -> Answer {
        match (&self.alert.to, parcel) {
            (Destination::Email { to, .. }, Parcel::Event(message)) => {
                self.mail(&chats::letter(message, to)).await
            }
            (_, Parcel::Digest(letter)) => self.mail(letter).await,
            (Destination::Web { url, format, .. }, Parcel::Event(Message { id, event })) => {
                let (target, body) = chats::request(*format, url, event);
                post(&self.client, (url, &target, &body), self.secret.as_ref(), id).await
            }
        }
    }

    async fn mail(&self, letter: &Letter) -> Answer {
        match &self.server {
            Some(server) => server.send(letter).await,
            None => Answer::Failed("no mail server".to_owned()),
        }
    }
}

fn secret(number: usize, alert: &Alert) -> Result<Option<Secret>, Diagnostic> {
    let Destination::Web { secret_file: Some(file), .. } = &alert.to else { return Ok(None) };
    let refused = |why: &str, help: &str| {
        let message = format!("alerts[{number}].secret_file: '{}': {why}", file.display());
        Diagnostic::error("alerts.secret", message).help(help)
    };
    let help = "write it by 'openssl rand -hex 32', or name another file";
    let bytes = secret_file::secret(file, help, refused)?;
    let help = "write a long one by 'openssl rand -hex 32'";
    Secret::read(&bytes).map(Some).map_err(|why| refused(why, help))
}

/// Posts a body; a signed one is signed for this moment.
async fn post(
    client: &Client,
    (url, target, body): (&WebhookUrl, &str, &str),
    secret: Option<&Secret>,
    id: &str,
) -> Answer {
    let second = Timestamp::now().as_second();
    let signature = secret.map(|secret| secret.sign(id, second, body)).unwrap_or_default();
    let second = second.to_string();
    let fields = [
        ("content-type", "application/json"),
        ("webhook-id", id),
        ("webhook-timestamp", &second),
        ("webhook-signature", &signature),
    ];
    let fields = if secret.is_some() { &fields[..] } else { &fields[..1] };
    let post = Post { url: target, fields, body: body.as_bytes(), deadline: None };
    match client.post(post).await {
        Ok(response) => match response.status() {
            status @ 200..=299 => Answer::Accepted(status),
            status => Answer::Refused(status, url.hide(&said(response).await)),
        },
        Err(failure) => Answer::Failed(failure.to_string()),
    }
}

async fn said(response: Response) -> String {
    let beginning = response.beginning(MOST_SAID).await;
    let body = beginning.map(|(body, _)| body).unwrap_or_default();
    let mut lines = body.split(|octet| *octet == b'\n').map(<[u8]>::trim_ascii);
    shown(lines.find(|line| !line.is_empty()).unwrap_or_default())
}

/// The least bytes of a secret: what a signature is worth.
const LEAST: usize = 16;

#[derive(Clone, PartialEq)]
struct Secret(Vec<u8>);

impl Secret {
    /// The secret in a file: `whsec_` and base64, else the text itself. Spaces and line ends around
    /// it are no part of it.
    fn read(file: &[u8]) -> Result<Self, &'static str> {
        let text = file.trim_ascii();
        let bytes = match text.strip_prefix(b"whsec_") {
            Some(encoded) => STANDARD.decode(encoded).map_err(|_| "no base64 follows 'whsec_'")?,
            None => text.to_vec(),
        };
        if bytes.len() < LEAST {
            return Err("the secret has less than 16 bytes");
        }
        Ok(Self(bytes))
    }

    /// The value of `webhook-signature`. `second` is the time of the attempt.
    fn sign(&self, id: &str, second: i64, body: &str) -> String {
        let key = hmac::Key::new(hmac::HMAC_SHA256, &self.0);
        let signed = format!("{id}.{second}.{body}");
        format!("v1,{}", STANDARD.encode(hmac::sign(&key, signed.as_bytes())))
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a secret")
    }
}

/// The most events of one mail. Then it does not wait.
const MOST: usize = 100;

#[derive(Clone, Debug)]
pub(super) struct Digest {
    file: PathBuf,
    every: Duration,
}

impl Digest {
    pub(super) fn beside(database: &Path, key: &str, every: Duration) -> Self {
        let mut file = database.as_os_str().to_owned();
        file.push(format!(".alerts-{key}"));
        Self { file: file.into(), every }
    }

    pub(super) fn add(&self, event: &Event) -> io::Result<()> {
        let line = serde_json::json!([event.at.as_second(), chats::letter_text(event)]);
        let mut file = OpenOptions::new().create(true).append(true).mode(0o600).open(&self.file)?;
        writeln!(file, "{line}")?;
        file.sync_data()
    }

    pub(super) fn due(&self, to: &[String]) -> Option<Letter> {
        let lines = fs::read_to_string(&self.file).ok()?;
        let events = lines.lines().filter_map(|line| serde_json::from_str(line).ok());
        let events: Vec<(i64, String)> = events.collect();
        let age = Timestamp::now().as_second().saturating_sub(events.first()?.0);
        if events.len() < MOST && age < i64::try_from(self.every.as_secs()).ok()? {
            return None;
        }
        let texts: Vec<String> = events.into_iter().map(|(_, text)| text).collect();
        let subject = match texts.len() {
            1 => "Beadle: 1 event".to_owned(),
            several => format!("Beadle: {several} events"),
        };
        let text = texts.join("\n");
        Some(Letter { id: Message::new_id(), to: to.to_vec(), subject, text, html: None })
    }

    pub(super) fn clear(&self) {
        if let Err(error) = fs::remove_file(&self.file) {
            tracing::error!(file = %self.file.display(), %error, "a digest may be sent again");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_standard_webhooks_is_signed_alike() {
        let secret = Secret::read(b"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n").expect("usable");
        let signature =
            secret.sign("msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, r#"{"test": 2432232314}"#);
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn a_weak_secret_is_refused() {
        for (file, part) in [
            (&b""[..], "16 bytes"),
            (b"  short \n", "16 bytes"),
            (b"whsec_c2hvcnQ=", "16 bytes"),
            (b"whsec_not base64 at all", "base64"),
        ] {
            assert!(Secret::read(file).expect_err("it is weak").contains(part), "{file:?}");
        }
        assert!(Secret::read(b"sixteen bytes ok").is_ok());
    }
}
