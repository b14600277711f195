//! An edition that is no longer in force here, or several of them summed up, and the editions that one site
//! published, in time. Those of other sites that had its hosts are no part of them.
//!
//! In a fleet, an edition may still be in force at another node. Then it has no end yet.

use std::{cmp::Reverse, sync::Arc};

use bytes::Bytes;
use jiff::Timestamp;

use crate::formats::robots::{MAX_BYTES, Matcher};

use super::{
    edition::{Edition, EditionId, KnownEditions},
    summary::{bounded, either_allows},
};

/// An edition that is no longer in force, or several of them summed up.
#[derive(Clone, Debug)]
pub struct Past {
    /// The edition; of several, one that allows what any of them allows.
    pub(super) edition: Arc<Edition>,
    /// The start of its last time in force; of several, of the first time of any.
    pub from: Timestamp,
    /// The end of its last time in force; the greatest time while another node of the fleet serves
    /// it.
    pub until: Timestamp,
    pub(super) first: Timestamp,
    /// Its equivalents; of several editions, all of them. A robots.txt with the time of its
    /// generation differs at each fetch.
    pub(super) twins: Vec<Twin>,
    pub(super) is_summary: bool,
}

/// A stored time in force of an edition.
#[derive(Clone, Debug)]
pub struct Period {
    pub(crate) edition: Arc<Edition>,
    pub(crate) from: Timestamp,
    /// The end; `None` if no other edition followed.
    pub(crate) until: Option<Timestamp>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Twin {
    pub(super) id: EditionId,
    /// The end of its last time in force.
    pub(super) until: Timestamp,
}

impl Past {
    pub(super) const fn new(edition: Arc<Edition>, from: Timestamp, until: Timestamp) -> Self {
        Self { edition, from, until, first: from, twins: Vec::new(), is_summary: false }
    }

    /// Whether it is in force now, at another node of the fleet.
    pub(crate) fn is_in_force(&self) -> bool {
        self.until == Timestamp::MAX
    }

    /// The end of its last time in force; `None` while it is in force at another node.
    pub(crate) fn ended(&self) -> Option<Timestamp> {
        (!self.is_in_force()).then_some(self.until)
    }

    /// The name of the edition; of several, that of the last one in force.
    pub fn id(&self) -> EditionId {
        let last = self.twins.iter().max_by_key(|twin| twin.until);
        last.filter(|_| self.is_summary).map_or_else(|| self.edition.id(), |last| last.id)
    }

    /// Its times as periods: the last one and, before it, those that are known as a whole.
    pub(super) fn periods(&self) -> impl Iterator<Item = Period> {
        let edition = self.stored();
        let earlier = (self.first < self.from).then_some((self.first, self.from));
        let times = earlier.into_iter().chain([(self.from, self.until)]);
        times.map(move |(from, until)| Period {
            edition: Arc::clone(&edition),
            from,
            until: Some(until),
        })
    }

    /// The edition as a file that can be read back. A sum that is too long for that is one that
    /// allows everything.
    pub(super) fn stored(&self) -> Arc<Edition> {
        match self.edition.bytes().len() > MAX_BYTES {
            true if self.is_summary => Arc::new(Edition::of_bytes(Bytes::new())),
            _ => Arc::clone(&self.edition),
        }
    }

    /// The number of editions with different rules that are summed up in it, 1 for one alone.
    pub(crate) fn count(&self) -> usize {
        if self.is_summary { self.twins.len() } else { 1 }
    }

    /// Its rules, compiled; of several editions, the rules that none of them is stricter than.
    pub fn matcher(&self) -> &Matcher {
        self.edition.matcher()
    }

    /// Whether a client may know this edition or an equivalent one.
    pub(crate) fn may_be_known(&self, known: &KnownEditions) -> bool {
        self.is_in_force() || known.has_any(self.ids(), self.until)
    }

    /// Whether this edition or an equivalent one is among these.
    pub(crate) fn is_one_of(&self, editions: &[EditionId]) -> bool {
        self.ids().any(|id| editions.contains(&id))
    }

    fn ids(&self) -> impl Iterator<Item = EditionId> {
        let own = (!self.is_summary).then(|| self.edition.id());
        self.twins.iter().map(|twin| twin.id).chain(own)
    }

    /// All its editions with the ends of their times.
    pub(super) fn into_twins(self) -> impl Iterator<Item = Twin> {
        let own = Twin { id: self.edition.id(), until: self.until };
        self.twins.into_iter().chain((!self.is_summary).then_some(own))
    }

    /// Moves times ahead of `now` back to it.
    pub(super) fn set_back(&mut self, now: Timestamp) {
        let ends = self.twins.iter_mut().map(|twin| &mut twin.until).chain([&mut self.until]);
        let ended = ends.filter(|until| **until < Timestamp::MAX);
        for time in [&mut self.from, &mut self.first].into_iter().chain(ended) {
            *time = (*time).min(now);
        }
    }

    pub(super) fn end(&mut self, until: Timestamp) {
        self.until = self.until.min(until);
        self.twins.iter_mut().for_each(|twin| twin.until = twin.until.min(until));
        self.set_back(until);
    }

    pub(super) fn without_before(&mut self, start: Timestamp) {
        self.twins.retain(|twin| twin.until > start);
    }

    /// Whether it is one edition, with the rules of this one.
    pub(super) fn is_equivalent_to(&self, edition: &Edition) -> bool {
        !self.is_summary && self.edition.is_equivalent(edition)
    }

    pub(super) fn is_same(&self, other: &Self) -> bool {
        let are_single = !self.is_summary && !other.is_summary;
        Arc::ptr_eq(&self.edition, &other.edition)
            || are_single && self.edition.id() == other.edition.id()
    }

    /// Whether both can be one without a loss.
    fn is_equivalent(&self, other: &Self) -> bool {
        let is_same = Arc::ptr_eq(&self.edition, &other.edition);
        is_same || !other.is_summary && self.is_equivalent_to(&other.edition)
    }

    fn join(&mut self, older: Self) {
        self.first = self.first.min(older.first);
        self.twins.extend(older.into_twins());
        distinct(&mut self.twins);
    }
}

/// Several past editions that are summed up, or one alone.
struct Cluster {
    /// The newest first.
    members: Vec<Past>,
    /// The bytes of the largest.
    bytes: usize,
}

impl Cluster {
    fn of(past: Past) -> Self {
        Self { bytes: past.edition.bytes().len(), members: vec![past] }
    }

    fn until(&self) -> Timestamp {
        self.members.iter().map(|past| past.until).max().unwrap_or(Timestamp::MIN)
    }

    fn first(&self) -> Timestamp {
        self.members.iter().map(|past| past.first).min().unwrap_or(Timestamp::MAX)
    }

    fn has_names_of(&self, other: &Self) -> bool {
        let all = self.members.iter().chain(&other.members);
        let first = self.members.first();
        first.is_some_and(|first| all.clone().all(|one| one.edition.has_names_of(&first.edition)))
    }

    /// What any of the members allows is allowed.
    fn sum(mut self) -> Option<Past> {
        if self.members.len() < 2 {
            return self.members.pop();
        }
        let (until, first) = (self.until(), self.first());
        let files = self.members.iter().map(|past| past.edition.read());
        let sum = files.reduce(|sum, file| either_allows(&sum, &file))?;
        let edition = Arc::new(Edition::summed(bounded(sum)));
        let mut twins: Vec<Twin> = self.members.into_iter().flat_map(Past::into_twins).collect();
        distinct(&mut twins);
        Some(Past { edition, from: first, until, first, twins, is_summary: true })
    }
}

/// The most editions of a list, and the most bytes of their files.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    pub(super) editions: usize,
    pub(super) bytes: usize,
}

/// The newest first, equivalent ones as one; beyond the room, older ones are summed up.
pub(super) fn arranged(mut all: Vec<Past>, room: Room, now: Timestamp) -> Vec<Past> {
    all.iter_mut().for_each(|past| past.set_back(now));
    all.sort_by_key(|past| Reverse((past.until, past.from)));
    let mut past: Vec<Past> = Vec::with_capacity(all.len());
    for one in all {
        match past.iter_mut().find(|other| other.is_equivalent(&one)) {
            Some(same) => same.join(one),
            None => past.push(one),
        }
    }
    let mut clusters: Vec<Cluster> = past.into_iter().map(Cluster::of).collect();
    let size = |clusters: &[Cluster]| clusters.iter().map(|one| one.bytes).sum::<usize>();
    while clusters.len() > room.editions || size(&clusters) > room.bytes {
        let Some((newer, older)) = nearest(&clusters, now) else { break };
        let older = clusters.remove(older);
        if let Some(newer) = clusters.get_mut(newer) {
            newer.bytes = newer.bytes.max(older.bytes);
            newer.members.extend(older.members);
        }
    }
    clusters.into_iter().filter_map(Cluster::sum).collect()
}

/// What it costs to sum two up: whether only one of them is in force at another node, whether their
/// names differ, and how much longer the sum counts.
type Cost = (bool, bool, f64);

/// The places of the two to sum up, the newer first: those with the same names if there are any,
/// and close together for their age. So a sum outlasts each of its editions by a part of its age.
fn nearest(clusters: &[Cluster], now: Timestamp) -> Option<(usize, usize)> {
    let mut best: Option<(Cost, (usize, usize))> = None;
    let is_in_force = |cluster: &Cluster| cluster.until() == Timestamp::MAX;
    for (place, newer) in clusters.iter().enumerate() {
        let behind = clusters.iter().enumerate().skip(place + 1);
        let same = behind.clone().find(|(_, older)| older.has_names_of(newer));
        for (other, older) in behind.take(1).chain(same) {
            let seconds = |from: Timestamp, to: Timestamp| to.duration_since(from).as_secs_f64();
            let until = newer.until().min(now);
            let span = seconds(older.first().min(newer.first()), until);
            let cost = span / (seconds(until, now) + 60.0);
            // What is in force at another node excuses every client, what has ended does not.
            let is_mixed = is_in_force(newer) != is_in_force(older);
            let found = (is_mixed, !older.has_names_of(newer), cost);
            let is_better = best.is_none_or(|(least, _)| found <= least);
            best = if is_better { Some((found, (place, other))) } else { best };
        }
    }
    best.map(|(_, places)| places)
}

/// Keeps each twin once, with its latest time.
pub(super) fn distinct(twins: &mut Vec<Twin>) {
    twins.sort_unstable_by_key(|twin| (twin.id, Reverse(twin.until)));
    twins.dedup_by_key(|twin| twin.id);
}

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
