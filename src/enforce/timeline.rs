//! The editions of one site in time: the one in force, and earlier ones that crawlers may still
//! use.

use std::{cmp::Reverse, sync::Arc};

use jiff::Timestamp;

use crate::robots::{Matcher, Overlap};

use super::{
    edition::Edition,
    edition_id::EditionId,
    known_editions::KnownEditions,
    past::{Past, Period, Twin, distinct},
};

/// The most past editions that are kept. If a file changes more often within the window, crawlers
/// are excused unless their last fetch is known.
const MAX_PAST: usize = Overlap::MAX_OLDER;

/// The editions of one site in time.
#[derive(Clone, Debug)]
pub struct Timeline {
    current: Arc<Edition>,
    since: Timestamp,
    last_modified: Timestamp,
    /// The equivalents of the edition in force. They excuse no client.
    twins: Vec<Twin>,
    /// The past editions, the newest first. No two of them are equivalent, nor one to the current.
    past: Vec<Past>,
    /// The rules that the current edition has in common with each of `past`.
    common: Arc<Overlap>,
    /// The end of the time in force of the last edition that is no longer kept.
    forgotten: Option<Timestamp>,
}

/// The parts of a timeline, in any order and with repetitions.
struct Parts {
    current: Arc<Edition>,
    since: Timestamp,
    last_modified: Timestamp,
    past: Vec<Past>,
    twins: Vec<Twin>,
    forgotten: Option<Timestamp>,
}

impl Timeline {
    /// A timeline of one edition, in force since `since`.
    pub fn new(current: Arc<Edition>, since: Timestamp) -> Self {
        let last_modified = whole(since);
        let (past, twins, forgotten) = (Vec::new(), Vec::new(), None);
        Parts { current, since, last_modified, past, twins, forgotten }.assemble(since)
    }

    /// Resumes from stored periods, in order, with `edition` in force at `now`. An open period ends
    /// now, or goes on if it is that of `edition`.
    pub fn resume(periods: Vec<Period>, edition: Arc<Edition>, now: Timestamp) -> Self {
        let open = periods.last().filter(|last| last.until.is_none());
        let open = open.filter(|last| last.edition.id() == edition.id()).map(|last| last.from);
        let goes_on = usize::from(open.is_some());
        let before = periods.iter().take(periods.len() - goes_on).map(|period| whole(period.from));
        let before = before.reduce(modified_after);
        let since = open.unwrap_or(now);
        let last_modified =
            before.map_or_else(|| whole(since), |before| modified_after(before, since));
        let since = since.min(now);
        let past = periods.into_iter().map(|Period { edition, from, until }| {
            let until = until.unwrap_or_else(|| since.max(from));
            Past { edition, from, until, twins: Vec::new() }
        });
        let (past, twins, forgotten) = (past.collect(), Vec::new(), None);
        Parts { current: edition, since, last_modified, past, twins, forgotten }.assemble(now)
    }

    /// Puts `edition` in force from `now` on; if it already is, its time goes on. Times that lie
    /// ahead, because the clock was put back, become `now`.
    pub fn followed_by(&self, edition: Arc<Edition>, now: Timestamp) -> Self {
        let is_same = edition.id() == self.current.id();
        let is_over = self.since <= now && self.past.iter().all(|past| past.until <= now);
        if is_same && is_over {
            return Self { current: edition, ..self.clone() };
        }
        let parts = Parts { current: edition, ..self.clone().into_parts() };
        if is_same {
            return Parts { since: self.since.min(now), ..parts }.assemble(now);
        }
        let replaced = self.replaced(now).filter(|_| self.current.may_be_known());
        Parts {
            since: now,
            last_modified: modified_after(self.last_modified, now),
            past: parts.past.into_iter().chain(replaced).collect(),
            twins: Vec::new(),
            ..parts
        }
        .assemble(now)
    }

    /// Adds the editions of `other`, because the site takes over its hosts.
    pub fn after(self, other: &Self, now: Timestamp) -> Self {
        let parts = self.into_parts();
        let past = parts.past.into_iter().chain(other.past.iter().cloned());
        Parts {
            last_modified: modified_after(other.last_modified, parts.last_modified),
            past: past.chain(other.replaced(now)).collect(),
            forgotten: parts.forgotten.max(other.forgotten),
            ..parts
        }
        .assemble(now)
    }

    fn into_parts(self) -> Parts {
        let Self { current, since, last_modified, twins, past, forgotten, .. } = self;
        Parts { current, since, last_modified, past, twins, forgotten }
    }

    /// The edition in force as a past one that ends now.
    fn replaced(&self, now: Timestamp) -> Option<Past> {
        let edition = Arc::clone(&self.current);
        Some(Past { edition, from: self.since, until: now, twins: self.twins.clone() })
    }

    /// Drops the editions whose time in force ended before `start`: no crawler may use them any
    /// more.
    pub fn without_before(mut self, start: Timestamp) -> Self {
        let kept = self.past.len();
        let is_within = |twin: &Twin| twin.until > start;
        self.twins.retain(is_within);
        self.past.iter_mut().for_each(|past| past.twins.retain(is_within));
        self.past.retain(|past| past.until > start);
        if self.past.len() < kept {
            self.common = compare(&self.current, &self.past);
        }
        self
    }

    /// Whether there is no edition but the one in force.
    pub fn is_single(&self) -> bool {
        self.past.is_empty()
    }

    /// The end of the last edition that is no longer kept, because there are too many.
    pub const fn forgotten(&self) -> Option<Timestamp> {
        self.forgotten
    }

    /// The edition in force.
    pub fn current(&self) -> &Arc<Edition> {
        &self.current
    }

    /// The start of its time in force.
    pub const fn since(&self) -> Timestamp {
        self.since
    }

    /// The `Last-Modified` of the edition in force: the start of its time in force, but in a later
    /// second than that of any earlier edition. So no copy of those passes for this one (RFC 9110
    /// §8.8.2).
    pub const fn last_modified(&self) -> Timestamp {
        self.last_modified
    }

    /// The past editions that were in force at `start` or later, the newest first.
    pub fn in_window(&self, start: Timestamp) -> impl Iterator<Item = &Past> {
        self.past.iter().filter(move |past| past.until > start)
    }

    /// The past editions that a client may know, the newest first. `None` if it may know one that
    /// is no longer kept.
    pub fn known(
        &self,
        start: Timestamp,
        known: &KnownEditions,
    ) -> Option<impl Iterator<Item = &Past>> {
        let are_kept = match known {
            KnownEditions::Any => !self.is_forgotten(start),
            KnownEditions::Of(known) => known.iter().all(|id| self.keeps(*id)),
        };
        let is_known = move |past: &&Past| match known {
            KnownEditions::Any => past.until > start,
            KnownEditions::Of(known) => past.is_one_of(known),
        };
        are_kept.then(|| self.past.iter().filter(is_known))
    }

    /// Whether a client may know the edition in force or an equivalent one.
    pub fn may_know_current(&self, known: &KnownEditions) -> bool {
        let twins = self.twins.iter().map(|twin| twin.id);
        known.has_any(twins.chain([self.current.id()]))
    }

    /// All past editions, the newest first.
    pub(super) fn past(&self) -> &[Past] {
        &self.past
    }

    /// The rules that the edition in force has in common with each of [`Self::past`].
    pub(super) fn common(&self) -> &Overlap {
        &self.common
    }

    /// Whether an edition that was in force at `start` or later is no longer kept.
    pub(super) fn is_forgotten(&self, start: Timestamp) -> bool {
        self.forgotten.is_some_and(|until| until > start)
    }

    /// Whether an edition is kept, or an equivalent one.
    pub(super) fn keeps(&self, id: EditionId) -> bool {
        let is_twin = self.twins.iter().any(|twin| twin.id == id);
        id == self.current.id() || is_twin || self.past.iter().any(|past| past.is_one_of(&[id]))
    }
}

impl Parts {
    /// Merges equivalent editions, drops the oldest beyond [`MAX_PAST`], and moves times ahead of
    /// `now` back to it.
    fn assemble(self, now: Timestamp) -> Timeline {
        let Self { current, since, last_modified, past: mut all, mut twins, forgotten } = self;
        all.sort_by_key(|past| Reverse((past.until, past.from)));
        let mut past: Vec<Past> = Vec::new();
        for mut one in all {
            (one.from, one.until) = (one.from.min(now), one.until.min(now));
            let twin = Twin { id: one.edition.id(), until: one.until };
            let same = past.iter_mut().find(|other| other.edition.is_equivalent(&one.edition));
            if current.is_equivalent(&one.edition) {
                twins.extend(one.twins.into_iter().chain([twin]));
            } else if let Some(same) = same {
                same.twins.extend(one.twins.into_iter().chain([twin]));
            } else {
                past.push(one);
            }
        }
        distinct(&mut twins);
        past.iter_mut().for_each(|past| distinct(&mut past.twins));
        let forgotten = forgotten.max(past.get(MAX_PAST).map(|past| past.until));
        let forgotten = forgotten.map(|until| until.min(now));
        past.truncate(MAX_PAST);
        let common = compare(&current, &past);
        Timeline { current, since, last_modified, twins, past, common, forgotten }
    }
}

/// A time rounded up to a whole second.
fn whole(at: Timestamp) -> Timestamp {
    let second = at.as_second() + i64::from(at.subsec_nanosecond() > 0);
    Timestamp::from_second(second).unwrap_or(at)
}

/// The `Last-Modified` of an edition that came into force at `since`, after one with `before`. It
/// differs even if both came within one second.
fn modified_after(before: Timestamp, since: Timestamp) -> Timestamp {
    let after = Timestamp::from_second(before.as_second().saturating_add(1)).unwrap_or(since);
    whole(since).max(after)
}

fn compare(current: &Edition, past: &[Past]) -> Arc<Overlap> {
    let older: Vec<&Matcher> = past.iter().map(|past| past.edition.matcher()).collect();
    Arc::new(Overlap::new(current.matcher(), &older))
}

#[cfg(test)]
mod tests;
