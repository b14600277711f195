//! The conditions of events: a state goes in, the events that begin come out. Pure.
//!
//! A condition that holds is one event, until it has ended and begins again. An event about the same
//! thing is not repeated within [`QUIET`], so that a breaker that opens every minute does not wake
//! anyone every minute. If the condition still holds then, the event follows.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    advice::fronts,
    outside::tls,
    rules::policy::{Alert, AlertKind},
};

use super::{
    event::Event,
    observation::{ListTrouble, State, Tally},
    offenders::{Offender, Offenders},
    rates::{Counts, Name, Rates},
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
    told: BTreeMap<(AlertKind, String), Told>,
}

#[derive(Debug)]
struct Told {
    at: Duration,
    /// Whether the condition has ended since then.
    is_over: bool,
}

struct Condition {
    kind: AlertKind,
    subject: String,
    summary: String,
    details: Value,
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
        let mut conditions = of_parts(state, now);
        conditions.extend(self.of_lost_records(state));
        conditions.extend(self.of_rates(state, since_start));
        conditions.extend(self.of_offenders(state));
        conditions.retain(|one| self.on.contains(&one.kind));
        let holding: BTreeSet<(AlertKind, &str)> =
            conditions.iter().map(|one| (one.kind, one.subject.as_str())).collect();
        self.told.retain(|(kind, subject), told| {
            told.is_over |= !holding.contains(&(*kind, subject.as_str()));
            !told.is_over || since_start.saturating_sub(told.at) < QUIET
        });
        let mut events = Vec::new();
        for Condition { kind, subject, summary, details } in conditions {
            let key = (kind, subject);
            // What is told of and over is quiet yet, or it would be forgotten.
            if self.told.contains_key(&key) {
                continue;
            }
            // News are over when they are told. More of them wait for the next event.
            let are_news = match (kind, key.1.as_str()) {
                (AlertKind::NewOffender, _) => {
                    self.offenders.untold.clear();
                    true
                }
                (AlertKind::StoreTrouble, LOST) => {
                    self.lost = state.lost;
                    true
                }
                _ => false,
            };
            self.told.insert(key.clone(), Told { at: since_start, is_over: are_news });
            events.push(Event::new(key, now, summary, details));
        }
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

    fn of_lost_records(&self, state: &State) -> Option<Condition> {
        let new = state.lost.saturating_sub(self.lost);
        (new > 0).then(|| Condition {
            kind: AlertKind::StoreTrouble,
            subject: LOST.to_owned(),
            summary: format!("{new} records of violations were lost"),
            details: json!({ "lost": new, "lost_since_start": state.lost }),
        })
    }

    fn of_rates(&mut self, state: &State, since_start: Duration) -> Vec<Condition> {
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
                Condition {
                    kind,
                    subject: site.clone(),
                    summary: format!("{site}: {all} {what} in one minute"),
                    details: json!({
                        "site": site, "per_minute": all, "threshold": most, "crawlers": named,
                    }),
                }
            })
        };
        let (kind, most) = (AlertKind::ViolationRate, self.violations_per_minute);
        let above = violations.iter().filter_map(|one| rate(kind, most, one, "violations"));
        let mut conditions: Vec<Condition> = above.collect();
        let (kind, most) = (AlertKind::Impostors, self.impostors_per_minute);
        let what = "requests with a crawler's name that is not theirs";
        conditions.extend(impostors.iter().filter_map(|one| rate(kind, most, one, what)));
        conditions
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

    fn of_offenders(&mut self, state: &State) -> Option<Condition> {
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
        Some(Condition {
            kind: AlertKind::NewOffender,
            subject: String::new(),
            summary,
            details: json!({ "offenders": named, "count": news.len() }),
        })
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

fn of_parts(state: &State, now: Timestamp) -> Vec<Condition> {
    let mut conditions = Vec::new();
    let mut add = |kind, subject: &str, summary: String, details| {
        conditions.push(Condition { kind, subject: subject.to_owned(), summary, details });
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
    conditions
}

#[cfg(test)]
mod tests;
