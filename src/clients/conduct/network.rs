//! The network of a client: IPv4 /24 or IPv6 /48, the usual size for one customer; for a program that
//! many people run, its address alone.

use std::{
    fmt,
    hash::{DefaultHasher, Hash, Hasher},
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};

use serde::{Deserialize, Serialize};

use crate::rules::{
    crawlers::{Crawler, Name},
    enforce::EditionId,
};

/// A network of a client, in few octets. JSON has its text.
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
