//! The conditions of events: the state of the program goes in, the events that begin come out. Pure.
//!
//! A condition that holds is one event, until it has ended and begins again. An event about the same
//! thing is not repeated within [`QUIET`], so that a breaker that opens every minute does not wake
//! anyone every minute. If the condition still holds then, the event follows.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    time::Duration,
};

use jiff::Timestamp;
use serde_json::{Value, json};

use super::event::Event;
use crate::{
    advice::fronts,
    outside::tls,
    rules::policy::{Alert, AlertKind},
};

/// The least time between two events about the same thing.
const QUIET: Duration = Duration::from_secs(600);
const MOST_NAMED: usize = 10;

const LOST: &str = "lost";

/// Looks at the state for one receiver.
#[derive(Debug)]
pub struct Watcher {
    on: Vec<AlertKind>,
    violations_per_minute: u64,
    impostors_per_minute: u64,
    offenders: Offenders,
    violations: Rates,
    impostors: Rates,
    /// The records that were lost when the last event told of it.
    lost: u64,
    /// Whether the watcher has not looked yet. What was counted before its first look is no event.
    is_new: bool,
    /// The conditions that an event told of, by kind and subject.
    told: BTreeMap<(&'static str, String), Told>,
}

#[derive(Debug)]
struct Told {
    at: Duration,
    /// Whether the condition has ended since then.
    is_over: bool,
}

impl Watcher {
    /// A watcher for a receiver. `known` are the offenders of earlier runs.
    pub fn new(alert: &Alert, known: BTreeSet<Offender>) -> Self {
        Self {
            on: alert.on.clone(),
            violations_per_minute: alert.violations_per_minute,
            impostors_per_minute: alert.impostors_per_minute,
            offenders: Offenders { known, untold: BTreeSet::new() },
            violations: Rates::default(),
            impostors: Rates::default(),
            lost: 0,
            is_new: true,
            told: BTreeMap::new(),
        }
    }

    /// The events that begin. `now` is for the events, `since_start` never goes back.
    pub fn look(&mut self, state: &State, now: Timestamp, since_start: Duration) -> Vec<Event> {
        if std::mem::take(&mut self.is_new) {
            self.lost = state.lost;
            self.note_offenders(state);
            self.offenders.untold.clear();
        }
        let mut events = of_parts(state, now);
        events.extend(self.of_lost_records(state, now));
        events.extend(self.of_rates(state, now, since_start));
        events.extend(self.of_offenders(state, now));
        events.retain(|one| self.on.iter().any(|kind| kind.as_str() == one.kind));
        let key = |event: &Event| (event.kind, event.subject.clone());
        let holding: BTreeSet<(&'static str, String)> = events.iter().map(key).collect();
        self.told.retain(|key, told| {
            told.is_over |= !holding.contains(key);
            !told.is_over || since_start.saturating_sub(told.at) < QUIET
        });
        events.retain(|event| {
            // What is told of and over is quiet yet, or it would be forgotten.
            if self.told.contains_key(&key(event)) {
                return false;
            }
            // News are over when they are told. More of them wait for the next event.
            let are_offenders = event.kind == AlertKind::NewOffender.as_str();
            let are_losses =
                event.kind == AlertKind::StoreTrouble.as_str() && event.subject == LOST;
            if are_offenders {
                self.offenders.untold.clear();
            }
            if are_losses {
                self.lost = state.lost;
            }
            let is_over = are_offenders || are_losses;
            self.told.insert(key(event), Told { at: since_start, is_over });
            true
        });
        events
    }

    /// Notes the new offenders of an event of another node. Whether an event has told of all of them; else
    /// one does at the next look.
    pub fn has_told(&mut self, event: &Event) -> bool {
        let named = event.details.get("offenders").and_then(Value::as_array);
        for one in named.into_iter().flatten() {
            let text = |name| one.get(name).and_then(Value::as_str).unwrap_or_default();
            self.offenders.note(text("site"), text("product_token"));
        }
        self.offenders.untold.is_empty()
    }

    fn of_lost_records(&self, state: &State, now: Timestamp) -> Option<Event> {
        let new = state.lost.saturating_sub(self.lost);
        let summary = format!("{new} records of violations were lost");
        let details = json!({ "lost": new, "lost_since_start": state.lost });
        (new > 0).then(|| Event::new(AlertKind::StoreTrouble, LOST, now, summary, details))
    }

    fn of_rates(&mut self, state: &State, now: Timestamp, since_start: Duration) -> Vec<Event> {
        let counts = |count: fn(&Tally) -> u64| -> Counts {
            let mut counts = Counts::new();
            for tally in &state.tallies {
                let name = (tally.product_token.clone(), tally.is_impostor);
                let key = (tally.site.clone(), name);
                *counts.entry(key).or_default() += count(tally);
            }
            counts
        };
        let mut violations = self.violations.add(since_start, counts(|tally| tally.violations));
        // Their counts go on, so that the end of the quiet is no burst.
        for tally in state.tallies.iter().filter(|tally| tally.is_quiet) {
            let name = (tally.product_token.clone(), tally.is_impostor);
            if let Some(crawlers) = violations.get_mut(&tally.site) {
                crawlers.retain(|(one, _)| *one != name);
            }
        }
        let impostors = self.impostors.add(
            since_start,
            counts(|tally| match tally.is_impostor {
                true => tally.requests,
                false => 0,
            }),
        );
        let rate = |kind, most, (site, crawlers): (&String, &Vec<(Name, u64)>), what| {
            let all: u64 = crawlers.iter().map(|(_, count)| count).sum();
            (all > most).then(|| {
                let named: Vec<Value> = crawlers.iter().take(MOST_NAMED).map(named_count).collect();
                let summary = format!("{site}: {all} {what} in one minute");
                let details = json!({
                    "site": site, "per_minute": all, "threshold": most, "crawlers": named,
                });
                Event::new(kind, site, now, summary, details)
            })
        };
        let (kind, most) = (AlertKind::ViolationRate, self.violations_per_minute);
        let above = violations.iter().filter_map(|one| rate(kind, most, one, "violations"));
        let mut events: Vec<Event> = above.collect();
        let (kind, most) = (AlertKind::Impostors, self.impostors_per_minute);
        let what = "requests with a crawler's name that is not theirs";
        events.extend(impostors.iter().filter_map(|one| rate(kind, most, one, what)));
        events
    }

    fn note_offenders(&mut self, state: &State) {
        // An impostor's violations are not those of the crawler.
        for tally in state.tallies.iter().filter(|one| one.violations > 0 && !one.is_impostor) {
            match tally.is_quiet {
                true => self.offenders.know(&tally.site, &tally.product_token),
                false => self.offenders.note(&tally.site, &tally.product_token),
            }
        }
    }

    fn of_offenders(&mut self, state: &State, now: Timestamp) -> Option<Event> {
        self.note_offenders(state);
        let news = &self.offenders.untold;
        let named: Vec<Value> = news
            .iter()
            .take(MOST_NAMED)
            .map(|(site, token)| json!({ "site": site, "product_token": token }))
            .collect();
        let summary = match news.first()? {
            (site, token) if news.len() == 1 => {
                format!("{site}: {token} violates the rules for the first time")
            }
            _ => format!("{} crawlers violate the rules for the first time", news.len()),
        };
        let details = json!({ "offenders": named, "count": news.len() });
        Some(Event::new(AlertKind::NewOffender, "", now, summary, details))
    }
}

/// A crawler of a rate. Impostors have their standing.
fn named_count(((product_token, is_impostor), count): &(Name, u64)) -> Value {
    match is_impostor {
        true => json!({
            "product_token": product_token, "count": count, "standing": "contradicted",
        }),
        false => json!({ "product_token": product_token, "count": count }),
    }
}

fn of_parts(state: &State, now: Timestamp) -> Vec<Event> {
    let mut events = Vec::new();
    let mut add = |kind, subject: &str, summary: String, details| {
        events.push(Event::new(kind, subject, now, summary, details));
    };
    if let Some(refused) = &state.refused {
        let summary = "a change of the policy was refused; the last good one stays in force";
        let details = json!({ "findings": refused.findings, "at": format!("{:.3}", refused.at) });
        let subject = refused.findings.join("\n");
        add(AlertKind::ReloadRefused, &subject, summary.to_owned(), details);
    }
    for (site, reason) in &state.quarantined {
        let summary = format!(
            "{site}: the origin's robots.txt is in quarantine, because {reason}; the last good file \
             stays in force until 'beadle robots accept'"
        );
        let details = json!({ "site": site, "reason": reason });
        add(AlertKind::RobotsQuarantined, site, summary, details);
    }
    for site in &state.open_breakers {
        let summary = format!("{site}: the breaker is open, nothing is refused");
        add(AlertKind::BreakerOpen, site, summary, json!({ "site": site }));
    }
    for site in &state.crawlers_put_off {
        let summary = format!("{site}: the origin is busy, crawlers make room for people");
        add(AlertKind::CrawlersPutOff, site, summary, json!({ "site": site }));
    }
    for (destination, reason) in &state.troubles {
        let summary = format!("violations are not written to the {destination}");
        let details = json!({ "destination": destination, "reason": reason });
        add(AlertKind::StoreTrouble, destination, summary, details);
    }
    for certificate in &state.certificates {
        let Some(warning) = certificate.warning(now) else { continue };
        let (file, ends) = (&certificate.file, format!("{:.0}", certificate.ends));
        let details = json!({ "file": file, "ends": ends });
        add(AlertKind::CertificateExpiring, file, warning, details);
    }
    for tls::Trouble { file, reason } in &state.not_renewed {
        let summary = format!("certificate {file} is not renewed: {reason}");
        let details = json!({ "file": file, "reason": reason });
        add(AlertKind::CertificateNotRenewed, file, summary, details);
    }
    if !state.pending.is_empty() {
        let names: Vec<&str> = state.pending.iter().map(String::as_str).take(MOST_NAMED).collect();
        let summary = format!(
            "{} crawlers of followed lists are recorded and never refused until 'beadle crawlers \
             accept'",
            state.pending.len()
        );
        let details = json!({ "crawlers": names, "count": state.pending.len() });
        add(AlertKind::NewCrawlers, &state.pending.join(" "), summary, details);
    }
    for ListTrouble { url, reason, .. } in state.lists.iter().filter(|one| one.is_refused) {
        let summary = format!("the list of crawlers at {url} is refused: {reason}");
        let details = json!({ "list": url, "reason": reason });
        add(AlertKind::ListRefused, url, summary, details);
    }
    for trouble in &state.fronts {
        let fronts::Trouble { site, target, askers, finding } = trouble;
        let fronts::Finding { kind, status, server, added, removed, .. } = finding;
        let (cause, repair) = (trouble.cause(), trouble.repair());
        let details = json!({
            "site": site, "page": target, "asked_as": askers, "status": status, "server": server,
            "added": added, "removed": removed, "cause": cause, "repair": repair,
        });
        add(*kind, &format!("{site} {target}"), trouble.to_string(), details);
    }
    events
}

/// A crawler that violated the rules of a site.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Offender {
    pub(crate) site: String,
    pub(crate) product_token: String,
}

impl Offender {
    /// An offender by the names of the site and the crawler, in any case.
    pub fn new(site: &str, product_token: &str) -> Self {
        Self { site: site.to_ascii_lowercase(), product_token: product_token.to_ascii_lowercase() }
    }
}

/// The known offenders, and the new ones that no event has told of.
#[derive(Debug, Default)]
struct Offenders {
    known: BTreeSet<Offender>,
    /// By site and product token as written.
    untold: BTreeSet<(String, String)>,
}

impl Offenders {
    fn note(&mut self, site: &str, product_token: &str) {
        if self.known.insert(Offender::new(site, product_token)) {
            self.untold.insert((site.to_owned(), product_token.to_owned()));
        }
    }

    fn know(&mut self, site: &str, product_token: &str) {
        self.known.insert(Offender::new(site, product_token));
        self.untold.remove(&(site.to_owned(), product_token.to_owned()));
    }
}

const WINDOW: Duration = Duration::from_secs(60);

/// A crawler by its product token, and whether these are its impostors.
pub(super) type Name = (String, bool);

/// Counts since the start, by site and name.
pub(super) type Counts = BTreeMap<(String, Name), u64>;

#[derive(Debug, Default)]
pub(super) struct Rates {
    samples: VecDeque<(Duration, Counts)>,
}

impl Rates {
    /// Adds the counts at a time since the start, and returns what came in the last minute: for each
    /// site the names, most first. The first counts are where the measurement begins.
    pub(super) fn add(
        &mut self,
        since_start: Duration,
        counts: Counts,
    ) -> BTreeMap<String, Vec<(Name, u64)>> {
        // The newest sample that is older than the window stays: the difference to it is the rate.
        while self.samples.get(1).is_some_and(|(at, _)| since_start.saturating_sub(*at) >= WINDOW) {
            self.samples.pop_front();
        }
        let mut sites: BTreeMap<String, Vec<(Name, u64)>> = BTreeMap::new();
        let oldest = self.samples.front().map_or(&counts, |(_, counts)| counts);
        for (key @ (site, name), count) in &counts {
            // A site that was removed and came back counts from zero.
            let before = oldest.get(key).copied().unwrap_or_default();
            let new = count.checked_sub(before).unwrap_or(*count);
            if new > 0 {
                sites.entry(site.clone()).or_default().push((name.clone(), new));
            }
        }
        self.samples.push_back((since_start, counts));
        sites.values_mut().for_each(|one| one.sort_by_key(|(_, count)| std::cmp::Reverse(*count)));
        sites
    }
}

/// The state of the program at one moment.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// The refusal of the policy file as it is now.
    pub refused: Option<Refusal>,
    /// The sites with a new robots.txt of the origin in quarantine, each with the reason.
    pub quarantined: Vec<(String, &'static str)>,
    pub(crate) open_breakers: Vec<String>,
    pub(crate) crawlers_put_off: Vec<String>,
    /// The destinations of records that are not written, `database` or `log`, each with the reason and its
    /// repair.
    pub troubles: Vec<(String, String)>,
    pub(crate) certificates: Vec<tls::Presented>,
    pub(crate) not_renewed: Vec<tls::Trouble>,
    pub(crate) lost: u64,
    /// What servers in front of Beadle do to its answers.
    pub(crate) fronts: Vec<fronts::Trouble>,
    /// What is wrong with the lists of crawlers that the policy follows.
    pub lists: Vec<ListTrouble>,
    /// The crawlers of these lists that the operator has not accepted.
    pub pending: Vec<String>,
    pub(crate) tallies: Vec<Tally>,
}

/// A refused change of the policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub(crate) at: Timestamp,
    pub(crate) findings: Vec<String>,
}

/// A list of crawlers whose last fetch changed nothing. The last good copy stays in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListTrouble {
    pub(crate) url: String,
    pub(crate) reason: String,
    /// Whether a list came that is refused. Otherwise none came.
    pub is_refused: bool,
}

/// The requests of one crawler at one site since the start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tally {
    pub(crate) site: String,
    /// The product token; names that nobody knows share one.
    pub product_token: String,
    pub(crate) is_impostor: bool,
    /// Whether the operator wants no alerts about it.
    pub is_quiet: bool,
    pub(crate) requests: u64,
    pub(crate) violations: u64,
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod rates_tests {
    use super::*;

    #[test]
    fn only_the_last_minute_counts() {
        let mut rates = Rates::default();
        let counts = |a: u64, b: u64| {
            let key = |token: &str| ("s".to_owned(), (token.to_owned(), false));
            Counts::from([(key("A"), a), (key("B"), b)])
        };
        for (second, counted, expected) in [
            (0, counts(5, 0), vec![]),
            (30, counts(5, 9), vec![("B", 9)]),
            (59, counts(6, 9), vec![("B", 9), ("A", 1)]),
            (61, counts(6, 9), vec![("B", 9), ("A", 1)]),
            (95, counts(6, 9), vec![("A", 1)]),
            (130, counts(6, 9), vec![]),
            (140, counts(2, 9), vec![("A", 2)]),
        ] {
            let found = rates.add(Duration::from_secs(second), counted);
            let found = found.get("s").cloned().unwrap_or_default();
            let expected: Vec<(Name, u64)> = expected
                .into_iter()
                .map(|(token, count)| ((token.to_owned(), false), count))
                .collect();
            assert_eq!(found, expected, "{second}");
        }
    }
}
