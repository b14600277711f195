//! The places of a request at the origin, as limits of the operator give them.

use std::{net::IpAddr, time::Duration};

use crate::rules::{
    crawlers::Outcome,
    enforce::{AppliedLimit, Site},
    policy::PaceMode,
};

use super::{
    admission::Queued,
    key::Key,
    limiter::{Limited, Turn},
    seats::Seat,
    weight::Conduct,
};

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
