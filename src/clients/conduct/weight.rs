//! The weight of a decision: the conduct of the client and the site's breaker may change the
//! action.

use std::sync::OnceLock;

use crate::{
    base::metrics::{self, Metrics},
    rules::{
        crawlers::{Name, Outcome},
        enforce::{self, Action, AppliedPace, Decision, Knowledge, Moment, Reason, Site},
    },
};

use super::{
    collector::{Collector, Contacts, Fleet},
    key::{Key, Network},
    ledger::Ledger,
    limiter::Limiter,
    places::Seats,
    redirects::{self, Hop, Redirects},
    site::{Sighting, SiteConduct},
};

/// The metric label of a name; `None` is a client without one. Names outside the catalogue and the policy
/// share one label, so clients can't create time series without limit.
pub fn label(name: Option<Name<'_>>) -> &str {
    match name {
        None => metrics::NO_TOKEN,
        Some(Name::Declared(_)) => metrics::OTHER_TOKEN,
        Some(name) => name.as_str(),
    }
}

/// The conduct of all clients.
#[derive(Debug, Default)]
pub struct Conduct {
    /// The fetches of robots.txt.
    pub ledger: Ledger,
    pub(super) limiter: Limiter,
    redirects: Redirects,
    pub(super) seats: Seats,
    pub(super) collector: OnceLock<Collector>,
    pub(super) contacts: Contacts,
}

/// A request that comes sooner than its pace allows.
#[derive(Clone, Copy, Debug)]
pub struct Early<'r> {
    pub(crate) pace: AppliedPace<'r>,
    /// Whole seconds until the next request passes; at least 1.
    pub retry_after: u64,
}

/// A decision after weighing.
#[derive(Debug)]
pub struct Weighed<'r> {
    /// With the final action and reason.
    pub decision: Decision<'r>,
    /// Set if the request came too soon for an enforced pace.
    pub early: Option<Early<'r>>,
    pub(crate) hop: Option<Hop>,
}

impl Conduct {
    /// The conduct of clients, with the fetches from before a restart.
    pub fn of(ledger: Ledger) -> Self {
        Self { ledger, ..Self::default() }
    }

    /// Weighs a decision and counts the request. A request that comes too soon is throttled; where the
    /// pace is only measured, an allowed one passes and has the reason. While
    /// the breaker is open, Beadle refuses nothing. Without ladder, breaker and pace this takes no
    /// lock and reads no time.
    pub fn weigh<'r>(
        &self,
        sighting: Sighting<'_, 'r>,
        decision: Decision<'r>,
        knowledge: &impl Knowledge,
        metrics: &Metrics,
    ) -> Weighed<'r> {
        if decision.reason == Reason::RobotsTxt {
            return Weighed { decision, early: None, hop: None };
        }
        let site = sighting.site;
        let now = || knowledge.moment().now;
        let fleet = self.fleet(knowledge.moment().steady);
        sighting.climb(&decision, now, (fleet, metrics));
        let is_block = decision.action == Action::Block;
        let (measured, hop) = match is_block {
            true => (None, None),
            false => self.measure(sighting, &decision, knowledge, (fleet, metrics)),
        };
        let early = measured.filter(|early| early.pace.is_enforced);
        let is_ordered = enforce::is_ordered(&site.enforcement, &decision, now);
        let is_refusal = !is_ordered && (is_block || early.is_some());
        let lifted = sighting.lift(&decision, is_refusal, now, (fleet, metrics));
        let (action, reason) = match (lifted, early) {
            (Some(_), None) if decision.reason == Reason::Form => (Action::Log, Reason::Form),
            (Some(reason), _) => (Action::Log, reason),
            (None, Some(early)) if early.pace.record.is_some() => {
                (Action::Throttle, Reason::TooSoon)
            }
            (None, Some(_)) => (Action::Throttle, Reason::Slowed),
            (None, None) if measured.is_some() && decision.reason == Reason::Allow => {
                (decision.action, Reason::TooSoon)
            }
            (None, None) => (decision.action, decision.reason),
        };
        Weighed { decision: Decision { action, reason, ..decision }, early, hop }
    }

    /// Notes the status of the response to a request with a pace. A redirect gives the crawler a
    /// credit.
    pub fn responded(&self, hop: Hop, status: u16, moment: impl FnOnce() -> Moment) {
        if redirects::is_redirect(status) {
            self.redirects.credit(hop, moment().steady);
        }
    }

    /// Moves silent crawlers of a site down its ladder, and closes its breaker after the pause.
    pub fn settle(
        &self,
        (site, conduct): (&Site, &SiteConduct),
        moment: Moment,
        metrics: &Metrics,
    ) {
        conduct.settle(site, moment.now, (self.fleet(moment.steady), metrics));
    }

    /// Measures a request against the pace of its crawler: whether it came too soon, also for a pace that
    /// is only measured, and the request if it passes.
    fn measure<'r>(
        &self,
        Sighting { site, host, address, .. }: Sighting<'_, 'r>,
        decision: &Decision<'r>,
        knowledge: &impl Knowledge,
        (fleet, metrics): (Fleet<'_>, &Metrics),
    ) -> (Option<Early<'r>>, Option<Hop>) {
        let pace = enforce::applied_pace(site, decision, knowledge);
        let name = decision.judgement.and_then(|judgement| judgement.name);
        let (Some(pace), Some(name)) = (pace, name) else {
            return (None, None);
        };
        // A robots.txt is for one host (RFC 9309 §2.3), so each host has its own pace. The pace of
        // the ladder is for the whole site.
        let scope = host.filter(|_| pace.record.is_some()).unwrap_or(&site.name);
        let network = Network::of_client(address, Some(name));
        let key = Key::new(scope, name, decision.standing.outcome, network);
        let now = knowledge.moment().steady;
        let free = self.redirects.redeem(&key, now);
        let checked = match free {
            Some(_) => Ok(()),
            None => self.limiter.check(&key, pace.pace, fleet, now),
        };
        // An impostor's pace is not the crawler's.
        if pace.record.is_some() && decision.standing.outcome != Outcome::Contradicted {
            metrics.pace(&site.name, label(Some(name)), checked.is_ok());
        }
        let passes = checked.is_ok() || !pace.is_enforced;
        let early = checked.err().map(|retry_after| Early { pace, retry_after });
        (early, passes.then(|| Hop { key, number: free.unwrap_or_default() }))
    }
}
