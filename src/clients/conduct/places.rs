//! The places of a request at the origin, as limits of the operator give them.

use std::{collections::HashMap, hash::Hash, net::IpAddr, sync::Arc, time::Duration};

use parking_lot::Mutex;

use crate::rules::{
    crawlers::Outcome,
    enforce::{AppliedLimit, Site},
    policy::PaceMode,
};

use super::{
    admission::Queued,
    key::Key,
    limiter::{Limited, Turn},
    weight::Conduct,
};

/// What is there at one time, counted by key: requests at the origin, or connections.
#[derive(Clone, Debug)]
pub struct Seats<K = Key>(Arc<Mutex<HashMap<K, u32>>>);

/// The place of one of them; free again on drop.
#[derive(Debug)]
pub struct Seat<K: Eq + Hash = Key> {
    seats: Seats<K>,
    key: K,
}

impl<K> Default for Seats<K> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<K: Clone + Eq + Hash> Seats<K> {
    /// A place for one more, if there are fewer than `most`.
    pub fn take(&self, key: K, most: u32) -> Option<Seat<K>> {
        let mut taken = self.0.lock();
        let count = taken.entry(key.clone()).or_insert(0);
        if *count >= most {
            return None;
        }
        *count += 1;
        drop(taken);
        Some(Seat { seats: self.clone(), key })
    }

    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.lock().is_empty()
    }
}

impl<K: Eq + Hash> Drop for Seat<K> {
    fn drop(&mut self) {
        let mut taken = self.seats.0.lock();
        if let Some(count) = taken.get_mut(&self.key) {
            *count -= 1;
            if *count == 0 {
                taken.remove(&self.key);
            }
        }
    }
}

/// The most requests that wait for their turn at one site.
const MOST_WAITING: u32 = 100;

/// The places of a request. Dropped, they are free again.
#[derive(Debug, Default)]
pub struct Places<'r> {
    seats: Vec<Seat>,
    throttled: Vec<(Key, AppliedLimit<'r>)>,
    logged: Vec<(Key, AppliedLimit<'r>)>,
    pub(crate) time_to_turn: Duration,
}

/// A request that waits: for its turn under limits of the operator, then for room at the origin. Its
/// holder asks again ([`Waiting::may_go`]).
#[derive(Debug, Default)]
pub struct Waiting {
    /// The time of its turn, and its place among those that wait. Boxed: nearly no request waits, and each
    /// is moved with room for it.
    turn: Option<Box<(Duration, Seat)>>,
    /// Its place among those that wait for room.
    pub room: Option<Queued>,
}

impl Waiting {
    /// Whether to ask again.
    pub fn may_go(&self, now: Duration) -> bool {
        match (&self.room, &self.turn) {
            (Some(room), _) => room.may_go(now),
            (None, Some(turn)) => now >= turn.0,
            (None, None) => true,
        }
    }

    /// Whether it had its turn, or may wait for one.
    pub fn turn(&self) -> Turn {
        if self.turn.is_some() { Turn::Had } else { Turn::Later }
    }
}

impl Conduct {
    /// Takes the places that limits of the operator give a client at this address, by a monotonic
    /// clock. The request does not count yet ([`Self::count`]).
    ///
    /// # Errors
    /// The request is beyond a limit in the mode `throttle`.
    pub fn reserve<'r>(
        &self,
        site: &Site,
        address: IpAddr,
        limits: Vec<AppliedLimit<'r>>,
        turn: Turn,
        now: Duration,
    ) -> Result<Places<'r>, Limited<'r>> {
        let mut places = Places::default();
        for applied in limits {
            let of_mode = match applied.limit.mode {
                PaceMode::Throttle => &mut places.throttled,
                PaceMode::Log => &mut places.logged,
            };
            of_mode.push((Key::of_limit(&site.name, &applied, address), applied));
        }
        places.seats = self.sit(&places.throttled)?;
        if turn == Turn::Had {
            places.throttled.clear();
        }
        let fleet = self.fleet(now);
        places.time_to_turn = self.limiter.time_to_turn(&places.throttled, fleet, turn, now)?;
        Ok(places)
    }

    /// Lets a request wait for its turn under the limits that gave it these places, and counts it. It takes
    /// places for requests at one time when it has its turn.
    ///
    /// # Errors
    /// Too many wait at the site, or another request came in between.
    pub fn wait<'r>(
        &self,
        site: &Site,
        places: &Places<'r>,
        now: Duration,
    ) -> Result<Waiting, Limited<'r>> {
        let fleet = self.fleet(now);
        let (scope, outcome) = (site.name.clone(), Outcome::Unknown);
        let all = Key { scope, product_token: None, outcome, network: None };
        let seat = self.seats.take(all, MOST_WAITING);
        let turn = if seat.is_some() { Turn::Later } else { Turn::Now };
        let time = self.limiter.count(&places.throttled, fleet, turn, now)?;
        Ok(Waiting { turn: seat.map(|seat| Box::new((now + time, seat))), room: None })
    }

    /// Counts a request that goes on to the origin. Returns its places there, and the limit in the
    /// mode `log` that it is beyond.
    ///
    /// # Errors
    /// Another request came in between, and this one is beyond a limit in the mode `throttle`.
    pub fn count<'r>(
        &self,
        places: Places<'r>,
        now: Duration,
    ) -> Result<(Vec<Seat>, Option<Limited<'r>>), Limited<'r>> {
        let Places { mut seats, throttled, logged, time_to_turn } = places;
        let fleet = self.fleet(now);
        let turn = if time_to_turn.is_zero() { Turn::Now } else { Turn::Later };
        self.limiter.count(&throttled, fleet, turn, now)?;
        let beyond = match self.sit(&logged) {
            Ok(more) => {
                seats.extend(more);
                self.limiter.count(&logged, fleet, Turn::Now, now).err()
            }
            Err(limited) => Some(limited),
        };
        Ok((seats, beyond))
    }

    fn sit<'r>(&self, limits: &[(Key, AppliedLimit<'r>)]) -> Result<Vec<Seat>, Limited<'r>> {
        let seats = limits.iter().filter_map(|(key, applied)| {
            let seat = self.seats.take(key.clone(), applied.limit.concurrent?);
            Some(seat.ok_or(Limited { applied: *applied, retry_after: 1 }))
        });
        seats.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_free_again_when_its_request_ends() {
        let (seats, key) = (Seats::default(), Key::of_confirmed("GPTBot"));
        let other = Key::of_confirmed("ClaudeBot");
        let mut kept: Vec<_> = (0..5).filter_map(|_| seats.take(key.clone(), 2)).collect();
        assert_eq!(kept.len(), 2);
        assert!(seats.take(other, 2).is_some() && seats.take(key.clone(), 2).is_none());
        kept.pop();
        kept.extend(seats.take(key.clone(), 2));
        assert_eq!(kept.len(), 2);
        assert!(seats.take(key.clone(), 2).is_none());
        drop(kept);
        assert!(seats.0.lock().is_empty());
        // A policy with a lower limit lets those go on that are there.
        let kept: Vec<_> = (0..5).filter_map(|_| seats.take(key.clone(), 5)).collect();
        assert!(seats.take(key, 2).is_none() && kept.len() == 5);
    }
}
