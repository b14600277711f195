//! One receiver: its address, its secrets, and one attempt to send events.

use std::{fmt, time::Instant};

use jiff::Timestamp;

use crate::{
    base::{
        diagnostic::Diagnostic,
        escape::{hex, shown},
        fetch::{self, Client, Post, Reach, Redirects, Response},
        secret_file,
    },
    outside::mail::{Answer, Letter, Server},
    rules::policy::{Alert, Destination, Policy, WebhookUrl},
};

use super::{
    chats,
    digest::Digest,
    event::{Event, Message},
    webhook_signature::Secret,
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
#[derive(Clone, Debug)]
pub struct Tested {
    pub(crate) to: String,
    pub(crate) answer: Answer,
    pub(crate) milliseconds: u64,
}

impl fmt::Display for Tested {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}, after {} ms", self.to, self.answer, self.milliseconds)
    }
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
