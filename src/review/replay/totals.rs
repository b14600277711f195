//! What is counted about logs, bounded, and what another policy does with the same requests.

use std::{cmp::Reverse, collections::BTreeMap, hash::Hash};

use hashbrown::HashMap;
use jiff::Timestamp;

use super::batch::{Batch, Faults};
use crate::{
    base::{
        escape,
        text::{Text, words},
    },
    records::tally::Claimant,
    rules::{
        crawlers::{Outcome, Purpose},
        enforce::{Action, Reason},
    },
    serving::gate::{Counted, Past},
};

words! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub(crate) enum Verdict {
        /// Not judged: a person, or a request that the proxy refuses.
        NotJudged = "not judged",
        Allow = "allow",
        /// Allowed by an edition that the crawler may still use.
        Grace = "grace",
        /// Another form of a closed path: no violation.
        Form = "other form",
        /// Beyond a rate limit: no violation.
        Limit = "limit",
        Log = "log",
        Throttle = "throttle",
        Block = "block",
    }
}

impl Verdict {
    pub(super) fn of(past: &Past<'_>) -> Self {
        let Some(counted) = &past.counted else { return Self::NotJudged };
        match counted.action {
            _ if counted.reason == Reason::Form => Self::Form,
            _ if counted.reason == Reason::Limit => Self::Limit,
            Action::Log => Self::Log,
            Action::Throttle => Self::Throttle,
            Action::Block => Self::Block,
            Action::Pass if counted.reason == Reason::Grace => Self::Grace,
            Action::Pass => Self::Allow,
        }
    }
}

/// The most names of a site that only clients use. Others are counted together.
pub(crate) const MOST_NAMES: usize = 10_000;
/// The most paths that are counted by themselves. Others are counted together.
pub(crate) const MOST_PATHS: usize = 100_000;
/// The name of what is counted together.
pub(super) const OTHER: &str = "…";
const DAY: i64 = 86_400;

#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// The lines that are not empty.
    pub(crate) lines: u64,
    /// The requests that were judged, and those of people.
    pub(crate) parsed: u64,
    pub(crate) people: u64,
    /// The lines that came more than the window too late. They are judged at the time of the line
    /// before.
    pub(crate) late: u64,
    /// The time of the first and of the last request.
    pub(crate) span: Option<(Timestamp, Timestamp)>,
    pub(super) days: BTreeMap<i64, Day>,
    pub(super) malformed: BTreeMap<&'static str, Malformed>,
    sites: Vec<Site>,
    declared: usize,
    paths: usize,
}

#[derive(Debug, Default)]
struct Site {
    name: String,
    crawlers: BTreeMap<Claimant, HashMap<String, Crawler>>,
    /// Rules with violations, by their line.
    rules: HashMap<u32, Vec<Rule>>,
    paths: HashMap<Vec<u8>, u64>,
}

/// Lines that could not be judged, for one reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Malformed {
    pub(super) count: u64,
    /// The first one: its log, its number and its text.
    pub(super) example: (String, u64, String),
}

#[derive(Clone, Debug, Default)]
pub(super) struct Crawler {
    pub(super) purpose: &'static str,
    pub(super) class: &'static str,
    pub(super) requests: u64,
    verdicts: [u64; Verdict::ALL.len()],
    pub(super) fetches: u64,
    pub(super) confirmed: u64,
    pub(super) contradicted: u64,
    pub(super) span: Option<(Timestamp, Timestamp)>,
    /// The first and the last fetch of robots.txt.
    pub(super) read: Option<(Timestamp, Timestamp)>,
}

/// A client name, or its impostors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Client<'a> {
    /// The product token; empty for none.
    pub(crate) name: &'a str,
    pub(crate) claimant: Claimant,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Day {
    pub(super) requests: u64,
    pub(super) violations: u64,
    pub(super) people: u64,
}

/// A rule with violations, or the reason of violations without a rule.
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) line: u32,
    pub(super) directive: String,
    pub(super) pattern: String,
    /// Empty for a rule.
    pub(super) reason: String,
    pub(super) violations: u64,
}

impl Tally {
    /// No counts, for sites with these names.
    pub(super) fn of(sites: Vec<String>) -> Self {
        let sites = sites.into_iter().map(|name| Site { name, ..Site::default() });
        Self { sites: sites.collect(), ..Self::default() }
    }

    pub(super) fn add(&mut self, past: &Past<'_>, verdict: Verdict, target: &[u8], now: Timestamp) {
        let Some(counted) = &past.counted else { return self.add_person(now) };
        let day = self.day(now);
        day.requests += 1;
        day.violations += u64::from(counted.is_violation());
        self.add_crawler(past.site, counted, verdict, now);
        if counted.is_violation() {
            self.add_violation(past.site, counted, target);
        }
    }

    pub(super) fn add_person(&mut self, now: Timestamp) {
        self.people += 1;
        self.day(now).people += 1;
    }

    /// The day of a request, which is counted.
    fn day(&mut self, now: Timestamp) -> &mut Day {
        self.parsed += 1;
        widen(&mut self.span, now);
        self.days.entry(now.as_second().div_euclid(DAY)).or_default()
    }

    fn add_crawler(
        &mut self,
        site: usize,
        counted: &Counted<'_>,
        verdict: Verdict,
        now: Timestamp,
    ) {
        let key = &counted.key;
        let Some(site) = self.sites.get_mut(site) else { return };
        let crawlers = site.crawlers.entry(Claimant::of(counted.outcome.as_str())).or_default();
        let is_full = key.is_declared && self.declared >= MOST_NAMES;
        let crawler = entry(crawlers, key.product_token, OTHER, is_full);
        if crawler.requests == 0 && key.is_declared {
            self.declared += 1;
        }
        if crawler.requests == 0 || crawler.purpose.is_empty() {
            let purpose = Purpose::from_word(key.purpose);
            crawler.purpose = purpose.map(Purpose::as_str).unwrap_or_default();
            crawler.class = key.class;
        }
        crawler.requests += 1;
        crawler.verdicts[verdict as usize] += 1;
        match counted.outcome {
            Outcome::Confirmed => crawler.confirmed += 1,
            Outcome::Contradicted => crawler.contradicted += 1,
            Outcome::Unknown | Outcome::Unverifiable => {}
        }
        widen(&mut crawler.span, now);
        if counted.reason == Reason::RobotsTxt {
            crawler.fetches += 1;
            widen(&mut crawler.read, now);
        }
    }

    fn add_violation(&mut self, site: usize, counted: &Counted<'_>, target: &[u8]) {
        let key = &counted.key;
        let Some(site) = self.sites.get_mut(site) else { return };
        // The reason is that of a violation without a rule.
        let reason = if key.directive.is_empty() { key.reason } else { "" };
        let rules = site.rules.entry(key.line).or_default();
        let is_it = |rule: &&mut Rule| {
            let same = (&*rule.directive, &*rule.pattern, &*rule.reason);
            same == (key.directive, key.pattern, reason)
        };
        match rules.iter_mut().find(is_it) {
            Some(rule) => rule.violations += 1,
            None => rules.push(Rule {
                line: key.line,
                directive: key.directive.to_owned(),
                pattern: key.pattern.to_owned(),
                reason: reason.to_owned(),
                violations: 1,
            }),
        }
        let path = target.split(|octet| *octet == b'?').next().unwrap_or_default();
        let path = path.get(..Text::FIELD_LIMIT).unwrap_or(path);
        let is_full = self.paths >= MOST_PATHS;
        let violations = entry(&mut site.paths, path, OTHER.as_bytes(), is_full);
        self.paths += usize::from(*violations == 0);
        *violations += 1;
    }

    pub(super) fn add_lines(&mut self, batch: &Batch, log: &str) {
        self.lines += batch.lines;
        for Faults { code, count, example: (line, text) } in &batch.faults {
            self.add_malformed(code, *count, (log, *line), || text.clone());
        }
    }

    /// Adds a request that the proxy refuses.
    pub(super) fn refuse(&mut self, code: &'static str, place: (&str, u64), host: &[u8]) {
        self.add_malformed(code, 1, place, || escape::bounded(host, Text::FIELD_LIMIT));
    }

    fn add_malformed(
        &mut self,
        code: &'static str,
        count: u64,
        (log, line): (&str, u64),
        text: impl FnOnce() -> String,
    ) {
        let first = || Malformed { count: 0, example: (log.to_owned(), line, text()) };
        self.malformed.entry(code).or_insert_with(first).count += count;
    }

    /// Client names, most violations first, then most requests: site, name, counts.
    pub(super) fn crawlers(&self) -> Vec<(&str, Client<'_>, &Crawler)> {
        let mut rows = Vec::new();
        for site in &self.sites {
            for (&claimant, crawlers) in &site.crawlers {
                rows.extend(
                    crawlers
                        .iter()
                        .map(|(name, one)| (site.name.as_str(), Client { name, claimant }, one)),
                );
            }
        }
        rows.sort_unstable_by_key(|&(site, client, one)| {
            (Reverse((one.violations(), one.requests)), site, client)
        });
        rows
    }

    /// Rules with violations, most first.
    pub(super) fn rules(&self) -> Vec<(&str, &Rule)> {
        let rows = self
            .sites
            .iter()
            .flat_map(|site| site.rules.values().flatten().map(|rule| (site.name.as_str(), rule)));
        let mut rows: Vec<_> = rows.collect();
        rows.sort_unstable_by_key(|&(site, rule)| {
            (Reverse(rule.violations), site, rule.line, &*rule.pattern, &*rule.reason)
        });
        rows
    }

    pub(super) fn paths(&self) -> Vec<(&str, &[u8], u64)> {
        let rows = self.sites.iter().flat_map(|site| {
            site.paths
                .iter()
                .map(|(path, violations)| (site.name.as_str(), path.as_slice(), *violations))
        });
        let mut rows: Vec<_> = rows.collect();
        rows.sort_unstable_by_key(|&(site, path, violations)| (Reverse(violations), site, path));
        rows
    }

    /// Whether the requests were of more than one site.
    pub(super) fn has_sites(&self) -> bool {
        self.sites.iter().filter(|site| !site.crawlers.is_empty()).nth(1).is_some()
    }

    pub(crate) fn malformed(&self) -> u64 {
        self.malformed.values().map(|one| one.count).sum()
    }

    pub(super) fn requests(&self) -> u64 {
        self.days.values().map(|day| day.requests).sum()
    }

    pub(super) fn search(&self) -> u64 {
        let crawlers = self.sites.iter().filter_map(|site| site.crawlers.get(&Claimant::Crawler));
        let is_search = |one: &&Crawler| one.purpose == Purpose::Search.as_str();
        crawlers.flat_map(HashMap::values).filter(is_search).map(|one| one.requests).sum()
    }

    pub(crate) fn violations(&self) -> u64 {
        self.days.values().map(|day| day.violations).sum()
    }
}

impl Crawler {
    pub(super) const fn of(&self, verdict: Verdict) -> u64 {
        self.verdicts[verdict as usize]
    }

    pub(super) const fn violations(&self) -> u64 {
        self.of(Verdict::Log) + self.of(Verdict::Throttle) + self.of(Verdict::Block)
    }
}

/// The counts of a key, which is copied only when it is new. If the table is full, a new key is counted
/// under `other`.
fn entry<'m, K, V: Default>(
    map: &'m mut HashMap<K::Owned, V>,
    key: &K,
    other: &K,
    is_full: bool,
) -> &'m mut V
where
    K: ToOwned<Owned: Hash + Eq> + Hash + Eq + ?Sized,
{
    let key = if is_full && !map.contains_key(key) { other } else { key };
    map.entry_ref(key).or_default()
}

fn widen(span: &mut Option<(Timestamp, Timestamp)>, now: Timestamp) {
    let (first, last) = span.get_or_insert((now, now));
    *first = now.min(*first);
    *last = now.max(*last);
}

pub(super) fn date(day: i64) -> String {
    Timestamp::from_second(day * 86_400)
        .map_or_else(|_| day.to_string(), |time| time.strftime("%F").to_string())
}

/// The paths that are kept as examples.
const EXAMPLES: usize = 3;
/// The most rows; further ones are counted together.
const MOST_ROWS: usize = 10_000;

/// The requests that another policy treats otherwise.
#[derive(Debug, Default)]
pub(crate) struct Changes(BTreeMap<Key, Change>);

/// Site, name, claimant, before, after.
type Key = (String, String, Claimant, Verdict, Verdict);

/// Requests of one crawler whose treatment changes alike.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) requests: u64,
    pub(crate) paths: Vec<String>,
}

impl Changes {
    pub(super) fn add(
        &mut self,
        site: &str,
        Client { name, claimant }: Client<'_>,
        (before, after): (Verdict, Verdict),
        target: &[u8],
    ) {
        let mut key = (site.to_owned(), name.to_owned(), claimant, before, after);
        if self.0.len() >= MOST_ROWS && !self.0.contains_key(&key) {
            OTHER.clone_into(&mut key.1);
        }
        let change = self.0.entry(key).or_default();
        change.requests += 1;
        if change.paths.len() < EXAMPLES {
            let path = escape::bounded(target, 256);
            if !change.paths.contains(&path) {
                change.paths.push(path);
            }
        }
    }

    /// The changes, most requests first: site, client name, before, after.
    pub(crate) fn rows(&self) -> Vec<(&str, Client<'_>, Verdict, Verdict, &Change)> {
        let rows = self.0.iter();
        let mut rows: Vec<_> = rows
            .map(|((site, name, claimant, before, after), change)| {
                (site.as_str(), Client { name, claimant: *claimant }, *before, *after, change)
            })
            .collect();
        rows.sort_by_key(|row| Reverse(row.4.requests));
        rows
    }
}
