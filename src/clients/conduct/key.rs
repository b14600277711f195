//! The key of a bucket and its limit.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use crate::{
    formats::robots::Pace,
    rules::{
        crawlers::{Name, Outcome},
        enforce::AppliedLimit,
        policy::RateLimit,
    },
};

use super::{network::Network, wire};

/// The key of a bucket of the limiter: its requests count together.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Key {
    /// The host for a pace of its robots.txt; the site for a pace of the ladder; the site and a number
    /// for a limit.
    #[serde(deserialize_with = "wire::name")]
    pub scope: String,
    /// In lower case; `None` for all names that only User-Agents declare.
    #[serde(
        rename = "token",
        default,
        deserialize_with = "wire::name_if",
        skip_serializing_if = "Option::is_none"
    )]
    pub product_token: Option<String>,
    /// The outcome of the evidence for the claim.
    #[serde(rename = "standing", with = "wire::outcome")]
    pub outcome: Outcome,
    /// `None` for all networks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<Network>,
}

impl Key {
    /// The key of a claim. A confirmed crawler counts as one, over all its networks. A client can
    /// invent names without limit, so these count together for each network.
    pub(super) fn new(scope: &str, name: Name<'_>, outcome: Outcome, network: Network) -> Self {
        let is_declared = matches!(name, Name::Declared(_));
        let product_token = (!is_declared).then(|| name.as_str().to_ascii_lowercase());
        let network = (outcome != Outcome::Confirmed).then_some(network);
        Self { scope: scope.to_owned(), product_token, outcome, network }
    }

    /// The key of a limit of the operator. Under a name of the catalogue or the policy, all clients without
    /// confirmation count as one. So many strangers get no more than the crawler.
    pub(super) fn of_limit(site: &str, applied: &AppliedLimit<'_>, address: IpAddr) -> Self {
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

    /// The key of all networks under the same name, if this is the key of one. Invented names have
    /// nothing in common.
    pub(super) fn of_all_networks(&self) -> Option<Self> {
        let is_one_of_many = self.network.is_some() && self.product_token.is_some();
        is_one_of_many.then(|| Self { network: None, ..self.clone() })
    }

    #[cfg(test)]
    pub(super) fn of_confirmed(product_token: &str) -> Self {
        let product_token = Some(product_token.to_ascii_lowercase());
        let outcome = Outcome::Confirmed;
        Self { scope: "a.example".to_owned(), product_token, outcome, network: None }
    }
}

/// The limit of a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Limit {
    #[serde(with = "wire::pace")]
    pub(crate) pace: Pace,
    /// The multiple of the pace.
    pub times: u32,
    /// The requests that may come at once, for a limit of the operator; 0 for a pace, which has a
    /// tolerance for polite crawlers.
    #[serde(default, skip_serializing_if = "wire::is_default")]
    pub burst: u32,
}

impl Limit {
    pub(super) fn of(one: &RateLimit) -> Option<Self> {
        Some(Self { pace: one.pace?, times: 1, burst: one.burst })
    }
}
