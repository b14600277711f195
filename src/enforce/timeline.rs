//! The editions of one site in time: the one in force, and those before it that crawlers may still
//! go by.
//!
//! RFC 9309 §2.4 lets a crawler use what it fetched for 24 hours. What the newest edition disallows
//! is held against nobody who may be going by one that allows it ([`Timeline::excuse`]).

use std::{cmp::Reverse, sync::Arc};

use jiff::Timestamp;

use crate::robots::{Common, Files, Matcher, Rule, Scope};

use super::{
    edition::{Edition, EditionId},
    known_editions::KnownEditions,
};

/// How many editions before the one in force are kept. Who changes a file more often within a day
/// has his crawlers excused where it can't be told what they hold.
const MAX_PAST: usize = Common::MAX_OLDER;

/// The editions of one site, as they followed each other.
#[derive(Clone, Debug)]
pub struct Timeline {
    current: Arc<Edition>,
    since: Timestamp,
    last_modified: Timestamp,
    /// Those that say the same as the one in force: nobody is excused by them.
    twins: Vec<Twin>,
    /// The newest first; each says something else than the current one and the others.
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
    /// Editions that say the same: a robots.txt that tells when it was made is another each time.
    twins: Vec<Twin>,
}

/// An edition that says the same as another.
#[derive(Clone, Copy, Debug)]
struct Twin {
    id: EditionId,
    /// The end of its time in force.
    until: Timestamp,
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

impl Timeline {
    /// Begins with an edition in force since `since`.
    pub fn new(current: Arc<Edition>, since: Timestamp) -> Self {
        let last_modified = whole(since);
        let (past, twins, forgotten) = (Vec::new(), Vec::new(), None);
        Parts { current, since, last_modified, past, twins, forgotten }.assemble(since)
    }

    /// What was written down, in order, `edition` being in force at `now`. A period that is still
    /// open ends then, or goes on if it is this edition's.
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

    /// The same with `edition` in force from `now` on. The time goes on where its bytes are those in
    /// force. What looks as if it lay ahead, because the clock was put back, was just now.
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

    /// The same after `other` as well: the site takes over hosts that had those rules.
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

    /// The edition in force, replaced now.
    fn replaced(&self, now: Timestamp) -> Option<Past> {
        let edition = Arc::clone(&self.current);
        Some(Past { edition, from: self.since, until: now, twins: self.twins.clone() })
    }

    /// The same without what nobody can hold any more.
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

    /// Whether nobody can hold any but the edition in force.
    pub fn is_single(&self) -> bool {
        self.past.is_empty()
    }

    /// Until when an edition was in force that is no longer kept, because there are too many.
    pub const fn forgotten(&self) -> Option<Timestamp> {
        self.forgotten
    }

    /// The edition in force.
    pub fn current(&self) -> &Arc<Edition> {
        &self.current
    }

    /// Since when it is.
    pub const fn since(&self) -> Timestamp {
        self.since
    }

    /// The `Last-Modified` of the edition in force: since when it is, but in a later second than any
    /// before it, so that no copy of those passes for this one (RFC 9110 §8.8.2).
    pub const fn last_modified(&self) -> Timestamp {
        self.last_modified
    }

    /// The editions that were in force at `start` or later, and are not any more; the newest first.
    pub fn in_window(&self, start: Timestamp) -> impl Iterator<Item = &Past> {
        self.past.iter().filter(move |past| past.until > start)
    }

    /// The editions that a client may be going by beside the one in force, the newest first; `None`
    /// where it may be going by one that is not kept.
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

    /// Whether a client may be going by the edition in force, or by one that says the same.
    pub fn may_know_current(&self, known: &KnownEditions) -> bool {
        let says_it = |id: &EditionId| {
            *id == self.current.id() || self.twins.iter().any(|twin| twin.id == *id)
        };
        match known {
            KnownEditions::Any => true,
            KnownEditions::Of(known) => known.iter().any(says_it),
        }
    }

    /// Whether an edition is not kept any more that was in force at `start` or later.
    fn is_forgotten(&self, start: Timestamp) -> bool {
        self.forgotten.is_some_and(|until| until > start)
    }

    fn keeps(&self, id: EditionId) -> bool {
        let is_twin = self.twins.iter().any(|twin| twin.id == id);
        id == self.current.id() || is_twin || self.past.iter().any(|past| past.is_one_of(&[id]))
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
    /// is told where it is known, and `known_editions` is asked only where it matters.
    pub fn excuse(
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
            .filter(|(place, past)| allows(past.edition.matcher(), known(*place)))
            .map(|(_, past)| past)
            .peekable();
        let is_forgotten = self.is_forgotten(start);
        if lenient.peek().is_none() && !is_forgotten {
            return None;
        }
        match known_editions() {
            KnownEditions::Any => {
                let by = lenient.find(|past| past.until > start).map(Excuse::By);
                by.or_else(|| is_forgotten.then_some(Excuse::Forgotten))
            }
            KnownEditions::Of(known) => {
                let by = lenient.find(|past| past.is_one_of(&known)).map(Excuse::By);
                // What it fetched is not known here: it may have allowed anything.
                let are_kept = known.iter().all(|id| self.keeps(*id));
                by.or_else(|| (!are_kept).then_some(Excuse::Forgotten))
            }
        }
    }
}

impl Parts {
    /// Merges editions that say the same, drops the oldest beyond [`MAX_PAST`], and moves times that
    /// lie ahead of `now` back to it.
    fn assemble(self, now: Timestamp) -> Timeline {
        let Self { current, since, last_modified, past: mut all, mut twins, forgotten } = self;
        all.sort_by_key(|past| Reverse((past.until, past.from)));
        let mut past: Vec<Past> = Vec::new();
        for mut one in all {
            (one.from, one.until) = (one.from.min(now), one.until.min(now));
            let twin = Twin { id: one.edition.id(), until: one.until };
            let same = past.iter_mut().find(|other| other.edition.says_the_same(&one.edition));
            if current.says_the_same(&one.edition) {
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

impl Past {
    /// Whether a client may be going by it, or by one that says the same.
    pub fn may_be_known(&self, known: &KnownEditions) -> bool {
        match known {
            KnownEditions::Any => true,
            KnownEditions::Of(known) => self.is_one_of(known),
        }
    }

    /// Whether it, or one that says the same, is among these.
    pub fn is_one_of(&self, editions: &[EditionId]) -> bool {
        let twins = self.twins.iter().map(|twin| twin.id);
        twins.chain([self.edition.id()]).any(|id| editions.contains(&id))
    }
}

/// Each once, with its latest time.
fn distinct(twins: &mut Vec<Twin>) {
    twins.sort_unstable_by_key(|twin| (twin.id, Reverse(twin.until)));
    twins.dedup_by_key(|twin| twin.id);
}

/// The first whole second that is not before this time.
fn whole(at: Timestamp) -> Timestamp {
    let second = at.as_second() + i64::from(at.subsec_nanosecond() > 0);
    Timestamp::from_second(second).unwrap_or(at)
}

/// The `Last-Modified` of what came into force at `since`, after what has `before` as its own: dates
/// have whole seconds, and two editions may come within one.
fn modified_after(before: Timestamp, since: Timestamp) -> Timestamp {
    let after = Timestamp::from_second(before.as_second().saturating_add(1)).unwrap_or(since);
    whole(since).max(after)
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

#[cfg(test)]
mod tests;
