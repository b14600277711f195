//! A letter, what a receiver answers, and the server of the policy: its encryption and its login.

use std::{error::Error, fmt, time::Duration};

use derive_more::Display;
use lettre::{
    AsyncSmtpTransport, AsyncTransport, Message, Tokio1Executor,
    address::AddressError,
    message::{
        Mailbox, MultiPart, SinglePart,
        header::{HeaderName, HeaderValue},
    },
    transport::smtp::{
        self,
        authentication::Credentials,
        client::{Tls, TlsParameters},
        extension::ClientId,
    },
};
use tokio::time::timeout;

use crate::{
    base::{
        diagnostic::Diagnostic,
        escape::{self, shown},
        secret_file,
    },
    rules::policy::{Email, MailTls, Policy},
};

const DEADLINE: Duration = Duration::from_secs(60);

/// A mail server with its secret.
#[derive(Clone, PartialEq, Eq)]
pub struct Server {
    email: Email,
    from: Mailbox,
    login: Option<Credentials>,
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.email.fmt(f)
    }
}

impl Server {
    /// The mail server of a policy; `None` without one.
    ///
    /// # Errors
    /// The password can't be read, or every user can read it.
    pub fn of(policy: &Policy) -> Result<Option<Self>, Diagnostic> {
        let Some(email) = &policy.email else { return Ok(None) };
        let refused = |key: &str, why: &str, help: &str| {
            Diagnostic::error("email.server", format!("email.{key}: {why}")).help(help)
        };
        let login = email.login.as_ref().map(|(user, file)| {
            let named = |why: &str, help: &str| {
                refused("password_file", &format!("'{}': {why}", file.display()), help)
            };
            Ok(Credentials::new(user.clone(), secret_file::password(file, named)?))
        });
        let from = email.from.parse().map_err(|error: AddressError| {
            refused("from", &error.to_string(), "write for example beadle@example.com")
        })?;
        Ok(Some(Self { email: email.clone(), from, login: login.transpose()? }))
    }

    pub(crate) async fn send(&self, letter: &Letter) -> Answer {
        let message = match letter.message(&self.from) {
            Ok(message) => message,
            Err(error) => return Answer::Failed(error),
        };
        let sent = async { self.transport()?.send(message).await };
        match timeout(DEADLINE, sent).await {
            Ok(Ok(response)) => Answer::Accepted(response.code().into()),
            Ok(Err(error)) => failed(&error),
            Err(_) => Answer::Failed("no answer within a minute".to_owned()),
        }
    }

    fn transport(&self) -> Result<AsyncSmtpTransport<Tokio1Executor>, smtp::Error> {
        let Email { server: (host, port), tls, .. } = &self.email;
        let tls = match tls {
            MailTls::StartTls => Tls::Required(TlsParameters::new(host.clone())?),
            MailTls::Implicit => Tls::Wrapper(TlsParameters::new(host.clone())?),
            MailTls::None => Tls::None,
        };
        let mut transport = AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous(host.as_str())
            .port(*port)
            .tls(tls)
            .hello_name(ClientId::Domain(self.from.email.domain().to_owned()));
        if let Some(login) = &self.login {
            transport = transport.credentials(login.clone());
        }
        Ok(transport.build())
    }
}

fn failed(error: &smtp::Error) -> Answer {
    let said = error.source().map_or_else(|| error.to_string(), ToString::to_string);
    let said = shown(said.lines().next().unwrap_or_default());
    match error.status() {
        Some(code) => Answer::Refused(code.into(), said),
        None => Answer::Failed(said),
    }
}

const MOST_SUBJECT: usize = 150;

/// A letter.
#[derive(Clone, Debug)]
pub struct Letter {
    /// What all attempts to send it share.
    pub id: String,
    pub(crate) to: Vec<String>,
    /// The subject. Foreign text is escaped here.
    pub subject: String,
    pub(crate) text: String,
    pub(crate) html: Option<String>,
}

/// The answer of a receiver.
#[derive(Clone, Debug, Display, PartialEq, Eq)]
pub enum Answer {
    /// It accepted, with this status.
    #[display("accepted with status {_0}")]
    Accepted(u16),
    /// It refused with another status, and the first line of what it said.
    #[display("refused with status {_0}{}{_1}", if _1.is_empty() { "" } else { ": " })]
    Refused(u16, String),
    /// It did not answer.
    #[display("no answer: {_0}")]
    Failed(String),
}

impl Letter {
    pub(super) fn message(&self, from: &Mailbox) -> Result<Message, String> {
        let (id, domain) = (&self.id, from.email.domain());
        let mut message = Message::builder()
            .from(from.clone())
            .message_id(Some(format!("<{id}@{domain}>")))
            .subject(escape::bounded(self.subject.as_bytes(), MOST_SUBJECT));
        for to in &self.to {
            let to: Mailbox = to.parse().map_err(|error| format!("{to}: {error}"))?;
            message = message.to(to);
        }
        let mut message = match self.html.clone() {
            Some(html) => {
                message.multipart(MultiPart::alternative_plain_html(self.text.clone(), html))
            }
            None => message.singlepart(SinglePart::plain(self.text.clone())),
        }
        .map_err(|error| error.to_string())?;
        // No program answers it (RFC 3834).
        let name = HeaderName::new_from_ascii_str("Auto-Submitted");
        message.headers_mut().insert_raw(HeaderValue::new(name, "auto-generated".to_owned()));
        Ok(message)
    }
}

impl Answer {
    pub(crate) const fn outcome(&self) -> &'static str {
        match self {
            Self::Accepted(_) => "accepted",
            Self::Refused(..) => "refused",
            Self::Failed(_) => "failed",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_text_adds_no_field_and_no_line() {
        let letter = Letter {
            id: "msg_1".to_owned(),
            to: vec!["a@a.example".to_owned(), "b@a.example".to_owned()],
            subject: format!("x\r\nBcc: c@a.example\r\n\r\nhello Zoë {}", "y".repeat(300)),
            text: "Bcc: c@a.example\r\n.\r\nRCPT TO:<c@a.example>".to_owned(),
            html: Some("<p>ë</p>".to_owned()),
        };
        let from = "b@b.example".parse().expect("an address");
        let message = letter.message(&from).expect("a message");
        assert_eq!(message.envelope().to().len(), 2);
        let text = String::from_utf8(message.formatted()).expect("ASCII");
        let (head, _) = text.split_once("\r\n\r\n").expect("a head");
        let names = head.lines().filter(|line| !line.starts_with([' ', '\t']));
        let mut names: Vec<_> = names.filter_map(|line| Some(line.split_once(':')?.0)).collect();
        names.sort_unstable();
        let fields =
            ["Auto-Submitted", "Content-Type", "Date", "From", "MIME-Version", "Message-ID"];
        assert_eq!(names, [&fields[..], &["Subject", "To"]].concat());
        assert!(text.is_ascii() && text.contains("Message-ID: <msg_1@b.example>"), "{text}");
        assert!(text.lines().all(|line| line.len() < 998));
    }

    #[test]
    fn a_letter_to_no_address_is_refused() {
        let to = vec!["a b@a.example".to_owned()];
        let letter = Letter {
            id: String::new(),
            to,
            subject: String::new(),
            text: String::new(),
            html: None,
        };
        assert!(letter.message(&"b@b.example".parse().expect("an address")).is_err());
    }
}
