//! `editions.json`: the editions that count, with their times in force. `standing.json`: what confirmed or
//! contradicted the crawler's name.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
    net::IpAddr,
};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{
    file,
    manifest::{Leap, Settings, start},
};
use crate::{
    records::record::{Edition, Violation, time},
    rules::{crawlers::Crawler, enforce::Stay},
};

/// One time in force of an edition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Row {
    /// The site for whose requests it counts.
    pub(super) site: String,
    pub(super) edition: String,
    pub(super) sha256: String,
    pub(super) file: String,
    /// The source of the rules: `policy`, `origin` or `merge`.
    pub(super) source: String,
    #[serde(with = "time::required")]
    pub(super) from: Timestamp,
    #[serde(with = "time::optional")]
    pub(super) until: Option<Timestamp>,
    /// The site that published it, if that was another one, which had the hosts of this site.
    pub(super) published_by: Option<String>,
}

impl Row {
    fn of(edition: &Edition, site: &str) -> Self {
        Self {
            site: site.to_owned(),
            edition: edition.id.to_string(),
            sha256: edition.sha256.to_string(),
            file: file::of_edition(site, &edition.id),
            source: edition.source.to_string(),
            from: edition.from,
            until: edition.until,
            published_by: None,
        }
    }

    /// Whether it was in force at some time after `start`, up to `end`.
    pub(super) fn is_within(&self, start: Timestamp, end: Timestamp) -> bool {
        self.from <= end && self.until.is_none_or(|until| until > start)
    }

    /// The part of the time that lies in another one.
    fn clipped(mut self, from: Timestamp, until: Timestamp) -> Option<Self> {
        self.from = self.from.max(from);
        self.until = Some(self.until.map_or(until, |end| end.min(until)));
        (self.until > Some(self.from)).then_some(self)
    }
}

pub(super) struct History<'a> {
    rows: Vec<Row>,
    bytes: BTreeMap<&'a str, &'a Edition>,
}

impl<'a> History<'a> {
    /// The whole history of a site: its own editions, and those of sites that had its hosts.
    pub(super) fn of(site: &str, inherited: &[Stay<'_>], editions: &'a [Edition]) -> Self {
        let of_site = |name: &str| {
            let name = name.to_owned();
            editions.iter().filter(move |one| one.site.eq_ignore_ascii_case(&name))
        };
        let own = of_site(site).map(|edition| Row::of(edition, site));
        let inherited = inherited.iter().flat_map(|stay| {
            of_site(stay.site).filter_map(|edition| {
                let row = Row::of(edition, site).clipped(stay.from, stay.until)?;
                Some(Row { published_by: Some(stay.site.to_owned()), ..row })
            })
        });
        let mut rows: Vec<Row> = own.chain(inherited).collect();
        rows.sort_by(|a, b| (a.from, &a.edition).cmp(&(b.from, &b.edition)));
        rows.dedup();
        Self { rows, bytes: editions.iter().map(|one| (one.id.as_str(), one)).collect() }
    }

    /// The rows that count for these records: those in force in the window before any of them, and
    /// those that a record names. The second value has the named editions that are not kept.
    pub(super) fn concerned(
        &self,
        settings: Option<&Settings>,
        leaps: &[Leap],
        records: &[&Violation],
    ) -> (Vec<Row>, BTreeSet<String>) {
        let window = |at| settings.map_or(at, |one| start(at, one.window(), leaps));
        let mut times: Vec<_> = records.iter().map(|one| (window(one.time), one.time)).collect();
        times.sort_unstable();
        // Windows that touch become one, so that many records need few comparisons.
        let mut spans: Vec<(Timestamp, Timestamp)> = Vec::new();
        for (start, end) in times {
            match spans.last_mut() {
                Some(last) if start <= last.1 => last.1 = last.1.max(end),
                _ => spans.push((start, end)),
            }
        }
        let named: BTreeSet<&str> = records.iter().flat_map(|record| named(record)).collect();
        let is_concerned = |row: &&Row| {
            named.contains(row.edition.as_str())
                || spans.iter().any(|(start, end)| row.is_within(*start, *end))
        };
        let rows: Vec<Row> = self.rows.iter().filter(is_concerned).cloned().collect();
        let is_missing = |id: &&str| !rows.iter().any(|row| row.edition == **id);
        let missing = named.iter().copied().filter(is_missing).map(str::to_owned).collect();
        (rows, missing)
    }

    pub(super) fn bytes(&self, edition: &str) -> Option<&'a [u8]> {
        self.bytes.get(edition).map(|edition| edition.bytes.as_ref())
    }
}

pub(super) fn named(record: &Violation) -> impl Iterator<Item = &str> {
    let read = record.robots_read.edition.as_deref();
    let broken = record.robots.edition.as_str();
    [Some(broken), read].into_iter().flatten().filter(|id| !id.is_empty())
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Standings {
    /// The records by standing and kind of evidence.
    pub(super) counts: Vec<Count>,
    pub(super) networks: Vec<Count>,
    /// What the operator publishes, as the catalogue has it. Beadle checks requests against it.
    pub(super) published: Published,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Count {
    /// The network, where networks are told apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) network: Option<String>,
    pub(super) standing: String,
    /// The kind of evidence that confirms or contradicts the name.
    pub(super) evidence: Option<String>,
    pub(super) records: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Published {
    pub(super) documentation: Option<String>,
    pub(super) ip_ranges: Vec<String>,
    pub(super) ip_format: Option<String>,
    pub(super) reverse_dns: Vec<String>,
    pub(super) signature_agent: Option<String>,
}

impl Standings {
    pub(super) fn of<'a>(
        records: impl Iterator<Item = &'a Violation> + Clone,
        published: Published,
    ) -> Self {
        let networks = counts(records.clone(), |one| Some(network(&one.client_ip)));
        Self { counts: counts(records, |_| None), networks, published }
    }
}

impl Published {
    pub(super) fn of(crawler: &Crawler) -> Self {
        Self {
            documentation: crawler.entry.documentation.clone(),
            ip_ranges: crawler.entry.ip_ranges.clone(),
            ip_format: crawler.entry.ip_format.clone(),
            reverse_dns: crawler.entry.reverse_dns.clone(),
            signature_agent: crawler.entry.signature_agent.clone(),
        }
    }
}

/// The records by network, standing and evidence, the most first.
fn counts<'a>(
    records: impl Iterator<Item = &'a Violation>,
    network: impl Fn(&Violation) -> Option<String>,
) -> Vec<Count> {
    let keys = records.map(|one| (network(one), one.standing.as_str(), one.evidence.as_deref()));
    let count = |((network, standing, evidence), records): ((_, &str, Option<&str>), u64)| Count {
        network,
        standing: standing.to_owned(),
        evidence: evidence.map(str::to_owned),
        records,
    };
    tally(keys).into_iter().map(count).collect()
}

/// How often each value occurs, the most frequent first; of equally frequent ones the lesser.
pub(super) fn tally<T: Ord>(values: impl IntoIterator<Item = T>) -> Vec<(T, u64)> {
    let mut counts: BTreeMap<T, u64> = BTreeMap::new();
    for value in values {
        *counts.entry(value).or_default() += 1;
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| Reverse(*count));
    counts
}

/// The usual network of one customer: /24 or /48. A recorded network or hash stays as it is.
pub(super) fn network(client: &str) -> String {
    match client.parse::<IpAddr>().map(|address| address.to_canonical()) {
        Ok(IpAddr::V4(address)) => {
            let [a, b, c, _] = address.octets();
            format!("{a}.{b}.{c}.0/24")
        }
        Ok(IpAddr::V6(address)) => {
            let [a, b, c, ..] = address.segments();
            format!("{}/48", std::net::Ipv6Addr::new(a, b, c, 0, 0, 0, 0, 0))
        }
        Err(_) => client.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_count_by_network() {
        for (client, expected) in [
            ("192.0.2.77", "192.0.2.0/24"),
            ("::ffff:192.0.2.77", "192.0.2.0/24"),
            ("2001:db8:1:2:3::4", "2001:db8:1::/48"),
            ("192.0.2.0/24", "192.0.2.0/24"),
            ("3f2a91c0aa11bb22", "3f2a91c0aa11bb22"),
        ] {
            assert_eq!(network(client), expected);
        }
    }
}
