//! What is to be looked up: each address once, each network a few times, all together bounded.

use std::{
    collections::{HashMap, HashSet},
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::mpsc;

use super::suffixes::Suffixes;

/// The side that asks.
#[derive(Debug)]
pub(super) struct Queue {
    tickets: mpsc::Sender<Ticket>,
    open: Arc<Mutex<Open>>,
    per_network: usize,
}

/// An address that waits or is being looked up, as long as this lives.
#[derive(Debug)]
pub(super) struct Ticket {
    address: IpAddr,
    suffixes: Arc<Suffixes>,
    open: Arc<Mutex<Open>>,
}

/// What waits or is under way.
#[derive(Debug, Default)]
struct Open {
    addresses: HashSet<IpAddr>,
    networks: HashMap<IpAddr, usize>,
    /// Every suffix that was ever asked about: an address is looked up for all crawlers at once.
    suffixes: Arc<Suffixes>,
}

impl Queue {
    /// A queue for `most` addresses that wait, and the side that takes them.
    pub(super) fn new(most: usize, per_network: usize) -> (Self, mpsc::Receiver<Ticket>) {
        let (tickets, taken) = mpsc::channel(most);
        (Self { tickets, open: Arc::default(), per_network }, taken)
    }

    /// Whether `address` will be looked up, with all suffixes that were asked about by then; if
    /// not, there was no place for it.
    pub(super) fn ask(&self, address: IpAddr, suffixes: &[String]) -> bool {
        let mut open = lock(&self.open);
        if !open.suffixes.cover(suffixes) {
            open.suffixes = Arc::new(open.suffixes.with(suffixes));
        }
        if open.addresses.contains(&address) {
            return true;
        }
        let places = open.networks.entry(network(address)).or_default();
        if *places >= self.per_network {
            return false;
        }
        *places += 1;
        open.addresses.insert(address);
        let suffixes = Arc::clone(&open.suffixes);
        drop(open); // A ticket that finds no place gives its entries back, and needs the lock.
        let ticket = Ticket { address, suffixes, open: Arc::clone(&self.open) };
        self.tickets.try_send(ticket).is_ok()
    }

    /// How many addresses wait or are being looked up.
    #[cfg(test)]
    pub(super) fn open(&self) -> usize {
        let open = lock(&self.open);
        assert_eq!(open.addresses.len(), open.networks.values().sum::<usize>());
        assert!(open.networks.values().all(|places| *places > 0), "a network without addresses");
        open.addresses.len()
    }
}

impl Ticket {
    pub(super) fn address(&self) -> IpAddr {
        self.address
    }

    /// The suffixes that were asked about when this was queued.
    pub(super) fn suffixes(&self) -> &Arc<Suffixes> {
        &self.suffixes
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut open = lock(&self.open);
        open.addresses.remove(&self.address);
        let network = network(self.address);
        if let Some(places) = open.networks.get_mut(&network) {
            *places -= 1;
            if *places == 0 {
                open.networks.remove(&network);
            }
        }
    }
}

fn lock(open: &Mutex<Open>) -> MutexGuard<'_, Open> {
    open.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The first address of the network that shares places: what one holder usually has at least, so
/// that changing addresses gains nothing.
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

    fn ask(queue: &Queue, address: &str) -> bool {
        queue.ask(address.parse().unwrap(), &[".a.example".to_owned()])
    }

    #[test]
    fn ours_an_address_waits_once_and_a_full_queue_takes_no_more() {
        let (queue, mut taken) = Queue::new(2, 8);
        assert!(ask(&queue, "192.0.2.1") && ask(&queue, "192.0.2.1") && ask(&queue, "192.0.2.2"));
        assert_eq!(queue.open(), 2);
        assert!(!ask(&queue, "192.0.2.3"));
        assert!(ask(&queue, "192.0.2.1"), "it waits already");
        let first = taken.try_recv().unwrap();
        assert_eq!(first.address(), "192.0.2.1".parse::<IpAddr>().unwrap());
        assert!(ask(&queue, "192.0.2.1"), "it is being looked up");
        assert!(ask(&queue, "192.0.2.3"));
        assert_eq!(queue.open(), 3);
        drop(first);
        assert_eq!(queue.open(), 2);
        drop(taken);
        assert!(!ask(&queue, "192.0.2.9"), "nobody takes it");
        assert_eq!(queue.open(), 0);
    }

    #[test]
    fn ours_a_network_has_a_few_places() {
        for (network, others) in [
            (["192.0.2.1", "192.0.2.2", "192.0.2.3"], "192.0.3.1"),
            (["2001:db8:0::1", "2001:db8:0:1::2", "2001:db8:0:ffff::3"], "2001:db8:1::1"),
        ] {
            let (queue, mut taken) = Queue::new(8, 2);
            assert!(ask(&queue, network[0]) && ask(&queue, network[1]));
            assert!(!ask(&queue, network[2]));
            assert!(ask(&queue, others));
            drop(taken.try_recv());
            assert!(ask(&queue, network[2]));
        }
    }

    #[test]
    fn ours_what_is_asked_about_later_is_looked_up_with_the_rest() {
        let (queue, mut taken) = Queue::new(8, 8);
        let suffixes = [".a.example".to_owned(), ".b.example".to_owned()];
        queue.ask("192.0.2.1".parse().unwrap(), &suffixes[..1]);
        queue.ask("192.0.2.2".parse().unwrap(), &suffixes[1..]);
        assert!(!taken.try_recv().unwrap().suffixes().cover(&suffixes));
        assert!(taken.try_recv().unwrap().suffixes().cover(&suffixes));
    }
}
