//! Rollups: requests counted by hour.

use jiff::Timestamp;

use crate::violations::{ReadState, Text, Violation};

/// The milliseconds of an hour.
const HOUR: i64 = 3_600_000;

/// An hour of UTC, by its first millisecond since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hour(i64);

/// One combination of the values that requests are counted under. A text is empty where a request
/// has no such value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Series {
    /// The site.
    pub site: Text,
    /// The class of the client: `crawler`, `user-triggered`, `automation`, `none`.
    pub class: Text,
    /// The judged product token.
    pub product_token: Text,
    /// The crawler's purpose, if the catalogue knows it.
    pub purpose: Text,
    /// The standing of the claim: `confirmed`, `contradicted`, `unverifiable`, `unknown`.
    pub standing: Text,
    /// The verdict of the rules: `allow` or `disallow`.
    pub verdict: Text,
    /// The action; every one but `pass` stands for violations.
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
}

impl Series {
    /// The series of a violation by a client of this class.
    pub fn of(violation: &Violation, class: &'static str) -> Self {
        let Violation { robots, robots_read, .. } = violation;
        Self {
            site: violation.site.clone(),
            class: Text::word(class),
            product_token: violation.product_token.clone(),
            purpose: violation.purpose.clone().unwrap_or_default(),
            standing: violation.standing.clone(),
            verdict: violation.verdict.clone(),
            action: violation.action.clone(),
            reason: violation.reason.clone(),
            edition: robots.edition.clone(),
            line: robots.line.unwrap_or(0),
            directive: robots.directive.clone(),
            pattern: robots.pattern.clone(),
            read: Some(robots_read.state),
        }
    }
}

impl PlaceKind {
    /// The word in the database.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::Network => "network",
        }
    }
}

impl PlaceCount {
    /// Stands for the places beyond the limit of an hour.
    pub const REST: Text = Text::word("…");
}

impl Rollups {
    /// Whether there is nothing to write.
    pub fn is_empty(&self) -> bool {
        self.series.is_empty()
            && self.places.is_empty()
            && self.people.is_empty()
            && self.referrals.is_empty()
    }
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
