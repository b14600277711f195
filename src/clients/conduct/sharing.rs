//! Telling the other nodes of a fleet what clients did here, and learning what they did there.
//!
//! What others tell only ever makes this node judge as if their requests had come here: nothing of
//! it makes a violation of a request that a node with all requests would allow. Steps, sums, openings
//! and fetches may come late, twice and in any order. The counts of breakers and paces are
//! differences: each must come once.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    sync::atomic::Ordering,
    time::Duration,
};

use jiff::Timestamp;

use crate::{
    base::metrics::Metrics,
    rules::{
        crawlers::Name,
        enforce::{Moment, Site},
    },
};

use super::{
    collector::{Collector, Fleet},
    ledger::{Fetches, Reader},
    observations::Observations,
    site::{SiteConduct, report_learned_step, report_move},
    weight::Conduct,
};

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
