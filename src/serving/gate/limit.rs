//! Requests beyond a limit of the operator, and those that make room for people.

use crate::{
    clients::conduct::{self, Limited, Load, Party, PutOff, Seat, Stay, Weighed},
    rules::{
        enforce::{Action, Decision, Reason},
        policy::PaceMode,
    },
};

use super::{Gate, answer::Answer, page, visit::Visit};

const fn refuses(action: Action) -> bool {
    matches!(action, Action::Throttle | Action::Block)
}

impl Gate {
    /// Weighs a decision, and counts the request against the limits of the operator if it would go on
    /// to the origin. One beyond a limit is neither obedience nor a violation. But a violation that
    /// is only logged stays one. Returns its places at the origin, too, and the limit that refuses it.
    pub(super) fn weigh<'a>(
        &self,
        visit: &'a Visit<'_>,
        decision: Decision<'a>,
    ) -> (Weighed<'a>, Vec<Seat>, Option<Limited<'a>>) {
        let before = (!refuses(decision.action)).then(|| self.limit(visit));
        if let Some((_, Some(limited))) = before
            && decision.action == Action::Pass
        {
            let decision = refused(decision, Reason::Limit);
            let weighed = Weighed { decision, early: None, hop: None };
            return (weighed, Vec::new(), Some(limited));
        }
        let mut weighed = self.conduct.weigh(visit.sighting(), decision, visit, &self.metrics);
        if refuses(weighed.decision.action) {
            return (weighed, Vec::new(), None);
        }
        // The breaker may let pass what the rules refuse.
        let (seats, limited) = before.unwrap_or_else(|| self.limit(visit));
        if limited.is_some() {
            weighed.hop = None;
            weighed.decision = refused(weighed.decision, Reason::Limit);
        }
        (weighed, seats, limited)
    }

    /// Counts a request against the limits of the operator. Returns its places at the origin, and the
    /// limit that it is beyond, if that refuses it.
    fn limit<'a>(&self, visit: &'a Visit<'_>) -> (Vec<Seat>, Option<Limited<'a>>) {
        let limits = visit.limits();
        if limits.is_empty() {
            return (Vec::new(), None);
        }
        let (address, now) = (visit.client.address, visit.moment().steady);
        let (seats, limited) = self.conduct.limit(visit.site, address, &limits, now);
        let Some(limited) = limited else { return (seats, None) };
        let label = conduct::label(limited.applied.name);
        let mode = limited.applied.limit.mode;
        self.metrics.limited(&visit.site.name, label, mode.as_str());
        if mode == PaceMode::Log {
            return (seats, None);
        }
        (Vec::new(), Some(limited))
    }

    /// Admits a request to the origin, where people come first. Returns its stay there, or the answer
    /// for a crawler that has to come back later.
    pub(super) fn admit(
        &self,
        visit: &Visit<'_>,
        weighed: &mut Weighed<'_>,
    ) -> Result<Option<Stay>, Answer> {
        let conduct = &visit.served.conduct;
        let (Some(rules), Some(admission)) =
            (&visit.site.enforcement.people_first, &conduct.admission)
        else {
            return Ok(None);
        };
        if visit.target.is_robots_txt() {
            return Ok(None);
        }
        let party = match visit.rank(&rules.order) {
            Some(rank) => Party::Crawler { rank },
            None => Party::Person,
        };
        let request = (visit.request.method.as_str(), visit.request.target);
        match admission.admit(rules, party, request, visit.moment().steady) {
            Ok(stay) => Ok(Some(stay)),
            Err(put_off) => {
                self.report(visit, weighed, put_off);
                weighed.hop = None;
                weighed.decision = refused(weighed.decision, Reason::PeopleFirst);
                Err(Answer::later(rules.status, page::later(visit)))
            }
        }
    }

    fn report(&self, visit: &Visit<'_>, weighed: &Weighed<'_>, put_off: PutOff) {
        let site = &visit.site.name;
        let label = conduct::label(visit.counted_name(&weighed.decision));
        self.metrics.put_off(site, label);
        if put_off.is_first {
            let Load { limit, people, crawlers, .. } = put_off.load;
            tracing::info!(
                code = "people_first.began",
                site,
                product_token = label,
                limit,
                people,
                crawlers,
                "crawlers make room for people"
            );
        }
    }
}

/// The decision about a request that is refused for another reason than a rule. A violation keeps its
/// own reason.
fn refused<'a>(decision: Decision<'a>, reason: Reason) -> Decision<'a> {
    let reason = if decision.action == Action::Pass { reason } else { decision.reason };
    Decision { action: Action::Throttle, reason, ..decision }
}
