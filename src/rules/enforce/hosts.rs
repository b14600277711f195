//! The sites that each host belonged to, in time.
//!
//! A host that moves to another site keeps the editions of the site that it had before. A host that
//! no site names belongs to the longest wildcard above it, else to the default site.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use crate::rules::policy::{self, Host, Policy};

/// The host that stands for all hosts that no site names: the default site has them.
const ANY: &str = "*";

/// A time in which a host belonged to a site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostPeriod {
    /// The host; `.example.com` for all hosts below `example.com`, and `*` for all other hosts.
    pub(crate) host: String,
    pub(crate) site: String,
    pub(crate) from: Timestamp,
    /// The end; `None` if it still belongs to the site.
    pub(crate) until: Option<Timestamp>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Hosts {
    periods: BTreeMap<String, Vec<HostPeriod>>,
}

/// A time in which a host had the rules of a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stay<'a> {
    pub(crate) site: &'a str,
    pub(crate) from: Timestamp,
    pub(crate) until: Timestamp,
}

impl Hosts {
    /// The stored periods. The host named like a site without any belonged to that site: older
    /// versions stored no hosts.
    pub(super) fn of<'a>(stored: Vec<HostPeriod>, sites: impl Iterator<Item = &'a String>) -> Self {
        let known: BTreeSet<String> = stored.iter().map(|period| period.site.clone()).collect();
        let unknown = sites.filter(|site| !known.contains(*site)).map(|site| HostPeriod {
            host: site.clone(),
            site: site.clone(),
            from: Timestamp::MIN,
            until: None,
        });
        let mut periods: BTreeMap<String, Vec<HostPeriod>> = BTreeMap::new();
        for period in unknown.chain(stored) {
            periods.entry(period.host.clone()).or_default().push(period);
        }
        Self { periods }
    }

    /// Gives each host to its site of `policy` from `now` on.
    pub(super) fn follow(&mut self, policy: &Policy, now: Timestamp) {
        let mut serving = serving(policy);
        for (host, periods) in &mut self.periods {
            let site = serving.get(host.as_str()).copied();
            for period in periods.iter_mut() {
                period.from = period.from.min(now);
                match period.until {
                    Some(until) => period.until = Some(until.min(now)),
                    None if site == Some(period.site.as_str()) => {
                        serving.remove(host.as_str());
                    }
                    None => period.until = Some(now),
                }
            }
        }
        for (host, site) in serving {
            let (host, site) = (host.to_owned(), site.to_owned());
            let periods = self.periods.entry(host.clone()).or_default();
            periods.push(HostPeriod { host, site, from: now, until: None });
        }
    }

    pub(super) fn without_before(&mut self, start: Timestamp) {
        let is_within = |period: &HostPeriod| period.until.is_none_or(|until| until > start);
        self.periods.values_mut().for_each(|periods| periods.retain(is_within));
        self.periods.retain(|_, periods| !periods.is_empty());
    }

    pub(super) fn periods(&self) -> impl Iterator<Item = &HostPeriod> {
        self.periods.values().flatten()
    }

    pub(super) fn sites(&self) -> BTreeSet<&str> {
        self.periods.values().flatten().map(|period| period.site.as_str()).collect()
    }

    /// The hosts of a site now, with the time since when each belongs to it.
    pub(super) fn of_site(&self, site: &str) -> impl Iterator<Item = (&str, Timestamp)> {
        let all = self.periods.values().flatten();
        let own = all.filter(move |period| period.until.is_none() && period.site == site);
        own.map(|period| (period.host.as_str(), period.from))
    }

    /// The site of the first host of `site` until now, if it was another one, and since when.
    pub(super) fn before(&self, site: &policy::Site, now: Timestamp) -> Option<Stay<'_>> {
        let stays = self.stays(key(site.hosts.first()?), now);
        let stays = stays.into_iter().filter(|stay| stay.site != site.name());
        stays.filter(|stay| stay.until >= now).max_by_key(|stay| stay.from)
    }

    /// The sites that the hosts of `site` belonged to before, each with its times. All hosts that
    /// belong to it under `policy` count, also those that only a wildcard or the default gives it.
    pub(super) fn inherited(
        &self,
        site: &policy::Site,
        policy: &Policy,
        now: Timestamp,
    ) -> BTreeSet<Stay<'_>> {
        let serving = serving(policy);
        let is_its = |host: &&str| {
            levels(host).find_map(|level| serving.get(level)).copied() == Some(site.name())
        };
        let own = serving.keys().copied().chain(self.periods.keys().map(String::as_str));
        let own: BTreeSet<&str> = own.filter(is_its).collect();
        let stays = own.into_iter().flat_map(|host| self.stays(host, now));
        stays.filter(|stay| stay.site != site.name()).collect()
    }

    /// The sites that a host belonged to until `now`.
    fn stays(&self, host: &str, now: Timestamp) -> Vec<Stay<'_>> {
        let mut stays = Vec::new();
        // Where a level has no site for the host, the next one decides.
        let mut gaps = vec![(Timestamp::MIN, now)];
        for level in levels(host) {
            let periods = self.periods.get(level).map(Vec::as_slice).unwrap_or_default();
            for period in periods {
                let (start, end) = (period.from, period.until.unwrap_or(now));
                let mut left = Vec::new();
                for (from, until) in gaps {
                    if start >= until || end <= from {
                        left.push((from, until));
                        continue;
                    }
                    let site = period.site.as_str();
                    stays.push(Stay { site, from: start.max(from), until: end.min(until) });
                    left.extend([(from, start), (end, until)].into_iter().filter(|(a, b)| a < b));
                }
                gaps = left;
            }
        }
        stays
    }
}

fn serving(policy: &Policy) -> BTreeMap<&str, &str> {
    let named = policy.sites.iter().flat_map(|site| {
        let any = site.default.then_some(ANY);
        site.hosts.iter().map(key).chain(any).map(|host| (host, site.name()))
    });
    named.collect()
}

fn key(host: &Host) -> &str {
    match host {
        Host::Exact(host) | Host::Below(host) => host,
    }
}

/// The host, without its port, the wildcards above it, the longest first, and the default.
fn levels(named: &str) -> impl Iterator<Item = &str> {
    let without_port = policy::split_port(named).map(|(host, _)| host);
    let host = without_port.unwrap_or(named);
    let dots = host.char_indices().filter(|(at, octet)| *octet == '.' && *at > 0);
    let above = dots.filter_map(|(at, _)| host.get(at..));
    let any = (host != ANY).then_some(ANY);
    std::iter::once(named).chain(without_port).chain(above).chain(any)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).expect("a time")
    }

    fn policy(sites: &str) -> Policy {
        let origin = "origin: \"http://127.0.0.1:1\"";
        let sites = sites.split(' ').map(|hosts| match hosts.strip_prefix('+') {
            Some(hosts) => format!("{{ hosts: [{hosts}], default: true, {origin} }}"),
            None => format!("{{ hosts: [{hosts}], {origin} }}"),
        });
        format!("sites: [{}]", sites.collect::<Vec<_>>().join(", ")).parse().unwrap()
    }

    #[test]
    fn a_host_keeps_the_sites_that_it_had() {
        let mut hosts = Hosts::default();
        let steps = [
            (0, "+d.example a.example,m.example b.example"),
            (10, "+d.example a.example b.example"),
            (20, "+d.example a.example b.example,m.example"),
            (30, "+d.example a.example b.example,\"*.w.example\",m.example"),
            (40, "+d.example a.example b.example,\"*.w.example\",m.example x.w.example"),
        ];
        for (second, sites) in steps {
            hosts.follow(&policy(sites), at(second));
        }
        let policy = policy(steps[4].1);
        let shown = |number: usize| {
            let stays = hosts.inherited(&policy.sites[number], &policy, at(50));
            let stays = stays.iter().filter(|stay| stay.until > stay.from).map(|stay| {
                let from = stay.from.as_second().max(-1);
                format!("{} {from} {}", stay.site, stay.until.as_second())
            });
            stays.collect::<Vec<_>>().join(", ")
        };
        // The moved host, and the hosts that the default had before the wildcard.
        assert_eq!(shown(2), "a.example 0 10, d.example 0 30, d.example 10 20");
        assert_eq!(shown(3), "b.example 30 40, d.example 0 30");
        assert_eq!(shown(1), "");
    }

    #[test]
    fn each_site_has_its_hosts_and_the_past_is_forgotten() {
        let mut hosts = Hosts::default();
        hosts.follow(&policy("+d.example a.example,m.example"), at(0));
        hosts.follow(&policy("+d.example a.example,\"*.a.example\""), at(10));
        let shown = |hosts: &Hosts, site: &str| {
            let hosts =
                hosts.of_site(site).map(|(host, from)| format!("{host} {}", from.as_second()));
            hosts.collect::<Vec<_>>().join(", ")
        };
        assert_eq!(shown(&hosts, "a.example"), ".a.example 10, a.example 0");
        assert_eq!(shown(&hosts, "d.example"), "* 0, d.example 0");
        // The host that no site has any more is known until its time with a.example is over.
        for (start, is_kept) in [(9, true), (10, false), (11, false)] {
            let mut hosts = hosts.clone();
            hosts.without_before(at(start));
            let stays = hosts.stays("m.example", at(20));
            assert_eq!(stays.iter().any(|stay| stay.site == "a.example"), is_kept, "{start}");
            assert_eq!(shown(&hosts, "a.example"), ".a.example 10, a.example 0");
        }
    }

    #[test]
    fn a_host_with_a_port_comes_from_the_site_of_the_host() {
        let mut hosts = Hosts::default();
        hosts.follow(&policy("a.example b.example"), at(0));
        let policy = policy("a.example b.example \"a.example:8443\"");
        hosts.follow(&policy, at(10));
        let stays = hosts.inherited(&policy.sites[2], &policy, at(20));
        let stays: Vec<_> = stays.iter().map(|stay| (stay.site, stay.until.as_second())).collect();
        assert_eq!(stays, [("a.example", 10)]);
    }

    #[test]
    fn a_database_without_hosts_has_those_that_the_sites_are_named_by() {
        let sites = ["a.example".to_owned()];
        let mut hosts = Hosts::of(Vec::new(), sites.iter());
        let policy = policy("b.example,a.example");
        hosts.follow(&policy, at(10));
        let stays = hosts.inherited(&policy.sites[0], &policy, at(20));
        assert_eq!(stays.iter().map(|stay| stay.site).collect::<Vec<_>>(), ["a.example"]);
    }
}
