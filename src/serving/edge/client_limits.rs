//! What clients may take: time for a body, frames that do nothing, and for each network and all together,
//! connections, or requests at origins.

use std::{
    net::{IpAddr, Ipv6Addr},
    sync::Arc,
    time::{Duration, Instant},
};

use ipnet::IpNet;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::{
    clients::conduct::{Seat, Seats},
    serving::gate,
};

/// The octets of bodies that a client of HTTP/2 may send before it must wait for the origin
/// (RFC 9113 §6.9.2).
pub(super) const FIRST_WINDOW: u64 = 65_535;

/// The time for a body beside that of its octets.
const BODY_GRACE: Duration = Duration::from_secs(10);

/// The frames that do nothing and may come at once.
const MOST_FRAMES: f64 = 1_000.0;
/// The frames that do nothing and may come each second.
const FRAMES_A_SECOND: f64 = 200.0;

/// The pace of a body: only the time in which Beadle waits for the client counts.
#[derive(Debug, Default)]
pub(super) struct Pace {
    octets: u64,
    waited: Duration,
    since: Option<Instant>,
}

impl Pace {
    /// Notes octets that end a wait.
    pub(super) fn note(&mut self, octets: usize) {
        self.octets += octets as u64;
        self.waited += self.since.take().map_or(Duration::ZERO, |since| since.elapsed());
    }

    /// The end of the present wait: when the client has been slower than `rate`.
    pub(super) fn end(&mut self, rate: u64) -> Instant {
        let allowed = BODY_GRACE + Duration::from_millis(self.octets * 1_000 / rate);
        self.since() + allowed.saturating_sub(self.waited)
    }

    /// The begin of the present wait; now, if there was none.
    pub(super) fn since(&mut self) -> Instant {
        *self.since.get_or_insert_with(Instant::now)
    }
}

/// A budget that fills itself up.
#[derive(Debug)]
pub(super) struct Budget {
    left: f64,
    at: Option<Instant>,
}

impl Default for Budget {
    fn default() -> Self {
        Self { left: MOST_FRAMES, at: None }
    }
}

impl Budget {
    /// Takes `count` out of the budget; false if it is exhausted.
    pub(super) fn take(&mut self, count: u32, now: Instant) -> bool {
        let since = self.at.replace(now).map_or(Duration::ZERO, |at| now.duration_since(at));
        let filled = self.left + since.as_secs_f64() * FRAMES_A_SECOND;
        self.left = filled.min(MOST_FRAMES) - f64::from(count);
        self.left >= 0.0
    }
}

/// The connections of clients, or their requests at origins, bounded.
#[derive(Debug)]
pub(crate) struct Guests {
    room: Arc<Semaphore>,
    most_of_one: u32,
    trusted: Vec<IpNet>,
    of_network: Seats<IpAddr>,
}

/// One of them; ends on drop.
#[derive(Debug)]
pub(crate) struct Guest {
    /// That of its network; `None` for a trusted proxy.
    _seat: Option<Seat<IpAddr>>,
    _place: OwnedSemaphorePermit,
}

impl Guests {
    /// Room for so many of all networks, and of one.
    pub(crate) fn new(most: usize, most_of_one: u32, trusted: Vec<IpNet>) -> Self {
        let room = Arc::new(Semaphore::new(most));
        Self { room, most_of_one, trusted, of_network: Seats::default() }
    }

    pub(crate) fn place_now(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.room).try_acquire_owned().ok()
    }

    pub(super) async fn place(&self) -> Option<OwnedSemaphorePermit> {
        // Nobody closes the semaphore.
        Arc::clone(&self.room).acquire_owned().await.ok()
    }

    /// Gives a client the place; `None` if its network has too many.
    pub(crate) fn admit(&self, client: IpAddr, place: OwnedSemaphorePermit) -> Option<Guest> {
        let seat = match self.is_trusted(client) {
            true => None,
            false => Some(self.of_network.take(network(client), self.most_of_one)?),
        };
        Some(Guest { _seat: seat, _place: place })
    }

    /// Whether this is one of the trusted proxies, which bring connections of others.
    pub(super) fn is_trusted(&self, peer: IpAddr) -> bool {
        gate::is_trusted(peer, &self.trusted)
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
    fn a_budget_fills_itself_up() {
        let (mut budget, start) = (Budget::default(), Instant::now());
        assert!(budget.take(1_000, start));
        assert!(!budget.take(1, start));
        let mut budget = Budget::default();
        assert!(budget.take(1_000, start));
        assert!(budget.take(200, start + Duration::from_secs(1)));
        assert!(!budget.take(201, start + Duration::from_secs(2)));
    }

    #[test]
    fn a_body_has_ten_seconds_and_the_time_of_its_octets() {
        let mut pace = Pace::default();
        let start = pace.since();
        assert_eq!(pace.end(100), start + BODY_GRACE);
        pace.note(1_000);
        let later = pace.since();
        let more = pace.end(100) - later;
        assert!(more <= Duration::from_secs(20) && more > Duration::from_secs(15), "{more:?}");
    }

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
        assert!(guests.of_network.is_empty());
        assert_eq!(guests.room.available_permits(), 8);
    }
}
