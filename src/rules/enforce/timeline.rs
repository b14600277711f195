//! The editions that count for the requests of one site: the one in force, and earlier ones that
//! crawlers may still use. And the excuse of a client that may know an earlier one.
//!
//! RFC 9309 §2.4 lets a crawler use what it fetched for 24 hours. If the client may know an edition
//! that allows the target, a request that the edition in force disallows is no violation.

use std::sync::Arc;

use jiff::Timestamp;

use crate::formats::robots::{Files, Matcher, Overlap, Rule, Scope};

use super::{
    edition::{Edition, EditionId, KnownEditions},
    past::{Editions, Past, Room, Twin, arranged, distinct},
};

/// The most past editions that are compared, and the most bytes of their files. Older ones are
/// summed up.
const ROOM: Room = Room { editions: Overlap::MAX_OLDER, bytes: 8 << 20 };

/// The editions of one site in time.
#[derive(Clone, Debug)]
pub struct Timeline {
    current: Arc<Edition>,
    pub(crate) since: Timestamp,
    /// The `Last-Modified` of the edition in force. Each edition of a site has a later one.
    pub(crate) last_modified: Timestamp,
    /// The equivalents of the edition in force. They excuse no client.
    twins: Vec<Twin>,
    /// The past editions, the newest first. No two of them are equivalent, nor one to the current.
    pub(super) past: Vec<Past>,
    /// The rules that the current edition has in common with each of `past`.
    pub(super) common: Arc<Overlap>,
    /// The end of the last edition that is not read yet.
    pub(super) unread: Option<Timestamp>,
}

impl Timeline {
    /// The timeline of a site with these editions, and with others: those of other nodes, and of
    /// other sites that had its hosts. What ended before `start` is left out: no crawler may use it any more. Parts of
    /// `previous`, the timeline so far, are used again.
    pub(super) fn of(
        own: &Editions,
        others: Vec<Past>,
        (start, now): (Timestamp, Timestamp),
        previous: Option<&Self>,
    ) -> Option<Self> {
        let (current, since) = own.in_force.clone()?;
        let all = own.past.iter().cloned().chain(others);
        let within = all.filter(|past| past.until > start).map(|mut past| {
            past.without_before(start);
            past
        });
        let (same, other): (Vec<_>, Vec<_>) =
            within.partition(|past| past.is_equivalent_to(&current));
        let mut twins: Vec<Twin> = same.into_iter().flat_map(Past::into_twins).collect();
        distinct(&mut twins);
        let past = arranged(other, ROOM, now);
        let is_same = |previous: &&Self| {
            let pairs = previous.past.iter().zip(&past);
            previous.current.id() == current.id()
                && previous.past.len() == past.len()
                && pairs.into_iter().all(|(one, other)| one.is_same(other))
        };
        let common = match previous.filter(is_same) {
            Some(previous) => Arc::clone(&previous.common),
            None => compare(&current, &past),
        };
        let last_modified = own.last_modified;
        Some(Self { current, since, last_modified, twins, past, common, unread: None })
    }

    /// The same editions, and others that ended by `unread` and are not read yet.
    pub(super) fn with_unread(self, unread: Option<Timestamp>) -> Self {
        Self { unread, ..self }
    }

    /// Whether there is no edition but the one in force.
    pub fn is_single(&self) -> bool {
        self.past.is_empty() && self.unread.is_none()
    }

    /// The number of past editions that are summed up, because there are too many.
    pub(crate) fn summed_up(&self) -> usize {
        self.past.iter().map(Past::count).filter(|count| *count > 1).sum()
    }

    /// The edition in force.
    pub fn current(&self) -> &Arc<Edition> {
        &self.current
    }

    /// The past editions that were in force at `start` or later, the newest first.
    pub fn in_window(&self, start: Timestamp) -> impl Iterator<Item = &Past> {
        self.past.iter().filter(move |past| past.until > start)
    }

    /// The past editions that a client may know, the newest first. `None` if it may know one that
    /// is not kept.
    pub(crate) fn known(
        &self,
        start: Timestamp,
        known: &KnownEditions,
    ) -> Option<impl Iterator<Item = &Past>> {
        let (named, since) = known.parts(start);
        let are_kept = !self.is_unread(since) && named.iter().all(|id| self.keeps(*id));
        let is_known =
            move |past: &&Past| past.is_in_force() || past.until > since || past.is_one_of(named);
        are_kept.then(|| self.past.iter().filter(is_known))
    }

    /// Whether a client may know the edition in force or an equivalent one.
    pub(crate) fn may_know_current(&self, known: &KnownEditions) -> bool {
        let twins = self.twins.iter().map(|twin| twin.id);
        known.has_any(twins.chain([self.current.id()]), Timestamp::MAX)
    }

    /// Whether it is the edition in force or an equivalent one.
    pub(crate) fn is_current(&self, id: EditionId) -> bool {
        id == self.current.id() || self.twins.iter().any(|twin| twin.id == id)
    }

    /// Whether an edition that was in force at `start` or later is not read yet.
    pub(super) fn is_unread(&self, start: Timestamp) -> bool {
        self.unread.is_some_and(|until| until > start)
    }

    /// Whether an edition is kept, or an equivalent one.
    pub(super) fn keeps(&self, id: EditionId) -> bool {
        self.is_current(id) || self.past.iter().any(|past| past.is_one_of(&[id]))
    }
}

fn compare(current: &Edition, past: &[Past]) -> Arc<Overlap> {
    let older: Vec<&Matcher> = past.iter().map(Past::matcher).collect();
    Arc::new(Overlap::new(current.matcher(), &older))
}

/// The reason why a disallowed request is no violation.
#[derive(Clone, Copy, Debug)]
pub enum Excuse<'t> {
    /// This edition allows it. It was in force before, or is in force at another node of the fleet.
    By(&'t Past),
    /// The client may know an edition that is no longer kept.
    Forgotten,
    /// This node hears nothing of the others. One of them may have an edition that allows it.
    Unheard,
}

impl Excuse<'_> {
    /// Whether it counts even where the edition in force applies at once (`grace: enforce`): the
    /// request may be allowed at another node now.
    pub(crate) fn is_of_now(self) -> bool {
        match self {
            Self::By(past) => past.is_in_force(),
            Self::Forgotten => false,
            Self::Unheard => true,
        }
    }
}

/// The past editions that may allow a target which the edition in force disallows.
#[derive(Clone, Copy, Debug)]
pub struct Doubt {
    scope: Scope,
    files: Files,
    /// The editions of `files` in which the crawler may be bound by another group.
    renamed: Files,
    /// Whether there may be editions that are not read yet.
    unread: bool,
}

impl Timeline {
    /// The past editions that may allow a target to a crawler with these names. `rule` of `scope`
    /// disallows it in the edition in force. Usually there are none, and so no [`Self::excuse`].
    pub(crate) fn doubt<'n>(
        &self,
        scope: Scope,
        rule: Option<&Rule>,
        names: impl Iterator<Item = &'n str>,
    ) -> Doubt {
        let renamed = self.common.renamed(names);
        let changed =
            rule.map_or_else(|| self.common.all(), |rule| self.common.in_doubt(scope, rule));
        Doubt { scope, files: changed | renamed, renamed, unread: self.unread.is_some() }
    }

    /// The newest edition that allows the target and that the client may know.
    ///
    /// `start` is the start of the window. `allows` judges the target by a past edition; its second
    /// argument is the group there, if already known. `known_editions` is called only where its
    /// result matters.
    pub(crate) fn excuse(
        &self,
        doubt: Doubt,
        start: Timestamp,
        allows: impl Fn(&Matcher, Option<Scope>) -> bool,
        known_editions: impl FnOnce() -> KnownEditions,
    ) -> Option<Excuse<'_>> {
        let known = |place: usize| {
            let is_renamed = doubt.renamed.contains(place);
            self.common.scope(doubt.scope, place).filter(|_| !is_renamed)
        };
        let in_doubt =
            doubt.files.places().filter_map(|place| Some((place, self.past.get(place)?)));
        let mut lenient = in_doubt
            .filter(|(place, past)| allows(past.matcher(), known(*place)))
            .map(|(_, past)| past)
            .peekable();
        let is_unread = self.is_unread(start);
        if lenient.peek().is_none() && !is_unread {
            return None;
        }
        // The first may be in force at another node. That is a better excuse than any past one.
        if let Some(past) = lenient.next_if(|past| past.is_in_force()) {
            return Some(Excuse::By(past));
        }
        let known = known_editions();
        let (named, since) = known.parts(start);
        let by = lenient.find(|past| past.until > since || past.is_one_of(named)).map(Excuse::By);
        // The client fetched an edition that is no longer kept. It may have allowed anything.
        let is_forgotten = || self.is_unread(since) || !named.iter().all(|id| self.keeps(*id));
        by.or_else(|| is_forgotten().then_some(Excuse::Forgotten))
    }
}

impl Doubt {
    /// Whether every past edition disallows the target for certain.
    pub(crate) const fn is_none(&self) -> bool {
        self.files.is_empty() && !self.unread
    }
}

#[cfg(test)]
mod tests;
