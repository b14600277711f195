//! The `alerts` section: webhooks for events that an operator wants to know at once.

use std::path::PathBuf;

use crate::{escape::shown, keys};

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
    /// Records are not written, or were lost.
    StoreTrouble,
    /// A certificate ends soon.
    CertificateExpiring,
    /// A certificate could not be renewed.
    CertificateNotRenewed,
}

/// The URL of a webhook. Only its host is ever shown: many services put a secret into the path.
#[derive(Clone, PartialEq, Eq)]
pub struct WebhookUrl(String);

impl AlertKind {
    /// Every kind, with its word in the policy and in events.
    pub const ALL: [(&'static str, Self); 9] = [
        ("new_offender", Self::NewOffender),
        ("violation_rate", Self::ViolationRate),
        ("impostors", Self::Impostors),
        ("reload_refused", Self::ReloadRefused),
        ("robots_quarantined", Self::RobotsQuarantined),
        ("breaker_open", Self::BreakerOpen),
        ("store_trouble", Self::StoreTrouble),
        ("certificate_expiring", Self::CertificateExpiring),
        ("certificate_not_renewed", Self::CertificateNotRenewed),
    ];

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
    let mut count = |key, default| fields.count(key, findings).unwrap_or(default);
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
mod tests {
    use super::*;
    use crate::policy;

    const SITE: &str = "sites: [{ hosts: [a.example], origin: \"http://127.0.0.1:3\" }]";

    /// The alerts, or the message and the repair of the first refusal.
    fn alerts(section: &str) -> Result<Vec<Alert>, String> {
        let text = format!("alerts: {section}\n{SITE}\n");
        let (policy, findings) = policy::read("test.yaml", text.as_bytes());
        policy.map(|policy| policy.alerts).ok_or_else(|| {
            let first = findings.first().expect("a refused policy has findings");
            format!("{} ({})", first.message, first.help.as_deref().unwrap_or_default())
        })
    }

    #[test]
    fn an_alert_gets_all_events_unless_it_names_some() {
        let url = "https://hooks.example.com:8443/T0/B0?x=1";
        let all = alerts(&format!("[{{ url: \"{url}\", secret_file: key }}]")).unwrap();
        assert_eq!(all[0].on.len(), AlertKind::ALL.len());
        assert_eq!(all[0].url.reveal(), url);
        assert_eq!(format!("{:?}", all[0].url), "https://hooks.example.com:8443");
        assert_eq!(all[0].violations_per_minute, DEFAULT_VIOLATIONS_PER_MINUTE);
        let some = "{ url: http://127.0.0.1:9, secret_file: key, on: [breaker_open, impostors], \
                    impostors_per_minute: 5 }";
        let some = alerts(some).unwrap();
        assert_eq!(some[0].on, [AlertKind::BreakerOpen, AlertKind::Impostors]);
        assert_eq!(some[0].impostors_per_minute, 5);
        assert_eq!(alerts("[]"), Ok(Vec::new()));
    }

    #[test]
    fn a_broken_alert_is_refused_with_the_repair() {
        for (alert, part) in [
            ("url: hooks.example.com, secret_file: k", "begin with https://"),
            ("url: \"https://u:T0PSECRET@a.example/T0PSECRET\", secret_file: k", "without user"),
            ("url: \"https:///T0PSECRET\", secret_file: k", "https://hooks.example.com"),
            ("url: \"https://a.example/x y\", secret_file: k", "without spaces"),
            ("url: \"https://a.example/x\"", "'alerts[0].secret_file' is missing"),
            ("secret_file: k", "'alerts[0].url' is missing"),
            ("url: \"https://a.example\", secret_file: k, on: [braker_open]", "breaker_open"),
            ("url: \"https://a.example\", secret_file: k, on: []", "no event"),
            ("url: \"https://a.example\", secret_file: k, onn: []", "onn"),
            ("url: \"https://a.example\", secret_file: k, violations_per_minute: 0", "range"),
        ] {
            let refusal = alerts(&format!("[{{ {alert} }}]")).expect_err(alert);
            assert!(refusal.contains(part), "{alert}: {refusal}");
            assert!(!refusal.contains("T0PSECRET"), "{refusal}");
        }
    }
}
