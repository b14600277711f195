//! What each client network has at a time, and all clients together: connections, or requests at origins.

use std::{
    collections::HashMap,
    net::{IpAddr, Ipv6Addr},
    sync::Arc,
};

use ipnet::IpNet;
use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::serving::gate;

/// The connections of clients, or their requests at origins, bounded.
#[derive(Debug)]
pub(crate) struct Guests {
    room: Arc<Semaphore>,
    most_of_one: u32,
    trusted: Vec<IpNet>,
    of_network: Mutex<HashMap<IpAddr, u32>>,
}

/// One of them; ends on drop.
#[derive(Debug)]
pub(crate) struct Guest {
    _place: OwnedSemaphorePermit,
    /// The network that it counts for; `None` for a trusted proxy.
    network: Option<(Arc<Guests>, IpAddr)>,
}

impl Guests {
    /// Room for so many of all networks, and of one.
    pub(crate) fn new(most: usize, most_of_one: u32, trusted: Vec<IpNet>) -> Arc<Self> {
        let room = Arc::new(Semaphore::new(most));
        Arc::new(Self { room, most_of_one, trusted, of_network: Mutex::default() })
    }

    /// A place for one more, if there is one now.
    pub(crate) fn place_now(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.room).try_acquire_owned().ok()
    }

    /// Waits for a place for one more connection.
    pub(super) async fn place(&self) -> Option<OwnedSemaphorePermit> {
        // Nobody closes the semaphore.
        Arc::clone(&self.room).acquire_owned().await.ok()
    }

    /// Gives a client the place; `None` if its network has too many.
    pub(crate) fn admit(
        self: &Arc<Self>,
        client: IpAddr,
        place: OwnedSemaphorePermit,
    ) -> Option<Guest> {
        if self.is_trusted(client) {
            return Some(Guest { _place: place, network: None });
        }
        let network = network(client);
        let mut all = self.of_network.lock();
        let count = all.entry(network).or_insert(0);
        if *count >= self.most_of_one {
            return None;
        }
        *count += 1;
        drop(all);
        Some(Guest { _place: place, network: Some((Arc::clone(self), network)) })
    }

    /// Whether this is one of the trusted proxies, which bring connections of others.
    pub(super) fn is_trusted(&self, peer: IpAddr) -> bool {
        gate::is_trusted(peer, &self.trusted)
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        let Some((guests, network)) = &self.network else { return };
        let mut all = guests.of_network.lock();
        if let Some(count) = all.get_mut(network) {
            *count -= 1;
            if *count == 0 {
                all.remove(network);
            }
        }
    }
}

/// The network of a client: an IPv4 address, or the /64 that one subscriber has of IPv6.
fn network(client: IpAddr) -> IpAddr {
    match client.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_has_its_connections_and_others_have_theirs() {
        let guests = Guests::new(8, 2, vec!["10.0.0.0/8".parse().unwrap()]);
        let admit = |client: &str| {
            guests.admit(client.parse().unwrap(), guests.place_now().expect("room for all"))
        };
        let kept = [admit("192.0.2.1"), admit("::ffff:192.0.2.1"), admit("2001:db8::1")];
        assert!(kept.iter().all(Option::is_some));
        assert!(admit("192.0.2.1").is_none(), "an address in two forms is one client");
        assert!(admit("192.0.2.2").is_some());
        let other = admit("2001:db8::ffff:1");
        assert!(other.is_some() && admit("2001:db8:0:0:5::").is_none(), "one /64");
        assert!(admit("2001:db8:0:1::1").is_some(), "another /64");
        let proxies = ["10.1.1.1"; 3].map(admit);
        assert!(proxies.iter().all(Option::is_some), "a trusted proxy brings many");
        drop(kept);
        assert!(admit("192.0.2.1").is_some(), "the place of one that ended");
        drop((other, proxies));
        assert!(guests.of_network.lock().is_empty());
        assert_eq!(guests.room.available_permits(), 8);
    }
}
