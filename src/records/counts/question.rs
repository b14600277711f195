//! What counts are asked for, and the answers.

use jiff::Timestamp;

use crate::{
    base::text::Text,
    records::tally::{Claimant, Hour},
};

/// The milliseconds of an hour.
const HOUR: i64 = 3_600_000;
/// The milliseconds of a day.
pub(super) const DAY: i64 = 24 * HOUR;

/// A value by which counts are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// The site.
    Site,
    /// The class of the client.
    Class,
    /// The judged product token; empty for a client without a name.
    ProductToken,
    /// The crawler's purpose; empty if it is unknown.
    Purpose,
    /// The standing of the claim.
    Standing,
    /// The verdict of the rules.
    Verdict,
    /// The action.
    Action,
    /// The stable code of the reason.
    Reason,
    /// The edition of the rule.
    Edition,
    /// The rule's directive; empty if no rule matches.
    Directive,
    /// The rule's path pattern.
    Pattern,
    /// The rule's line; 0 for none.
    Line,
    /// What the crawler had read; empty where nothing was violated.
    ReadState,
    /// The hour, as the time at which it begins.
    Hour,
    /// The day of UTC, as the time at which it begins.
    Day,
}

/// A question to the counts: which requests, and by what they are told apart. The default asks for
/// one number for all of time.
#[derive(Clone, Debug)]
pub struct Question {
    /// The beginning. The hour that contains it counts whole.
    pub since: Timestamp,
    /// The end. The hour that contains it counts whole, unless it begins then.
    pub until: Timestamp,
    /// By what the counts are told apart.
    pub by: Vec<Dimension>,
    /// Only this site, in any case.
    pub site: Option<String>,
    /// Only this judged product token, in any case.
    pub product_token: Option<String>,
    /// Only crawlers of this purpose.
    pub purpose: Option<String>,
    /// Only requests that count for the named crawler, or for its impostors.
    pub claimant: Option<Claimant>,
    /// Only violations.
    pub only_violations: bool,
}

/// The counts of one combination of values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// The values, in the order of [`Question::by`].
    pub key: Vec<Text>,
    /// All requests.
    pub requests: u64,
    /// Those that are violations.
    pub violations: u64,
    /// The violations that are counted alone, being beyond the detail that is recorded.
    pub folded: u64,
    /// The violations that are counted alone, because records found no room.
    pub dropped: u64,
}

/// A path or a network with its violations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The path or network; `…` stands for those beyond the limit of an hour.
    pub key: Text,
    /// The violations.
    pub violations: u64,
}

/// The visits of people to a site that came from one operator of crawlers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Referral {
    /// The operator, by its name in the catalogue.
    pub operator: Text,
    /// The site.
    pub site: Text,
    /// The visits.
    pub visits: u64,
}

impl Default for Question {
    fn default() -> Self {
        Self {
            since: Timestamp::MIN,
            until: Timestamp::MAX,
            by: Vec::new(),
            site: None,
            product_token: None,
            purpose: None,
            claimant: None,
            only_violations: false,
        }
    }
}

impl Question {
    /// The first millisecond of its hours, and the one behind them.
    pub(crate) fn hours(&self) -> [i64; 2] {
        [Hour::of(self.since).as_millisecond(), self.until.as_millisecond()]
    }

    /// By what requests of people are told apart: nothing else is known of them.
    pub(crate) fn by_of_people(&self) -> Vec<Dimension> {
        let by = self.by.iter().copied();
        by.filter(|one| *one == Dimension::Site || one.period().is_some()).collect()
    }
}

impl Counted {
    pub(crate) fn unrecorded((action, folded, dropped): (Text, u64, u64)) -> Self {
        let requests = folded + dropped;
        Self { key: vec![action], requests, violations: requests, folded, dropped }
    }
}

impl Dimension {
    /// The length of the period in milliseconds, where it is one.
    pub(crate) const fn period(self) -> Option<i64> {
        match self {
            Self::Hour => Some(HOUR),
            Self::Day => Some(DAY),
            _ => None,
        }
    }
}
