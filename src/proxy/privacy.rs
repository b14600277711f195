//! How much of a client's address is recorded (`violations.client_ip`).
//!
//! A hash tells which records of one day came from one client, and nobody which client that was:
//! its key is drawn anew each day (UTC) and at each start, and is never written down.

use std::{
    fmt::Write,
    net::IpAddr,
    sync::{Mutex, PoisonError},
};

use jiff::Timestamp;
use sha2::{Digest, Sha256};

use crate::{policy::ClientIp, violations::Text};

use super::network::Network;

const SECONDS_A_DAY: i64 = 86_400;
/// How many octets of a hash are written.
const WRITTEN: usize = 8;

/// What is made of addresses before they are recorded.
#[derive(Debug)]
pub(super) struct Privacy {
    client_ip: ClientIp,
    key: Mutex<Key>,
}

/// The key of one day.
#[derive(Debug, Default)]
struct Key {
    day: i64,
    octets: Option<[u8; 32]>,
}

impl Privacy {
    pub(super) fn new(client_ip: ClientIp) -> Self {
        Self { client_ip, key: Mutex::default() }
    }

    /// The address as it is recorded.
    pub(super) fn shown(&self, address: IpAddr, now: Timestamp) -> Text {
        match self.client_ip {
            ClientIp::Full => address.to_string().as_str().into(),
            ClientIp::Network => Network::of(address).to_string().into(),
            ClientIp::Hash => self.hash(address, now).as_str().into(),
        }
    }

    /// A network as it is recorded: veiled where addresses are.
    pub(super) fn network(&self, network: Network, now: Timestamp) -> Text {
        match (self.client_ip, network.address()) {
            (ClientIp::Hash, Some(address)) => self.hash(address, now).into(),
            _ => network.to_string().into(),
        }
    }

    fn hash(&self, address: IpAddr, now: Timestamp) -> String {
        let day = now.as_second().div_euclid(SECONDS_A_DAY);
        let mut key = self.key.lock().unwrap_or_else(PoisonError::into_inner);
        if key.octets.is_none() || key.day != day {
            let mut octets = [0; 32];
            // Without a secret there is no hash; then nothing of the address is written.
            key.octets = getrandom::fill(&mut octets).is_ok().then_some(octets);
            key.day = day;
        }
        let Some(octets) = &key.octets else { return "-".to_owned() };
        // Key and address have fixed lengths, so that no other pair gives the same octets.
        let address = match address {
            IpAddr::V4(address) => address.to_ipv6_mapped(),
            IpAddr::V6(address) => address,
        };
        let digest = Sha256::new().chain_update(octets).chain_update(address.octets()).finalize();
        digest.iter().take(WRITTEN).fold(String::new(), |mut text, octet| {
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
    fn ours_a_network_is_what_one_customer_gets() {
        for (address, network) in
            [("192.0.2.77", "192.0.2.0/24"), ("2001:db8:1:2:3::4", "2001:db8:1::/48")]
        {
            assert_eq!(shown(ClientIp::Network, address), network);
            assert_eq!(shown(ClientIp::Full, address), address);
        }
    }

    #[test]
    fn ours_a_hash_is_the_same_for_a_day_and_one_program() {
        let privacy = Privacy::new(ClientIp::Hash);
        let hash = |address: &str, second: i64| {
            let now = Timestamp::from_second(second).expect("a time");
            privacy.shown(address.parse().expect("an address"), now).to_string()
        };
        let first = hash("192.0.2.77", 0);
        assert_eq!(first.len(), 2 * WRITTEN);
        assert_eq!(first, hash("192.0.2.77", SECONDS_A_DAY - 1));
        assert_ne!(first, hash("192.0.2.78", SECONDS_A_DAY - 1));
        assert_ne!(first, hash("192.0.2.77", SECONDS_A_DAY));
        assert_ne!(first, shown(ClientIp::Hash, "192.0.2.77"), "another program, another key");
    }
}
