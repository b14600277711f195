//! What is counted about logs, bounded.

use std::{collections::BTreeMap, hash::Hash};

use hashbrown::{Equivalent, HashMap, hash_map::EntryRef};
use jiff::Timestamp;

use crate::{
    base::{escape, text::Text},
    records::tally::Claimant,
    rules::{
        crawlers::{Outcome, Purpose},
        enforce::Reason,
    },
    serving::gate::{Counted, Past},
};

use super::{
    batch::{Batch, Faults},
    treatment::Verdict,
};

/// The most names of a site that only clients use. Others are counted together.
pub const MOST_NAMES: usize = 10_000;
/// The most paths that are counted by themselves. Others are counted together.
pub const MOST_PATHS: usize = 100_000;
/// The name of what is counted together.
pub(super) const OTHER: &str = "…";
/// The examples of malformed lines that are kept, for each reason.
const EXAMPLES: usize = 3;
const DAY: i64 = 86_400;

/// What is counted about logs.
#[derive(Debug, Default)]
pub struct Tally {
    /// The lines that are not empty.
    pub lines: u64,
    /// The requests that were judged, and those of people.
    pub parsed: u64,
    /// The requests of people.
    pub people: u64,
    /// The lines that came more than the window too late. They are judged at the time of the line
    /// before.
    pub late: u64,
    /// The time of the first and of the last request.
    pub span: Option<(Timestamp, Timestamp)>,
    pub(super) crawlers: HashMap<CrawlerKey, Crawler>,
    pub(super) rules: HashMap<RuleKey, u64>,
    pub(super) paths: HashMap<PathKey, u64>,
    pub(super) days: BTreeMap<i64, Day>,
    pub(super) malformed: BTreeMap<&'static str, Malformed>,
    sites: Vec<String>,
    declared: usize,
}

/// Lines that could not be judged, for one reason.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Malformed {
    pub(super) count: u64,
    pub(super) examples: Vec<Example>,
}

/// A line that could not be judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Example {
    pub(super) file: String,
    pub(super) line: u64,
    pub(super) text: String,
}

/// One client name at one site.
#[derive(Clone, Debug, Default)]
pub(super) struct Crawler {
    pub(super) purpose: &'static str,
    pub(super) class: &'static str,
    pub(super) requests: u64,
    /// By [`Verdict`], without those that were not judged.
    pub(super) allow: u64,
    pub(super) grace: u64,
    pub(super) forms: u64,
    pub(super) limited: u64,
    pub(super) log: u64,
    pub(super) throttle: u64,
    pub(super) block: u64,
    pub(super) fetches: u64,
    pub(super) confirmed: u64,
    pub(super) contradicted: u64,
    pub(super) span: Option<(Timestamp, Timestamp)>,
    /// The first and the last fetch of robots.txt.
    pub(super) read: Option<(Timestamp, Timestamp)>,
}

/// A client name, or its impostors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Client<'a> {
    /// The product token; empty for none.
    pub name: &'a str,
    /// Who the requests count for.
    pub claimant: Claimant,
}

/// One day (UTC).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Day {
    pub(super) requests: u64,
    pub(super) violations: u64,
    pub(super) people: u64,
}

#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct CrawlerKey {
    pub(super) site: usize,
    pub(super) claimant: Claimant,
    pub(super) name: Box<str>,
}

#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct RuleKey {
    pub(super) site: usize,
    pub(super) line: u32,
    pub(super) directive: Box<str>,
    pub(super) pattern: Box<str>,
    /// The reason of a violation without a rule.
    pub(super) reason: Box<str>,
}

#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct PathKey {
    pub(super) site: usize,
    pub(super) path: Box<[u8]>,
}

/// Keys by borrowed values. Tuples and structures hash their parts alike.
#[derive(Hash)]
struct CrawlerRef<'a>(usize, Claimant, &'a str);
#[derive(Hash)]
struct RuleRef<'a>(usize, u32, &'a str, &'a str, &'a str);
#[derive(Hash)]
struct PathRef<'a>(usize, &'a [u8]);

impl Equivalent<CrawlerKey> for CrawlerRef<'_> {
    fn equivalent(&self, key: &CrawlerKey) -> bool {
        self.0 == key.site && self.1 == key.claimant && *self.2 == *key.name
    }
}

impl Equivalent<RuleKey> for RuleRef<'_> {
    fn equivalent(&self, key: &RuleKey) -> bool {
        let own = (self.0, self.1, self.2, self.3, self.4);
        own == (key.site, key.line, &*key.directive, &*key.pattern, &*key.reason)
    }
}

impl Equivalent<PathKey> for PathRef<'_> {
    fn equivalent(&self, key: &PathKey) -> bool {
        self.0 == key.site && *self.1 == *key.path
    }
}

impl From<&CrawlerRef<'_>> for CrawlerKey {
    fn from(key: &CrawlerRef<'_>) -> Self {
        Self { site: key.0, claimant: key.1, name: key.2.into() }
    }
}

impl From<&RuleRef<'_>> for RuleKey {
    fn from(&RuleRef(site, line, directive, pattern, reason): &RuleRef<'_>) -> Self {
        let (directive, pattern) = (directive.into(), pattern.into());
        Self { site, line, directive, pattern, reason: reason.into() }
    }
}

impl From<&PathRef<'_>> for PathKey {
    fn from(key: &PathRef<'_>) -> Self {
        Self { site: key.0, path: key.1.into() }
    }
}

impl Tally {
    /// No counts, for sites with these names.
    pub(super) fn of(sites: Vec<String>) -> Self {
        Self { sites, ..Self::default() }
    }

    /// Adds a request.
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

    /// Adds a request of a person.
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
        let claimant = Claimant::of(counted.outcome.as_str());
        let name = CrawlerRef(site, claimant, key.product_token);
        let other = CrawlerRef(site, claimant, OTHER);
        let is_full = key.is_declared && self.declared >= MOST_NAMES;
        let crawler = entry(&mut self.crawlers, &name, &other, is_full);
        if crawler.requests == 0 && key.is_declared {
            self.declared += 1;
        }
        if crawler.requests == 0 || crawler.purpose.is_empty() {
            (crawler.purpose, crawler.class) = (purpose(key.purpose), key.class);
        }
        crawler.requests += 1;
        match verdict {
            Verdict::NotJudged | Verdict::Allow => crawler.allow += 1,
            Verdict::Grace => crawler.grace += 1,
            Verdict::Form => crawler.forms += 1,
            Verdict::Limit => crawler.limited += 1,
            Verdict::Log => crawler.log += 1,
            Verdict::Throttle => crawler.throttle += 1,
            Verdict::Block => crawler.block += 1,
        }
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
        // The reason is that of a violation without a rule.
        let reason = if key.directive.is_empty() { key.reason } else { "" };
        let rule = RuleRef(site, key.line, key.directive, key.pattern, reason);
        *entry(&mut self.rules, &rule, &rule, false) += 1;
        let path = target.split(|octet| *octet == b'?').next().unwrap_or_default();
        let path = PathRef(site, path.get(..Text::FIELD_LIMIT).unwrap_or(path));
        let is_full = self.paths.len() >= MOST_PATHS;
        *entry(&mut self.paths, &path, &PathRef(site, OTHER.as_bytes()), is_full) += 1;
    }

    /// Adds the lines of a batch and its malformed ones.
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
        let malformed = self.malformed.entry(code).or_default();
        malformed.count += count;
        if malformed.examples.len() < EXAMPLES {
            malformed.examples.push(Example { file: log.to_owned(), line, text: text() });
        }
    }

    /// The name of a site.
    pub(super) fn site(&self, number: usize) -> &str {
        self.sites.get(number).map_or("", String::as_str)
    }

    /// Client names, most violations first, then most requests: site, name, counts.
    pub(super) fn crawlers(&self) -> Vec<(&str, Client<'_>, &Crawler)> {
        let rows = self.crawlers.iter().map(|(CrawlerKey { site, claimant, name }, one)| {
            (self.site(*site), Client { name, claimant: *claimant }, one)
        });
        let mut rows: Vec<_> = rows.collect();
        rows.sort_by(|(site, client, one), (other_site, other_client, other)| {
            let counts = (other.violations(), other.requests);
            counts
                .cmp(&(one.violations(), one.requests))
                .then((site, client).cmp(&(other_site, other_client)))
        });
        rows
    }

    /// Rules with violations, most first.
    pub(super) fn rules(&self) -> Vec<(&str, &RuleKey, u64)> {
        let rows = self.rules.iter();
        let mut rows: Vec<_> =
            rows.map(|(key, count)| (self.site(key.site), key, *count)).collect();
        rows.sort_by(|(site, rule, count), (other_site, other_rule, other)| {
            let place = (site, rule.line, &rule.pattern);
            other.cmp(count).then(place.cmp(&(other_site, other_rule.line, &other_rule.pattern)))
        });
        rows
    }

    /// Paths with violations, most first.
    pub(super) fn paths(&self) -> Vec<(&str, &[u8], u64)> {
        let rows = self.paths.iter();
        let mut rows: Vec<_> =
            rows.map(|(key, count)| (self.site(key.site), &*key.path, *count)).collect();
        rows.sort_by(|(site, path, count), (other_site, other_path, other)| {
            other.cmp(count).then((site, path).cmp(&(other_site, other_path)))
        });
        rows
    }

    /// Whether the requests were of more than one site.
    pub(super) fn has_sites(&self) -> bool {
        let mut sites = self.crawlers.keys().map(|key| key.site);
        let first = sites.next();
        sites.any(|site| Some(site) != first)
    }

    /// The lines that could not be judged.
    pub fn malformed(&self) -> u64 {
        self.malformed.values().map(|one| one.count).sum()
    }

    /// The requests of crawlers and other programs.
    pub(super) fn requests(&self) -> u64 {
        self.days.values().map(|day| day.requests).sum()
    }

    /// The requests of crawlers for search engines.
    pub(super) fn search(&self) -> u64 {
        let is_search = |(key, one): &(&CrawlerKey, &Crawler)| {
            key.claimant == Claimant::Crawler && one.purpose == Purpose::Search.as_str()
        };
        self.crawlers.iter().filter(is_search).map(|(_, one)| one.requests).sum()
    }

    /// The violations.
    pub fn violations(&self) -> u64 {
        self.days.values().map(|day| day.violations).sum()
    }
}

impl Crawler {
    pub(super) const fn violations(&self) -> u64 {
        self.log + self.throttle + self.block
    }
}

/// The counts of a key, which is copied only when it is new. If the table is full, a new key is counted
/// under `other`.
fn entry<'m, K, Q, V>(map: &'m mut HashMap<K, V>, key: &Q, other: &Q, is_full: bool) -> &'m mut V
where
    K: Hash + Eq + for<'q> From<&'q Q>,
    Q: Hash + Equivalent<K>,
    V: Default,
{
    let key = if is_full && !map.contains_key(key) { other } else { key };
    match map.entry_ref(key) {
        EntryRef::Occupied(entry) => entry.into_mut(),
        EntryRef::Vacant(entry) => entry.insert_with_key(K::from(key), V::default()),
    }
}

/// The word of a purpose, which lives as long as the program.
fn purpose(word: &str) -> &'static str {
    let purposes = Purpose::ALL.iter();
    purposes.map(|purpose| purpose.as_str()).find(|one| *one == word).unwrap_or_default()
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
