//! One site's robots.txt as its origin has it, through time: what is in force, what is held back,
//! what fails since when, and when to ask again.
//!
//! A file that closes a whole site to everybody is, where it comes all of a sudden, most often the
//! one of a staging system. It is held back until somebody confirms it, or the origin takes it back.

use std::time::Duration;

use bytes::Bytes;
use jiff::{SignedDuration, Timestamp};

use crate::{enforce::EditionId, robots};

use super::{
    answer::Answer,
    fetch::{Condition, Fetched},
};

/// An origin is asked no more often, whatever it says, and no less often.
const LEAST_WAIT: Duration = Duration::from_secs(60);
const MOST_WAIT: Duration = Duration::from_secs(3_600);
/// One that doesn't say how long its answer stays good is asked after this long.
const USUAL_WAIT: Duration = Duration::from_secs(300);
/// After a failure an origin is asked again after this long, then after twice as long each time.
/// One that is only starting up must be heard soon.
const FIRST_RETRY: Duration = Duration::from_secs(5);
const LAST_RETRY: Duration = Duration::from_secs(300);
/// 5 s doubled six times is 320 s.
const MOST_DOUBLINGS: u32 = 6;
/// What lasts is said again after this long.
const REMINDER: SignedDuration = SignedDuration::from_hours(1);

/// What an origin's robots.txt says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::proxy) enum State {
    /// Nothing is known yet, so nobody may be held to anything.
    #[default]
    Unknown,
    /// The origin has no file (RFC 9309 §2.3.1.3): everything is allowed.
    NoRules,
    /// The file as it came.
    Rules(Bytes),
}

/// What is known of a site's robots.txt from before, by another process or another policy.
#[derive(Clone, Debug, Default)]
pub(in crate::proxy) struct Remembered {
    /// The last good one.
    pub(in crate::proxy) state: State,
    /// What was held back.
    pub(in crate::proxy) held: Option<Bytes>,
    /// As [`Self::after`] says.
    was_open: bool,
    /// Of whichever came last.
    pub(super) condition: Option<Condition>,
}

impl Remembered {
    /// What was in force last, and what was held back.
    pub(in crate::proxy) fn new(state: State, held: Option<Bytes>) -> Self {
        Self { state, held, was_open: false, condition: None }
    }

    /// The same where the site published something before, whoever wrote it, that left anything open
    /// to `*`: then a file that closes everything is sudden, even if it is the origin's first.
    pub(in crate::proxy) fn after(self, was_open: bool) -> Self {
        Self { was_open, ..self }
    }
}

/// Something to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// Another state is in force.
    Changed,
    /// A file is held back, in the place of one that was before.
    Held { id: String, since: Timestamp },
    /// It is still held back.
    StillHeld { id: String, since: Timestamp },
    /// What was held back is no longer: it is in force, or the origin has another answer.
    Released { id: String, is_accepted: bool },
    /// Nothing that counts was answered, and it was not said within the hour.
    Failed { code: &'static str, why: String, since: Timestamp },
    /// There is an answer that counts again.
    Recovered { since: Timestamp },
}

/// What came of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Heard {
    pub(super) events: Vec<Event>,
    /// When to ask again.
    pub(super) wait: Duration,
}

/// The state of one site.
#[derive(Debug)]
pub(super) struct Watch {
    accept_full_disallow: bool,
    state: State,
    /// Whether it closes everything for `*`.
    is_closed: bool,
    held: Option<Held>,
    /// As [`Remembered::after`] says.
    was_open: bool,
    condition: Option<Condition>,
    failing: Option<Failing>,
}

/// A file that is held back.
#[derive(Debug)]
struct Held {
    file: Bytes,
    id: String,
    since: Timestamp,
    /// When it was last spoken of here.
    said: Option<Timestamp>,
}

/// Failures in a row.
#[derive(Debug)]
struct Failing {
    since: Timestamp,
    count: u32,
    /// Each kind, and when it was spoken of last.
    said: Vec<(&'static str, Timestamp)>,
}

impl Watch {
    /// A site of which this much is known. What is held back counts as held from `now` on.
    pub(super) fn new(remembered: Remembered, accept_full_disallow: bool, now: Timestamp) -> Self {
        let Remembered { state, held, was_open, condition } = remembered;
        let is_closed = matches!(&state, State::Rules(file) if closes_everything(file));
        let held = held.map(|file| Held { id: id(&file), file, since: now, said: None });
        Self { accept_full_disallow, state, is_closed, held, was_open, condition, failing: None }
    }

    /// What is in force.
    pub(super) fn state(&self) -> &State {
        &self.state
    }

    /// Whether what is in force closes everything for `*`.
    pub(super) const fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// Whether the last answer was none that counts.
    pub(super) const fn is_failing(&self) -> bool {
        self.failing.is_some()
    }

    /// The file that is held back, and its name.
    pub(super) fn held(&self) -> Option<(&Bytes, &str)> {
        self.held.as_ref().map(|held| (&held.file, held.id.as_str()))
    }

    /// What makes the next request conditional.
    pub(super) fn condition(&self) -> Option<&Condition> {
        self.condition.as_ref()
    }

    /// What another one may go on with.
    pub(super) fn remembered(&self) -> Remembered {
        Remembered {
            state: self.state.clone(),
            held: self.held.as_ref().map(|held| held.file.clone()),
            was_open: self.was_open,
            condition: self.condition.clone(),
        }
    }

    /// Takes an answer.
    pub(super) fn hear(&mut self, fetched: Fetched, now: Timestamp) -> Heard {
        let mut events = Vec::new();
        let code = fetched.answer.code();
        let failure = match fetched.answer {
            Answer::Rules(file) => {
                self.condition = fetched.condition;
                self.take(file.into(), now, &mut events);
                None
            }
            Answer::NoRules(_) => {
                self.condition = None;
                self.put(State::NoRules, false, &mut events);
                None
            }
            Answer::Unchanged => {
                self.take_held(&mut events);
                None
            }
            answer @ (Answer::Unreachable(_) | Answer::Refused(_)) => Some(answer.to_string()),
        };
        let wait = match failure {
            Some(why) => self.fail(code, why, now, &mut events),
            None => {
                if let Some(failing) = self.failing.take() {
                    events.push(Event::Recovered { since: failing.since });
                }
                fetched.fresh_for.unwrap_or(USUAL_WAIT).clamp(LEAST_WAIT, MOST_WAIT)
            }
        };
        if let Some(held) = &mut self.held
            && held.said.is_none_or(|said| now.duration_since(said) >= REMINDER)
        {
            held.said = Some(now);
            events.push(Event::StillHeld { id: held.id.clone(), since: held.since });
        }
        Heard { events, wait }
    }

    /// Puts the file that is held back in force, if it is the one of this name. `None` where it is
    /// not, or there is none.
    pub(super) fn accept(&mut self, name: &str) -> Option<Vec<Event>> {
        let file = self.held.as_ref().filter(|held| held.id == name)?.file.clone();
        let mut events = Vec::new();
        self.put(State::Rules(file), true, &mut events);
        Some(events)
    }

    fn take(&mut self, file: Bytes, now: Timestamp, events: &mut Vec<Event>) {
        if self.held.as_ref().is_some_and(|held| held.file == file) && !self.accept_full_disallow {
            return;
        }
        let is_closed = match &self.state {
            State::Rules(before) if *before == file => self.is_closed,
            _ => closes_everything(&file),
        };
        // The first file that is ever seen is no change.
        let has_before = self.state != State::Unknown || self.held.is_some() || self.was_open;
        let is_sudden = is_closed && !self.is_closed && has_before;
        if is_sudden && !self.accept_full_disallow {
            let id = id(&file);
            events.push(Event::Held { id: id.clone(), since: now });
            self.held = Some(Held { file, id, since: now, said: Some(now) });
        } else {
            self.put(State::Rules(file), is_closed, events);
        }
    }

    /// Puts what a predecessor held back in force, where the policy has confirmed it since: the
    /// origin doesn't send again what is unchanged.
    fn take_held(&mut self, events: &mut Vec<Event>) {
        if self.accept_full_disallow
            && let Some(held) = &self.held
        {
            self.put(State::Rules(held.file.clone()), true, events);
        }
    }

    /// Puts a state in force; nothing is held back any more.
    fn put(&mut self, state: State, is_closed: bool, events: &mut Vec<Event>) {
        if let Some(held) = self.held.take() {
            let is_accepted = matches!(&state, State::Rules(file) if *file == held.file);
            events.push(Event::Released { id: held.id, is_accepted });
        }
        if self.state != state {
            events.push(Event::Changed);
        }
        (self.state, self.is_closed) = (state, is_closed);
    }

    /// Notes a failure; says when to ask again.
    fn fail(
        &mut self,
        code: &'static str,
        why: String,
        now: Timestamp,
        events: &mut Vec<Event>,
    ) -> Duration {
        let first = || Failing { since: now, count: 0, said: Vec::new() };
        let failing = self.failing.get_or_insert_with(first);
        let wait = FIRST_RETRY * 2_u32.pow(failing.count.min(MOST_DOUBLINGS));
        failing.count = failing.count.saturating_add(1);
        let known = failing.said.iter_mut().find(|(said, _)| *said == code);
        let is_news = match known {
            Some((_, at)) if now.duration_since(*at) < REMINDER => false,
            Some((_, at)) => {
                *at = now;
                true
            }
            None => {
                failing.said.push((code, now));
                true
            }
        };
        if is_news {
            events.push(Event::Failed { code, why, since: failing.since });
        }
        wait.min(LAST_RETRY)
    }
}

/// The name of a file: that of the edition which it would be.
pub(super) fn id(file: &[u8]) -> String {
    EditionId::of(file).to_string()
}

fn closes_everything(file: &[u8]) -> bool {
    robots::closes_everything(&robots::parse(file).0)
}

#[cfg(test)]
mod tests;
