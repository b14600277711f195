//! The log that the nodes share: what each told, in the order of the server.

use std::sync::Arc;

use beadle::{
    clients::conduct::Observations,
    rules::enforce::{Edition, EditionId},
};
use jiff::{SignedDuration, Timestamp};

/// An edition, and since when it is announced.
pub(crate) type Announced = (Arc<Edition>, u64);
/// An edition, and since when it is not served.
pub(crate) type Ended = (EditionId, u64);

/// One exchange of a node. All times are milliseconds of the fleet, but those of the observations are
/// by the clock of the node.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) at: u64,
    pub(crate) from: usize,
    /// How many entries of the log the node has taken in.
    pub(crate) read: usize,
    /// Nothing, if its requests changed nothing.
    pub(crate) news: Option<Arc<Observations>>,
    /// The edition that the node is going to serve, and from when.
    pub(crate) announced: Option<Announced>,
    /// The edition that the node serves no longer, and since when.
    pub(crate) ended: Option<Ended>,
}

/// Moves all times of observations, from one clock to another.
pub(crate) fn shift(news: &Observations, by: SignedDuration) -> Observations {
    let mut news = news.clone();
    let fetches = news.fetches.iter_mut().flat_map(|one| [&mut one.first, &mut one.last]);
    let steps = news.steps.iter_mut().map(|one| &mut one.at);
    let ladder = news.ladder.iter_mut().map(|one| &mut one.period);
    let openings = news.openings.iter_mut().map(|one| &mut one.at);
    let breaker = news.breaker.iter_mut().map(|one| &mut one.at);
    let pace = news.pace.iter_mut().map(|one| &mut one.at);
    let times = fetches.chain(steps).chain(ladder).chain(openings).chain(breaker).chain(pace);
    times.chain(&mut news.forgotten).for_each(|time| *time = moved(*time, by));
    news
}

fn moved(time: Timestamp, by: SignedDuration) -> Timestamp {
    time.checked_add(by).unwrap_or(time)
}
