//! A letter, and what a receiver answers.

use std::fmt;

use lettre::{
    Message,
    message::{
        Mailbox, MultiPart, SinglePart,
        header::{HeaderName, HeaderValue},
    },
};

use crate::base::escape;

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
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It accepted, with this status.
    Accepted(u16),
    /// It refused with another status, and the first line of what it said.
    Refused(u16, String),
    /// It did not answer.
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

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Accepted(status) => write!(f, "accepted with status {status}"),
            Self::Refused(status, said) if said.is_empty() => {
                write!(f, "refused with status {status}")
            }
            Self::Refused(status, said) => write!(f, "refused with status {status}: {said}"),
            Self::Failed(why) => write!(f, "no answer: {why}"),
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
