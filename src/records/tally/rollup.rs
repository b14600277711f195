//! Rollups: requests counted by hour.

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::claimant::Claimant;
use crate::base::{text::Text, text::words};

/// The milliseconds of an hour.
const HOUR: i64 = 3_600_000;

/// An hour of UTC, by its first millisecond since 1970.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hour(i64);

words! {
    /// Whether the edition that a crawler fetched last is the one that disallows the request.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum ReadState {
        /// No fetch of robots.txt is known.
        Never = "never",
        /// The crawler fetched an earlier edition.
        Older = "older",
        /// The crawler fetched the edition that disallows the request.
        Current = "current",
    }
}

/// One combination of the values that requests are counted under. A text is empty where a request
/// has no such value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Series {
    /// The site.
    pub site: Text,
    /// The class of the client: `crawler`, `user-triggered`, `automation`, `app`, `none`.
    pub class: Text,
    /// The judged product token.
    pub product_token: Text,
    /// The crawler's purpose, if the catalogue knows it.
    pub purpose: Text,
    /// The standing of the claim: `confirmed`, `contradicted`, `unverifiable`, `unknown`.
    pub standing: Text,
    /// The verdict of the rules: `allow` or `disallow`.
    pub verdict: Text,
    /// The action; see [`is_violation`].
    pub action: Text,
    /// The stable code of the reason.
    pub reason: Text,
    /// The edition of the rule.
    pub edition: Text,
    /// The line of the rule in that edition, from 1; 0 is no line.
    pub line: u32,
    /// `disallow`, `allow`, `crawl-delay`, …
    pub directive: Text,
    /// The rule's path pattern, or the value of a pace.
    pub pattern: Text,
    /// For violations, how the edition that the crawler had read relates to the rule's.
    pub read: Option<ReadState>,
}

/// The values of a series, borrowed from a request. A text is empty where the request has no such
/// value.
#[derive(Clone, Copy, Debug)]
pub struct SeriesKey<'a> {
    /// The site.
    pub site: &'a str,
    /// The class of the client.
    pub class: &'static str,
    /// The judged product token.
    pub product_token: &'a str,
    /// Whether only the client itself names this token. Of such names, each hour counts a limited
    /// number; the rest is `other`.
    pub is_declared: bool,
    /// The crawler's purpose.
    pub purpose: &'static str,
    /// The standing of the claim.
    pub standing: &'static str,
    /// The verdict of the rules.
    pub verdict: &'static str,
    /// The action.
    pub action: &'static str,
    /// The stable code of the reason.
    pub reason: &'static str,
    /// The edition of the rule.
    pub edition: &'a str,
    /// The line of the rule; 0 is no line.
    pub line: u32,
    /// The rule's directive.
    pub directive: &'a str,
    /// The rule's path pattern, or the value of a pace.
    pub pattern: &'a str,
    /// For violations, how the edition that the crawler had read relates to the rule's.
    pub read: Option<ReadState>,
}

/// The reason of a request whose path the rules allow, but not another form of it. It has a record, and
/// is counted apart from violations.
pub const FORM: &str = "robots.form";

/// The reasons of requests that are too many. They have no record, and are no violations.
pub const LIMITS: [&str; 2] = ["limit", "people_first"];

/// Whether a request with this reason was one too many.
pub fn is_limited(reason: &str) -> bool {
    LIMITS.contains(&reason)
}

/// Whether a request with this action and this reason is a violation.
pub fn is_violation(action: &str, reason: &str) -> bool {
    action != "pass" && reason != FORM && !is_limited(reason)
}

/// The requests of one series in one hour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rollup {
    /// The hour.
    pub hour: Hour,
    /// The series.
    pub series: Series,
    /// All requests.
    pub requests: u64,
    /// The violations beyond the number that is recorded in detail.
    pub folded: u64,
    /// The violations that found no room.
    pub dropped: u64,
}

/// A kind of [`PlaceCount`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PlaceKind {
    /// The requested path, without its query.
    Path,
    /// The network of the client.
    Network,
}

/// The violations of one crawler at one path, or from one network, in one hour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlaceCount {
    /// The hour.
    pub hour: Hour,
    /// What the place is.
    pub kind: PlaceKind,
    /// The site.
    pub site: Text,
    /// The judged product token.
    pub product_token: Text,
    /// Who the violations count for.
    pub claimant: Claimant,
    /// The path or the network; [`PlaceCount::REST`] stands for those beyond the limit of an hour.
    pub place: Text,
    /// The violations.
    pub violations: u64,
}

/// The requests of people to one site in one hour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeopleCount {
    /// The hour.
    pub hour: Hour,
    /// The site.
    pub site: Text,
    /// The requests.
    pub requests: u64,
}

/// The visits of people that came to a site from one operator of crawlers in one hour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReferralCount {
    /// The hour.
    pub hour: Hour,
    /// The site.
    pub site: Text,
    /// The operator, by its name in the catalogue.
    pub operator: Text,
    /// The visits.
    pub visits: u64,
}

/// Counts that are written together, in one transaction with the records that they count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rollups {
    /// Requests of crawlers and other programs.
    pub series: Vec<Rollup>,
    /// Where violations went to and came from.
    pub places: Vec<PlaceCount>,
    /// Requests of people.
    pub people: Vec<PeopleCount>,
    /// Visits of people by operator.
    pub referrals: Vec<ReferralCount>,
}

impl Hour {
    /// The hour of a time.
    pub fn of(time: Timestamp) -> Self {
        Self(time.as_millisecond().div_euclid(HOUR) * HOUR)
    }

    /// The hour that begins with this millisecond since 1970.
    pub const fn from_millisecond(millisecond: i64) -> Self {
        Self(millisecond)
    }

    /// Its first millisecond since 1970.
    pub const fn as_millisecond(self) -> i64 {
        self.0
    }

    /// Its number, counted from 1970.
    pub(crate) const fn number(self) -> i32 {
        (self.0 / HOUR) as i32 // every time stamp is within 10,000 years
    }

    pub(crate) const fn numbered(number: i32) -> Self {
        Self(number as i64 * HOUR)
    }

    /// Whether the other hour is this one, the one before or the one after.
    pub(super) const fn is_near(self, other: Self) -> bool {
        self.0.abs_diff(other.0) <= HOUR as u64
    }
}

impl SeriesKey<'_> {
    pub(crate) fn to_series(self) -> Series {
        Series {
            site: self.site.into(),
            class: Text::word(self.class),
            product_token: self.product_token.into(),
            purpose: Text::word(self.purpose),
            standing: Text::word(self.standing),
            verdict: Text::word(self.verdict),
            action: Text::word(self.action),
            reason: Text::word(self.reason),
            edition: self.edition.into(),
            line: self.line,
            directive: self.directive.into(),
            pattern: Text::path(self.pattern.as_bytes()),
            read: self.read,
        }
    }
}

impl PlaceKind {
    /// The word in the database.
    pub const fn word(self, claimant: Claimant) -> &'static str {
        match (self, claimant) {
            (Self::Path, Claimant::Crawler) => "path",
            (Self::Network, Claimant::Crawler) => "network",
            (Self::Path, Claimant::Impostor) => "impostor-path",
            (Self::Network, Claimant::Impostor) => "impostor-network",
        }
    }

    /// The kind with this word, and who the violations count for.
    pub(crate) fn of_word(word: &str) -> Option<(Self, Claimant)> {
        let kinds = [Self::Path, Self::Network];
        let all = kinds.into_iter().flat_map(|kind| {
            [Claimant::Crawler, Claimant::Impostor].map(|claimant| (kind, claimant))
        });
        all.into_iter().find(|(kind, claimant)| kind.word(*claimant) == word)
    }
}

impl PlaceCount {
    /// Stands for the places beyond the limit of an hour.
    pub const REST: Text = Text::word("…");
}

/// The place of a violation in the counts by hour.
#[derive(Clone, Debug)]
pub struct Tallied {
    pub(crate) series: Arc<Series>,
    pub(crate) places: Places,
}

/// What a violation requested and where it came from, as the counts by hour keep it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// The path without its query.
    pub path: Text,
    /// The network of the client; `-` if the policy keeps none.
    pub network: Text,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_hour_holds_its_first_and_its_last_millisecond() {
        for (time, hour) in [
            ("2026-11-22T10:00:00Z", "2026-11-22T10:00:00Z"),
            ("2026-11-22T10:59:59.999Z", "2026-11-22T10:00:00Z"),
            ("1969-12-31T23:59:59.999Z", "1969-12-31T23:00:00Z"),
        ] {
            let [time, hour]: [Timestamp; 2] = [time, hour].map(|text| text.parse().unwrap());
            assert_eq!(Hour::of(time).as_millisecond(), hour.as_millisecond());
        }
    }
}
