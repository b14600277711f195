//! The privacy of addresses in records (`violations.client_ip`).
//!
//! A hash links the records of one client on one day, but does not identify the client. Its key is
//! random, changes each day (UTC) and at each start, and is never stored.

use std::{fmt::Write, net::IpAddr};

use jiff::Timestamp;
use parking_lot::Mutex;
use sha2::{Digest, Sha256};

use crate::{base::text::Text, clients::conduct::Network, rules::policy::ClientIp};

const SECONDS_A_DAY: i64 = 86_400;
/// The octets of a hash in a record.
const HASH_OCTETS: usize = 8;

/// The form of addresses in records.
#[derive(Debug)]
pub(super) struct Privacy {
    client_ip: ClientIp,
    key: Mutex<Key>,
}

#[derive(Debug, Default)]
struct Key {
    day: i64,
    octets: Option<[u8; 32]>,
}

impl Privacy {
    pub(super) fn new(client_ip: ClientIp) -> Self {
        Self { client_ip, key: Mutex::default() }
    }

    /// An address as it appears in a record.
    pub(super) fn shown(&self, address: IpAddr, now: Timestamp) -> Text {
        match self.client_ip {
            ClientIp::Full => address.to_string().as_str().into(),
            ClientIp::Network => Network::of(address).to_string().into(),
            ClientIp::Hash => self.hash(address, now).as_str().into(),
        }
    }

    /// A network as it appears in a record: hashed if addresses are, and never one address if the
    /// policy wants networks.
    pub(super) fn network(&self, network: Network, now: Timestamp) -> Text {
        match (self.client_ip, network.address()) {
            (ClientIp::Hash, Some(address)) => self.hash(address, now).into(),
            (ClientIp::Network, _) => network.widened().to_string().into(),
            _ => network.to_string().into(),
        }
    }

    /// A network as the counts by hour have it: none if addresses are hashed.
    pub(super) fn place(&self, network: Network) -> Text {
        match self.client_ip {
            ClientIp::Hash => Text::word("-"),
            ClientIp::Full | ClientIp::Network => network.to_string().into(),
        }
    }

    fn hash(&self, address: IpAddr, now: Timestamp) -> String {
        let day = now.as_second().div_euclid(SECONDS_A_DAY);
        let mut key = self.key.lock();
        if key.octets.is_none() || key.day != day {
            let mut octets = [0; 32];
            // Without a key there is no hash, and the record has no address.
            key.octets = getrandom::fill(&mut octets).is_ok().then_some(octets);
            key.day = day;
        }
        let Some(octets) = &key.octets else { return "-".to_owned() };
        // Key and address have fixed lengths, so no other pair gives the same input.
        let address = match address {
            IpAddr::V4(address) => address.to_ipv6_mapped(),
            IpAddr::V6(address) => address,
        };
        let digest = Sha256::new().chain_update(octets).chain_update(address.octets()).finalize();
        digest.iter().take(HASH_OCTETS).fold(String::new(), |mut text, octet| {
            let _ = write!(text, "{octet:02x}"); // writing to a String can't fail
            text
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(client_ip: ClientIp, address: &str) -> String {
        let address = address.parse().expect("an address");
        Privacy::new(client_ip).shown(address, Timestamp::UNIX_EPOCH).to_string()
    }

    #[test]
    fn a_network_is_the_usual_size_for_one_customer() {
        for (address, network) in
            [("192.0.2.77", "192.0.2.0/24"), ("2001:db8:1:2:3::4", "2001:db8:1::/48")]
        {
            assert_eq!(shown(ClientIp::Network, address), network);
            assert_eq!(shown(ClientIp::Full, address), address);
            let of_program = Network::Address(address.parse().expect("an address"));
            let stored = Privacy::new(ClientIp::Network).network(of_program, Timestamp::UNIX_EPOCH);
            assert_eq!(&*stored, network);
        }
    }

    #[test]
    fn a_hash_stays_the_same_for_one_day_and_one_process() {
        let privacy = Privacy::new(ClientIp::Hash);
        let hash = |address: &str, second: i64| {
            let now = Timestamp::from_second(second).expect("a time");
            privacy.shown(address.parse().expect("an address"), now).to_string()
        };
        let first = hash("192.0.2.77", 0);
        assert_eq!(first.len(), 2 * HASH_OCTETS);
        assert_eq!(first, hash("192.0.2.77", SECONDS_A_DAY - 1));
        assert_ne!(first, hash("192.0.2.78", SECONDS_A_DAY - 1));
        assert_ne!(first, hash("192.0.2.77", SECONDS_A_DAY));
        assert_ne!(first, shown(ClientIp::Hash, "192.0.2.77"), "another process has another key");
    }
}
