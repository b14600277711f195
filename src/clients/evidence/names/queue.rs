//! The queue of look-ups: each address once, a few per network, one network after the other, bounded
//! in total.

use std::{
    collections::{BTreeSet, HashMap, HashSet, VecDeque},
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    sync::Arc,
};

use parking_lot::Mutex;
use tokio::sync::Notify;

#[derive(Debug)]
pub(super) struct Queue {
    line: Arc<Line>,
    most: usize,
    per_network: usize,
}

#[derive(Debug)]
pub(super) struct Tickets(Arc<Line>);

/// A running look-up. Dropping it frees its place.
#[derive(Debug)]
pub(super) struct Ticket {
    pub(super) address: IpAddr,
    /// The suffixes of the claim that caused the look-up.
    pub(super) wanted: Box<[String]>,
    line: Arc<Line>,
}

#[derive(Debug, Default)]
struct Line {
    pending: Mutex<Pending>,
    news: Notify,
}

#[derive(Debug, Default)]
struct Pending {
    addresses: HashSet<IpAddr>,
    networks: HashMap<IpAddr, Network>,
    /// The networks with waiting addresses, in the order of their turns.
    turns: BTreeSet<Turn>,
    round: u64,
    /// The number of networks that began to wait.
    arrivals: u64,
    waiting: usize,
    is_closed: bool,
}

#[derive(Debug, Default)]
struct Network {
    /// With the suffixes of the claims that cause the look-ups.
    waiting: VecDeque<(IpAddr, Box<[String]>)>,
    running: usize,
}

/// The next turn of a network. In each round every waiting network has one, so a network waits for
/// one look-up of each other network, however many they have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Turn {
    round: u64,
    arrival: u64,
    network: IpAddr,
}

impl Queue {
    /// A queue for `most` waiting addresses, and the receiver of their tickets.
    pub(super) fn new(most: usize, per_network: usize) -> (Self, Tickets) {
        let line = Arc::new(Line::default());
        (Self { line: Arc::clone(&line), most, per_network }, Tickets(line))
    }

    /// Queues a look-up of `address` for a claim with the suffixes `wanted`.
    /// Returns false if a look-up was dropped: this one, or, if the queue is full, the last of the
    /// network with the most.
    pub(super) fn enqueue(&self, address: IpAddr, wanted: &[String]) -> bool {
        let mut pending = self.line.pending.lock();
        let pending = &mut *pending;
        if pending.addresses.contains(&address) {
            return true;
        }
        let key = network(address);
        let own = pending.networks.get(&key);
        let (own, running) = own.map_or((0, 0), |own| (own.waiting.len(), own.running));
        if pending.is_closed || own + running >= self.per_network {
            return false;
        }
        let is_full = pending.waiting >= self.most;
        if is_full && !pending.drop_one_of_more_than(own + 1) {
            return false;
        }
        pending.addresses.insert(address);
        let network = pending.networks.entry(key).or_default();
        network.waiting.push_back((address, wanted.into()));
        pending.waiting += 1;
        if own == 0 {
            pending.arrivals += 1;
            let (round, arrival) = (pending.round, pending.arrivals);
            pending.turns.insert(Turn { round, arrival, network: key });
        }
        self.line.news.notify_one();
        !is_full
    }

    /// The number of waiting and running look-ups.
    #[cfg(test)]
    pub(super) fn pending(&self) -> usize {
        let pending = self.line.pending.lock();
        let waiting: usize = pending.networks.values().map(|one| one.waiting.len()).sum();
        let running: usize = pending.networks.values().map(|one| one.running).sum();
        assert_eq!((pending.waiting, pending.addresses.len()), (waiting, waiting + running));
        assert!(
            pending.networks.values().all(|one| !one.is_empty()),
            "a network without addresses"
        );
        let has_turn =
            |one: &IpAddr| pending.turns.iter().filter(|t| t.network == *one).count() == 1;
        let mut networks = pending.networks.iter();
        assert!(networks.all(|(network, one)| one.waiting.is_empty() != has_turn(network)));
        pending.addresses.len()
    }
}

impl Tickets {
    /// The next ticket; `None` if the queue is closed. A cancelled call takes none.
    pub(super) async fn receive(&self) -> Option<Ticket> {
        loop {
            if let Some(ticket) = self.next() {
                return Some(ticket);
            }
            if self.0.pending.lock().is_closed {
                return None;
            }
            self.0.news.notified().await;
        }
    }

    pub(super) fn next(&self) -> Option<Ticket> {
        let mut pending = self.0.pending.lock();
        let pending = &mut *pending;
        let turn = pending.turns.pop_first()?;
        pending.round = turn.round;
        let network = pending.networks.get_mut(&turn.network)?;
        let (address, wanted) = network.waiting.pop_front()?;
        network.running += 1;
        pending.waiting -= 1;
        if !network.waiting.is_empty() {
            pending.turns.insert(Turn { round: turn.round + 1, ..turn });
        }
        Some(Ticket { address, wanted, line: Arc::clone(&self.0) })
    }
}

impl Pending {
    /// Drops the last waiting address of the network with the most, if that has more than this many.
    fn drop_one_of_more_than(&mut self, few: usize) -> bool {
        let Some(longest) = self.networks.values_mut().max_by_key(|network| network.waiting.len())
        else {
            return false;
        };
        if longest.waiting.len() <= few {
            return false;
        }
        let dropped = longest.waiting.pop_back();
        self.waiting -= 1;
        dropped.is_some_and(|(address, _)| self.addresses.remove(&address))
    }
}

impl Network {
    fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.running == 0
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut pending = self.line.pending.lock();
        pending.addresses.remove(&self.address);
        let key = network(self.address);
        if let Some(network) = pending.networks.get_mut(&key) {
            network.running -= 1;
            if network.is_empty() {
                pending.networks.remove(&key);
            }
        }
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        self.line.close();
    }
}

impl Drop for Tickets {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl Line {
    fn close(&self) {
        let mut pending = self.pending.lock();
        let pending = &mut *pending;
        pending.is_closed = true;
        pending.turns.clear();
        pending.waiting = 0;
        let Pending { networks, addresses, .. } = pending;
        networks.retain(|_, network| {
            for (address, _) in network.waiting.drain(..) {
                addresses.remove(&address);
            }
            !network.is_empty()
        });
        self.news.notify_one();
    }
}

/// The first address of the network that shares a limit. One customer usually has a whole network,
/// so another address of it gains nothing.
fn network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(address) => Ipv4Addr::from_bits(address.to_bits() >> 8 << 8).into(),
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 80 << 80).into(),
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
        let (queue, tickets) = Queue::new(2, 8);
        assert!(
            enqueue(&queue, "192.0.2.1")
                && enqueue(&queue, "192.0.2.1")
                && enqueue(&queue, "192.0.2.2")
        );
        assert_eq!(queue.pending(), 2);
        assert!(!enqueue(&queue, "192.0.2.3"));
        assert!(enqueue(&queue, "192.0.2.1"), "it waits already");
        let first = tickets.next().unwrap();
        assert_eq!(first.address, "192.0.2.1".parse::<IpAddr>().unwrap());
        assert!(enqueue(&queue, "192.0.2.1"), "its look-up is running");
        assert!(enqueue(&queue, "192.0.2.3"));
        assert_eq!(queue.pending(), 3);
        drop(first);
        assert_eq!(queue.pending(), 2);
        drop(tickets);
        assert!(!enqueue(&queue, "192.0.2.9"), "the receiver is closed");
        assert_eq!(queue.pending(), 0);
    }

    #[test]
    fn each_network_has_its_own_limit() {
        for (network, others) in [
            (["192.0.2.1", "192.0.2.2", "192.0.2.3"], "192.0.3.1"),
            (["2001:db8:0::1", "2001:db8:0:1::2", "2001:db8:0:ffff::3"], "2001:db8:1::1"),
        ] {
            let (queue, tickets) = Queue::new(8, 2);
            assert!(enqueue(&queue, network[0]) && enqueue(&queue, network[1]));
            assert!(!enqueue(&queue, network[2]));
            assert!(enqueue(&queue, others));
            drop(tickets.next());
            assert!(enqueue(&queue, network[2]));
        }
    }

    #[test]
    fn a_network_waits_for_one_look_up_of_each_other_network() {
        let (queue, tickets) = Queue::new(1_024, 8);
        for host in 1..=8 {
            for other in 0..100 {
                assert!(enqueue(&queue, &format!("198.51.{other}.{host}")));
            }
        }
        // Each of the other networks has a look-up that does not end.
        let mut running: Vec<Ticket> = (0..150).filter_map(|_| tickets.next()).collect();
        assert!(enqueue(&queue, "192.0.2.1"));
        let position = (1..).find(|_| {
            let next = tickets.next().expect("one waits");
            let is_new = next.address == "192.0.2.1".parse::<IpAddr>().unwrap();
            running.push(next);
            is_new
        });
        assert_eq!(position, Some(51), "half of the others had their turn in this round");
    }

    #[test]
    fn a_full_queue_drops_a_look_up_of_the_network_with_the_most() {
        let (queue, tickets) = Queue::new(4, 8);
        for address in ["198.51.100.1", "198.51.100.2", "198.51.100.3", "203.0.113.1"] {
            assert!(enqueue(&queue, address));
        }
        assert!(!enqueue(&queue, "192.0.2.1"), "one was dropped");
        assert!(!enqueue(&queue, "192.0.2.2"), "it has no fewer than the others");
        assert_eq!(queue.pending(), 4);
        let order: Vec<String> =
            std::iter::from_fn(|| tickets.next()).map(|one| one.address.to_string()).collect();
        assert_eq!(order, ["198.51.100.1", "203.0.113.1", "192.0.2.1", "198.51.100.2"]);
        assert_eq!(queue.pending(), 0);
    }
}
