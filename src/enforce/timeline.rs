//! The editions of one site in time: the one in force, and those before it that crawlers may still
//! go by.
//!
//! RFC 9309 §2.4 lets a crawler use what it fetched for 24 hours. What the newest edition disallows
//! is held against nobody who may be going by one that allows it ([`Timeline::excuse`]).

use std::{cmp::Reverse, collections::HashSet, sync::Arc};

use jiff::Timestamp;

use crate::robots::{Common, Files, Matcher, Rule, Scope};

use super::edition::{Edition, EditionId};

/// How many editions before the one in force are kept. Who changes a file more often within a day
/// has his crawlers excused where it can't be told what they hold.
const MAX_PAST: usize = Common::MAX_OLDER;

/// The editions of one site, as they followed each other.
#[derive(Clone, Debug)]
pub struct Timeline {
    current: Arc<Edition>,
    since: Timestamp,
    /// The newest first; each is another than the current one, and stands here once.
    past: Vec<Past>,
    /// What the current edition has in common with those, by their places.
    common: Arc<Common>,
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

/// Editions that may allow what the one in force disallows: those that have to be asked.
#[derive(Clone, Copy, Debug)]
pub struct Doubt {
    scope: Scope,
    files: Files,
    /// Those of `files` in which the crawler may be bound by another scope than its own.
    renamed: Files,
    /// Whether there was one that is not kept any more.
    forgotten: bool,
}

/// What a crawler may be going by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Holding {
    /// Nothing was fetched within the window: whatever was in force then.
    Any,
    /// Only these, one of which it fetched last.
    Of(Vec<EditionId>),
}

impl Timeline {
    /// Begins with an edition in force since `since`.
    pub fn new(current: Arc<Edition>, since: Timestamp) -> Self {
        Self::assemble(current, since, Vec::new(), None)
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
        let past = past.into_iter().map(|(edition, from, until)| Past { edition, from, until });
        let past: Vec<Past> = past.collect();
        let common = compare(&current, &past);
        Self { current, since, past, common, forgotten }
    }

    /// The same without what nobody can hold any more.
    pub fn without_before(mut self, start: Timestamp) -> Self {
        let kept = self.past.len();
        self.past.retain(|past| past.until > start);
        if self.past.len() < kept {
            self.common = compare(&self.current, &self.past);
        }
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

    /// Which editions may allow a target that `rule` of `scope` disallows in the one in force to a
    /// crawler that looks for these names. Most often none: then there is no [`Self::excuse`].
    pub fn doubt<'n>(
        &self,
        scope: Scope,
        rule: Option<&Rule>,
        names: impl Iterator<Item = &'n str>,
    ) -> Doubt {
        let renamed = self.common.renamed(names);
        let changed =
            rule.map_or_else(|| self.common.all(), |rule| self.common.in_doubt(scope, rule));
        Doubt { scope, files: changed | renamed, renamed, forgotten: self.forgotten.is_some() }
    }

    /// Whether a target that the edition in force disallows is allowed by one that its sender may be
    /// going by; names that edition, the newest of several.
    ///
    /// `start` is when the window begins. `allows` judges the target by another edition, whose scope
    /// is told where it is known, and `holding` is asked only where it matters.
    pub fn excuse(
        &self,
        doubt: Doubt,
        start: Timestamp,
        allows: impl Fn(&Matcher, Option<Scope>) -> bool,
        holding: impl FnOnce() -> Holding,
    ) -> Option<Excuse<'_>> {
        let known = |place: usize| {
            let is_renamed = doubt.renamed.contains(place);
            self.common.scope(doubt.scope, place).filter(|_| !is_renamed)
        };
        let in_doubt =
            doubt.files.places().filter_map(|place| Some((place, self.past.get(place)?)));
        let mut lenient = in_doubt
            .filter(|(_, past)| past.until > start)
            .filter(|(place, past)| allows(past.edition.matcher(), known(*place)))
            .map(|(_, past)| past)
            .peekable();
        let is_forgotten = self.forgotten.is_some_and(|until| until > start);
        if lenient.peek().is_none() && !is_forgotten {
            return None;
        }
        match holding() {
            Holding::Any => {
                lenient.next().map(Excuse::By).or_else(|| is_forgotten.then_some(Excuse::Forgotten))
            }
            Holding::Of(held) => {
                let is_kept = |id: &EditionId| {
                    *id == self.current.id()
                        || self.past.iter().any(|past| past.edition.id() == *id)
                };
                let by = lenient.find(|past| held.contains(&past.edition.id())).map(Excuse::By);
                // What it fetched is not known here: it may have allowed anything.
                by.or_else(|| (!held.iter().all(is_kept)).then_some(Excuse::Forgotten))
            }
        }
    }
}

impl Doubt {
    /// Whether every edition is known to disallow the target.
    pub const fn is_none(&self) -> bool {
        self.files.is_empty() && !self.forgotten
    }
}

fn compare(current: &Edition, past: &[Past]) -> Arc<Common> {
    let older: Vec<&Matcher> = past.iter().map(|past| past.edition.matcher()).collect();
    Arc::new(Common::of(current.matcher(), &older))
}

/// Why a target is not held against its sender.
#[derive(Clone, Copy, Debug)]
pub enum Excuse<'t> {
    /// This edition allows it.
    By(&'t Past),
    /// It may be going by an edition that is not kept any more.
    Forgotten,
}
