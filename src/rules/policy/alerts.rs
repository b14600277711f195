//! The `alerts` section, who gets the events that an operator wants to know, and the `email` section, the mail
//! server for alerts and reports.

use std::{borrow::Cow, path::PathBuf, time::Duration};

use crate::base::{escape::shown, text::words};

use super::{
    fields::{Fields, Setting},
    host::{self, Host, split_port},
    shape::At,
};

/// A shorter part of a URL is no secret.
const SECRET: usize = 6;

/// A receiver and the events that it gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alert {
    pub(crate) to: Destination,
    pub(crate) on: Vec<AlertKind>,
    /// The violations of a site in one minute above which `violation_rate` is raised.
    pub violations_per_minute: u64,
    /// The requests of impostors at a site in one minute above which `impostors` is raised.
    pub impostors_per_minute: u64,
}

/// Where events go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Destination {
    Web {
        url: WebhookUrl,
        format: Format,
        /// The file with the secret that signs events; only [`Format::Json`] has one.
        secret_file: Option<PathBuf>,
    },
    Email {
        to: Vec<String>,
        /// How long events are collected for one mail (default: each has its own).
        digest: Option<Duration>,
    },
}

words! {
    /// What a receiver at a URL reads.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Format {
        /// Beadle's own events, signed.
        Json = "json",
        Slack = "slack",
        Teams = "teams",
        Discord = "discord",
        Ntfy = "ntfy",
    }
}

words! {
    /// A kind of event.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum AlertKind {
        /// A crawler violates the rules of a site for the first time.
        NewOffender = "new_offender",
        /// A site has more violations than usual.
        ViolationRate = "violation_rate",
        /// Many requests use the names of crawlers falsely.
        Impostors = "impostors",
        /// A change of the policy was refused.
        ReloadRefused = "reload_refused",
        /// A robots.txt of an origin is in quarantine.
        RobotsQuarantined = "robots_quarantined",
        /// A breaker is open.
        BreakerOpen = "breaker_open",
        /// Crawlers make room for people.
        CrawlersPutOff = "crawlers_put_off",
        /// Records are not written, or were lost.
        StoreTrouble = "store_trouble",
        /// A certificate ends soon.
        CertificateExpiring = "certificate_expiring",
        /// A certificate could not be renewed.
        CertificateNotRenewed = "certificate_not_renewed",
        /// A followed list has crawlers that the operator has not accepted.
        NewCrawlers = "new_crawlers",
        /// A followed list of crawlers is refused.
        ListRefused = "list_refused",
        /// A front changes robots.txt.
        RobotsRewritten = "robots_rewritten",
        /// A front refuses robots.txt.
        RobotsRefused = "robots_refused",
        /// A front refuses a crawler what the rules allow.
        EdgeRefuses = "edge_refuses",
        /// A front gives a crawler what is blocked.
        EdgeIgnores = "edge_ignores",
        /// A front removes tags.
        TagsLost = "tags_lost",
        /// A front keeps an old robots.txt.
        Stale = "stale",
    }
}

/// The URL of a webhook. Only its host is ever shown: many services put a secret into the path.
#[derive(Clone, PartialEq, Eq)]
pub struct WebhookUrl(String);

impl Alert {
    /// Where events go, as messages, metrics and pages show it: without the secrets of a URL.
    pub(crate) fn shown(&self) -> Cow<'_, str> {
        match &self.to {
            Destination::Web { url, .. } => url.shown().into(),
            Destination::Email { to, .. } => to.join(", ").into(),
        }
    }

    pub(crate) const fn format(&self) -> &'static str {
        match &self.to {
            Destination::Web { format, .. } => format.as_str(),
            Destination::Email { .. } => "email",
        }
    }
}

impl AlertKind {
    /// Whether it is about a server in front of Beadle.
    pub(crate) const fn is_of_front(self) -> bool {
        self as usize >= Self::RobotsRewritten as usize
    }
}

impl WebhookUrl {
    /// The whole URL, for a request.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }

    /// The URL without its last segment, and that segment, if it can be a topic of ntfy; then the query.
    pub(crate) fn topic(&self) -> Option<(&str, &str, &str)> {
        let (path, query) = self.0.split_at(self.0.find('?').unwrap_or(self.0.len()));
        let (before, topic) = path.split_at(path.rfind('/')? + 1);
        let is_fine = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_');
        let is_topic = (1..=64).contains(&topic.len()) && topic.bytes().all(is_fine);
        (is_topic && !before.ends_with("://")).then_some((before, topic, query))
    }

    /// A text of the receiver without the parts of the URL that may be secrets.
    pub(crate) fn hide(&self, text: &str) -> String {
        let after = self.0.get(self.shown().len()..).unwrap_or_default();
        let parts = after.split(['/', '?', '&', '=']).filter(|part| part.len() >= SECRET);
        parts.fold(text.to_owned(), |text, part| text.replace(part, "[hidden]"))
    }

    /// The scheme and the host.
    pub(crate) fn shown(&self) -> &str {
        let end = self.0.find("://").map_or(0, |at| at + 3);
        let path = self.0.get(end..).and_then(|rest| rest.find(['/', '?']));
        self.0.get(..path.map_or(self.0.len(), |at| end + at)).unwrap_or_default()
    }
}

impl std::fmt::Debug for WebhookUrl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.shown())
    }
}

pub(super) fn read(at: Option<&At<'_>>) -> Vec<Alert> {
    let elements = at.map(At::elements).unwrap_or_default();
    elements.iter().filter_map(alert).collect()
}

fn alert(at: &At<'_>) -> Option<Alert> {
    let fields = at.fields()?;
    let to = match (fields.take("url"), fields.take("email_to")) {
        (Some(at), None) => web(&at, &fields),
        (None, Some(at)) => {
            refuse_keys(&["format", "secret_file"], &fields);
            Some(Destination::Email { to: addresses(&at), digest: fields.get("digest") })
        }
        (Some(_), Some(at)) => at.refused("two receivers", "write an entry of 'alerts' for each"),
        (None, None) => {
            let help = "write 'url: https://…' or 'email_to: admin@example.com'";
            fields.require("url", help);
            None
        }
    };
    let on: Vec<AlertKind> = match fields.take("on") {
        None => AlertKind::ALL.to_vec(),
        Some(at) => {
            let items = at.items();
            if items.is_empty() {
                at.refuse("no event", "name one, or leave the key out to get all");
            }
            items.iter().filter_map(AlertKind::read).collect()
        }
    };
    let violations_per_minute = fields.get("violations_per_minute");
    let impostors_per_minute = fields.get("impostors_per_minute");
    Some(Alert { to: to?, on, violations_per_minute, impostors_per_minute })
}

fn web(at: &At<'_>, fields: &Fields<'_>) -> Option<Destination> {
    let (secret_file, format) = (fields.get("secret_file"), fields.get("format"));
    if format == Format::Json {
        refuse_keys(&["digest"], fields);
        let help = "name a file with a secret of at least 16 bytes, which signs the events; or name \
                    the 'format' of the service at this URL";
        fields.require("secret_file", help);
    } else {
        refuse_keys(&["digest", "secret_file"], fields);
    }
    let url = webhook_url(at)?;
    if format == Format::Ntfy && url.topic().is_none() {
        let help = "write for example https://ntfy.sh/your-topic";
        return at.refused("the URL ends with no topic", help);
    }
    Some(Destination::Web { url, format, secret_file })
}

fn refuse_keys(keys: &[&str], fields: &Fields<'_>) {
    for at in keys.iter().filter_map(|key| fields.take(key)) {
        at.refuse("no key of such a receiver", "leave it out");
    }
}

fn webhook_url(at: &At<'_>) -> Option<WebhookUrl> {
    let text = at.text()?;
    let Some(help) = problem(text) else { return Some(WebhookUrl(text.to_owned())) };
    // The path and the password may be secrets.
    let url = WebhookUrl(text.to_owned());
    let host = url.shown().rsplit('@').next().unwrap_or_default();
    at.refused(format!("'{}' is not the URL of a webhook", shown(host)), help)
}

fn problem(text: &str) -> Option<&'static str> {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let Some(rest) = rest else { return Some("begin with https:// or http://") };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.contains('@') {
        Some("write the URL without user and password: the secret signs each event")
    } else if authority.is_empty() || authority.starts_with(':') {
        Some("write for example https://hooks.example.com/beadle")
    } else if rest.contains('#') || rest.bytes().any(|b| b <= b' ' || b == 0x7f) {
        Some("write it without spaces and without '#'")
    } else {
        None
    }
}

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

pub(super) fn email(at: Option<&At<'_>>) -> Option<Email> {
    let fields = at?.fields()?;
    let tls = fields.get("tls");
    let help = "write 'server: smtp.example.com'";
    let server = fields.required("server", help, |at| server_of(at, tls));
    let from = fields.required("from", "write 'from: beadle@example.com'", address);
    let login: Option<String> = fields.get("username");
    let password_file: Option<PathBuf> = fields.get("password_file");
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

#[cfg(test)]
mod tests;
