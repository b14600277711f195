//! The files that are held, because they change too much at once.
//!
//! A file that suddenly closes a whole site most often comes from a staging system. Rules that vanish
//! open a site, and a crawler that read this follows it for a day. So both wait for the operator, or
//! for another file of the origin; vanished rules wait for `vanish_after` at most.

use std::{collections::HashMap, sync::Arc, time::Duration};

use jiff::Timestamp;
use parking_lot::Mutex;

use crate::{
    base::diagnostic::Diagnostic,
    formats::robots::{self, OriginFile},
    rules::enforce::EditionId,
};

use super::destination::Caution;

/// The reason to hold a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// It closes the whole site to every crawler.
    Closing,
    /// It has no rules, and the one before has some.
    Vanishing,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Meaning {
    pub(super) is_closed: bool,
    is_restrictive: bool,
    /// Whether it has a rule, and so says that the rest is open.
    has_rules: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Held {
    pub(super) file: OriginFile,
    pub(super) id: String,
    pub(super) hold: Hold,
    pub(super) since: Timestamp,
    /// Whether the operator discarded it: it stays out of force, and is no news.
    pub(super) is_discarded: bool,
    pub(super) logged_at: Option<Timestamp>,
}

impl Meaning {
    pub(super) fn of(file: &OriginFile) -> Self {
        let Some(bytes) = file.bytes() else { return Self::default() };
        let file = robots::parse(bytes).0;
        Self {
            is_closed: robots::closes_everything(&file),
            is_restrictive: file.is_restrictive(),
            has_rules: file.rule_count() > 0,
        }
    }
}

impl Hold {
    /// The reason to hold a file with the meaning `new` after one with the meaning `old`; `None`
    /// if it may be in force at once. `was_open` tells whether there was a file before it, or rules of
    /// the site that left anything open.
    pub(super) fn of(old: Meaning, new: Meaning, was_open: bool, caution: Caution) -> Option<Self> {
        let is_silent = !new.has_rules && !new.is_restrictive;
        if new.is_closed && !old.is_closed && was_open && !caution.accept_full_disallow {
            Some(Self::Closing)
        } else if is_silent && old.is_restrictive && !caution.vanish_after.is_zero() {
            Some(Self::Vanishing)
        } else {
            None
        }
    }

    /// The reason to hold a file that is held; it is empty if the origin has none.
    pub fn of_file(file: &[u8]) -> Self {
        match robots::closes_everything(&robots::parse(file).0) {
            true => Self::Closing,
            false => Self::Vanishing,
        }
    }

    /// What is wrong, for logs, alerts and pages.
    pub const fn reason(self) -> &'static str {
        match self {
            Self::Closing => "it suddenly closes the whole site to every crawler",
            Self::Vanishing => "its rules are gone, which opens the whole site to every crawler",
        }
    }
}

impl Held {
    pub(super) fn new(file: OriginFile, hold: Hold, since: Timestamp) -> Self {
        Self { id: id(&file), file, hold, since, is_discarded: false, logged_at: None }
    }

    /// A file that was held before this process.
    pub(crate) fn known(file: OriginFile, since: Timestamp, is_discarded: bool) -> Self {
        let hold = Hold::of_file(file.bytes().map_or(b"", AsRef::as_ref));
        Self { is_discarded, ..Self::new(file, hold, since) }
    }

    /// The time until it is in force without the operator; `None` for never.
    pub(super) fn left(&self, caution: Caution, now: Timestamp) -> Option<Duration> {
        let passed = Duration::try_from(now.duration_since(self.since)).unwrap_or_default();
        (self.hold == Hold::Vanishing && !self.is_discarded)
            .then(|| caution.vanish_after.saturating_sub(passed))
    }
}

/// The name of a file: that of the edition that it is alone. A merged edition has another one.
pub(super) fn id(file: &OriginFile) -> String {
    EditionId::of(file.bytes().map_or(b"", AsRef::as_ref)).to_string()
}

/// What an operator should know about the robots.txt of one origin.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OriginReport {
    /// The reason why the origin's file is held and an earlier one stays in force.
    pub held: Option<Hold>,
    pub(crate) findings: Vec<Diagnostic>,
}

/// The reports of all sites with fetches, by name. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct OriginReports(Arc<Mutex<HashMap<String, OriginReport>>>);

impl OriginReports {
    /// The report of a site; an empty one without fetches.
    pub fn of(&self, site: &str) -> OriginReport {
        self.0.lock().get(site).cloned().unwrap_or_default()
    }

    pub(crate) fn held(&self) -> Vec<(String, Hold)> {
        let reports = self.0.lock();
        let held = reports.iter().filter_map(|(site, one)| Some((site.clone(), one.held?)));
        let mut held: Vec<_> = held.collect();
        held.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        held
    }

    pub(super) fn put(&self, site: &str, report: OriginReport) {
        self.0.lock().insert(site.to_owned(), report);
    }

    pub(super) fn forget(&self, site: &str) {
        self.0.lock().remove(site);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meaning(text: &str) -> Meaning {
        Meaning::of(&OriginFile::Present(text.as_bytes().to_vec().into()))
    }

    const RULES: &str = "User-agent: *\nDisallow: /x\n";
    const CLOSED: &str = "User-agent: *\nDisallow: /\n";

    #[test]
    fn a_file_is_held_if_it_closes_or_opens_the_whole_site() {
        use Hold::{Closing, Vanishing};
        let caution = Caution::default();
        let open = "User-agent: *\nDisallow:\n";
        for (before, new, expected) in [
            (RULES, CLOSED, Some(Closing)),
            ("", CLOSED, Some(Closing)),
            (CLOSED, "User-agent: *\nDisallow: /*\n", None),
            // The first page alone stays open.
            (RULES, "User-agent: *\nDisallow: /\nAllow: /$\n", Some(Closing)),
            (RULES, "User-agent: *\nAllow: /$\nDisallow: /*\n", Some(Closing)),
            (RULES, "User-agent: *\nDisallow: /\nAllow: /public\n", Some(Closing)),
            (RULES, "User-agent: BadBot\nDisallow: /\n", None),
            (RULES, "", Some(Vanishing)),
            (RULES, "# closed for repairs\nSitemap: https://a.example/s\n", Some(Vanishing)),
            (RULES, "User-agent: *\n", Some(Vanishing)),
            (CLOSED, "", Some(Vanishing)),
            ("User-agent: *\nCrawl-delay: 5\n", "", Some(Vanishing)),
            // The origin says that everything is open.
            (RULES, open, None),
            (RULES, "User-agent: *\nCrawl-delay: 5\n", None),
            // Nothing is lost.
            (open, "", None),
            ("", "", None),
            ("", RULES, None),
        ] {
            let found = Hold::of(meaning(before), meaning(new), true, caution);
            assert_eq!(found, expected, "{before:?} {new:?}");
        }
        let first = Hold::of(Meaning::default(), meaning(CLOSED), false, caution);
        assert_eq!(first, None, "the first file is no change");
        let bold = Caution { accept_full_disallow: true, vanish_after: Duration::ZERO };
        for new in [CLOSED, ""] {
            assert_eq!(Hold::of(meaning(RULES), meaning(new), true, bold), None, "{new:?}");
        }
    }

    #[test]
    fn vanished_rules_are_held_for_a_time_and_closing_ones_without_end() {
        let since = Timestamp::UNIX_EPOCH;
        let hours = |hours: u64| Duration::from_secs(hours * 3_600);
        let left = |text: &str, passed: u64| {
            let file = OriginFile::Present(text.as_bytes().to_vec().into());
            Held::known(file, since, false).left(Caution::default(), since + hours(passed))
        };
        for (passed, expected) in [(0, 24), (23, 1), (24, 0), (99, 0)] {
            assert_eq!(left("", passed), Some(hours(expected)));
            assert_eq!(left(CLOSED, passed), None);
        }
    }
}
