//! Fetches of robots.txt as values: the client, one fetch, and all fetches of one network.

use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    clients::conduct::{key::Network, wire},
    rules::{crawlers::Outcome, enforce::EditionId},
};

/// A client that reads robots.txt.
#[derive(Clone, Copy, Debug)]
pub struct Reader {
    /// The network of its address.
    pub network: Network,
    /// The outcome of the evidence for its claim.
    pub outcome: Outcome,
}

/// The fetches of one crawler from one network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fetches {
    /// The site's name.
    #[serde(deserialize_with = "wire::name")]
    pub site: String,
    /// The name in the client's User-Agent.
    #[serde(rename = "token", deserialize_with = "wire::name")]
    pub product_token: String,
    /// The client's network, or former networks.
    pub network: Network,
    /// The outcome of the evidence at the last fetch.
    #[serde(rename = "standing", with = "wire::outcome")]
    pub outcome: Outcome,
    /// The edition of the last fetch.
    #[serde(with = "wire::edition")]
    pub edition: EditionId,
    /// The first fetch.
    #[serde(with = "wire::milliseconds")]
    pub first: Timestamp,
    /// The last fetch.
    #[serde(with = "wire::milliseconds")]
    pub last: Timestamp,
    /// The number of fetches.
    pub count: u32,
    /// The usual time between two fetches; `None` before there were two.
    #[serde(default, with = "wire::seconds_if", skip_serializing_if = "Option::is_none")]
    pub interval: Option<Duration>,
}

/// One fetch: its edition and its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reading {
    /// In milliseconds since the Unix epoch.
    pub(super) at: i64,
    pub(crate) edition: EditionId,
}

impl Reading {
    pub(crate) fn at(&self) -> Option<Timestamp> {
        Timestamp::from_millisecond(self.at).ok()
    }
}
