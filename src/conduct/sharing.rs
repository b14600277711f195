//! Telling the other nodes of a fleet what clients did here, and learning what they did there.

use jiff::Timestamp;

use crate::{
    enforce::{Moment, Site},
    metrics::Metrics,
};

use super::{observations::Observations, site::SiteConduct, weight::Conduct};

/// The site with a name and its conduct, if the policy has one.
pub type SiteByName<'a> = &'a dyn Fn(&str) -> Option<(&'a Site, &'a SiteConduct)>;

impl Conduct {
    /// Begins to collect what this node tells the others. Off until a fleet asks for it.
    pub fn start_collecting(&self) {}

    /// Takes what changed since the last call. Bounded: if too much changed, the rest is left out.
    pub fn collect(&self) -> Observations {
        Observations::default()
    }

    /// Takes in what another node saw; `from` names its run. The order and the number of times do
    /// not matter for anything but [`Observations::breaker`] and [`Observations::pace`], which must
    /// come once.
    pub fn learn(
        &self,
        from: &str,
        sites: SiteByName<'_>,
        news: Observations,
        moment: Moment,
        metrics: &Metrics,
    ) {
        let _ = (from, sites, news, moment, metrics);
    }

    /// Notes that the fetches of all other nodes are known up to this time. Until the first call,
    /// a collecting node knows of none.
    pub fn heard_until(&self, horizon: Timestamp) {
        let _ = horizon;
    }
}
