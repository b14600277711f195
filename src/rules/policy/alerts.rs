//! The `alerts` section: webhooks for events that an operator wants to know at once.

use std::path::PathBuf;

use crate::{
    base::{escape::shown, text::words},
    rules::keys,
};

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

impl AlertKind {
    /// Whether it is about a server in front of Beadle.
    pub const fn is_of_front(self) -> bool {
        self as usize >= Self::RobotsRewritten as usize
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
        None => AlertKind::ALL.to_vec(),
        Some(at) => {
            let items = at.items(findings);
            if items.is_empty() {
                findings.refuse(&at, "no event", "name one, or leave the key out to get all");
            }
            let kinds = AlertKind::ALL.map(|kind| (kind.as_str(), kind));
            items.iter().filter_map(|item| item.choice(&kinds, findings)).collect()
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
    findings.refused(at, format!("'{}' is not the URL of a webhook", shown(host)), help)
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
