//! The series of a request in the counts by hour.

use crate::{
    records::tally::{ReadState, SeriesKey},
    rules::{
        crawlers::{Crawler, Name},
        enforce::{Action, Decision, Judgement, Reason},
    },
};

use super::{
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
