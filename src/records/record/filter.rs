//! The selection of records, the same for the database and for JSON lines, and the names in records: one
//! that a filter uses is among them, or a similar one is.

use jiff::Timestamp;

use crate::{
    base::{
        escape,
        text::{Text, words},
    },
    records::{
        record::{BrokenRule, Overflow, PathPattern, Violation},
        tally::{Claimant, FORM},
    },
};

pub(crate) const MOST_NAMES: usize = 10_000;

/// The conditions on a record; `None` is no condition. The default lists all violations.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// The record's id, which is the decision id on the page of a refused request.
    pub id: Option<String>,
    /// The site's name, in any case.
    pub site: Option<String>,
    /// The judged product token, in any case.
    pub product_token: Option<String>,
    /// The crawler's purpose.
    pub purpose: Option<String>,
    /// Only records that count for the named crawler, or for its impostors.
    pub claimant: Option<Claimant>,
    /// A path pattern, matched like a rule of robots.txt: from the start, with `*` for any
    /// characters and `$` for the end (RFC 9309 §2.2.3). Compared with the recorded text, without
    /// decoding.
    pub path: Option<String>,
    /// The path without its query, as recorded.
    pub exact_path: Option<String>,
    /// The rule that was broken.
    pub rule: Option<BrokenRule>,
    /// The earliest time.
    pub since: Option<Timestamp>,
    /// The end of the span: only earlier times.
    pub until: Option<Timestamp>,
    /// The action.
    pub action: Option<String>,
    /// The code of the reason. Without one, and without an id, records that are no violations are left
    /// out (`robots.form`).
    pub reason: Option<String>,
    /// The most records: the latest ones, or the next ones with `after_sequence`.
    pub limit: Option<usize>,
    /// Only records after the one with this sequence number. A reader follows new records by
    /// passing the `end` of the last listing.
    pub after_sequence: Option<u64>,
    /// Only records before the one with this sequence number.
    pub before_sequence: Option<u64>,
}

/// The listed records in the order of writing, each with its sequence number.
#[derive(Debug, Default)]
pub struct Listing {
    /// The records.
    pub records: Vec<(u64, Violation)>,
    /// The number of lines or rows that are no valid records; they are skipped.
    pub unreadable: u64,
    /// The number of earlier records that meet the conditions, but are beyond the limit. A database
    /// counts them apart (`Store::count_records`).
    pub more: u64,
    /// The `after_sequence` of the next query. At or after the last record's number.
    pub end: u64,
}

/// A kind of name by which records can be filtered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameKind {
    /// The site.
    Site,
    /// The judged product token.
    ProductToken,
    /// The crawler's purpose.
    Purpose,
}

/// The result of a lookup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NameFound {
    /// The name is there.
    Itself,
    /// The name is not there; these are (10,000 at most).
    Others(Vec<String>),
}

words! {
    /// A column by which records can be counted, by its name in a database.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum RecordColumn {
        /// The judged product token.
        ProductToken = "product_token",
        /// The standing of the claim.
        Standing = "standing",
        /// The stable code of the reason.
        Reason = "reason",
        /// The rule's directive.
        Directive = "robots_directive",
        /// The rule's path pattern.
        Pattern = "robots_pattern",
        /// The path without its query.
        Path = "path",
        /// The client, as recorded.
        ClientIp = "client_ip",
        /// The day of UTC, as `2026-11-20`.
        Day = "day",
        /// The site.
        Site = "site",
    }
}

impl NameKind {
    pub(crate) const fn of(self, violation: &Violation) -> Option<&Text> {
        match self {
            Self::Site => Some(&violation.site),
            Self::ProductToken => Some(&violation.product_token),
            Self::Purpose => violation.purpose.as_ref(),
        }
    }
}

impl Listing {
    /// Ends the listing of a filter, at the latest record that it may have passed.
    pub(crate) fn finish(&mut self, filter: &Filter, latest: u64) {
        if filter.is_backward() {
            self.records.reverse();
        }
        let last = self.records.last().map_or(0, |&(sequence, _)| sequence);
        // After a full listing forward, the next one begins behind the last record.
        let is_full = !filter.is_backward() && filter.limit == Some(self.records.len());
        let end = if is_full { last } else { latest.max(last) };
        self.end = end.max(filter.after_sequence.unwrap_or(0));
    }
}

impl Filter {
    /// Whether the latest records are listed, which are found from the end.
    pub(crate) const fn is_backward(&self) -> bool {
        self.limit.is_some() && self.after_sequence.is_none()
    }

    /// Whether the record meets the conditions; the reader applies `limit` and `after_sequence`.
    pub fn matches(&self, violation: &Violation) -> bool {
        let same = |wanted: &Option<String>, found: &str| {
            wanted.as_ref().is_none_or(|wanted| wanted.eq_ignore_ascii_case(found))
        };
        self.id.as_ref().is_none_or(|id| *id == violation.id.as_str())
            && same(&self.site, &violation.site)
            && same(&self.product_token, &violation.product_token)
            && same(&self.action, &violation.action)
            && same(&self.reason, &violation.reason)
            && !(self.has_violations_alone() && *violation.reason == *FORM)
            && self.claimant.is_none_or(|wanted| wanted == Claimant::of(&violation.standing))
            && self.purpose.as_ref().is_none_or(|wanted| {
                let found = violation.purpose.as_deref();
                found.is_some_and(|found| wanted.eq_ignore_ascii_case(found))
            })
            && self.since.is_none_or(|since| since <= violation.time)
            && self.until.is_none_or(|until| violation.time < until)
            && self.rule.as_ref().is_none_or(|rule| rule.is_of(violation))
            && self.exact_path.as_ref().is_none_or(|path| {
                let found = violation.path.split('?').next();
                found.is_some_and(|found| found == path)
            })
            && self.path_pattern().is_none_or(|pattern| pattern.matches(&violation.path))
    }

    /// The beginning and the end in whole milliseconds, as records have them.
    pub(crate) fn milliseconds(&self) -> [Option<i64>; 2] {
        let ceiling = |time: Timestamp| {
            let floor = time.as_millisecond();
            let is_later = Timestamp::from_millisecond(floor).is_ok_and(|floor| floor < time);
            floor + i64::from(is_later)
        };
        [self.since, self.until].map(|time| time.map(ceiling))
    }

    /// Whether records that are no violations are left out.
    pub(crate) const fn has_violations_alone(&self) -> bool {
        self.reason.is_none() && self.id.is_none()
    }

    /// Whether only requests for other forms of closed paths are wanted, which are no violations.
    pub fn is_of_forms(&self) -> bool {
        self.reason.as_ref().is_some_and(|reason| reason.eq_ignore_ascii_case(FORM))
    }

    /// Whether violations that are counted without a record may meet the conditions. Only their site,
    /// product token and time are known.
    pub fn covers(&self, overflow: &Overflow) -> bool {
        let same = |wanted: &Option<String>, found: &str| {
            wanted.as_ref().is_none_or(|wanted| wanted.eq_ignore_ascii_case(found))
        };
        same(&self.site, &overflow.site)
            && same(&self.product_token, &overflow.product_token)
            && self.since.is_none_or(|since| since <= overflow.last)
            && self.until.is_none_or(|until| overflow.first < until)
    }

    /// The path pattern, for many recorded paths. An exact path has one that matches more: its
    /// beginning.
    pub(crate) fn path_pattern(&self) -> Option<PathPattern> {
        let exact = || self.exact_path.as_deref().map(PathPattern::beginning);
        self.path.as_deref().map(PathPattern::new).or_else(exact)
    }

    /// The path pattern as one of a database, which matches exactly the same paths: `any` stands for any
    /// characters, and `plain` takes the meaning from what is special there.
    pub(crate) fn path_as(&self, any: &str, plain: impl Fn(&str) -> String) -> Option<String> {
        // Recorded paths are escaped, so the pattern must be too.
        let pattern = escape::text(self.path.as_deref()?.as_bytes());
        let (pattern, end) = match pattern.strip_suffix('$') {
            Some(pattern) => (pattern, ""),
            None => (pattern.as_str(), any),
        };
        Some(pattern.split('*').map(plain).collect::<Vec<_>>().join(any) + end)
    }
}
