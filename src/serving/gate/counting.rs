//! A decision in the counts by hour and in the metrics.

use crate::{
    clients::conduct,
    rules::{
        crawlers::Outcome,
        enforce::{Decision, Reason},
    },
};

use super::{Gate, series, visit::Visit};

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
            return self.handles.sink.tally.count(now, &series::of_passed(visit, decision));
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
