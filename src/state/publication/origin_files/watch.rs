//! The watch over one site's robots.txt: the file in force, the file that is held, the failures, and
//! the time of the next fetch. [`Watch::settle`] is its one step: a result and the time in, events out.

use std::{collections::BTreeMap, time::Duration};

use jiff::{SignedDuration, Timestamp};

use crate::{
    base::diagnostic::{Diagnostic, Severity},
    formats::robots::OriginFile,
    rules::enforce::Moment,
};

use super::{
    access_result::AccessResult,
    destination::Caution,
    fetcher::{Condition, Fetched},
    hold::{Held, Hold, Meaning, OriginReport, id},
};

/// The least time between two fetches, whatever the response says.
const LEAST_WAIT: Duration = Duration::from_secs(60);
/// The most time between two fetches, whatever the response says.
const MOST_WAIT: Duration = Duration::from_secs(3_600);
/// The time between two fetches if the response says nothing.
const USUAL_WAIT: Duration = Duration::from_secs(300);
/// The time until the first retry after a failure. Each further retry waits twice as long. It is
/// short because an origin may just be starting up.
const FIRST_RETRY: Duration = Duration::from_secs(5);
/// The most time until a retry while the site has no file: its rules are not enforced.
const LAST_RETRY_WITHOUT_FILE: Duration = Duration::from_secs(15);
/// The most time until a retry while the last good file is in force.
const LAST_RETRY: Duration = Duration::from_secs(300);
/// 5 s doubled six times is 320 s.
const MOST_DOUBLINGS: u32 = 6;
/// The time until a lasting problem is logged again.
const REMINDER: SignedDuration = SignedDuration::from_hours(1);
/// How long a site withholds its robots.txt while the origin's file is unknown. A site without rules
/// would be open, and one that withholds them for longer is left by search engines.
const MOST_UNKNOWN: Duration = Duration::from_secs(86_400);

/// The file of a site as known from an earlier process or policy.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownFile {
    pub(crate) file: OriginFile,
    pub(crate) held: Option<Held>,
    /// Whether earlier rules of the site left anything open to `*`. Then a file that closes
    /// everything is sudden, even if it is the origin's first.
    pub(crate) was_open: bool,
    /// Since when the site has neither a file nor an edition, and withholds its robots.txt.
    pub(crate) unknown_since: Option<Timestamp>,
    pub(crate) condition: Option<Condition>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// Another file is in force, or the first access ended.
    Changed,
    /// A file is held, in place of an earlier one. The file in force stays.
    Held { id: String, hold: Hold, since: Timestamp, file: OriginFile },
    /// The file is still held; a reminder.
    StillHeld { id: String, hold: Hold, since: Timestamp },
    /// No file is held any more.
    Released { id: String, by: Release },
    /// A response has other remarks than the one before, or a mistake for another hour.
    Remarked(Vec<Diagnostic>),
    /// A fetch failed, for the first time within an hour.
    Failed { code: &'static str, why: String, since: Timestamp },
    /// No fetch succeeded for so long that the site is published without the origin's file.
    GivenUp { since: Timestamp },
    /// A fetch succeeded again.
    Recovered { since: Timestamp },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Release {
    /// The operator, or the policy, accepts the file: it is in force.
    Accepted,
    /// The time of vanished rules is over: the file is in force.
    Expired,
    /// The origin has another file.
    Replaced,
}

#[derive(Debug)]
pub(super) struct Watch {
    caution: Caution,
    pub(super) known: KnownFile,
    pub(super) meaning: Meaning,
    failures: Option<Failures>,
    /// The remarks about the last good response, and their last log line.
    remarks: Vec<Diagnostic>,
    remarked_at: Option<Timestamp>,
    /// What the present step did.
    events: Vec<Event>,
}

#[derive(Debug)]
struct Failures {
    since: Timestamp,
    count: u32,
    /// The last log line of each kind.
    logged: BTreeMap<&'static str, Timestamp>,
}

impl Watch {
    pub(super) fn new(mut known: KnownFile, caution: Caution) -> Self {
        // A new watch reminds of it.
        known.held.iter_mut().for_each(|held| held.logged_at = None);
        let meaning = Meaning::of(&known.file);
        let (failures, remarks, remarked_at) = (None, Vec::new(), None);
        Self { caution, known, meaning, failures, remarks, remarked_at, events: Vec::new() }
    }

    pub(super) const fn is_failing(&self) -> bool {
        self.failures.is_some()
    }

    pub(super) fn report(&self) -> OriginReport {
        let held = self.known.held.as_ref().filter(|held| !held.is_discarded).map(|held| held.hold);
        OriginReport { held, findings: self.remarks.clone() }
    }

    /// Takes the result of a fetch. Returns the events, and the time until the next one.
    pub(super) fn settle(&mut self, fetched: Fetched, now: Timestamp) -> (Vec<Event>, Duration) {
        let Fetched { result, remarks, condition, fresh_for } = fetched;
        let code = result.code();
        let failure = match result {
            AccessResult::File(file) => {
                self.known.condition = condition;
                self.take(OriginFile::Present(file), remarks, now);
                None
            }
            AccessResult::NoFile(_) | AccessResult::Document => {
                self.known.condition = None;
                self.take(OriginFile::Absent, remarks, now);
                None
            }
            AccessResult::Unchanged => {
                // What is held was not sent again.
                if let Some(held) = self.known.held.as_ref().map(|held| held.file.clone()) {
                    self.put_or_hold(held, now);
                }
                None
            }
            AccessResult::Failed(fault) => Some(fault.to_string()),
        };
        let wait = match failure {
            Some(why) => self.fail(code, why, now),
            None => {
                self.known.unknown_since = None;
                if let Some(failures) = self.failures.take() {
                    self.events.push(Event::Recovered { since: failures.since });
                }
                let left = self.known.held.as_ref().and_then(|held| held.left(self.caution, now));
                let wait = fresh_for.unwrap_or(USUAL_WAIT).min(left.unwrap_or(MOST_WAIT));
                wait.clamp(LEAST_WAIT, MOST_WAIT)
            }
        };
        self.remind(now);
        (std::mem::take(&mut self.events), wait)
    }

    /// Puts the held file in force if it has this name; `None` otherwise.
    pub(super) fn accept(&mut self, name: &str) -> Option<Vec<Event>> {
        let file = self.known.held.as_ref().filter(|held| held.id == name)?.file.clone();
        let meaning = Meaning::of(&file);
        self.put(file, meaning, Release::Accepted);
        Some(std::mem::take(&mut self.events))
    }

    /// Discards the held file if it has this name. Returns whether that changes anything.
    pub(super) fn discard(&mut self, name: &str) -> bool {
        let held = self.known.held.as_mut().filter(|held| held.id == name && !held.is_discarded);
        held.map(|held| held.is_discarded = true).is_some()
    }

    fn take(&mut self, file: OriginFile, remarks: Vec<Diagnostic>, now: Timestamp) {
        if self.remarks != remarks {
            (self.remarks, self.remarked_at) = (remarks, None);
        }
        self.put_or_hold(file, now);
    }

    fn put_or_hold(&mut self, file: OriginFile, now: Timestamp) {
        let meaning = Meaning::of(&file);
        // The very first file is no sudden change.
        let was_open = self.known.file != OriginFile::Unknown
            || self.known.held.is_some()
            || self.known.was_open;
        let Some(hold) = Hold::of(self.meaning, meaning, was_open, self.caution) else {
            return self.put(file, meaning, Release::Accepted);
        };
        // Vanished rules stay vanished, whatever is sent in their place. A discarded file is one by name.
        let is_same = |held: &&Held| match held.is_discarded {
            true => held.id == id(&file),
            false => held.hold == hold && (held.file == file || hold == Hold::Vanishing),
        };
        let before = self.known.held.as_ref().filter(is_same);
        let is_discarded = before.is_some_and(|held| held.is_discarded);
        let is_known = is_discarded || before.is_some_and(|held| held.file == file);
        let since = before.map_or(now, |held| held.since);
        let held = Held { is_discarded, ..Held::new(file, hold, since) };
        if held.left(self.caution, now).is_some_and(|left| left.is_zero()) {
            self.put(held.file, meaning, Release::Expired);
        } else if !is_known {
            let (id, since, file) = (held.id.clone(), held.since, held.file.clone());
            self.events.push(Event::Held { id, hold, since, file });
            self.known.held = Some(Held { logged_at: Some(now), ..held });
        }
    }

    /// Puts a file in force and ends the hold: `by` this, if it is the file that was held.
    fn put(&mut self, file: OriginFile, meaning: Meaning, by: Release) {
        if let Some(Held { id, file: held, .. }) = self.known.held.take() {
            let is_this = held == file || by == Release::Expired;
            let by = if is_this { by } else { Release::Replaced };
            self.events.push(Event::Released { id, by });
        }
        if self.known.file != file {
            self.events.push(Event::Changed);
        }
        (self.known.file, self.meaning) = (file, meaning);
    }

    fn remind(&mut self, now: Timestamp) {
        let is_due = |at: Option<Timestamp>| at.is_none_or(|at| now.duration_since(at) >= REMINDER);
        if let Some(Held { id, hold, since, logged_at, is_discarded: false, .. }) =
            &mut self.known.held
            && is_due(*logged_at)
        {
            *logged_at = Some(now);
            self.events.push(Event::StillHeld { id: id.clone(), hold: *hold, since: *since });
        }
        let worst = self.remarks.iter().map(|remark| remark.severity).max();
        let is_wrong = worst == Some(Severity::Error);
        let is_news = worst >= Some(Severity::Warning) && self.remarked_at.is_none();
        if is_news || (is_wrong && is_due(self.remarked_at)) {
            self.remarked_at = Some(now);
            self.events.push(Event::Remarked(self.remarks.clone()));
        }
    }

    /// Notes a failure. Returns the time until the retry.
    fn fail(&mut self, code: &'static str, why: String, now: Timestamp) -> Duration {
        let first = || Failures { since: now, count: 0, logged: BTreeMap::new() };
        let failures = self.failures.get_or_insert_with(first);
        let wait = FIRST_RETRY * 2_u32.pow(failures.count.min(MOST_DOUBLINGS));
        failures.count = failures.count.saturating_add(1);
        let logged = failures.logged.get(code);
        if logged.is_none_or(|at| now.duration_since(*at) >= REMINDER) {
            failures.logged.insert(code, now);
            self.events.push(Event::Failed { code, why, since: failures.since });
        }
        // Only a failure ends the time, so that no first fetch comes too late. The clock may have been
        // set back since the start of it.
        self.known.unknown_since = self.known.unknown_since.map(|since| since.min(now));
        let start = Moment::at(now).start_of(MOST_UNKNOWN);
        if let Some(since) = self.known.unknown_since.take_if(|since| *since <= start) {
            self.events.push(Event::GivenUp { since });
        }
        match self.known.file {
            OriginFile::Unknown => wait.min(LAST_RETRY_WITHOUT_FILE),
            OriginFile::Absent | OriginFile::Present(_) => wait.min(LAST_RETRY),
        }
    }
}

#[cfg(test)]
mod tests;
