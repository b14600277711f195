//! Answers that came through a front, compared with those that should come; the findings that hold, and their
//! repairs.

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    time::Duration,
};

use super::question::{Asker, Question};
use crate::{base::escape, rules::policy::AlertKind};

/// The most lines of a difference that are kept of each side.
const MOST_LINES: usize = 10;
/// The time beyond `max-age` that a cache may take.
const SLACK: Duration = Duration::from_secs(60);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Expected {
    RobotsTxt {
        file: Vec<u8>,
        /// How long ago the file that came was replaced; `None` if it never was in force. Zero where it
        /// still is, or says the same.
        replaced: Option<Duration>,
        /// How long caches may keep the file.
        max_age: Duration,
    },
    /// A page of the origin, or a refusal.
    Page {
        is_refused: bool,
        /// The names of the fields with the site's tags for the answer that came.
        tags: Vec<&'static str>,
    },
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    /// The status; 0 is no answer.
    pub(crate) status: u16,
    /// The fields, with names in lower case.
    pub(crate) fields: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    /// Whether Beadle got the request. `None` if another node may have got it.
    pub(crate) has_arrived: Option<bool>,
}

/// What a front does to an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) kind: AlertKind,
    /// What is wrong, as a clause.
    pub(crate) text: String,
    pub(crate) status: u16,
    pub(crate) server: String,
    /// The lines that a front put into robots.txt.
    pub(crate) added: Vec<String>,
    pub(crate) removed: Vec<String>,
    pub(super) product: Option<Product>,
}

impl Seen {
    /// The first value of a field; empty without one.
    pub(crate) fn field(&self, name: &str) -> &str {
        let found = self.fields.iter().find(|(known, _)| known == name);
        found.map_or("", |(_, value)| value.as_str())
    }

    fn shown(&self) -> String {
        match self.status {
            0 => "gets no answer".to_owned(),
            status => format!("is refused with {status}"),
        }
    }

    /// Whether a front refuses a page with this answer. The status of the origin is none of a front.
    fn is_refusal(&self) -> bool {
        let refuses = matches!(self.status, 0 | 401..=403 | 405 | 406 | 418 | 429 | 451 | 503);
        refuses && self.has_arrived != Some(true)
    }
}

/// What a front does to the answer to a question, if anything.
pub(crate) fn judge(question: &Question, expected: &Expected, seen: &Seen) -> Option<Finding> {
    let target = escape::shown(&question.target);
    let of = |kind, text| {
        let server = escape::shown(seen.field("server"));
        let (added, removed, product) =
            (Vec::new(), Vec::new(), Product::of(|name| seen.field(name)));
        Some(Finding { kind, text, status: seen.status, server, added, removed, product })
    };
    match expected {
        Expected::RobotsTxt { .. } if seen.status != 200 => {
            of(AlertKind::RobotsRefused, format!("robots.txt {}", seen.shown()))
        }
        Expected::RobotsTxt { file, .. } if *file == seen.body => None,
        Expected::RobotsTxt { replaced: Some(ago), max_age, .. } => {
            let text = format!(
                "robots.txt is an old edition, replaced {} s ago (max-age {} s)",
                ago.as_secs(),
                max_age.as_secs()
            );
            let is_stale = *ago > *max_age + SLACK.min(*max_age);
            is_stale.then(|| of(AlertKind::Stale, text)).flatten()
        }
        Expected::RobotsTxt { file, .. } => {
            let (added, removed) = (missing(file, &seen.body), missing(&seen.body, file));
            let text = format!(
                "robots.txt comes changed: {} lines put in, {} taken out",
                added.len(),
                removed.len()
            );
            let bounded = |lines: Vec<&[u8]>| {
                lines.into_iter().take(MOST_LINES).map(escape::shown).collect::<Vec<_>>()
            };
            let finding = of(AlertKind::RobotsRewritten, text)?;
            Some(Finding { added: bounded(added), removed: bounded(removed), ..finding })
        }
        Expected::Page { is_refused: true, .. } => {
            let text = match seen.has_arrived {
                Some(false) => "comes from a cache or around Beadle",
                _ => "comes anyway",
            };
            let is_ignored = matches!(seen.status, 200..=299);
            let text = format!("{target}, which is blocked, {text}");
            is_ignored.then(|| of(AlertKind::EdgeIgnores, text)).flatten()
        }
        Expected::Page { .. } if seen.is_refusal() && question.asker != Asker::Browser => {
            let text = format!("{target}, which the rules allow, {}", seen.shown());
            of(AlertKind::EdgeRefuses, text)
        }
        Expected::Page { tags, .. } => {
            let lost: Vec<&str> =
                tags.iter().copied().filter(|name| seen.field(name).is_empty()).collect();
            let is_page = seen.status == 200 && !lost.is_empty();
            let text = format!("{target} comes without {}", lost.join(" and "));
            is_page.then(|| of(AlertKind::TagsLost, text)).flatten()
        }
    }
}

/// The lines of `other` that `file` lacks, in their order, each as often as it is missing.
fn missing<'o>(file: &'o [u8], other: &'o [u8]) -> Vec<&'o [u8]> {
    let lines = |text: &'o [u8]| text.split(|octet| *octet == b'\n').filter(|one| !one.is_empty());
    let mut known: HashMap<&[u8], usize> = HashMap::new();
    lines(file).for_each(|line| *known.entry(line).or_default() += 1);
    let mut missing: Vec<&[u8]> = lines(other).collect();
    missing.retain(|line| match known.get_mut(*line) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => true,
    });
    missing
}

/// The findings that hold: by target, with the one who met it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Held(BTreeMap<(String, Asker), Finding>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Trouble {
    pub(crate) site: String,
    pub(crate) target: String,
    pub(crate) askers: Vec<String>,
    pub(crate) finding: Finding,
}

impl Held {
    /// Takes what the answer to a question says, in place of what the one before said.
    pub(crate) fn take(&mut self, question: &Question, finding: Option<Finding>) {
        let key = (question.target.clone(), question.asker.clone());
        match finding {
            Some(finding) => drop(self.0.insert(key, finding)),
            None => drop(self.0.remove(&key)),
        }
    }

    /// Forgets what is not asked any more: other targets of those who asked in this round, and crawlers
    /// that never ask again.
    pub(crate) fn forget(&mut self, round: &[Question], crawlers: &[String]) {
        self.0.retain(|(target, asker), _| {
            let mut own = round.iter().filter(|one| one.asker == *asker).peekable();
            match asker {
                Asker::Crawler(token) if !crawlers.contains(token) => false,
                _ => own.peek().is_none() || own.any(|one| one.target == *target),
            }
        });
    }

    /// All of them, of this site: one for each kind and target.
    pub(crate) fn troubles(&self, site: &str) -> Vec<Trouble> {
        let mut all: Vec<Trouble> = Vec::new();
        for ((target, asker), finding) in &self.0 {
            let (site, target, asker) = (site.to_owned(), target.clone(), asker.to_string());
            let trouble = Trouble { site, target, askers: Vec::new(), finding: finding.clone() };
            let known = all.iter().position(|one| one.is_same(&trouble));
            let at = known.unwrap_or(all.len());
            if known.is_none() {
                all.push(trouble);
            }
            all.get_mut(at).into_iter().for_each(|one| one.askers.push(asker.clone()));
        }
        all
    }
}

impl Trouble {
    /// Whether both are about the same thing.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let is_there = self.site == other.site && self.target == other.target;
        is_there && self.finding.kind == other.finding.kind
    }

    pub(crate) const fn cause(&self) -> &'static str {
        advice(self.finding.kind).0
    }

    pub(crate) fn repair(&self) -> String {
        repair(self.finding.kind, self.finding.product)
    }
}

/// `www.example.com: / is refused with 403, asked as GPTBot (Server: nginx)`.
impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { site, askers, finding, .. } = self;
        write!(f, "{site}: {}, asked as {}", finding.text, askers.join(", "))?;
        match finding.server.as_str() {
            "" => Ok(()),
            server => write!(f, " (Server: {server})"),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Product {
    Cloudflare,
    Fastly,
    Nginx,
}

/// The cause, and the repair at Cloudflare, Fastly and nginx.
type Advice = (&'static str, [&'static str; 3]);

const REWRITTEN: Advice = (
    "the front has a robots.txt of its own, or adds lines",
    [
        "switch off the managed robots.txt (Security, Settings, Bot traffic)",
        "remove the synthetic response or the VCL snippet for /robots.txt",
        "remove 'location = /robots.txt' or give it 'proxy_pass', and remove 'sub_filter' there",
    ],
);
const ROBOTS_REFUSED: Advice = (
    "a firewall, a bot rule or a limit answers before Beadle",
    [
        "add a custom rule with the action Skip for /robots.txt, and switch Bot Fight Mode off",
        "let /robots.txt pass in the WAF and before 'error' in vcl_recv",
        "give 'location = /robots.txt' a 'proxy_pass' without 'deny', 'limit_req' and 'return'",
    ],
);
const REFUSES: Advice = (
    "a bot rule of the front refuses this crawler",
    [
        "allow the crawler in AI Crawl Control, or switch off 'Block AI bots'",
        "allow the crawler in Bot Management, or remove the condition on User-Agent in VCL",
        "remove the 'if' or 'map' of $http_user_agent that refuses the crawler",
    ],
);
const IGNORES: Advice = (
    "the front has the page in its cache, or leads around Beadle",
    [
        "bypass the cache for closed paths by a Cache Rule, and let the DNS record lead to Beadle",
        "'return(pass)' for closed paths in vcl_recv, and let the backend be Beadle",
        "remove 'proxy_cache' for closed paths, and let 'proxy_pass' lead to Beadle, not to the origin",
    ],
);
const TAGS: Advice = (
    "the front removes the fields, keeps an older copy, or serves the page itself",
    [
        "remove the Response Header Transform Rule for these fields, and purge the page",
        "remove 'unset resp.http.…' for these fields, and purge the page",
        "remove 'proxy_hide_header' for these fields, and serve the page by 'proxy_pass'",
    ],
);
const STALE: Advice = (
    "the cache of the front keeps the file longer than its max-age",
    [
        "let the Edge TTL for /robots.txt follow Cache-Control, and purge the file",
        "let beresp.ttl follow Cache-Control for /robots.txt, and purge the file",
        "remove 'proxy_ignore_headers Cache-Control' and 'proxy_cache_use_stale', and clear the cache",
    ],
);

impl Product {
    /// The product that sent an answer with these fields.
    pub(super) fn of<'a>(field: impl Fn(&str) -> &'a str) -> Option<Self> {
        let server = field("server").to_ascii_lowercase();
        if server.starts_with("cloudflare") || !field("cf-ray").is_empty() {
            Some(Self::Cloudflare)
        } else if field("x-served-by").starts_with("cache-") || server.contains("fastly") {
            Some(Self::Fastly)
        } else {
            ["nginx", "openresty"].iter().any(|one| server.starts_with(one)).then_some(Self::Nginx)
        }
    }
}

/// What to do at this product; at all of them, if it is unknown.
pub(super) fn repair(kind: AlertKind, product: Option<Product>) -> String {
    let [cloudflare, fastly, nginx] = advice(kind).1;
    match product {
        Some(Product::Cloudflare) => format!("Cloudflare: {cloudflare}"),
        Some(Product::Fastly) => format!("Fastly: {fastly}"),
        Some(Product::Nginx) => format!("nginx: {nginx}"),
        None => format!("Cloudflare: {cloudflare}. Fastly: {fastly}. nginx: {nginx}"),
    }
}

const fn advice(kind: AlertKind) -> &'static Advice {
    match kind {
        AlertKind::RobotsRefused => &ROBOTS_REFUSED,
        AlertKind::EdgeRefuses => &REFUSES,
        AlertKind::EdgeIgnores => &IGNORES,
        AlertKind::TagsLost => &TAGS,
        AlertKind::Stale => &STALE,
        _ => &REWRITTEN,
    }
}
