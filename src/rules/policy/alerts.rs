//! The `alerts` section: webhooks for events that an operator wants to know at once.

use std::path::PathBuf;

use crate::{base::escape::shown, rules::keys};

use super::{findings::Findings, scalar::path, shape::At};

/// The default of the violations of a site in one minute that raise an alert.
pub const DEFAULT_VIOLATIONS_PER_MINUTE: u64 = 600;
/// The default of the requests of impostors at a site in one minute that raise an alert.
pub const DEFAULT_IMPOSTORS_PER_MINUTE: u64 = 60;

/// A webhook and the events that it gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alert {
    /// Where events go.
    pub url: WebhookUrl,
    /// The file with the secret that signs them.
    pub secret_file: PathBuf,
    /// The kinds of events (default all).
    pub on: Vec<AlertKind>,
    /// The violations of a site in one minute above which `violation_rate` is raised.
    pub violations_per_minute: u64,
    /// The requests of impostors at a site in one minute above which `impostors` is raised.
    pub impostors_per_minute: u64,
}

/// A kind of event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AlertKind {
    /// A crawler violates the rules of a site for the first time.
    NewOffender,
    /// A site has more violations than usual.
    ViolationRate,
    /// Many requests use the names of crawlers falsely.
    Impostors,
    /// A change of the policy was refused.
    ReloadRefused,
    /// A robots.txt of an origin is in quarantine.
    RobotsQuarantined,
    /// A breaker is open.
    BreakerOpen,
    /// Crawlers make room for people.
    CrawlersPutOff,
    /// Records are not written, or were lost.
    StoreTrouble,
    /// A certificate ends soon.
    CertificateExpiring,
    /// A certificate could not be renewed.
    CertificateNotRenewed,
    /// A front changes robots.txt.
    RobotsRewritten,
    /// A front refuses robots.txt.
    RobotsRefused,
    /// A front refuses a crawler what the rules allow.
    EdgeRefuses,
    /// A front gives a crawler what is blocked.
    EdgeIgnores,
    /// A front removes tags.
    TagsLost,
    /// A front keeps an old robots.txt.
    Stale,
}

/// The URL of a webhook. Only its host is ever shown: many services put a secret into the path.
#[derive(Clone, PartialEq, Eq)]
pub struct WebhookUrl(String);

impl AlertKind {
    /// Every kind, with its word in the policy and in events.
    pub const ALL: [(&'static str, Self); 16] = [
        ("new_offender", Self::NewOffender),
        ("violation_rate", Self::ViolationRate),
        ("impostors", Self::Impostors),
        ("reload_refused", Self::ReloadRefused),
        ("robots_quarantined", Self::RobotsQuarantined),
        ("breaker_open", Self::BreakerOpen),
        ("crawlers_put_off", Self::CrawlersPutOff),
        ("store_trouble", Self::StoreTrouble),
        ("certificate_expiring", Self::CertificateExpiring),
        ("certificate_not_renewed", Self::CertificateNotRenewed),
        ("robots_rewritten", Self::RobotsRewritten),
        ("robots_refused", Self::RobotsRefused),
        ("edge_refuses", Self::EdgeRefuses),
        ("edge_ignores", Self::EdgeIgnores),
        ("tags_lost", Self::TagsLost),
        ("stale", Self::Stale),
    ];

    /// Whether it is about a server in front of Beadle.
    pub const fn is_of_front(self) -> bool {
        self as usize >= Self::RobotsRewritten as usize
    }

    /// The word in the policy and in events.
    pub fn as_str(self) -> &'static str {
        Self::ALL.iter().find(|(_, kind)| *kind == self).map_or("", |(word, _)| word)
    }
}

impl WebhookUrl {
    /// The whole URL, for a request.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// The scheme and the host.
    pub fn shown(&self) -> &str {
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

/// Reads the section; without one there are no alerts.
pub(super) fn read(at: Option<&At<'_>>, findings: &mut Findings) -> Vec<Alert> {
    let Some(at) = at else { return Vec::new() };
    at.elements().iter().filter_map(|at| alert(at, findings)).collect()
}

fn alert(at: &At<'_>, findings: &mut Findings) -> Option<Alert> {
    let fields = at.fields(&keys::ALERT, findings)?;
    let url = fields.require("url", "write 'url: https://…', where events go", findings);
    let url = url.and_then(|at| webhook_url(&at, findings));
    let help = "name a file with a secret of at least 16 bytes, which signs the events";
    let secret_file = fields.require("secret_file", help, findings);
    let secret_file = secret_file.and_then(|at| path(&at, findings));
    let on: Vec<AlertKind> = match fields.take("on") {
        None => AlertKind::ALL.map(|(_, kind)| kind).to_vec(),
        Some(at) => {
            let items = at.items(findings);
            if items.is_empty() {
                findings.refuse(&at, "no event", "name one, or leave the key out to get all");
            }
            items.iter().filter_map(|item| item.choice(&AlertKind::ALL, findings)).collect()
        }
    };
    let mut count = |key, default| fields.some_number(key, findings).unwrap_or(default);
    Some(Alert {
        on,
        violations_per_minute: count("violations_per_minute", DEFAULT_VIOLATIONS_PER_MINUTE),
        impostors_per_minute: count("impostors_per_minute", DEFAULT_IMPOSTORS_PER_MINUTE),
        url: url?,
        secret_file: secret_file?,
    })
}

fn webhook_url(at: &At<'_>, findings: &mut Findings) -> Option<WebhookUrl> {
    let text = at.text(findings)?;
    let Some(help) = problem(text) else { return Some(WebhookUrl(text.to_owned())) };
    // The path and the password may be secrets.
    let url = WebhookUrl(text.to_owned());
    let host = url.shown().rsplit('@').next().unwrap_or_default();
    findings.refuse(at, format!("'{}' is not the URL of a webhook", shown(host)), help);
    None
}

/// What is wrong with a URL.
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

#[cfg(test)]
mod tests;
