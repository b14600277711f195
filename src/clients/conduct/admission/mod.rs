//! The admission of crawlers' requests to the origin of a site, so that people never wait for them.
//!
//! One limit holds for all requests at the origin at one time. People always pass and count. Crawlers
//! take what is left of it, but one of their requests may always be there. The limit follows the
//! origin's time to the head, as in Netflix's concurrency-limits (`Gradient2`) and Envoy's adaptive
//! concurrency: it falls when answers take longer than without crawlers, or fail, and grows while
//! crawlers are put off and answers keep their time.
//!
//! A [`Stay`] is a request at the origin. A person's ends with the head of the response, because a
//! long download or a stream of events keeps no worker. A crawler's ends with the response.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use parking_lot::Mutex;

use crate::rules::policy::PeopleFirst;

use self::trend::{Baselines, Class, Trend, Verdict};

mod trend;

/// The limit before anything is known.
const START: f64 = 4.0;
/// The most that the limit grows to.
const MOST: f64 = 1_000.0;
/// The crawlers' requests that may always be at the origin.
const FLOOR: u32 = 1;
/// The time between two of these while people take everything.
const BETWEEN_CRAWLERS: Duration = Duration::from_secs(1);
/// The limit after a failure, as a part of what was in use.
const AFTER_FAILURE: f64 = 0.7;
/// The least time between two falls because of failures.
const BETWEEN_FALLS: Duration = Duration::from_secs(1);
/// The part of a new answer in the share of failures.
const NEWEST: f64 = 1.0 / 20.0;
/// How long those who come later in the order make room for one that was put off.
const TURN: Duration = Duration::from_secs(1);
/// The longest time without a measurement without crawlers. Then they make room for one.
const BETWEEN_LOOKS: Duration = Duration::from_secs(60);
const LOOK: Duration = Duration::from_secs(2);
/// What crawlers leave behind is over after this time.
const SETTLED: Duration = Duration::from_millis(500);
/// A site puts crawlers off from the first time until none was for this time.
const QUIET: Duration = Duration::from_secs(60);

/// The admission of crawlers at one site.
#[derive(Debug)]
pub struct Admission(Mutex<State>);

/// The sender of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Party {
    /// A person's, or that of any client that is no crawler.
    Person,
    /// A crawler's, with its place in the order.
    Crawler {
        /// The place; 0 comes first.
        rank: usize,
    },
}

/// What an admission tells to the outside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    pub(crate) limit: u32,
    /// People's requests that wait for their head.
    pub people: u32,
    pub(crate) crawlers: u32,
    /// Those of crawlers that wait for room.
    pub waiting: u32,
    /// Whether a crawler was put off in the last minute.
    pub is_active: bool,
}

/// There is no room for a crawler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Full {
    /// It has to come back later.
    PutOff(PutOff),
    /// It waits for room.
    Waits,
}

/// A crawler is put off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PutOff {
    pub(crate) load: Load,
    /// Whether it is the first one in a minute.
    pub is_first: bool,
}

/// A request at the origin; it leaves on drop.
#[derive(Debug)]
pub struct Stay {
    admission: Arc<Admission>,
    rules: Arc<PeopleFirst>,
    party: Party,
    class: Class,
    since: Duration,
    is_undisturbed: bool,
    has_head: bool,
}

#[derive(Debug, Default)]
struct State {
    limit: f64,
    /// The limit before it fell last. It grows slowly near it.
    ceiling: f64,
    people: u32,
    crawlers: u32,
    /// The most requests at one time since the last change of the limit.
    used: u32,
    baselines: Baselines,
    trend: Trend,
    /// The share of failures, the newest count most.
    failures: f64,
    fell: Option<Duration>,
    /// The time of the last measurement without crawlers, and the end of the present one.
    looked: Duration,
    look: Duration,
    /// When more crawlers than may always be there were there last.
    crowded: Duration,
    came: Option<Duration>,
    /// When one of each place in the order was put off last.
    missed: Vec<Option<Duration>>,
    queue: Queue,
    /// When a crawler was put off last, and how many since the first; `None` for a minute without one.
    put_off: Option<(Duration, u64)>,
}

impl Default for Admission {
    fn default() -> Self {
        Self(Mutex::new(State { limit: START, ceiling: MOST, ..State::default() }))
    }
}

impl Admission {
    /// Admits a request to this path, by a monotonic clock. People are always admitted. Others may
    /// wait for some time; then `waiting` keeps their place.
    ///
    /// # Errors
    /// The request is a crawler's, and there is no room for it.
    pub fn admit(
        self: &Arc<Self>,
        rules: &Arc<PeopleFirst>,
        party: Party,
        (method, path): (&str, &[u8]),
        now: Duration,
        (longest, waiting): (Duration, &mut Option<Queued>),
    ) -> Result<Stay, Full> {
        let mut state = self.0.lock();
        if let Party::Crawler { rank } = party {
            let place = state.queue.place(rank, waiting.as_ref());
            if !state.admit_crawler(rules, place, now) {
                if state.queue.lets_wait(place, now, (longest, waiting)) {
                    return Err(Full::Waits);
                }
                return Err(Full::PutOff(state.put_off(rules, rank, now)));
            }
        } else {
            state.people += 1;
        }
        if state.crawlers > FLOOR {
            state.crowded = now;
        }
        let is_undisturbed = now.saturating_sub(state.crowded) >= SETTLED;
        state.used = state.used.max(state.people + state.crawlers);
        drop(state);
        let class = Class::of(method, path);
        let (admission, rules) = (Arc::clone(self), Arc::clone(rules));
        let (since, has_head) = (now, false);
        Ok(Stay { admission, rules, party, class, since, is_undisturbed, has_head })
    }

    pub(crate) fn load(&self, rules: &PeopleFirst) -> Load {
        self.0.lock().load(rules)
    }

    /// How many crawlers' requests were put off, if there was none for a minute. Told once.
    pub fn calmed(&self, now: Duration) -> Option<u64> {
        let mut state = self.0.lock();
        let (last, count) = state.put_off?;
        if now.saturating_sub(last) < QUIET {
            return None;
        }
        state.put_off = None;
        Some(count)
    }
}

impl State {
    fn left(&self) -> u32 {
        (self.limit as u32).saturating_sub(self.people)
    }

    fn load(&self, rules: &PeopleFirst) -> Load {
        let left = self.left();
        let most = rules.crawlers_at_once.unwrap_or(u32::MAX);
        let limit = left.max(FLOOR).min(most);
        let waiting = self.queue.len() as u32;
        let (people, crawlers) = (self.people, self.crawlers);
        Load { limit, people, crawlers, waiting, is_active: self.put_off.is_some() }
    }

    /// Takes a place at the origin for a crawler, if there is one.
    fn admit_crawler(&mut self, rules: &PeopleFirst, place: Place, now: Duration) -> bool {
        if self.crawlers > FLOOR && now.saturating_sub(self.looked) >= BETWEEN_LOOKS {
            (self.looked, self.look) = (now, now + LOOK);
        }
        let is_next = self.queue.is_next(place);
        let is_due = |at: &Duration| now.saturating_sub(*at) < TURN;
        let has_turn = is_next && !self.missed.iter().take(place.rank).flatten().any(is_due);
        let is_full = self.crawlers >= self.load(rules).limit;
        let has_room = !is_full && has_turn && now >= self.look;
        let is_least = self.crawlers < FLOOR && is_next;
        let is_rare = self.came.is_none_or(|at| now.saturating_sub(at) >= BETWEEN_CRAWLERS);
        if (has_room || is_least) && (self.left() > 0 || is_rare) {
            (self.crawlers, self.came) = (self.crawlers + 1, Some(now));
            return true;
        }
        // One that makes room for others says nothing about the limit.
        self.trend.is_wanted |= has_turn && now >= self.look;
        false
    }

    fn put_off(&mut self, rules: &PeopleFirst, rank: usize, now: Duration) -> PutOff {
        if self.missed.len() <= rank {
            self.missed.resize(rank + 1, None);
        }
        self.missed[rank] = Some(now);
        let before = self.put_off.filter(|(last, _)| now.saturating_sub(*last) < QUIET);
        let load = self.load(rules);
        self.put_off = Some((now, before.map_or(0, |(_, count)| count) + 1));
        PutOff { load, is_first: before.is_none() }
    }

    fn leave(&mut self, party: Party) {
        match party {
            Party::Person => self.people -= 1,
            Party::Crawler { .. } => self.crawlers -= 1,
        }
    }

    fn answered(&mut self, stay: &Stay, is_failure: bool, now: Duration) {
        self.failures += (f64::from(u8::from(is_failure)) - self.failures) * NEWEST;
        if is_failure {
            let share = (self.failures * 1e6).round() as u64;
            let is_over = stay.rules.errors.is_reached(share, 1_000_000);
            let is_new = self.fell.is_none_or(|fell| now.saturating_sub(fell) >= BETWEEN_FALLS);
            if is_over && is_new {
                self.fall(AFTER_FAILURE, now);
            }
            return;
        }
        let time = now.saturating_sub(stay.since);
        let usual = self.baselines.note(stay.class, time, stay.is_undisturbed);
        if stay.is_undisturbed {
            self.looked = now;
        }
        if self.fell.is_some_and(|fell| stay.since < fell) {
            // It came when there were more.
            return;
        }
        let (usual, count) = match (stay.rules.latency, usual) {
            (Some(latency), _) => (latency.as_secs_f64(), u32::MAX),
            (None, Some(usual)) => (usual.seconds, usual.count),
            (None, None) => return,
        };
        self.trend.note(time.as_secs_f64() / usual, count, stay.party == Party::Person);
        match self.trend.verdict(now, stay.rules.latency.is_some()) {
            Some(Verdict::Slower(part)) => self.fall(part, now),
            Some(Verdict::Steady { is_wanted: true }) => {
                self.limit = (self.limit + self.step()).min(MOST);
                self.used = self.people + self.crawlers;
            }
            Some(Verdict::Steady { is_wanted: false }) | None => {}
        }
    }

    /// What the limit grows by. It doubles at first. Near the place where it fell, it feels its way.
    fn step(&self) -> f64 {
        const FEELING: f64 = 1.0 / 64.0;
        if self.ceiling >= MOST {
            self.limit / 2.0
        } else if (self.limit - self.ceiling).abs() <= 1.0 {
            FEELING
        } else {
            1.0
        }
    }

    fn fall(&mut self, part: f64, now: Duration) {
        self.ceiling = self.limit.min(f64::from(self.used.max(1)));
        self.limit = (self.ceiling * part).max(f64::from(FLOOR));
        self.used = self.people + self.crawlers;
        self.fell = Some(now);
        self.trend = Trend::default();
    }
}

impl Stay {
    /// Notes the head of the origin's response; 504 for none.
    pub fn head(&mut self, status: u16, now: Duration) {
        if std::mem::replace(&mut self.has_head, true) {
            return;
        }
        let is_failure = status == 429 || status >= 500;
        let mut state = self.admission.0.lock();
        state.answered(self, is_failure, now);
        if self.party == Party::Person {
            state.leave(Party::Person);
        }
    }
}

impl Drop for Stay {
    fn drop(&mut self) {
        if !self.has_head || self.party != Party::Person {
            self.admission.0.lock().leave(self.party);
        }
    }
}

#[cfg(test)]
mod tests;

const MOST_WAITING: usize = 100;

/// The requests of crawlers that wait for room. They hold their connections, so there are few of them, and
/// they wait for seconds at most. Their holder asks again ([`Queued::may_go`]).
#[derive(Clone, Debug, Default)]
struct Queue(Arc<Mutex<BTreeSet<Place>>>);

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
