//! `standing.json`: what confirmed or contradicted the crawler's name.

use std::{cmp::Reverse, collections::BTreeMap, net::IpAddr};

use serde::{Deserialize, Serialize};

use crate::{records::record::Violation, rules::crawlers::Crawler};

/// The contents of `standing.json`.
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

/// The evidence that an operator publishes.
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
