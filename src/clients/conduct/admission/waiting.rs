//! The requests of crawlers that wait for room at the origin. They hold their connections, so there
//! are few of them, and they wait for seconds at most. Their holder asks again ([`Queued::may_go`]).

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use parking_lot::Mutex;

const MOST_WAITING: usize = 100;

#[derive(Clone, Debug, Default)]
pub(super) struct Queue(Arc<Mutex<BTreeSet<Place>>>);

/// A place in the order of those that wait: by the policy's order first, then as they came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) rank: usize,
    number: u64,
}

/// A request that waits; its place is free again on drop.
#[derive(Debug)]
pub struct Queued {
    queue: Queue,
    place: Place,
    until: Duration,
}

impl Queue {
    /// The place of a request of this rank: its own, or the one behind all others.
    pub(super) fn place(&self, rank: usize, waiting: Option<&Queued>) -> Place {
        let numbers = || self.0.lock().iter().map(|place| place.number).max();
        let behind = || Place { rank, number: numbers().map_or(0, |number| number + 1) };
        waiting.map_or_else(behind, |waiting| waiting.place)
    }

    pub(super) fn is_next(&self, place: Place) -> bool {
        self.0.lock().first().is_none_or(|first| place <= *first)
    }

    /// Lets a request wait, if there are not too many and it has not waited long enough.
    pub(super) fn lets_wait(
        &self,
        place: Place,
        now: Duration,
        (longest, waiting): (Duration, &mut Option<Queued>),
    ) -> bool {
        if waiting.is_none() && !longest.is_zero() && self.len() < MOST_WAITING {
            self.0.lock().insert(place);
            *waiting = Some(Queued { queue: self.clone(), place, until: now + longest });
        }
        waiting.as_ref().is_some_and(|waiting| now < waiting.until)
    }

    pub(super) fn len(&self) -> usize {
        self.0.lock().len()
    }
}

impl Queued {
    pub(crate) fn may_go(&self, now: Duration) -> bool {
        now >= self.until || self.queue.is_next(self.place)
    }
}

impl Drop for Queued {
    fn drop(&mut self) {
        self.queue.0.lock().remove(&self.place);
    }
}
