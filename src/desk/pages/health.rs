//! The state of the program: policy, records, evidence and origins, and what is wrong with each; a test event
//! to each receiver of alerts.

use std::{sync::Arc, time::Duration};

use askama::Template;
use axum::{extract::State, http::StatusCode};
use jiff::{SignedDuration, Timestamp};
use tokio::{sync::Mutex, time::timeout};

use super::{
    frame::{Answer, live, notice, work},
    link, words,
};
use crate::{
    base::{diagnostic::Severity, escape},
    clients::{
        conduct::Load,
        evidence::{Sources, Verifier},
    },
    desk::admin::{Live, View},
    formats::robots::OriginFile,
    outside::alerts::{self, Receiver},
    review::report::number::{self, grouped},
    rules::{crawlers::Evidence, enforce, policy::Source},
    state::publication::{ServedSite, Snapshot},
};

/// A failure of an origin is of late for this long.
const LATELY: SignedDuration = SignedDuration::from_mins(5);

/// The state; as a template, what is wrong, each in a sentence that names the repair.
#[derive(Template)]
#[template(path = "troubles.html", config = "src/desk/pages/askama.toml")]
pub(super) struct Health<'l> {
    pub(super) live: &'l Live,
    pub(super) published: Arc<Snapshot>,
    pub(super) state: alerts::State,
    now: Timestamp,
}

impl<'l> Health<'l> {
    pub(super) fn of(live: &'l Live, now: Timestamp) -> Self {
        let published = live.handles.published.load_full();
        Self { live, published, state: live.handles.state(), now }
    }

    pub(super) fn troubles(&self) -> String {
        let written = self.render();
        written.inspect_err(|error| tracing::error!(%error, "page not written")).unwrap_or_default()
    }

    pub(super) fn last_read(&self) -> String {
        let read = Timestamp::from_second(self.live.handles.metrics.policy_read());
        let read = read.ok().filter(|at| at.as_second() > 0);
        read.map_or_else(|| "-".to_owned(), words::second)
    }

    pub(super) fn lost_history(&self) -> u64 {
        let (sink, lost) = (&self.live.handles.sink, self.live.handles.sink.lost());
        let history = [lost.editions, lost.fetches, lost.hosts, lost.clock_leaps, lost.quarantine];
        history.iter().sum::<u64>() + sink.lost_requests()
    }

    /// What is at the origins of sites where crawlers make room for people.
    pub(super) fn people_first(&self) -> Vec<(&str, Load)> {
        let loads = self.sites().filter_map(|(site, served)| {
            let rules = site.enforcement.people_first.as_ref()?;
            Some((site.name.as_str(), served.conduct.admission.as_ref()?.load(rules)))
        });
        loads.collect()
    }

    pub(super) fn sites(&self) -> impl Iterator<Item = (&enforce::Site, &ServedSite)> {
        let published = &self.published;
        (0..published.rulebook.sites().len()).filter_map(|number| published.site(number))
    }

    fn sources(&self) -> Vec<Sources> {
        self.published.verifier.as_deref().map(Verifier::sources).unwrap_or_default()
    }

    /// Several sources of one kind of evidence: `address lists`.
    pub(super) fn kinds(sources: &Sources) -> &'static str {
        kind(sources.evidence).1
    }

    /// `1 key directory`, `2 key directories`.
    fn counted(sources: &Sources) -> String {
        let (one, several) = kind(sources.evidence);
        format!("{} {}", grouped(sources.all as u64), if sources.all == 1 { one } else { several })
    }

    pub(super) fn fetched(sources: &Sources) -> String {
        let without_copy = sources.failing.iter().filter(|(_, one)| !one.has_copy).count();
        match (sources.all, sources.failing.len(), sources.is_fetching) {
            (0, ..) => "none".to_owned(),
            (all, 0, true) => format!("{all}, being fetched"),
            (all, 0, false) => format!("{all}, all fetched"),
            (all, failing, _) => {
                format!("{failing} of {all} failed the last time, {without_copy} without a copy")
            }
        }
    }

    /// The outcomes of look-ups of names.
    pub(super) fn lookups(&self) -> String {
        let lookups = self.live.handles.metrics.lookups();
        let lookups = lookups.iter().filter(|(_, number)| *number > 0);
        let lookups = lookups.map(|(outcome, number)| format!("{} {outcome}", grouped(*number)));
        let lookups = lookups.collect::<Vec<_>>().join(", ");
        if lookups.is_empty() { "none looked up yet".to_owned() } else { lookups }
    }

    /// The time of a failure of late.
    fn recent_failure(&self, served: &ServedSite) -> Option<String> {
        let mut servers = served.servers.all.iter();
        let has_address = servers.any(|server| !server.addresses.known().is_empty());
        let last = served.last_origin_failure()?;
        (has_address && self.now.duration_since(last) < LATELY).then(|| words::second(last))
    }

    /// The errors in the robots.txt of an origin.
    fn errors(&self, site: &enforce::Site) -> Vec<String> {
        let findings = self.live.handles.origin_reports.of(&site.name).findings;
        let findings = findings.iter().chain(&site.finding);
        let errors = findings.filter(|one| one.severity == Severity::Error);
        errors.map(|one| escape::shown(&one.message)).collect()
    }

    pub(super) fn failures(&self, site: &enforce::Site) -> u64 {
        self.live.handles.metrics.origin_failures(&site.name).get()
    }

    pub(super) fn origin(served: &ServedSite) -> String {
        let (servers, urls) = (served.servers.all.as_slice(), served.backend.urls());
        let up = servers.iter().filter(|server| !server.is_down()).count();
        if servers.len() > 1 { format!("{urls}; {up} of {} up", servers.len()) } else { urls }
    }

    pub(super) fn address(served: &ServedSite) -> String {
        let servers = served.servers.all.iter();
        let addresses: Vec<_> =
            servers.flat_map(|server| server.addresses.known().to_vec()).collect();
        match addresses.as_slice() {
            [] => "none".to_owned(),
            [only] => only.to_string(),
            [first, more @ ..] => format!("{first} and {} more", more.len()),
        }
    }

    /// The state of the origin's file.
    pub(super) fn robots_txt(&self, site: &enforce::Site) -> &'static str {
        match (site.source, &site.origin_file) {
            (Source::Policy, _) => "of the policy",
            _ if self.state.quarantined.iter().any(|(held, _)| *held == site.name) => {
                "in quarantine"
            }
            _ if site.edition().is_provisional() => "not fetched yet",
            (Source::Merge, OriginFile::Unknown) => "not fetched yet",
            (Source::Merge, OriginFile::Absent) => "the origin has none",
            (Source::Origin | Source::Merge, _) => "fetched",
        }
    }
}

/// A source of one kind of evidence, and several of them.
fn kind(evidence: &str) -> (&'static str, &'static str) {
    match evidence {
        one if one == Evidence::IpRange.as_str() => ("address list", "address lists"),
        _ => ("key directory", "key directories"),
    }
}

/// The time for an answer. The browser's connection lasts no more than a minute.
const MOST: Duration = Duration::from_secs(30);

/// One test runs at a time.
static ONE: Mutex<()> = Mutex::const_new(());

/// Sends the event, and shows what `beadle alerts test` prints.
pub(super) async fn test(State(view): State<View>) -> Answer {
    let unsent = |text: &str| Ok(notice(&view, StatusCode::CONFLICT, "Nothing sent", text));
    let Ok(turn) = ONE.try_lock() else {
        return unsent("Another test waits for its answers. Try again in half a minute.");
    };
    let published = live(&view)?.handles.published.load_full();
    let receivers = match work(move || Receiver::of(&published.policy.policy)).await? {
        Ok(receivers) if receivers.is_empty() => return unsent("The policy has no alerts."),
        Ok(receivers) => receivers,
        Err(finding) => return unsent(&format!("{finding:#}")),
    };
    tracing::info!(receivers = receivers.len(), "test of the alerts from the desk");
    let tests: Vec<_> = receivers
        .into_iter()
        .map(|one| {
            let late = format!("{}: no answer within {} s", one.alert.shown(), MOST.as_secs());
            let test =
                async move { timeout(MOST, one.test()).await.map(|tested| tested.to_string()) };
            (tokio::spawn(test), late)
        })
        .collect();
    // The turn lasts as long as the tests, also for a browser that left.
    let answers = tokio::spawn(async move {
        let _turn = turn;
        let mut answers = Vec::new();
        for (test, late) in tests {
            answers.push(test.await.ok().and_then(Result::ok).unwrap_or(late));
        }
        answers.join("\n")
    });
    let answers = answers.await.unwrap_or_default();
    Ok(notice(&view, StatusCode::OK, "Test event", &answers))
}
