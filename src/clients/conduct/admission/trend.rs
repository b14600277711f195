//! The usual time to the head of each class of requests, without crawlers, and whether answers take longer:
//! a mean over as many as the decision needs.

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

/// The method, the first segment of the path, and whether there is a query. One time for all pages would
/// be that of the cheap ones, and every search would seem slow.
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

/// Answers may take this part of their usual time.
const TOLERANCE: f64 = 1.05;
/// The share of answers that may take longer than the operator's latency.
const LATE: f64 = 0.1;
/// The answers and the time before a decision.
const LEAST: u32 = 10;
const LEAST_TIME: Duration = Duration::from_millis(500);
/// With so many answers, or after so long, the mean decides, however they differ.
const MOST: u32 = 100;
const MOST_TIME: Duration = Duration::from_secs(5);
/// One answer counts for at most this many usual ones.
const SLOWEST: f64 = 4.0;
/// The standard errors between a mean and the tolerance that make a decision certain.
const CERTAIN: f64 = 2.5;
/// The limit falls at most to this part at one time.
const FALL: f64 = 0.7;

#[derive(Debug, Default)]
pub(super) struct Trend {
    people: Sums,
    all: Sums,
    since: Option<Duration>,
    /// Whether a crawler was put off meanwhile.
    pub(super) is_wanted: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    count: u32,
    sum: f64,
    squares: f64,
    late: u32,
    /// How little is known of what is usual: the mean of the inverse counts, times the count.
    doubt: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Verdict {
    /// Slower than usual. The limit has to fall to this part.
    Slower(f64),
    /// As usual, and whether crawlers were put off.
    Steady { is_wanted: bool },
}

impl Sums {
    fn note(&mut self, ratio: f64, known: u32) {
        let bounded = ratio.min(SLOWEST);
        self.count += 1;
        self.sum += bounded;
        self.squares += bounded * bounded;
        self.late += u32::from(ratio > 1.0);
        self.doubt += 1.0 / f64::from(known);
    }

    fn mean(&self) -> f64 {
        self.sum / f64::from(self.count)
    }

    /// The standard error of the mean, with that of what is usual.
    fn error(&self) -> f64 {
        let variance = self.squares / f64::from(self.count) - self.mean() * self.mean();
        (variance.max(0.0) * (1.0 + self.doubt) / f64::from(self.count)).sqrt()
    }
}

impl Trend {
    /// Notes an answer by its time, as a part of the usual one, which is known from so many answers.
    pub(super) fn note(&mut self, ratio: f64, known: u32, is_of_person: bool) {
        self.all.note(ratio, known);
        if is_of_person {
            self.people.note(ratio, known);
        }
    }

    /// The verdict, once the answers suffice. People's answers decide if there are enough of them.
    /// With `has_latency`, the ratios are those to the latency that the operator allows.
    pub(super) fn verdict(&mut self, now: Duration, has_latency: bool) -> Option<Verdict> {
        let time = now.saturating_sub(*self.since.get_or_insert(now));
        let sums = if self.people.count >= LEAST { self.people } else { self.all };
        if sums.count < LEAST || time < LEAST_TIME {
            return None;
        }
        let (mean, error) = match has_latency {
            true => {
                let late = f64::from(sums.late) / f64::from(sums.count);
                (TOLERANCE + late - LATE, (late * (1.0 - late) / f64::from(sums.count)).sqrt())
            }
            false => (sums.mean(), sums.error()),
        };
        let is_clear = (mean - TOLERANCE).abs() > CERTAIN * error;
        if !is_clear && sums.count < MOST && time < MOST_TIME {
            return None;
        }
        let is_wanted = self.is_wanted;
        *self = Self::default();
        Some(match is_clear && mean > TOLERANCE {
            true => Verdict::Slower((TOLERANCE / mean * 0.9).max(FALL)),
            false => Verdict::Steady { is_wanted },
        })
    }
}
