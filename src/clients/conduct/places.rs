//! The places of a request at the origin, as limits of the operator give them.

use std::{net::IpAddr, time::Duration};

use crate::rules::{
    enforce::{AppliedLimit, Site},
    policy::PaceMode,
};

use super::{
    limiter::{Key, TooSoon},
    seats::Seat,
    weight::Conduct,
};

/// The places of a request. Dropped, they are free again.
#[derive(Debug, Default)]
pub struct Places<'r> {
    seats: Vec<Seat>,
    throttled: Vec<(Key, AppliedLimit<'r>)>,
    logged: Vec<(Key, AppliedLimit<'r>)>,
}

/// A request beyond a limit of the operator.
#[derive(Clone, Copy, Debug)]
pub struct Limited<'r> {
    /// The limit.
    pub applied: AppliedLimit<'r>,
    /// The time until the next request passes.
    pub too_soon: TooSoon,
}

impl<'r> Limited<'r> {
    fn new((applied, too_soon): (AppliedLimit<'r>, TooSoon)) -> Self {
        Self { applied, too_soon }
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
        let beyond = self.limiter.beyond(&places.throttled, self.contacts.nodes_apart(now), now);
        beyond.map_or(Ok(places), |beyond| Err(Limited::new(beyond)))
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
        let Places { mut seats, throttled, logged } = places;
        let nodes = self.contacts.nodes_apart(now);
        self.limiter.count(&throttled, nodes, now).map_err(Limited::new)?;
        let beyond = match self.sit(&logged) {
            Ok(more) => {
                seats.extend(more);
                self.limiter.count(&logged, nodes, now).err().map(Limited::new)
            }
            Err(limited) => Some(limited),
        };
        Ok((seats, beyond))
    }

    /// Takes the seats of limits for requests at one time.
    fn sit<'r>(&self, limits: &[(Key, AppliedLimit<'r>)]) -> Result<Vec<Seat>, Limited<'r>> {
        let seats = limits.iter().filter_map(|(key, applied)| {
            let seat = self.seats.take(key.clone(), applied.limit.concurrent?);
            let too_soon = TooSoon { retry_after: 1 };
            Some(seat.ok_or(Limited { applied: *applied, too_soon }))
        });
        seats.collect()
    }
}
