//! What was in force until now: the editions of all sites and the sites of all hosts, and what other nodes of
//! a fleet serve or served.
//!
//! The database keeps the first two. So the editions that count for a request are the same before and after
//! a restart: they follow from the chronicle and the policy alone.
//!
//! In a fleet, an edition is in force from the first node that served it until the last that stopped. While
//! a new one spreads, both are in force. What one of them allows is no violation at any node.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use jiff::Timestamp;

use crate::rules::policy::{self, Policy};

use super::{
    edition::{Edition, EditionId},
    hosts::{HostPeriod, Hosts, Stay},
    past::{Editions, Past, Period},
    timeline::Timeline,
};

/// The editions of all sites and the sites of all hosts, in time. Sites that are no longer served
/// stay in it, as their hosts may come back.
#[derive(Clone, Debug, Default)]
pub struct Chronicle {
    sites: BTreeMap<String, Editions>,
    hosts: Hosts,
    /// The editions at other nodes of a fleet. The database does not keep them.
    elsewhere: Vec<Elsewhere>,
    /// The end of the last edition that is not read from the database yet.
    unread: Option<Timestamp>,
}

impl Chronicle {
    /// The chronicle of stored periods, by site and in order, and of stored hosts. `unread` is the
    /// end of the last edition that is left out for now: `Self::recall` adds it.
    pub fn of(
        periods: HashMap<String, Vec<Period>>,
        hosts: Vec<HostPeriod>,
        unread: Option<Timestamp>,
        now: Timestamp,
    ) -> Self {
        let hosts = Hosts::of(hosts, periods.keys());
        let editions = |(name, periods)| Some((name, Editions::of(periods, now)?));
        let sites = periods.into_iter().filter_map(editions).collect();
        Self { sites, hosts, elsewhere: Vec::new(), unread }
    }

    /// Replaces the editions at other nodes. Returns whether they differ from those before.
    pub fn learn(&mut self, elsewhere: Vec<Elsewhere>) -> bool {
        let differs = self.elsewhere != elsewhere;
        self.elsewhere = elsewhere;
        differs
    }

    /// Adds the editions of an older part, which was read later.
    pub(crate) fn recall(&mut self, older: Self, now: Timestamp) {
        self.unread = older.unread;
        for (site, older) in older.sites {
            match self.sites.get_mut(&site) {
                Some(editions) => editions.recall(&older, now),
                None => drop(self.sites.insert(site, older)),
            }
        }
    }

    /// The edition that was last in force for a site or, if it is new, for its first host.
    pub(crate) fn edition_before(
        &self,
        site: &policy::Site,
        now: Timestamp,
    ) -> Option<&Arc<Edition>> {
        let own = self.sites.get(site.name());
        let editions = own.or_else(|| self.sites.get(self.hosts.before(site, now)?.site));
        editions.and_then(|one| one.in_force.as_ref()).map(|(edition, _)| edition)
    }

    /// The hosts of a site now, with the time since when each belongs to it.
    pub(crate) fn hosts(&self, site: &str) -> impl Iterator<Item = (&str, Timestamp)> {
        self.hosts.of_site(site)
    }

    pub(crate) fn served_since(&self, site: &str) -> Option<Timestamp> {
        self.hosts(site).map(|(_, since)| since).min()
    }

    /// All periods of hosts; of a host, in their order.
    pub(crate) fn host_periods(&self) -> impl Iterator<Item = &HostPeriod> {
        self.hosts.periods()
    }

    /// The periods of all editions. Of a site, in the order of their ends. Equivalent editions, and
    /// those that are summed up, are one: stored, they judge as here.
    pub(crate) fn periods(&self) -> impl Iterator<Item = (&str, Period)> {
        let sites = self.sites.iter();
        sites.flat_map(|(name, editions)| editions.periods().map(move |one| (name.as_str(), one)))
    }

    /// The edition among [`Self::periods`] that stands for an edition of a site.
    pub(crate) fn stored_as(&self, site: &str, id: EditionId) -> EditionId {
        self.sites.get(site).and_then(|editions| editions.stored_as(id)).unwrap_or(id)
    }

    /// The sites that the hosts of a site of `policy` belonged to until `now`, with the times. Their
    /// editions of these times count for it, too.
    pub(crate) fn inherited(
        &self,
        site: &policy::Site,
        policy: &Policy,
        now: Timestamp,
    ) -> impl Iterator<Item = Stay<'_>> {
        self.hosts.inherited(site, policy, now).into_iter()
    }

    /// Gives each host to its site of `policy` from `now` on, and forgets what ended before
    /// `start`.
    pub(super) fn follow(&mut self, policy: &Policy, start: Timestamp, now: Timestamp) {
        // A site of a new name goes on with the edition of the site that had its first host.
        for site in &policy.sites {
            if self.sites.contains_key(site.name()) {
                continue;
            }
            let before = self.hosts.before(site, now);
            let taken = before.and_then(|stay| self.sites.get(stay.site)?.taken_over(stay.from));
            if let Some(taken) = taken {
                self.sites.insert(site.name().to_owned(), taken);
            }
        }
        self.hosts.follow(policy, now);
        self.hosts.without_before(start);
        self.sites.values_mut().for_each(|editions| editions.without_before(start));
        self.elsewhere.retain(|one| one.is_within(start));
        let known = self.hosts.sites();
        self.sites.retain(|name, _| known.contains(name.as_str()));
    }

    pub(super) fn publish(&mut self, site: &str, edition: Arc<Edition>, now: Timestamp) {
        match self.sites.get_mut(site) {
            Some(known) => known.publish(edition, now),
            None => drop(self.sites.insert(site.to_owned(), Editions::first(edition, now))),
        }
    }

    /// The editions that count for a site from `start` to `now`: its own, at this node and at others,
    /// and those of other sites that had its hosts. `None` if it publishes nothing. Parts of `previous`, the timeline so far,
    /// are used again.
    pub(super) fn timeline(
        &self,
        (site, policy): (&policy::Site, &Policy),
        (start, now): (Timestamp, Timestamp),
        previous: Option<&Timeline>,
    ) -> Option<Timeline> {
        let stays: Vec<Stay<'_>> = self.inherited(site, policy, now).collect();
        let inherited = stays.iter().flat_map(|stay| {
            let known = self.sites.get(stay.site).into_iter();
            let here = known.flat_map(|editions| editions.between(stay.from, stay.until));
            let during = |past: &Past| past.first < stay.until && past.until > stay.from;
            let elsewhere = self.elsewhere(stay.site).filter(during).map(|mut past| {
                past.end(stay.until);
                past
            });
            here.chain(elsewhere)
        });
        let others = self.elsewhere(site.name()).chain(inherited).collect();
        let own = self.sites.get(site.name())?;
        let timeline = Timeline::of(own, others, (start, now), previous)?;
        Some(timeline.with_unread(self.unread.filter(|until| *until > start)))
    }

    fn elsewhere<'a>(&'a self, site: &'a str) -> impl Iterator<Item = Past> + 'a {
        self.elsewhere.iter().filter(move |one| one.site == site).map(Elsewhere::past)
    }
}

/// An edition in force at other nodes.
#[derive(Clone, Debug)]
pub struct Elsewhere {
    /// The site's name.
    pub site: String,
    /// The edition.
    pub edition: Arc<Edition>,
    /// The time at which the first node served it.
    pub from: Timestamp,
    /// The time at which the last node stopped; `None` while one serves it.
    pub until: Option<Timestamp>,
}

impl Elsewhere {
    /// Whether any client may use it after `start`.
    pub(super) fn is_within(&self, start: Timestamp) -> bool {
        self.until.is_none_or(|until| until > start)
    }

    /// The edition as one that is not in force here.
    pub(super) fn past(&self) -> Past {
        let until = self.until.unwrap_or(Timestamp::MAX);
        Past::new(Arc::clone(&self.edition), self.from.min(until), until)
    }
}

/// The same bytes at the same times.
impl PartialEq for Elsewhere {
    fn eq(&self, other: &Self) -> bool {
        let key = |one: &Self| (one.edition.id(), one.from, one.until);
        self.site == other.site && key(self) == key(other)
    }
}

impl Eq for Elsewhere {}

#[cfg(test)]
mod tests;
