//! The `rate_limits` of an enforcement, how many requests crawlers may send to the origin, and its
//! `people_first`, when they make room for people.

use std::{collections::HashSet, fmt, time::Duration};

use jiff::Timestamp;

use crate::{
    base::{escape::shown, product_token::ProductToken},
    formats::robots::{self, Pace},
    rules::crawlers::Purpose,
};

use super::{
    fields::{Fields, Setting, section},
    mode::{PaceMode, Source},
    names::{Names, purpose},
    shape::At,
    tag_rules,
    units::Share,
    yaml::Spot,
};

const HELP: &str = "write requests and a time, for example 1/10s or 10/1m, or how many may be at the \
                    origin at one time: 'concurrent: 2'";
const LONGEST: Duration = Duration::from_secs(86_400);

/// A limit for the requests of crawlers.
#[derive(Clone, Debug)]
pub struct RateLimit {
    pub(crate) tokens: HashSet<ProductToken>,
    /// Whether it names `*`: every client that a group for `*` would bind.
    pub(crate) all: bool,
    pub(crate) pace: Option<Pace>,
    pub(crate) burst: u32,
    pub(crate) wait: Duration,
    pub(crate) concurrent: Option<u32>,
    pub(crate) paths: Vec<robots::Pattern>,
    pub(crate) together: bool,
    pub(crate) mode: PaceMode,
    pub(crate) is_published: bool,
    pub(crate) until: Option<Timestamp>,
    pub(crate) at: Spot,
}

impl RateLimit {
    /// The lines of robots.txt that say it: a delay in whole seconds, rounded up, and a rate where so many
    /// requests may come at once. Empty if no line does.
    pub(crate) fn records(&self) -> Vec<robots::Record> {
        let is_sayable = self.paths.is_empty() && !self.together && self.until.is_none();
        let Some(pace) = self.pace.filter(|_| is_sayable) else { return Vec::new() };
        let (requests, seconds) = lowest_terms(pace);
        let delay = seconds >= requests;
        let delay = delay.then(|| ("Crawl-delay", seconds.div_ceil(requests).to_string()));
        let rate = requests <= u64::from(self.burst);
        let rate = rate.then(|| ("Request-rate", format!("{requests}/{seconds}")));
        let record = |(name, value): (&str, String)| robots::Record::new(name, &value).ok();
        let records = delay.into_iter().chain(rate).filter_map(record);
        records.map(|record| robots::Record { is_limit: true, ..record }).collect()
    }

    fn why_unsayable(&self) -> (&'static str, String) {
        let remove = || "remove 'publish'; the limit holds anyway".to_owned();
        match self.pace {
            None => ("requests at one time", remove()),
            Some(_) if !self.paths.is_empty() => ("some paths", remove()),
            Some(_) if self.until.is_some() => {
                ("a time that ends", "remove 'until' or 'publish'".to_owned())
            }
            Some(_) if self.together => {
                ("all crawlers together", "remove 'together' or 'publish'".to_owned())
            }
            Some(pace) => {
                let (requests, seconds) = lowest_terms(pace);
                let line = format!("'Request-rate: {requests}/{seconds}'");
                let help =
                    format!("add 'burst: {requests}' to publish {line}, or remove 'publish'");
                ("more than a request a second without so many at once", help)
            }
        }
    }
}

fn lowest_terms(pace: Pace) -> (u64, u64) {
    let (requests, seconds) = (u64::from(pace.requests()), pace.per().as_secs());
    let (mut divisor, mut rest) = (requests, seconds);
    while rest > 0 {
        (divisor, rest) = (rest, divisor % rest);
    }
    (requests / divisor.max(1), seconds / divisor.max(1))
}

impl fmt::Display for RateLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = |count| if count == 1 { "request" } else { "requests" };
        if let Some(pace) = self.pace {
            let (requests, per) = (pace.requests(), pace.per().as_secs());
            write!(f, "{requests} {} in {per} s, ", word(requests))?;
        }
        if let Some(most) = self.concurrent {
            write!(f, "{most} {} at a time, ", word(most))?;
        }
        let who = if self.together { "all of them together" } else { "each crawler" };
        let paths = if self.paths.is_empty() { "" } else { ", to some paths" };
        write!(f, "{who}{paths}")?;
        let wait = self.wait.as_secs_f32();
        if !self.wait.is_zero() {
            write!(f, ", after a wait of at most {wait} s")?;
        }
        self.until.map_or(Ok(()), |until| write!(f, ", until {until}"))
    }
}

pub(super) fn read(fields: &Fields<'_>, source: Source, names: &Names<'_>) -> Vec<RateLimit> {
    fields.each("rate_limits", |at| rate_limit(at, source, names))
}

fn rate_limit(at: &At<'_>, source: Source, names: &Names<'_>) -> Option<RateLimit> {
    let fields = at.fields()?;
    let user_agents = fields.require("user_agents", "write for example [set:ai]");
    let concurrent = fields.get("concurrent");
    let requests = match fields.take("concurrent") {
        Some(_) => fields.take("requests"),
        None => fields.require("requests", HELP),
    };
    let pace = requests.and_then(|at| requests_in_a_time(&at));
    let burst = fields.get("burst");
    let items = user_agents?.items();
    items.iter().for_each(|item| refuse_control_token(item, names));
    let selected = names.selected(&items);
    let limit = RateLimit {
        tokens: selected.tokens(),
        all: selected.star.is_some(),
        pace,
        burst,
        wait: fields.get("wait"),
        concurrent,
        paths: fields.each("paths", tag_rules::path),
        together: fields.get("together"),
        mode: fields.get("mode"),
        is_published: fields.get("publish"),
        until: fields.get("until"),
        at: at.node.spot,
    };
    refuse_vain_wait(&limit, &fields);
    if limit.is_published {
        refuse_unsayable(&limit, &fields, source);
    }
    Some(limit)
}

fn refuse_vain_wait(limit: &RateLimit, fields: &Fields<'_>) {
    let Some(at) = fields.take("wait").filter(|_| !limit.wait.is_zero()) else { return };
    let (message, help) = match (limit.pace, limit.mode) {
        (None, _) => (
            "no request waits: 'concurrent' alone gives no turns",
            "add 'requests', for example 60/1m",
        ),
        (_, PaceMode::Log) => ("no request waits in the mode log", "write 'mode: throttle'"),
        (Some(_), PaceMode::Throttle) => return,
    };
    at.refuse_as("policy.vain_wait", message, help);
}

/// Refuses to publish what no line of robots.txt says, and anything with the file of the origin.
fn refuse_unsayable(limit: &RateLimit, fields: &Fields<'_>, source: Source) {
    let Some(at) = fields.take("publish") else { return };
    if source == Source::Origin {
        let message = "not published: 'source: origin' takes the origin's file as it is";
        let help = "write 'source: merge' to publish both, or remove 'publish'";
        at.refuse_as("policy.not_published", message, help);
    } else if limit.records().is_empty() && (limit.pace.is_some() || limit.concurrent.is_some()) {
        let (what, help) = limit.why_unsayable();
        let message = format!("robots.txt has no line for a limit of {what}");
        at.refuse_as("policy.unpublishable_limit", message, help);
    }
}

fn requests_in_a_time(at: &At<'_>) -> Option<Pace> {
    let pace = Pace::read(at)?;
    if pace.per() > LONGEST {
        let message = format!("'{}' has a time of more than a day", shown(at.text()?));
        return at.refused(message, "write fewer requests in a shorter time, for example 60/1d");
    }
    Some(pace)
}

/// A name that no request has can't be limited. A set or a purpose may hold some.
fn refuse_control_token(at: &At<'_>, names: &Names<'_>) {
    if let Some((token, _)) = names.control_token(at) {
        let message = format!("no request has the name {token}: it stands in robots.txt alone");
        let help = "name the operator's crawlers that fetch pages, or a purpose";
        at.refuse_as("policy.control_limit", message, help);
    }
}

section! {
    /// When crawlers make room for people.
    #[derive(Clone, Debug)]
    pub struct PeopleFirst {
        pub(crate) latency: Option<Duration>,
        pub(crate) errors: Share,
        pub(crate) crawlers_at_once: Option<u32>,
        pub(crate) wait: Duration,
        pub(crate) order: Vec<Purpose> = each(purpose),
        pub(crate) status: u16 = get_with(status),
    }
}

fn status(at: &At<'_>) -> Option<u16> {
    at.number("does not tell a crawler to come back later", "use 503 or 429")
}

#[cfg(test)]
mod tests;
