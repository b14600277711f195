//! The `email` section: the mail server for alerts and reports.

use std::path::PathBuf;

use crate::{base::escape::shown, rules::keys};

use super::{
    findings::Findings,
    host::{self, Host, split_port},
    shape::At,
};

/// A mail server, and in whose name mail goes through it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Email {
    /// The server's name or address, and its port.
    pub server: (String, u16),
    /// The encryption of the connection (default STARTTLS).
    pub tls: MailTls,
    /// The sender's address.
    pub from: String,
    /// The user, and the file with the password (default no login).
    pub login: Option<(String, PathBuf)>,
}

/// The encryption of a connection to a mail server; its number is the usual port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MailTls {
    /// Begins open, and becomes encrypted before anything is said (RFC 3207).
    #[default]
    StartTls = 587,
    /// Is encrypted from the beginning (RFC 8314).
    Implicit = 465,
    /// Stays open.
    None = 25,
}

/// Reads the section; without one there is no mail.
pub(super) fn read(at: Option<&At<'_>>, findings: &mut Findings) -> Option<Email> {
    let fields = at?.fields(&keys::MAIL, findings)?;
    let choices = [MailTls::StartTls, MailTls::Implicit, MailTls::None];
    let tls = fields.choice("tls", choices, findings).unwrap_or_default();
    let server = fields.require("server", "write 'server: smtp.example.com'", findings);
    let server = server.and_then(|at| server_of(&at, tls, findings));
    let from = fields.require("from", "write 'from: beadle@example.com'", findings);
    let from = from.and_then(|at| address(&at, findings));
    let password_file = fields.some_file("password_file", findings);
    let login = fields.read("username", At::owned_text, findings);
    if let Some(at) = fields.take("username").or_else(|| fields.take("password_file")) {
        if login.is_none() || password_file.is_none() {
            findings.refuse(&at, "half of a login", "write 'username' and 'password_file'");
        } else if tls == MailTls::None {
            let help = "take 'tls: starttls' or 'tls: implicit', or leave the login out";
            findings.refuse(&at, "the password would go through an open connection", help);
        }
    }
    Some(Email { server: server?, tls, from: from?, login: login.zip(password_file) })
}

fn server_of(at: &At<'_>, tls: MailTls, findings: &mut Findings) -> Option<(String, u16)> {
    let text = at.text(findings)?;
    let (name, port) = split_port(text).unwrap_or((text, tls as u16));
    match host::parsed(name) {
        Some(Host::Exact(host)) => Some((host, port)),
        _ => {
            let help = "write for example smtp.example.com or smtp.example.com:587";
            findings.refused(at, format!("'{}' is not a server", shown(text)), help)
        }
    }
}

/// An e-mail address, without `mailto:`.
pub(super) fn address(at: &At<'_>, findings: &mut Findings) -> Option<String> {
    let parse = |text: &str| {
        let bare = text.strip_prefix("mailto:").unwrap_or(text);
        let (user, host) = bare.split_once('@')?;
        let is_word = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_graphic());
        let is_address = is_word(user) && is_word(host) && !bare.contains([',', '?', ':']);
        is_address.then(|| bare.to_owned())
    };
    let help = "write for example admin@example.com";
    at.parsed(parse, "is not an e-mail address", help, findings)
}

/// E-mail addresses, at least one.
pub(super) fn addresses(at: &At<'_>, findings: &mut Findings) -> Vec<String> {
    let items = at.items(findings);
    if items.is_empty() {
        findings.refuse(at, "no address", "write for example admin@example.com");
    }
    items.iter().filter_map(|item| address(item, findings)).collect()
}
