//! What counts together: the network of a client, and the key of a bucket with its limit.

use std::{
    fmt,
    hash::{DefaultHasher, Hash, Hasher},
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};

use serde::{Deserialize, Serialize};

use crate::{
    formats::robots::Pace,
    rules::{
        crawlers::{Crawler, Name, Outcome},
        enforce::{AppliedLimit, EditionId},
        policy::RateLimit,
    },
};

use super::wire;

/// A network of a client, in few octets: IPv4 /24 or IPv6 /48, the usual size for one customer; for a program
/// that many people run, its address alone. JSON has its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Network {
    /// The first 24 bits.
    V4(u32),
    /// The first 48 bits.
    V6(u64),
    /// One address: neighbours who run the same program have nothing in common.
    Address(IpAddr),
    /// A network that the store knows only by its hash (`client_ip: hash`).
    Hashed(u64),
    /// The networks that fetched this edition, and later another one. Other clients of the same name
    /// may have their copies.
    Former {
        /// The edition.
        edition: EditionId,
        /// Whether the claims of these fetches were confirmed.
        is_confirmed: bool,
    },
}

/// The texts of [`Network::Former`], before the name of the edition.
const FORMER: [(&str, bool); 2] = [("former ", false), ("former-confirmed ", true)];

impl Network {
    /// The network of an address.
    pub fn of(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V4(address) => Self::V4(address.to_bits() >> 8),
            IpAddr::V6(address) => Self::V6((address.to_bits() >> 80) as u64),
        }
    }

    /// The network of a client with this name.
    pub fn of_client(address: IpAddr, name: Option<Name<'_>>) -> Self {
        let is_program = name.and_then(Name::known).is_some_and(Crawler::is_program);
        if is_program { Self::Address(address.to_canonical()) } else { Self::of(address) }
    }

    /// The usual network around it.
    pub fn widened(self) -> Self {
        if let Self::Address(address) = self { Self::of(address) } else { self }
    }

    /// The network of a stored row.
    pub fn parse(text: &str) -> Self {
        let former = FORMER.iter().find_map(|(word, is_confirmed)| {
            let edition = EditionId::parse(text.strip_prefix(word)?)?;
            Some(Self::Former { edition, is_confirmed: *is_confirmed })
        });
        if let Some(former) = former {
            return former;
        }
        let hashed = || {
            let mut hasher = DefaultHasher::new();
            text.hash(&mut hasher);
            Self::Hashed(hasher.finish())
        };
        let parts =
            text.split_once('/').and_then(|(first, bits)| Some((first.parse().ok()?, bits)));
        match parts {
            Some((address, "24" | "48")) => Self::of(address),
            Some((address, "32" | "128")) => Self::Address(address),
            _ => hashed(),
        }
    }

    /// Its first address; `None` if only its hash is known, or for several networks.
    pub fn address(self) -> Option<IpAddr> {
        match self {
            Self::V4(bits) => Some(Ipv4Addr::from_bits(bits << 8).into()),
            Self::V6(bits) => Some(Ipv6Addr::from_bits(u128::from(bits) << 80).into()),
            Self::Address(address) => Some(address),
            Self::Hashed(_) | Self::Former { .. } => None,
        }
    }
}

/// `192.0.2.0/24`, `2001:db8:1::/48`, `192.0.2.77/32`, `former 0123456789abcdef`; a hashed one is `-`.
impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Self::Former { edition, is_confirmed } = self {
            let word = FORMER.iter().find(|(_, is)| is == is_confirmed);
            return write!(f, "{}{edition}", word.map_or("", |(word, _)| word));
        }
        let (v4, v6) = if matches!(self, Self::Address(_)) { (32, 128) } else { (24, 48) };
        match self.address() {
            Some(address @ IpAddr::V4(_)) => write!(f, "{address}/{v4}"),
            Some(address @ IpAddr::V6(_)) => write!(f, "{address}/{v6}"),
            None => f.write_str("-"),
        }
    }
}

impl From<Network> for String {
    fn from(network: Network) -> Self {
        network.to_string()
    }
}

impl TryFrom<String> for Network {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        match Self::parse(&text) {
            Self::Hashed(_) => Err("not a network"),
            network => Ok(network),
        }
    }
}

/// The key of a bucket of the limiter: its requests count together.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Key {
    /// The host for a pace of its robots.txt; the site for a pace of the ladder; the site and a number
    /// for a limit.
    #[serde(deserialize_with = "wire::name")]
    pub scope: String,
    /// In lower case; `None` for all names that only User-Agents declare.
    #[serde(rename = "token", default, deserialize_with = "wire::name_if")]
    #[serde(skip_serializing_if = "Option::is_none")]
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_is_parsed_from_its_own_text() {
        for (address, written) in [
            ("192.0.2.77", "192.0.2.0/24"),
            ("::ffff:192.0.2.77", "192.0.2.0/24"),
            ("2001:db8:1:2::3", "2001:db8:1::/48"),
        ] {
            let network = Network::of(address.parse().expect("an address"));
            assert_eq!(network.to_string(), written);
            assert_eq!(Network::parse(written), network);
        }
        for (address, written) in
            [("::ffff:192.0.2.77", "192.0.2.77/32"), ("2001:db8:1:2::3", "2001:db8:1:2::3/128")]
        {
            let address: IpAddr = address.parse().expect("an address");
            let network = Network::Address(address.to_canonical());
            assert_eq!(network.to_string(), written);
            assert_eq!(Network::parse(written), network);
            assert_eq!(network.widened(), Network::of(address));
        }
        for is_confirmed in [false, true] {
            let former = Network::Former { edition: EditionId::of(b"x"), is_confirmed };
            assert_eq!(Network::parse(&former.to_string()), former);
        }
        assert_eq!(Network::parse("0123abcd"), Network::parse("0123abcd"));
        assert_ne!(Network::parse("0123abcd"), Network::parse("-"));
    }
}
