//! The queue of look-ups: each address once, a few per network, bounded in total.

use std::{
    collections::{HashMap, HashSet},
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    sync::Arc,
};

use parking_lot::Mutex;
use tokio::sync::mpsc;

use super::suffixes::Suffixes;

/// The side of the queue that adds addresses.
#[derive(Debug)]
pub(super) struct Queue {
    tickets: mpsc::Sender<Ticket>,
    pending: Arc<Mutex<Pending>>,
    per_network: usize,
}

/// A waiting or running look-up. Dropping it frees its place.
#[derive(Debug)]
pub(super) struct Ticket {
    address: IpAddr,
    suffixes: Arc<Suffixes>,
    pending: Arc<Mutex<Pending>>,
}

/// The waiting and running look-ups.
#[derive(Debug, Default)]
struct Pending {
    addresses: HashSet<IpAddr>,
    networks: HashMap<IpAddr, usize>,
    /// Every suffix of a request so far: one look-up covers all crawlers.
    suffixes: Arc<Suffixes>,
}

impl Queue {
    /// A queue for `most` waiting addresses, and the receiver of their tickets.
    pub(super) fn new(most: usize, per_network: usize) -> (Self, mpsc::Receiver<Ticket>) {
        let (tickets, receiver) = mpsc::channel(most);
        (Self { tickets, pending: Arc::default(), per_network }, receiver)
    }

    /// Queues a look-up of `address` for all suffixes so far. Returns false if there is no place.
    pub(super) fn enqueue(&self, address: IpAddr, suffixes: &[String]) -> bool {
        let mut pending = self.pending.lock();
        if !pending.suffixes.cover(suffixes) {
            pending.suffixes = Arc::new(pending.suffixes.with(suffixes));
        }
        if pending.addresses.contains(&address) {
            return true;
        }
        let count = pending.networks.entry(network(address)).or_default();
        if *count >= self.per_network {
            return false;
        }
        *count += 1;
        pending.addresses.insert(address);
        let suffixes = Arc::clone(&pending.suffixes);
        drop(pending); // A ticket that does not fit drops, and its drop takes the lock.
        let ticket = Ticket { address, suffixes, pending: Arc::clone(&self.pending) };
        self.tickets.try_send(ticket).is_ok()
    }

    /// The number of waiting and running look-ups.
    #[cfg(test)]
    pub(super) fn pending(&self) -> usize {
        let pending = self.pending.lock();
        assert_eq!(pending.addresses.len(), pending.networks.values().sum::<usize>());
        assert!(pending.networks.values().all(|count| *count > 0), "a network without addresses");
        pending.addresses.len()
    }
}

impl Ticket {
    pub(super) fn address(&self) -> IpAddr {
        self.address
    }

    /// The suffixes that the look-up covers.
    pub(super) fn suffixes(&self) -> &Arc<Suffixes> {
        &self.suffixes
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut pending = self.pending.lock();
        pending.addresses.remove(&self.address);
        let network = network(self.address);
        if let Some(count) = pending.networks.get_mut(&network) {
            *count -= 1;
            if *count == 0 {
                pending.networks.remove(&network);
            }
        }
    }
}

/// The first address of the network that shares a limit. One customer usually has a whole network,
/// so another address of it gains nothing.
fn network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(v4) => {
            let [first, second, third, _] = v4.octets();
            Ipv4Addr::new(first, second, third, 0).into()
        }
        IpAddr::V6(v6) => {
            let [first, second, third, ..] = v6.segments();
            Ipv6Addr::new(first, second, third, 0, 0, 0, 0, 0).into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn enqueue(queue: &Queue, address: &str) -> bool {
        queue.enqueue(address.parse().unwrap(), &[".a.example".to_owned()])
    }

    #[test]
    fn an_address_waits_once_and_a_full_queue_accepts_no_more() {
        let (queue, mut receiver) = Queue::new(2, 8);
        assert!(
            enqueue(&queue, "192.0.2.1")
                && enqueue(&queue, "192.0.2.1")
                && enqueue(&queue, "192.0.2.2")
        );
        assert_eq!(queue.pending(), 2);
        assert!(!enqueue(&queue, "192.0.2.3"));
        assert!(enqueue(&queue, "192.0.2.1"), "it waits already");
        let first = receiver.try_recv().unwrap();
        assert_eq!(first.address(), "192.0.2.1".parse::<IpAddr>().unwrap());
        assert!(enqueue(&queue, "192.0.2.1"), "its look-up is running");
        assert!(enqueue(&queue, "192.0.2.3"));
        assert_eq!(queue.pending(), 3);
        drop(first);
        assert_eq!(queue.pending(), 2);
        drop(receiver);
        assert!(!enqueue(&queue, "192.0.2.9"), "the receiver is closed");
        assert_eq!(queue.pending(), 0);
    }

    #[test]
    fn each_network_has_its_own_limit() {
        for (network, others) in [
            (["192.0.2.1", "192.0.2.2", "192.0.2.3"], "192.0.3.1"),
            (["2001:db8:0::1", "2001:db8:0:1::2", "2001:db8:0:ffff::3"], "2001:db8:1::1"),
        ] {
            let (queue, mut receiver) = Queue::new(8, 2);
            assert!(enqueue(&queue, network[0]) && enqueue(&queue, network[1]));
            assert!(!enqueue(&queue, network[2]));
            assert!(enqueue(&queue, others));
            drop(receiver.try_recv());
            assert!(enqueue(&queue, network[2]));
        }
    }

    #[test]
    fn a_later_look_up_covers_all_earlier_suffixes() {
        let (queue, mut receiver) = Queue::new(8, 8);
        let suffixes = [".a.example".to_owned(), ".b.example".to_owned()];
        queue.enqueue("192.0.2.1".parse().unwrap(), &suffixes[..1]);
        queue.enqueue("192.0.2.2".parse().unwrap(), &suffixes[1..]);
        assert!(!receiver.try_recv().unwrap().suffixes().cover(&suffixes));
        assert!(receiver.try_recv().unwrap().suffixes().cover(&suffixes));
    }
}
