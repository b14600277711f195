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
    last_modified: Timestamp,
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
        Self::assemble(current, (since, since), Vec::new(), None, since)
    }

    /// What was written down, in order, `edition` being in force at `now`. A period that is still
    /// open ends then, or goes on if it is this edition's.
    pub fn resume(periods: Vec<Period>, edition: Arc<Edition>, now: Timestamp) -> Self {
        let open = periods.last().filter(|last| last.until.is_none());
        let open = open.filter(|last| last.edition.id() == edition.id()).map(|last| last.from);
        let goes_on = usize::from(open.is_some());
        let before = periods.iter().take(periods.len() - goes_on).map(|period| period.from);
        let before = before.reduce(modified_after);
        let since = open.unwrap_or(now);
        let last_modified = before.map_or(since, |before| modified_after(before, since));
        let since = since.min(now);
        let past = periods.into_iter().map(|Period { edition, from, until }| {
            let until = until.unwrap_or_else(|| since.max(from));
            (edition, from, until)
        });
        Self::assemble(edition, (since, last_modified), past.collect(), None, now)
    }

    /// The same with `edition` in force from `now` on. The time goes on where its bytes are those in
    /// force. What looks as if it lay ahead, because the clock was put back, was just now.
    pub fn followed_by(&self, edition: Arc<Edition>, now: Timestamp) -> Self {
        let past = self.past.iter().map(|past| (Arc::clone(&past.edition), past.from, past.until));
        if edition.id() == self.current.id() {
            let times = (self.since.min(now), self.last_modified);
            return Self::assemble(edition, times, past.collect(), self.forgotten, now);
        }
        let replaced = (Arc::clone(&self.current), self.since, now);
        let replaced = Some(replaced).filter(|_| self.current.may_be_held());
        let times = (now, modified_after(self.last_modified, now));
        Self::assemble(edition, times, past.chain(replaced).collect(), self.forgotten, now)
    }

    fn assemble(
        current: Arc<Edition>,
        (since, last_modified): (Timestamp, Timestamp),
        mut past: Vec<(Arc<Edition>, Timestamp, Timestamp)>,
        forgotten: Option<Timestamp>,
        now: Timestamp,
    ) -> Self {
        past.sort_by_key(|(_, from, until)| Reverse((*until, *from)));
        let mut known = HashSet::from([current.id()]);
        past.retain(|(edition, ..)| known.insert(edition.id()));
        let forgotten = forgotten.max(past.get(MAX_PAST).map(|(_, _, until)| *until));
        let forgotten = forgotten.map(|until| until.min(now));
        past.truncate(MAX_PAST);
        let past = past.into_iter().map(|(edition, from, until)| {
            let (from, until) = (from.min(now), until.min(now));
            Past { edition, from, until }
        });
        let past: Vec<Past> = past.collect();
        let common = compare(&current, &past);
        Self { current, since, last_modified, past, common, forgotten }
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
    pub fn held(&self, start: Timestamp, holding: &Holding) -> Option<impl Iterator<Item = &Past>> {
        let are_kept = match holding {
            Holding::Any => !self.is_forgotten(start),
            Holding::Of(held) => held.iter().all(|id| self.keeps(*id)),
        };
        let is_held = move |past: &&Past| match holding {
            Holding::Any => past.until > start,
            Holding::Of(held) => held.contains(&past.edition.id()),
        };
        are_kept.then(|| self.past.iter().filter(is_held))
    }

    /// Whether an edition is not kept any more that was in force at `start` or later.
    fn is_forgotten(&self, start: Timestamp) -> bool {
        self.forgotten.is_some_and(|until| until > start)
    }

    fn keeps(&self, id: EditionId) -> bool {
        id == self.current.id() || self.past.iter().any(|past| past.edition.id() == id)
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
            .filter(|(place, past)| allows(past.edition.matcher(), known(*place)))
            .map(|(_, past)| past)
            .peekable();
        let is_forgotten = self.is_forgotten(start);
        if lenient.peek().is_none() && !is_forgotten {
            return None;
        }
        match holding() {
            Holding::Any => {
                let by = lenient.find(|past| past.until > start).map(Excuse::By);
                by.or_else(|| is_forgotten.then_some(Excuse::Forgotten))
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

/// The `Last-Modified` of what came into force at `since`, after what has `before` as its own: dates
/// have whole seconds, and two editions may come within one.
fn modified_after(before: Timestamp, since: Timestamp) -> Timestamp {
    if since.as_second() > before.as_second() {
        return since;
    }
    Timestamp::from_second(before.as_second().saturating_add(1)).unwrap_or(since)
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
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).expect("a time")
    }

    fn edition(path: &str) -> Arc<Edition> {
        Arc::new(Edition::of_bytes(format!("User-agent: *\nDisallow: {path}\n").into_bytes()))
    }

    /// `name from until` of each, the one in force first.
    fn shown(timeline: &Timeline) -> String {
        let name = |edition: &Edition| {
            let rules = edition.file().groups.iter().flat_map(|group| &group.rules);
            rules.map(|rule| rule.pattern.clone()).collect::<String>()
        };
        let past = timeline.past.iter().map(|past| {
            let (from, until) = (past.from.as_second(), past.until.as_second());
            format!(", {} {from} {until}", name(&past.edition))
        });
        let now = format!("{} {}", name(&timeline.current), timeline.since.as_second());
        [now].into_iter().chain(past).collect()
    }

    #[test]
    fn editions_follow_each_other_and_the_same_bytes_are_the_same_edition() {
        let one = Timeline::new(edition("/a"), at(0));
        let same = one.followed_by(edition("/a"), at(5));
        let two = same.followed_by(edition("/b"), at(10));
        let three = two.followed_by(edition("/a"), at(20));
        let four = three.followed_by(edition("/c"), at(30));
        for (timeline, expected) in [
            (&same, "/a 0"),
            (&two, "/b 10, /a 0 10"),
            (&three, "/a 20, /b 10 20"),
            (&four, "/c 30, /a 20 30, /b 10 20"),
            (&four.clone().without_before(at(20)), "/c 30, /a 20 30"),
        ] {
            assert_eq!(shown(timeline), expected);
        }
    }

    #[test]
    fn r6_what_was_written_down_goes_on() {
        let period = |path: &str, from, until: Option<i64>| Period {
            edition: edition(path),
            from: at(from),
            until: until.map(at),
        };
        let periods =
            || vec![period("/a", 0, Some(10)), period("/b", 10, Some(20)), period("/a", 20, None)];
        for (path, now, expected, modified) in [
            ("/a", 50, "/a 20, /b 10 20", 20),
            ("/c", 50, "/c 50, /a 20 50, /b 10 20", 50),
            // The clock stands before what was written down.
            ("/a", 15, "/a 15, /b 10 15", 20),
            ("/c", 5, "/c 5, /a 5 5, /b 5 5", 21),
        ] {
            let timeline = Timeline::resume(periods(), edition(path), at(now));
            assert_eq!(shown(&timeline), expected, "{path} at {now}");
            assert_eq!(timeline.last_modified(), at(modified), "{path} at {now}");
        }
    }

    #[test]
    fn rfc9110_8_8_2_each_edition_has_a_later_last_modified() {
        let mut timeline = Timeline::new(edition("/a"), at(100));
        let mut last = timeline.last_modified();
        // Several in one second, then with the clock put back.
        for (path, now) in [("/b", 100), ("/c", 100), ("/a", 101), ("/b", 7), ("/c", 200)] {
            timeline = timeline.followed_by(edition(path), at(now));
            assert!(timeline.last_modified().as_second() > last.as_second(), "{path} at {now}");
            last = timeline.last_modified();
        }
        assert_eq!(last, at(200));
    }

    #[test]
    fn ours_who_changes_too_often_excuses_whom_nobody_saw_read() {
        let mut timeline = Timeline::new(edition("/x"), at(0));
        for number in 1..=MAX_PAST as i64 + 2 {
            timeline = timeline.followed_by(edition(&format!("/{number}")), at(number));
        }
        timeline = timeline.followed_by(edition("/"), at(100));
        let excuse = |holding: &Holding, start| {
            let star = timeline.current.matcher().star().expect("a group");
            let doubt = timeline.doubt(star, None, std::iter::empty());
            timeline.excuse(doubt, at(start), |_, _| false, || holding.clone()).is_some()
        };
        let current = Holding::Of(vec![timeline.current.id()]);
        assert!(excuse(&Holding::Any, 0) && !excuse(&Holding::Any, 50));
        assert!(!excuse(&current, 0));
        let forgotten = Holding::Of(vec![edition("/x").id()]);
        assert!(excuse(&forgotten, 0));
    }
}
