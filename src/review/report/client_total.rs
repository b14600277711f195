//! The requests of one client name, added up.

use std::{collections::BTreeMap, ops::AddAssign};

use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    base::text::Text,
    formats::robots::Access,
    records::{
        counts::{Counted, Dimension},
        tally::{self, Claimant, ReadState},
    },
    rules::{
        crawlers::Outcome,
        enforce::{Action, Reason},
    },
};

/// By what counts are told apart for tallies. The first is the name.
pub(crate) const TALLIED_BY: [Dimension; 7] = [
    Dimension::ProductToken,
    Dimension::Class,
    Dimension::Standing,
    Dimension::Verdict,
    Dimension::Action,
    Dimension::Reason,
    Dimension::ReadState,
];

/// The reasons of decisions that no rule made.
const UNJUDGED: [Reason; 3] = [Reason::Off, Reason::Unbound, Reason::Unknown];

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Count {
    pub(crate) requests: u64,
    pub(crate) violations: u64,
}

/// The requests of one client name, or of several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) all: Count,
    pub(crate) fetches: u64,
    pub(crate) refused: u64,
    /// Violations by a client that never fetched robots.txt.
    pub(crate) never: u64,
    /// Violations by a client that had fetched an older edition.
    pub(crate) older: u64,
    /// Violations by a client that had fetched this edition, and went on.
    pub(crate) current: u64,
    /// Requests for other forms of closed paths, which are no violations.
    pub(crate) forms: u64,
    /// Requests beyond a limit of the operator, which are no violations.
    pub(crate) limited: u64,
    pub(crate) confirmed: u64,
    pub(crate) contradicted: u64,
    /// Violations of impostors. They have read nothing in the crawler's name.
    pub(crate) contradicted_violations: u64,
    pub(crate) too_soon: u64,
    /// The requests that rules were applied to, without those that evidence contradicted.
    pub(crate) judged: u64,
    /// Those of them that the rules disallow, or that came too soon.
    pub(crate) broken: u64,
    pub(crate) reasons: BTreeMap<Text, u64>,
    classes: BTreeMap<Text, u64>,
}

impl AddAssign for Count {
    fn add_assign(&mut self, other: Self) {
        self.requests = self.requests.saturating_add(other.requests);
        self.violations = self.violations.saturating_add(other.violations);
    }
}

impl From<&Counted> for Count {
    fn from(counted: &Counted) -> Self {
        Self { requests: counted.requests, violations: counted.violations }
    }
}

impl Tally {
    /// The sum of counts that are told apart by [`TALLIED_BY`].
    pub(super) fn of(counts: &[Counted]) -> Self {
        let mut tally = Self::default();
        counts.iter().for_each(|one| tally.add(one));
        tally
    }

    /// Adds counts that are told apart by [`TALLIED_BY`].
    pub(super) fn add(&mut self, counted: &Counted) {
        let [_, class, standing, verdict, action, reason, read] = counted.key.as_slice() else {
            return;
        };
        let Count { requests, violations } = counted.into();
        let add = |sum: &mut u64, is_one: bool| {
            if is_one {
                *sum = sum.saturating_add(requests);
            }
        };
        let is = |word: &Text, code: &str| word.as_str() == code;
        self.all += counted.into();
        let is_fetch = is(reason, Reason::RobotsTxt.as_str());
        add(&mut self.fetches, is_fetch);
        let is_refused =
            [Action::Block, Action::Throttle].iter().any(|one| is(action, one.as_str()));
        add(&mut self.refused, is_refused);
        let is_contradicted = Claimant::of(standing) == Claimant::Impostor;
        for (state, sum) in [
            (ReadState::Never, &mut self.never),
            (ReadState::Older, &mut self.older),
            (ReadState::Current, &mut self.current),
        ] {
            add(sum, violations > 0 && !is_contradicted && is(read, state.as_str()));
        }
        add(&mut self.forms, is(reason, Reason::Form.as_str()));
        add(&mut self.limited, tally::is_limited(reason));
        add(&mut self.confirmed, is(standing, Outcome::Confirmed.as_str()));
        add(&mut self.contradicted, is_contradicted);
        add(&mut self.contradicted_violations, is_contradicted && violations > 0);
        let is_too_soon =
            [Reason::TooSoon, Reason::Slowed].iter().any(|slow| is(reason, slow.as_str()));
        add(&mut self.too_soon, is_too_soon);
        let is_unjudged = is_fetch || UNJUDGED.iter().any(|one| is(reason, one.as_str()));
        let is_disallowed =
            is(verdict, Access::Disallow.as_str()) && !is(reason, Reason::Grace.as_str());
        let is_violation = tally::is_violation(action, reason);
        let is_judged = !is_unjudged && !is_contradicted;
        add(&mut self.judged, is_judged);
        add(&mut self.broken, is_judged && (is_violation || is_disallowed || is_too_soon));
        if violations > 0 {
            add(self.reasons.entry(reason.clone()).or_default(), true);
        }
        add(self.classes.entry(class.clone()).or_default(), true);
    }

    /// Violations by what the client had read, for a line of JSON.
    pub(super) fn read(&self) -> Value {
        json!({ "never": self.never, "older": self.older, "current": self.current })
    }

    pub(crate) fn classes(&self) -> impl Iterator<Item = (&Text, u64)> {
        self.classes.iter().map(|(class, requests)| (class, *requests))
    }

    pub(crate) fn class(&self) -> Option<&Text> {
        let most = self.classes.iter().max_by_key(|(class, requests)| (**requests, *class));
        most.map(|(class, _)| class)
    }

    /// Requests whose claim nothing confirms or contradicts.
    pub(crate) const fn open(&self) -> u64 {
        self.own().saturating_sub(self.confirmed)
    }

    /// Requests that its operator answers for: all but those that evidence contradicted.
    pub(crate) const fn own(&self) -> u64 {
        self.all.requests.saturating_sub(self.contradicted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_told_apart_by_what_they_say_about_a_crawler() {
        let mut tally = Tally::default();
        for (standing, verdict, action, reason, read, requests) in [
            ("confirmed", "allow", "pass", "robots.allow", "", 1_000),
            ("confirmed", "allow", "pass", "robots.robots_txt", "", 1),
            ("unknown", "disallow", "log", "robots.disallow", "never", 20),
            ("unknown", "disallow", "block", "robots.disallow.hidden", "older", 3),
            ("unknown", "allow", "block", "robots.form", "current", 11),
            ("unknown", "allow", "throttle", "robots.crawl_delay", "current", 4),
            ("unknown", "disallow", "pass", "robots.disallow.grace", "", 500),
            ("unknown", "disallow", "pass", "robots.disallow.spared", "", 6),
            ("contradicted", "allow", "block", "claim.contradicted", "never", 7),
            ("unknown", "allow", "pass", "robots.crawl_delay", "", 30),
            ("unknown", "allow", "pass", "enforcement.off", "", 8),
            ("unknown", "allow", "pass", "robots.unbound", "", 9),
        ] {
            let key = ["GPTBot", "crawler", standing, verdict, action, reason, read];
            let is_violation = tally::is_violation(action, reason);
            let violations = if is_violation { requests } else { 0 };
            let key = key.map(Text::word).to_vec();
            tally.add(&Counted { key, requests, violations, ..Counted::default() });
        }
        assert_eq!(tally.all, Count { requests: 1_599, violations: 34 });
        assert_eq!((tally.fetches, tally.confirmed, tally.contradicted), (1, 1_001, 7));
        assert_eq!((tally.refused, tally.forms, tally.classes().count()), (25, 11, 1));
        assert_eq!((tally.never, tally.older, tally.current), (20, 3, 4));
        assert_eq!(tally.contradicted_violations, 7);
        assert_eq!((tally.too_soon, tally.judged, tally.broken), (34, 1_574, 63));
        assert_eq!((tally.own(), tally.reasons.len()), (1_592, 4));
        assert_eq!(tally.class(), Some(&Text::word("crawler")));
    }
}
