//! A request in the counts by hour and in the metrics.

use crate::{
    clients::conduct,
    records::tally::{ReadState, SeriesKey},
    rules::{
        crawlers::{Crawler, Name, Outcome},
        enforce::{Action, Decision, Judgement, Reason},
    },
};

use super::{
    Gate,
    record::{Broken, read_state},
    visit::Visit,
};

/// The series of a request that is no violation.
pub(super) fn of_passed<'a>(visit: &'a Visit<'_>, decision: &Decision<'a>) -> SeriesKey<'a> {
    let judgement = decision.judgement.as_ref();
    let name = match judgement {
        Some(judgement) => judgement.name,
        None => visit.claim.primary(),
    };
    let broken = judgement.map(|judgement| Broken::rule(visit.site, judgement));
    // What no edition decided is not counted by edition, but for the fetches of the file itself.
    let edition = match (&broken, decision.reason) {
        (None, reason) if reason != Reason::RobotsTxt => "",
        _ => visit.site.edition().id_text(),
    };
    SeriesKey {
        action: Action::Pass.as_str(),
        edition,
        line: broken.as_ref().and_then(|broken| broken.line).unwrap_or(0),
        directive: judgement
            .and_then(|judgement| judgement.rule)
            .map_or("", |rule| rule.directive.as_str()),
        pattern: broken.as_ref().map_or("", |broken| broken.pattern),
        ..of_decision(visit, decision, name)
    }
}

/// The series of a request beyond a limit of the operator. No rule of any edition is broken.
pub(super) fn of_limited<'a>(visit: &'a Visit<'_>, decision: &Decision<'a>) -> SeriesKey<'a> {
    of_decision(visit, decision, visit.counted_name(decision))
}

pub(super) fn of_violation<'a>(
    visit: &'a Visit<'_>,
    decision: &Decision<'a>,
    judgement: &Judgement<'a>,
    broken: &'a Broken<'_>,
) -> SeriesKey<'a> {
    let readings = judgement.name.map(|name| visit.readings(name, decision.standing.outcome));
    let last = readings.and_then(|readings| readings.last());
    SeriesKey {
        edition: &broken.edition,
        line: broken.line.unwrap_or(0),
        directive: &broken.directive,
        pattern: broken.pattern,
        read: Some(last.map_or(ReadState::Never, |last| read_state(visit.site, last))),
        ..of_decision(visit, decision, judgement.name)
    }
}

fn of_decision<'a>(
    visit: &'a Visit<'_>,
    decision: &Decision<'_>,
    name: Option<Name<'a>>,
) -> SeriesKey<'a> {
    SeriesKey {
        site: &visit.site.name,
        class: visit.claim.class().as_str(),
        product_token: name.map_or("", Name::as_str),
        is_declared: matches!(name, Some(Name::Declared(_))),
        purpose: name.and_then(Name::known).map_or("", |known: &Crawler| known.purpose().as_str()),
        standing: decision.standing.outcome.as_str(),
        verdict: decision.access.as_str(),
        action: decision.action.as_str(),
        reason: decision.reason.as_str(),
        edition: "",
        line: 0,
        directive: "",
        pattern: "",
        read: None,
    }
}

impl Gate {
    /// Counts the claim and the grace of a request.
    pub(super) fn count(&self, visit: &Visit<'_>, decision: &Decision<'_>) {
        let is_own = decision.standing.outcome != Outcome::Contradicted;
        if let (Reason::Grace, Some(judgement), true) =
            (decision.reason, &decision.judgement, is_own)
        {
            self.handles.metrics.grace(&visit.site.name, conduct::label(judgement.name));
        }
        if visit.claim.primary().is_some_and(|name| name.known().is_some()) {
            visit.served.counters.count_claim(decision.standing);
        }
    }

    /// Counts a request that is no violation, by hour.
    pub(super) fn count_passed(&self, visit: &Visit<'_>, decision: &Decision<'_>) {
        if !self.handles.sink.tally.keeps_rollups {
            return;
        }
        let (site, now) = (visit.site.name.as_str(), visit.now());
        if !visit.is_of_person(decision) {
            return self.handles.sink.tally.count(now, &of_passed(visit, decision));
        }
        self.handles.sink.tally.count_person(&visit.served.people, site, now);
        if let Some(operator) = visit.referrer() {
            self.handles.sink.tally.count_referral(now, site, operator);
        }
    }

    /// Counts a request by its name. Browsers have none.
    pub(super) fn count_crawler(&self, visit: &Visit<'_>, decision: &Decision<'_>) {
        if !visit.is_of_person(decision) {
            let label = conduct::label(visit.counted_name(decision));
            let counted = (decision.standing.outcome, decision.action);
            visit.served.count_crawler(&visit.site.name, label, counted, &self.handles.metrics);
        }
    }
}
