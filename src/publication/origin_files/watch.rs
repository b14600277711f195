//! The watch over one site's robots.txt: the file in force, the quarantine, the failures, and the
//! time of the next fetch.
//!
//! A file that suddenly closes a whole site most often comes from a staging system. So it enters
//! quarantine until the operator accepts it or the origin sends another file.

use std::time::Duration;

use bytes::Bytes;
use jiff::{SignedDuration, Timestamp};

use crate::{
    enforce::EditionId,
    robots::{self, OriginFile},
};

use super::{
    access_result::AccessResult,
    fetcher::{Condition, Fetched},
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

/// The file of a site as known from an earlier process or policy.
#[derive(Clone, Debug, Default)]
pub(in crate::publication) struct KnownFile {
    /// The last good file.
    pub(in crate::publication) file: OriginFile,
    /// The file in quarantine.
    pub(in crate::publication) quarantine: Option<Bytes>,
    /// Whether earlier rules of the site left anything open to `*`. Then a file that closes
    /// everything is sudden, even if it is the origin's first.
    pub(in crate::publication) was_open: bool,
    /// From the last response with a file.
    pub(super) condition: Option<Condition>,
}

impl KnownFile {
    /// The last good file, and the file in quarantine.
    pub(in crate::publication) fn new(
        file: OriginFile,
        quarantine: Option<Bytes>,
        was_open: bool,
    ) -> Self {
        Self { file, quarantine, was_open, condition: None }
    }
}

/// An event for the log and the publisher.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// Another file is in force.
    Changed,
    /// A file entered quarantine, in place of an earlier one.
    Quarantined { id: String, since: Timestamp },
    /// The file is still in quarantine; a reminder.
    StillQuarantined { id: String, since: Timestamp },
    /// The quarantine ended: the file is in force, or the origin has another one.
    Released { id: String, is_accepted: bool },
    /// A fetch failed, for the first time within an hour.
    Failed { code: &'static str, why: String, since: Timestamp },
    /// A fetch succeeded again.
    Recovered { since: Timestamp },
}

/// The events of a fetch, and the time of the next one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Progress {
    pub(super) events: Vec<Event>,
    /// The time until the next fetch.
    pub(super) wait: Duration,
}

/// The state of one site.
#[derive(Debug)]
pub(super) struct Watch {
    accept_full_disallow: bool,
    file: OriginFile,
    /// Whether the file in force closes everything for `*`.
    is_closed: bool,
    quarantine: Option<Quarantine>,
    /// As [`KnownFile::was_open`].
    was_open: bool,
    condition: Option<Condition>,
    failures: Option<Failures>,
}

/// A file in quarantine.
#[derive(Debug)]
struct Quarantine {
    file: Bytes,
    id: String,
    since: Timestamp,
    /// The last log line about it.
    logged_at: Option<Timestamp>,
}

/// Failures in a row.
#[derive(Debug)]
struct Failures {
    since: Timestamp,
    count: u32,
    /// The last log line of each kind.
    logged: Vec<LoggedFailure>,
}

/// A failure in the log.
#[derive(Debug)]
struct LoggedFailure {
    code: &'static str,
    at: Timestamp,
}

impl Watch {
    /// A watch that starts with a known file. A known quarantine counts as new at `now`.
    pub(super) fn new(known: KnownFile, accept_full_disallow: bool, now: Timestamp) -> Self {
        let KnownFile { file, quarantine, was_open, condition } = known;
        let is_closed = file.bytes().is_some_and(|file| closes_everything(file));
        let quarantine =
            quarantine.map(|file| Quarantine { id: id(&file), file, since: now, logged_at: None });
        Self {
            accept_full_disallow,
            file,
            is_closed,
            quarantine,
            was_open,
            condition,
            failures: None,
        }
    }

    /// The file in force.
    pub(super) const fn file(&self) -> &OriginFile {
        &self.file
    }

    /// Whether the file in force closes everything for `*`.
    pub(super) const fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// Whether the last fetch failed.
    pub(super) const fn is_failing(&self) -> bool {
        self.failures.is_some()
    }

    /// The file in quarantine.
    pub(super) fn quarantined(&self) -> Option<&Bytes> {
        self.quarantine.as_ref().map(|quarantine| &quarantine.file)
    }

    /// The condition of the next fetch.
    pub(super) fn condition(&self) -> Option<&Condition> {
        self.condition.as_ref()
    }

    /// The known file, for a successor.
    pub(super) fn known(&self) -> KnownFile {
        KnownFile {
            file: self.file.clone(),
            quarantine: self.quarantined().cloned(),
            was_open: self.was_open,
            condition: self.condition.clone(),
        }
    }

    /// Takes the result of a fetch.
    pub(super) fn settle(&mut self, fetched: Fetched, now: Timestamp) -> Progress {
        let mut events = Vec::new();
        let code = fetched.result.code();
        let failure = match fetched.result {
            AccessResult::File(file) => {
                self.condition = fetched.condition;
                self.take(file, now, &mut events);
                None
            }
            AccessResult::NoFile(_) => {
                self.condition = None;
                self.put(OriginFile::Absent, false, &mut events);
                None
            }
            AccessResult::Unchanged => {
                self.take_quarantined(&mut events);
                None
            }
            failure @ (AccessResult::Unreachable(_) | AccessResult::Refused(_)) => {
                Some(failure.to_string())
            }
        };
        let wait = match failure {
            Some(why) => self.fail(code, why, now, &mut events),
            None => {
                if let Some(failures) = self.failures.take() {
                    events.push(Event::Recovered { since: failures.since });
                }
                fetched.fresh_for.unwrap_or(USUAL_WAIT).clamp(LEAST_WAIT, MOST_WAIT)
            }
        };
        if let Some(quarantine) = &mut self.quarantine
            && quarantine.logged_at.is_none_or(|at| now.duration_since(at) >= REMINDER)
        {
            quarantine.logged_at = Some(now);
            events.push(Event::StillQuarantined {
                id: quarantine.id.clone(),
                since: quarantine.since,
            });
        }
        Progress { events, wait }
    }

    /// Puts the quarantined file in force if it has this name; `None` otherwise.
    pub(super) fn accept(&mut self, name: &str) -> Option<Vec<Event>> {
        let file = self.quarantine.as_ref().filter(|one| one.id == name)?.file.clone();
        let mut events = Vec::new();
        self.put(OriginFile::Present(file), true, &mut events);
        Some(events)
    }

    fn take(&mut self, file: Bytes, now: Timestamp, events: &mut Vec<Event>) {
        if self.quarantine.as_ref().is_some_and(|one| one.file == file)
            && !self.accept_full_disallow
        {
            return;
        }
        let is_closed = match &self.file {
            OriginFile::Present(before) if *before == file => self.is_closed,
            _ => closes_everything(&file),
        };
        // The very first file is no sudden change.
        let has_before =
            self.file != OriginFile::Unknown || self.quarantine.is_some() || self.was_open;
        let is_sudden = is_closed && !self.is_closed && has_before;
        if is_sudden && !self.accept_full_disallow {
            let id = id(&file);
            events.push(Event::Quarantined { id: id.clone(), since: now });
            self.quarantine = Some(Quarantine { file, id, since: now, logged_at: Some(now) });
        } else {
            self.put(OriginFile::Present(file), is_closed, events);
        }
    }

    /// Puts the quarantined file in force if the policy now accepts it. The origin does not send an
    /// unchanged file again.
    fn take_quarantined(&mut self, events: &mut Vec<Event>) {
        if self.accept_full_disallow
            && let Some(quarantine) = &self.quarantine
        {
            self.put(OriginFile::Present(quarantine.file.clone()), true, events);
        }
    }

    /// Puts a file in force and ends the quarantine.
    fn put(&mut self, file: OriginFile, is_closed: bool, events: &mut Vec<Event>) {
        if let Some(quarantine) = self.quarantine.take() {
            let is_accepted = file.bytes() == Some(&quarantine.file);
            events.push(Event::Released { id: quarantine.id, is_accepted });
        }
        if self.file != file {
            events.push(Event::Changed);
        }
        (self.file, self.is_closed) = (file, is_closed);
    }

    /// Notes a failure. Returns the time until the retry.
    fn fail(
        &mut self,
        code: &'static str,
        why: String,
        now: Timestamp,
        events: &mut Vec<Event>,
    ) -> Duration {
        let first = || Failures { since: now, count: 0, logged: Vec::new() };
        let failures = self.failures.get_or_insert_with(first);
        let wait = FIRST_RETRY * 2_u32.pow(failures.count.min(MOST_DOUBLINGS));
        failures.count = failures.count.saturating_add(1);
        let known = failures.logged.iter_mut().find(|one| one.code == code);
        let is_news = match known {
            Some(one) if now.duration_since(one.at) < REMINDER => false,
            Some(one) => {
                one.at = now;
                true
            }
            None => {
                failures.logged.push(LoggedFailure { code, at: now });
                true
            }
        };
        if is_news {
            events.push(Event::Failed { code, why, since: failures.since });
        }
        match self.file {
            OriginFile::Unknown => wait.min(LAST_RETRY_WITHOUT_FILE),
            OriginFile::Absent | OriginFile::Present(_) => wait.min(LAST_RETRY),
        }
    }
}

/// The name of a file: that of the edition that it is alone. A merged edition has another one.
pub(super) fn id(file: &[u8]) -> String {
    EditionId::of(file).to_string()
}

fn closes_everything(file: &[u8]) -> bool {
    robots::closes_everything(&robots::parse(file).0)
}

#[cfg(test)]
mod tests;
