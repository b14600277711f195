//! The usual time to the head of each class of requests, without crawlers.
//!
//! A class is the method, the first segment of the path, and whether there is a query. One time for all
//! pages would be that of the cheap ones, and every search would seem slow.

use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash, Hasher},
    time::Duration,
};

use crate::clients::conduct::capacity::has_room;

/// The most classes of a site. The rest has one time together.
const MOST_CLASSES: usize = 256;
/// The answers that are learned in any case, because nothing else is known.
const FIRST: u32 = 8;
/// The answers that count for the mean; older ones fade.
const REMEMBERED: u32 = 256;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Class(u64);

impl Class {
    pub(super) fn of(method: &str, path: &[u8]) -> Self {
        let mut parts = path.splitn(2, |&octet| octet == b'?');
        let segment = parts.next().unwrap_or_default().split(|&octet| octet == b'/').nth(1);
        let mut hasher = DefaultHasher::new();
        (method, segment, parts.next().is_some()).hash(&mut hasher);
        Self(hasher.finish())
    }
}

#[derive(Debug, Default)]
pub(super) struct Baselines(HashMap<Class, Mean>);

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Mean {
    pub(super) seconds: f64,
    pub(super) count: u32,
}

impl Baselines {
    /// The usual time before this answer; `None` while it is unknown. Learns from answers
    /// that crawlers could not slow down.
    pub(super) fn note(
        &mut self,
        class: Class,
        time: Duration,
        is_undisturbed: bool,
    ) -> Option<Mean> {
        let known = has_room(&self.0, &class, MOST_CLASSES).then_some(class);
        let mean = self.0.entry(known.unwrap_or(Class(0))).or_default();
        let usual = (mean.count >= FIRST).then_some(*mean);
        if is_undisturbed || usual.is_none() {
            mean.count = (mean.count + 1).min(REMEMBERED);
            // A clock that is too coarse for an answer from memory must not make it a time of nothing.
            let seconds = time.as_secs_f64().max(0.001);
            // One that hangs counts as a slow one.
            let seconds = usual.map_or(seconds, |usual| seconds.min(4.0 * usual.seconds));
            mean.seconds += (seconds - mean.seconds) / f64::from(mean.count);
        }
        usual
    }
}
