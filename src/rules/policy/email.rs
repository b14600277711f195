//! The `email` section: the mail server for alerts and reports.

use std::path::PathBuf;

use crate::base::{escape::shown, text::words};

use super::{
    fields::by_word,
    host::{self, Host, split_port},
    shape::At,
};

/// A mail server, and in whose name mail goes through it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Email {
    pub(crate) server: (String, u16),
    pub(crate) tls: MailTls,
    pub(crate) from: String,
    /// The user, and the file with the password (default no login).
    pub(crate) login: Option<(String, PathBuf)>,
}

words! {
    /// The encryption of a connection to a mail server.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum MailTls {
        /// Begins open, and becomes encrypted before anything is said (RFC 3207).
        StartTls = "starttls",
        /// Is encrypted from the beginning (RFC 8314).
        Implicit = "implicit",
        /// Stays open.
        None = "none",
    }
}

by_word!(MailTls);

pub(super) fn read(at: Option<&At<'_>>) -> Option<Email> {
    let fields = at?.fields()?;
    let tls = fields.get("tls");
    let help = "write 'server: smtp.example.com'";
    let server = fields.required("server", help, |at| server_of(at, tls));
    let from = fields.required("from", "write 'from: beadle@example.com'", address);
    let (login, password_file) = (fields.find("username"), fields.find("password_file"));
    if let Some(at) = fields.take("username").or_else(|| fields.take("password_file")) {
        if login.is_none() || password_file.is_none() {
            at.refuse("half of a login", "write 'username' and 'password_file'");
        } else if tls == MailTls::None {
            let help = "take 'tls: starttls' or 'tls: implicit', or leave the login out";
            at.refuse("the password would go through an open connection", help);
        }
    }
    Some(Email { server: server?, tls, from: from?, login: login.zip(password_file) })
}

fn server_of(at: &At<'_>, tls: MailTls) -> Option<(String, u16)> {
    let text = at.text()?;
    let (name, port) = split_port(text).unwrap_or_else(|| {
        let usual = match tls {
            MailTls::StartTls => 587,
            MailTls::Implicit => 465,
            MailTls::None => 25,
        };
        (text, usual)
    });
    match host::parsed(name) {
        Some(Host::Exact(host)) => Some((host, port)),
        _ => {
            let help = "write for example smtp.example.com or smtp.example.com:587";
            at.refused(format!("'{}' is not a server", shown(text)), help)
        }
    }
}

/// An e-mail address, without `mailto:`.
pub(super) fn address(at: &At<'_>) -> Option<String> {
    let parse = |text: &str| {
        let bare = text.strip_prefix("mailto:").unwrap_or(text);
        let (user, host) = bare.split_once('@')?;
        let is_word = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_graphic());
        let is_address = is_word(user) && is_word(host) && !bare.contains([',', '?', ':']);
        is_address.then(|| bare.to_owned())
    };
    let help = "write for example admin@example.com";
    at.parsed(parse, "is not an e-mail address", help)
}

pub(super) fn addresses(at: &At<'_>) -> Vec<String> {
    let items = at.items();
    if items.is_empty() {
        at.refuse("no address", "write for example admin@example.com");
    }
    items.iter().filter_map(address).collect()
}
