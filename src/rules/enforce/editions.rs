//! The editions that one site published, in time. Those of other sites that had its hosts are no
//! part of them.

use std::sync::Arc;

use jiff::Timestamp;

use super::{
    edition::{Edition, EditionId},
    past::{Past, Period, Room, arranged},
};

/// The most past editions of a site that are kept apart, and the most bytes of their files. Older
/// ones are summed up.
const ROOM: Room = Room { editions: 32, bytes: 4 << 20 };

#[derive(Clone, Debug)]
pub(super) struct Editions {
    /// The edition in force, and the start of its time; `None` if the site was never served since
    /// the last one ended.
    pub(super) in_force: Option<(Arc<Edition>, Timestamp)>,
    /// The `Last-Modified` of the last edition: the start of its time in force, but in a later second
    /// than that of any earlier edition. So no copy of those passes for this one (RFC 9110 §8.8.2).
    pub(super) last_modified: Timestamp,
    /// The newest first, equivalent ones as one.
    pub(super) past: Vec<Past>,
}

impl Editions {
    pub(super) fn first(edition: Arc<Edition>, since: Timestamp) -> Self {
        Self { in_force: Some((edition, since)), last_modified: second_of(since), past: Vec::new() }
    }

    /// The editions of stored periods, in order; `None` without any. Times ahead of `now`, because
    /// the clock was put back, become `now`.
    pub(super) fn of(mut periods: Vec<Period>, now: Timestamp) -> Option<Self> {
        let dates = periods.iter().map(|period| period.from);
        let last_modified = dates.fold(None, |before, from| {
            Some(before.map_or_else(|| second_of(from), |before| modified_after(before, from)))
        })?;
        let open = periods.pop_if(|last| last.until.is_none());
        let in_force = open.map(|open| (open.edition, open.from.min(now)));
        let past = periods.into_iter().map(|Period { edition, from, until }| {
            Past::new(edition, from, until.unwrap_or_else(|| now.max(from)))
        });
        Some(Self { in_force, last_modified, past: arranged(past.collect(), ROOM, now) })
    }

    /// The editions of a site that takes over the edition in force, since this time, and nothing
    /// else.
    pub(super) fn taken_over(&self, since: Timestamp) -> Option<Self> {
        let (edition, from) = self.in_force.clone()?;
        let in_force = Some((edition, from.max(since)));
        Some(Self { in_force, last_modified: self.last_modified, past: Vec::new() })
    }

    /// Puts `edition` in force from `now` on; if it already is, its time goes on. Times that lie
    /// ahead, because the clock was put back, become `now`.
    pub(super) fn publish(&mut self, edition: Arc<Edition>, now: Timestamp) {
        let replaced = match self.in_force.take() {
            Some((current, since)) if current.id() == edition.id() => {
                self.in_force = Some((edition, since.min(now)));
                None
            }
            replaced => {
                self.last_modified = modified_after(self.last_modified, now);
                self.in_force = Some((edition, now));
                replaced.filter(|(edition, _)| edition.may_be_known())
            }
        };
        if replaced.is_some() || self.past.iter().any(|past| past.until > now) {
            let replaced =
                replaced.map(|(edition, since)| Past::new(Arc::new(edition.shelved()), since, now));
            // Of equal times, the last one published comes first.
            let past = replaced.into_iter().chain(std::mem::take(&mut self.past));
            self.past = arranged(past.collect(), ROOM, now);
        }
    }

    /// Adds the past editions of an older part of the history.
    pub(super) fn recall(&mut self, older: &Self, now: Timestamp) {
        let past = std::mem::take(&mut self.past);
        self.past = arranged([past, older.past.clone()].concat(), ROOM, now);
    }

    pub(super) fn without_before(&mut self, start: Timestamp) {
        self.past.iter_mut().for_each(|past| past.without_before(start));
        self.past.retain(|past| past.until > start);
    }

    /// The editions in force between `from` and `until`, as past ones.
    pub(super) fn between(&self, from: Timestamp, until: Timestamp) -> impl Iterator<Item = Past> {
        let in_force = self.in_force.as_ref().filter(|(edition, _)| edition.may_be_known());
        let in_force =
            in_force.map(|(edition, since)| Past::new(Arc::clone(edition), *since, until));
        let is_within = move |past: &Past| past.first < until && past.until > from;
        self.past.iter().cloned().chain(in_force).filter(is_within).map(move |mut past| {
            past.end(until);
            past
        })
    }

    /// The past editions and the one in force as periods, in the order of their ends.
    pub(super) fn periods(&self) -> impl Iterator<Item = Period> {
        let in_force = self.in_force.as_ref().filter(|(edition, _)| !edition.is_provisional());
        let in_force = in_force.map(|(edition, since)| Period {
            edition: Arc::clone(edition),
            from: *since,
            until: None,
        });
        self.past.iter().rev().flat_map(Past::periods).chain(in_force)
    }

    /// The edition among [`Self::periods`] that stands for this one; `None` if none does.
    pub(super) fn stored_as(&self, id: EditionId) -> Option<EditionId> {
        let is_in_force = self.in_force.as_ref().is_some_and(|(edition, _)| edition.id() == id);
        let past = self.past.iter().find(|past| past.is_one_of(&[id])).filter(|_| !is_in_force);
        past.map(|past| past.stored().id())
    }
}

/// The whole second of a time: the date of the first edition, which no copy can precede.
fn second_of(at: Timestamp) -> Timestamp {
    Timestamp::from_second(at.as_second()).unwrap_or(at)
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

#[cfg(test)]
mod tests;
