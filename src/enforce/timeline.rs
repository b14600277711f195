//! The editions of one site in time: the one in force, and those before it that crawlers may still
//! go by.
//!
//! RFC 9309 §2.4 lets a crawler use what it fetched for 24 hours. What the newest edition disallows
//! is held against nobody who may be going by one that allows it ([`Timeline::excuse`]).

use std::{cmp::Reverse, collections::HashSet, sync::Arc};

use jiff::Timestamp;

use crate::robots::{Common, Matcher, Rule, Scope};

use super::edition::{Edition, EditionId};

/// How many editions before the one in force are kept. Who changes a file more often within a day
/// has his crawlers excused where it can't be told what they hold.
const MAX_PAST: usize = 64;

/// The editions of one site, as they followed each other.
#[derive(Clone, Debug)]
pub struct Timeline {
    current: Arc<Edition>,
    since: Timestamp,
    /// The newest first; each is another than the current one, and stands here once.
    past: Vec<Past>,
    /// Until when an edition was in force that is no longer kept.
    forgotten: Option<Timestamp>,
}

/// An edition that is no longer in force.
#[derive(Clone, Debug)]
pub struct Past {
    /// The edition.
    pub edition: Arc<Edition>,
    /// Since when it was in force, the last time.
    pub from: Timestamp,
    /// Until when.
    pub until: Timestamp,
    common: Arc<Common>,
}

/// A time in which an edition was in force, as it was written down.
#[derive(Clone, Debug)]
pub struct Period {
    /// The edition.
    pub edition: Arc<Edition>,
    /// Since when.
    pub from: Timestamp,
    /// Until when; `None` where nothing followed it.
    pub until: Option<Timestamp>,
}

/// What a crawler may be going by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Holding {
    /// Nothing was fetched within the window: whatever was in force then.
    Any,
    /// Only these, one of which it fetched last.
    Of(Vec<EditionId>),
}

impl Holding {
    /// Whether this edition may be it.
    pub fn may_be(&self, edition: EditionId) -> bool {
        match self {
            Self::Any => true,
            Self::Of(held) => held.contains(&edition),
        }
    }
}

impl Timeline {
    /// Begins with an edition in force since `since`.
    pub fn new(current: Arc<Edition>, since: Timestamp) -> Self {
        Self { current, since, past: Vec::new(), forgotten: None }
    }

    /// What was written down, in order, `edition` being in force at `now`. A period that is still
    /// open ends then, or goes on if it is this edition's.
    pub fn resume(periods: Vec<Period>, edition: Arc<Edition>, now: Timestamp) -> Self {
        let open = periods.last().filter(|last| last.until.is_none());
        let since = open.filter(|last| last.edition.id() == edition.id()).map(|last| last.from);
        let latest = periods.iter().map(|period| period.until.unwrap_or(period.from)).max();
        let since = since.unwrap_or_else(|| latest.map_or(now, |latest| now.max(latest)));
        let past = periods.into_iter().map(|Period { edition, from, until }| {
            let until = until.unwrap_or(since);
            (edition, from, until)
        });
        Self::assemble(edition, since, past.collect(), None)
    }

    /// The same with `edition` in force from `now` on. The time goes on where its bytes are those in
    /// force.
    pub fn followed_by(&self, edition: Arc<Edition>, now: Timestamp) -> Self {
        if edition.id() == self.current.id() {
            return Self { current: edition, ..self.clone() };
        }
        // A clock that was put back doesn't make the newer edition the older one.
        let since = now.max(self.since);
        let past = self.past.iter().map(|past| (Arc::clone(&past.edition), past.from, past.until));
        let replaced = (Arc::clone(&self.current), self.since, since);
        let replaced = Some(replaced).filter(|_| self.current.may_be_held());
        Self::assemble(edition, since, past.chain(replaced).collect(), self.forgotten)
    }

    fn assemble(
        current: Arc<Edition>,
        since: Timestamp,
        mut past: Vec<(Arc<Edition>, Timestamp, Timestamp)>,
        forgotten: Option<Timestamp>,
    ) -> Self {
        past.sort_by_key(|(_, from, until)| Reverse((*until, *from)));
        let mut known = HashSet::from([current.id()]);
        past.retain(|(edition, ..)| known.insert(edition.id()));
        let forgotten = forgotten.max(past.get(MAX_PAST).map(|(_, _, until)| *until));
        past.truncate(MAX_PAST);
        let past = past.into_iter().map(|(edition, from, until)| {
            let common = Arc::new(Common::of(current.matcher(), edition.matcher()));
            Past { edition, from, until, common }
        });
        Self { past: past.collect(), current, since, forgotten }
    }

    /// The same without what nobody can hold any more.
    pub fn without_before(mut self, start: Timestamp) -> Self {
        self.past.retain(|past| past.until > start);
        self
    }

    /// Whether nobody can hold any but the edition in force.
    pub fn is_single(&self) -> bool {
        self.past.is_empty()
    }

    /// The edition in force.
    pub fn current(&self) -> &Arc<Edition> {
        &self.current
    }

    /// Since when it is.
    pub const fn since(&self) -> Timestamp {
        self.since
    }

    /// The `Last-Modified` of the edition in force: since when it is, but in a later second than the
    /// one before it, so that no copy of that passes for this one (RFC 9110 §8.8.2).
    pub fn last_modified(&self) -> Timestamp {
        let before = self.past.first().map(|past| past.from.as_second());
        match before.filter(|&before| before >= self.since.as_second()) {
            Some(before) => Timestamp::from_second(before + 1).unwrap_or(self.since),
            None => self.since,
        }
    }

    /// The editions that were in force at `start` or later, and are not any more; the newest first.
    pub fn in_window(&self, start: Timestamp) -> impl Iterator<Item = &Past> {
        self.past.iter().filter(move |past| past.until > start)
    }

    /// The editions that a client may be going by beside the one in force, the newest first; `None`
    /// where it may be going by one that is not kept.
    pub fn held(&self, start: Timestamp, holding: &Holding) -> Option<impl Iterator<Item = &Past>> {
        let are_kept = match holding {
            Holding::Any => !self.is_forgotten(start),
            Holding::Of(held) => held.iter().all(|id| self.keeps(*id)),
        };
        let may_be = move |past: &&Past| holding.may_be(past.edition.id());
        are_kept.then(|| self.in_window(start).filter(may_be))
    }

    /// Whether an edition is not kept any more that was in force at `start` or later.
    fn is_forgotten(&self, start: Timestamp) -> bool {
        self.forgotten.is_some_and(|until| until > start)
    }

    fn keeps(&self, id: EditionId) -> bool {
        id == self.current.id() || self.past.iter().any(|past| past.edition.id() == id)
    }

    /// Whether a target that the edition in force disallows is allowed by one that its sender may be
    /// going by; names that edition, the newest of several.
    ///
    /// `start` is when the window begins, `scope` and `rule` are what disallows the target now.
    /// `allows` judges it by another edition, whose scope is told where it is known, and `holding`
    /// is asked only where it matters.
    pub fn excuse(
        &self,
        start: Timestamp,
        (scope, rule): (Scope, Option<&Rule>),
        allows: impl Fn(&Matcher, Option<Scope>) -> bool,
        holding: impl FnOnce() -> Holding,
    ) -> Option<Excuse<'_>> {
        let mut lenient = self
            .in_window(start)
            .filter(|past| {
                !rule.is_some_and(|rule| past.common.keeps(scope, rule))
                    && allows(past.edition.matcher(), past.common.scope(scope))
            })
            .peekable();
        let is_forgotten = self.is_forgotten(start);
        if lenient.peek().is_none() && !is_forgotten {
            return None;
        }
        match holding() {
            Holding::Any => {
                lenient.next().map(Excuse::By).or_else(|| is_forgotten.then_some(Excuse::Forgotten))
            }
            Holding::Of(held) => {
                let by = lenient.find(|past| held.contains(&past.edition.id())).map(Excuse::By);
                // What it fetched is not known here: it may have allowed anything.
                let are_kept = held.iter().all(|id| self.keeps(*id));
                by.or_else(|| (!are_kept).then_some(Excuse::Forgotten))
            }
        }
    }
}

/// Why a target is not held against its sender.
#[derive(Clone, Copy, Debug)]
pub enum Excuse<'t> {
    /// This edition allows it.
    By(&'t Past),
    /// It may be going by an edition that is not kept any more.
    Forgotten,
}
