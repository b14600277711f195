//! The key of a bucket and its limit.

use std::{net::IpAddr, time::Duration};

use crate::{
    clients::conduct::network::Network,
    formats::robots::Pace,
    rules::{
        crawlers::{Name, Outcome},
        enforce::AppliedLimit,
        policy::RateLimit,
    },
};

use super::cell::Rate;

/// The requests that may come at once at any pace.
pub(super) const AT_ONCE: u32 = 3;
/// The most requests that may come at once, whatever a `Request-rate` says.
const MOST_AT_ONCE: u32 = 1_000;

/// The key of a bucket: its requests count together.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::clients::conduct) struct Key {
    /// The host for a pace of its robots.txt; the site for a pace of the ladder.
    pub(super) scope: String,
    /// In lower case; `None` for all names that only User-Agents declare.
    pub(super) product_token: Option<String>,
    pub(super) outcome: Outcome,
    /// `None` for all networks.
    pub(super) network: Option<Network>,
}

impl Key {
    /// The key of a claim. A confirmed crawler counts as one, over all its networks. A client can
    /// invent names without limit, so these count together for each network.
    pub(in crate::clients::conduct) fn new(
        scope: &str,
        name: Name<'_>,
        outcome: Outcome,
        network: Network,
    ) -> Self {
        let is_declared = matches!(name, Name::Declared(_));
        let product_token = (!is_declared).then(|| name.as_str().to_ascii_lowercase());
        let network = (outcome != Outcome::Confirmed).then_some(network);
        Self { scope: scope.to_owned(), product_token, outcome, network }
    }

    /// The key of a limit of the operator. Under a name of the catalogue or the policy, all clients without
    /// confirmation count as one. So many strangers get no more than the crawler.
    pub(in crate::clients::conduct) fn of_limit(
        site: &str,
        applied: &AppliedLimit<'_>,
        address: IpAddr,
    ) -> Self {
        let AppliedLimit { number, limit, name, outcome } = *applied;
        let scope = format!("{site}#{number}");
        let key = Self { scope, product_token: None, outcome: Outcome::Unknown, network: None };
        match name {
            _ if limit.together => key,
            Some(name @ (Name::Known(_) | Name::Site(_))) => Self {
                product_token: Some(name.as_str().to_ascii_lowercase()),
                outcome: match outcome {
                    Outcome::Confirmed | Outcome::Contradicted => outcome,
                    Outcome::Unverifiable | Outcome::Unknown => Outcome::Unknown,
                },
                ..key
            },
            // A client can invent names without limit.
            name => Self { network: Some(Network::of_client(address, name)), ..key },
        }
    }

    /// The key of all requests that wait for their turn at a site.
    pub(in crate::clients::conduct) fn of_waiting(site: &str) -> Self {
        let (scope, outcome) = (site.to_owned(), Outcome::Unknown);
        Self { scope, product_token: None, outcome, network: None }
    }

    /// The key of all networks under the same name, if this is the key of one. Invented names have
    /// nothing in common.
    pub(super) fn of_all_networks(&self) -> Option<Self> {
        let is_one_of_many = self.network.is_some() && self.product_token.is_some();
        is_one_of_many.then(|| Self { network: None, ..self.clone() })
    }

    /// The key of a confirmed crawler.
    #[cfg(test)]
    pub(in crate::clients::conduct) fn of_confirmed(product_token: &str) -> Self {
        let product_token = Some(product_token.to_ascii_lowercase());
        let outcome = Outcome::Confirmed;
        Self { scope: "a.example".to_owned(), product_token, outcome, network: None }
    }
}

/// The limit of a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Limit {
    pub(super) pace: Pace,
    /// The multiple of the pace.
    pub(super) times: u32,
    /// The requests that may come at once, for a limit of the operator; 0 for a pace, which has a
    /// tolerance for polite crawlers.
    pub(super) burst: u32,
}

impl Limit {
    /// The limit of requests that the operator set, if there is one.
    pub(super) fn of(one: &RateLimit) -> Option<Self> {
        Some(Self { pace: one.pace?, times: 1, burst: one.burst })
    }

    /// The rate, for a pace with the tolerance that a polite crawler needs. A limit is exact but for a
    /// tenth of the time of a request, without which each late request would cost a part of it.
    pub(super) fn rate(self) -> Rate {
        let Self { pace, times, burst } = self;
        if burst > 0 {
            let interval = pace.interval();
            return Rate {
                interval,
                tolerance: interval.saturating_mul(burst - 1) + interval / 10,
            };
        }
        let at_once = pace.requests().saturating_mul(2).clamp(AT_ONCE, MOST_AT_ONCE);
        let interval = (pace.interval().mul_f64(0.9) / times.max(1)).max(Duration::from_micros(1));
        let after_one = at_once.saturating_mul(times).saturating_sub(1);
        Rate { interval, tolerance: interval.saturating_mul(after_one) }
    }
}
