//! Telling the other nodes of a fleet what clients did here, and learning what they did there.
//!
//! What others tell only ever makes this node judge as if their requests had come here: nothing of
//! it makes a violation of a request that a node with all requests would allow. Steps, sums, openings
//! and fetches may come late, twice and in any order. The counts of breakers and paces are
//! differences: each must come once.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    time::Duration,
};

use jiff::Timestamp;

use crate::{
    base::metrics::Metrics,
    rules::enforce::{Moment, Site},
};

use super::{collector::Collector, observations::Observations, site::SiteConduct, weight::Conduct};

/// The site with a name and its conduct, if the policy has one.
pub type SiteByName<'a> = &'a dyn Fn(&str) -> Option<(&'a Site, &'a SiteConduct)>;

impl Conduct {
    /// Begins to collect what this node tells the others. Off until a fleet asks for it.
    pub fn start_collecting(&self) {
        self.ledger.start_collecting();
        self.limiter.start_collecting();
        self.collector.get_or_init(Collector::default);
    }

    /// Takes what changed since the last call. Bounded; fetches that are left out are told as
    /// [`Observations::forgotten`].
    pub fn collect(&self, moment: Moment) -> Observations {
        let changes = self.collector.get().map(Collector::take).unwrap_or_default();
        let (fetches, forgotten) = self.ledger.collect();
        Observations { fetches, forgotten, pace: self.limiter.collect(moment), ..changes }
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
        for one in steps {
            if let Some((site, conduct)) = sites(&one.key.site) {
                conduct.learn_step(site, &one, now, metrics);
            }
        }
        for one in ladder {
            if let Some((site, conduct)) = sites(&one.key.site) {
                conduct.learn_ladder(site, (node, one), now, (fleet, metrics));
            }
        }
        for one in openings {
            if let Some((site, conduct)) = sites(&one.site) {
                conduct.learn_opening(site, &one, now);
            }
        }
        for one in breaker {
            if let Some((site, conduct)) = sites(&one.site) {
                conduct.learn_breaker(site, &one, now);
            }
        }
        pace.into_iter().for_each(|one| self.limiter.learn(one, moment));
    }

    /// Notes that the fetches at all other nodes are known up to this time. Until the first call,
    /// a collecting node knows of none. A node that fell silent may still serve clients: it holds
    /// the time back until it said goodbye, came back, or was silent for the longest window.
    pub fn heard_until(&self, horizon: Timestamp) {
        self.ledger.heard_until(horizon);
    }

    /// Notes that this node hears of the others until this time of the steady clock. From then on it is
    /// alone, and excuses violations or not.
    pub fn keep_contact(&self, until: Duration, excuses: bool) {
        self.contacts.keep(until, excuses);
    }

    /// Notes how many nodes there are. While this one is alone, it takes its part of each limit.
    pub fn note_nodes(&self, nodes: usize) {
        self.contacts.note_nodes(u32::try_from(nodes).unwrap_or(u32::MAX));
    }

    /// Whether this node hears nothing of the others.
    pub fn is_alone(&self, moment: Moment) -> bool {
        self.fleet(moment.steady).is_alone()
    }

    /// Whether another node may have published rules that this one has not heard of, and its
    /// violations are excused for that.
    pub fn excuses(&self, moment: Moment) -> bool {
        self.fleet(moment.steady).excuses()
    }
}
