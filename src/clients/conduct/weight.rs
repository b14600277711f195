//! The conduct of all clients: the weight of a decision, which it may change, and what the nodes of a fleet
//! tell each other.
//!
//! What others tell only ever makes this node judge as if their requests had come here: nothing of
//! it makes a violation of a request that a node with all requests would allow. Steps, sums, openings
//! and fetches may come late, twice and in any order. The counts of breakers and paces are
//! differences: each must come once.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    sync::{OnceLock, atomic::Ordering},
    time::Duration,
};

use jiff::Timestamp;

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
    ledger::{Fetches, Ledger, Reader},
    limiter::Limiter,
    observations::Observations,
    redirects::{self, Hop, Redirects},
    seats::Seats,
    site::{Sighting, SiteConduct, report_learned_step, report_move},
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

/// The site with a name and its conduct, if the policy has one.
pub type SiteByName<'a> = &'a dyn Fn(&str) -> Option<(&'a Site, &'a SiteConduct)>;

impl Conduct {
    /// Begins to collect what this node tells the others. Off until a fleet asks for it.
    pub fn start_collecting(&self) {
        self.ledger.expect_others();
        self.collector.get_or_init(Collector::default);
    }

    /// Takes what changed since the last call. Bounded; fetches that are left out are told as
    /// [`Observations::forgotten`].
    pub fn collect(&self, moment: Moment) -> Observations {
        self.collector.get().map(|changes| changes.take(moment)).unwrap_or_default()
    }

    /// Notes a fetch of a site's robots.txt ([`Ledger::note`](super::Ledger::note)).
    pub fn fetched(
        &self,
        site: &Site,
        name: Name<'_>,
        reader: Reader,
        at: Timestamp,
    ) -> Vec<Fetches> {
        let rows = self.ledger.note(site, name, reader, at);
        self.collector.get().into_iter().for_each(|collector| collector.fetched(&rows));
        rows
    }

    /// Takes in what another node saw; `from` names its run.
    pub fn learn(
        &self,
        from: &str,
        sites: SiteByName<'_>,
        news: Observations,
        moment: Moment,
        metrics: &Metrics,
    ) {
        let Observations { fetches, forgotten, steps, ladder, openings, breaker, pace } = news;
        let (now, fleet) = (moment.now, self.fleet(moment.steady));
        let mut hasher = DefaultHasher::new();
        from.hash(&mut hasher);
        let node = hasher.finish();
        for one in fetches {
            self.ledger.learn(sites(&one.site).map(|(site, _)| site), &one, now);
        }
        forgotten.into_iter().for_each(|until| self.ledger.learn_forgotten(until.min(now)));
        for one in &steps {
            if let Some((site, conduct)) = sites(&one.key.site)
                && let Some((mut ladder, rules)) = conduct.ladder(site)
                && let Some(from) = ladder.learn_step(rules, one, now)
            {
                drop(ladder);
                report_learned_step(from, one, metrics);
            }
        }
        for one in &ladder {
            if let Some((site, conduct)) = sites(&one.key.site)
                && let Some((mut ladder, rules)) = conduct.ladder(site)
            {
                let step = ladder.learn_count(rules, node, one, now);
                drop(ladder);
                step.iter().for_each(|one| report_move(one, (fleet, metrics)));
            }
        }
        for one in &openings {
            if let Some((site, conduct)) = sites(&one.site) {
                conduct.learn_opening(site, one, now);
            }
        }
        for one in &breaker {
            if let Some((site, conduct)) = sites(&one.site)
                && let Some((mut switch, rules)) = conduct.switch(site)
            {
                switch.breaker.learn_count(rules, site.timeline.current(), one, now);
            }
        }
        pace.into_iter().for_each(|one| self.limiter.learn(one, moment));
    }

    /// Notes that this node hears of the others until this time of the steady clock. From then on it is
    /// alone, and excuses violations or not.
    pub fn keep_contact(&self, until: Duration, excuses: bool) {
        let until = u64::try_from(until.as_millis()).unwrap_or(u64::MAX);
        self.contacts.excuses.store(excuses, Ordering::Relaxed);
        self.contacts.until.store(until, Ordering::Relaxed);
    }

    /// Notes how many nodes there are. While this one is alone, it takes its part of each limit.
    pub fn note_nodes(&self, nodes: usize) {
        let nodes = u32::try_from(nodes).unwrap_or(u32::MAX).max(1);
        self.contacts.nodes.store(nodes, Ordering::Relaxed);
    }

    pub(crate) fn is_alone(&self, moment: Moment) -> bool {
        self.fleet(moment.steady).is_alone
    }

    /// Whether another node may have published rules that this one has not heard of, and its
    /// violations are excused for that.
    pub fn excuses(&self, moment: Moment) -> bool {
        self.fleet(moment.steady).excuses
    }

    pub(super) fn fleet(&self, steady: Duration) -> Fleet<'_> {
        let (contacts, collector) = (&self.contacts, self.collector.get());
        if steady < Duration::from_millis(contacts.until.load(Ordering::Relaxed)) {
            return Fleet { collector, is_alone: false, excuses: false, nodes: 1 };
        }
        let excuses = contacts.excuses.load(Ordering::Relaxed);
        Fleet { collector, is_alone: true, excuses, nodes: contacts.nodes.load(Ordering::Relaxed) }
    }
}
