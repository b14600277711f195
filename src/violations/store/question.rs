//! Questions to the counts by hour. Values are always bound, never written into SQL.

use jiff::Timestamp;
use rusqlite::{Row, params_from_iter, types::Value};

use super::{columns::time, conditions::Conditions, connection::Store};
use crate::violations::{Error, Hour, PlaceKind, Text};

/// The milliseconds of a day.
const DAY: i64 = 86_400_000;

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
    /// Those with another action than to pass.
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
            only_violations: false,
        }
    }
}

impl Dimension {
    /// The column of `series`, or the expression over the hour.
    const fn column(self) -> &'static str {
        match self {
            Self::Site => "site",
            Self::Class => "class",
            Self::ProductToken => "product_token",
            Self::Purpose => "purpose",
            Self::Standing => "standing",
            Self::Verdict => "verdict",
            Self::Action => "action",
            Self::Reason => "reason",
            Self::Edition => "robots_edition",
            Self::Directive => "robots_directive",
            Self::Pattern => "robots_pattern",
            Self::Line => "robots_line",
            Self::ReadState => "read_state",
            Self::Hour | Self::Day => "period",
        }
    }

    /// The length of the period in milliseconds, where it is one.
    const fn period(self) -> Option<i64> {
        match self {
            Self::Hour => Some(3_600_000),
            Self::Day => Some(DAY),
            _ => None,
        }
    }

    fn value(self, row: &Row<'_>, at: usize) -> rusqlite::Result<Text> {
        match self {
            Self::Hour | Self::Day => Ok(Text::from(time(row.get(at)?, at)?.to_string())),
            Self::Line => Ok(Text::from(row.get::<_, i64>(at)?.to_string())),
            _ => row.get(at),
        }
    }
}

impl Store {
    /// The requests of crawlers and other programs, ordered by key. Combinations without a request
    /// are absent.
    ///
    /// # Errors
    /// Where the database cannot be read.
    pub fn counted(&self, question: &Question) -> Result<Vec<Counted>, Error> {
        let period = question.by.iter().find_map(|one| one.period());
        let period =
            period.map_or_else(|| "0".to_owned(), |length| format!("hour - hour % {length}"));
        let hours = span(question);
        let mut conditions = series(question);
        if question.only_violations {
            conditions.require("action <> ?", Some(Value::Text("pass".to_owned())));
        }
        let columns: Vec<_> = question.by.iter().map(|dimension| dimension.column()).collect();
        let (keys, grouping) = match columns.join(", ") {
            none if none.is_empty() => (String::new(), String::new()),
            keys => (format!("{keys}, "), format!(" GROUP BY {keys} ORDER BY {keys}")),
        };
        // First by number: nearly all rows are read there, and no text is touched.
        let sql = format!(
            "SELECT {keys}total(requests), total(iif(action = 'pass', 0, requests)), \
             total(folded), total(dropped) \
             FROM (SELECT series, {period} AS period, sum(requests) AS requests, \
             sum(folded) AS folded, sum(dropped) AS dropped FROM rollups{} GROUP BY 1, 2) \
             JOIN series ON id = series{}{grouping}",
            hours.text, conditions.text
        );
        let values = hours.values.into_iter().chain(conditions.values);
        let mut counted = self.all(&sql, params_from_iter(values), |row| {
            let keys = question.by.iter().enumerate().map(|(at, one)| one.value(row, at));
            let count = |at: usize| row.get(question.by.len() + at).map(|sum: f64| sum as u64);
            Ok(Counted {
                key: keys.collect::<rusqlite::Result<_>>()?,
                requests: count(0)?,
                violations: count(1)?,
                folded: count(2)?,
                dropped: count(3)?,
            })
        })?;
        // A sum over nothing is a row, too.
        counted.retain(|one| !one.key.is_empty() || one.requests > 0);
        Ok(counted)
    }

    /// The paths or networks with the most violations, most first. The question's `by` and
    /// `purpose` don't count here.
    ///
    /// # Errors
    /// Where the database cannot be read.
    pub fn places(
        &self,
        kind: PlaceKind,
        question: &Question,
        limit: usize,
    ) -> Result<Vec<Place>, Error> {
        let mut conditions = span(question);
        conditions.require("kind = ?", Some(Value::Text(kind.as_str().to_owned())));
        conditions.require("site = ?", question.site.clone().map(Value::Text));
        conditions.require("product_token = ?", question.product_token.clone().map(Value::Text));
        let limit = Value::Integer(i64::try_from(limit).unwrap_or(i64::MAX));
        let sql = format!(
            "SELECT place, sum(violations) AS violations FROM rollup_places{} GROUP BY place \
             ORDER BY violations DESC, place LIMIT ?",
            conditions.text
        );
        let values = conditions.values.into_iter().chain([limit]);
        self.all(&sql, params_from_iter(values), |row| {
            Ok(Place { key: row.get(0)?, violations: row.get::<_, i64>(1)?.unsigned_abs() })
        })
    }

    /// The requests of people, by [`Dimension::Site`], [`Dimension::Hour`] or [`Dimension::Day`].
    ///
    /// # Errors
    /// Where the database cannot be read.
    pub fn people(&self, question: &Question) -> Result<Vec<Counted>, Error> {
        let by: Vec<_> = question
            .by
            .iter()
            .copied()
            .filter(|dimension| *dimension == Dimension::Site || dimension.period().is_some())
            .collect();
        let expressions: Vec<_> = by
            .iter()
            .map(|dimension| match dimension.period() {
                Some(length) => format!("hour - hour % {length}"),
                None => dimension.column().to_owned(),
            })
            .collect();
        let mut conditions = span(question);
        conditions.require("site = ?", question.site.clone().map(Value::Text));
        let (keys, grouping) = match expressions.join(", ") {
            none if none.is_empty() => (String::new(), String::new()),
            keys => (format!("{keys}, "), format!(" GROUP BY {keys} ORDER BY {keys}")),
        };
        let sql = format!(
            "SELECT {keys}ifnull(sum(requests), 0) FROM people{}{grouping}",
            conditions.text
        );
        let mut counted = self.all(&sql, params_from_iter(conditions.values), |row| {
            let keys = by.iter().enumerate().map(|(at, one)| one.value(row, at));
            Ok(Counted {
                key: keys.collect::<rusqlite::Result<_>>()?,
                requests: row.get::<_, i64>(by.len())?.unsigned_abs(),
                ..Counted::default()
            })
        })?;
        counted.retain(|one| one.requests > 0);
        Ok(counted)
    }

    /// The visits of people by operator and site, most first.
    ///
    /// # Errors
    /// Where the database cannot be read.
    pub fn referrals(&self, question: &Question) -> Result<Vec<Referral>, Error> {
        let mut conditions = span(question);
        conditions.require("site = ?", question.site.clone().map(Value::Text));
        let sql = format!(
            "SELECT operator, site, sum(visits) AS visits FROM referrals{} \
             GROUP BY operator, site ORDER BY visits DESC, operator, site",
            conditions.text
        );
        self.all(&sql, params_from_iter(conditions.values), |row| {
            Ok(Referral {
                operator: row.get(0)?,
                site: row.get(1)?,
                visits: row.get::<_, i64>(2)?.unsigned_abs(),
            })
        })
    }
}

/// The hours of a question.
fn span(question: &Question) -> Conditions {
    let mut conditions = Conditions::default();
    let first = Hour::of(question.since).as_millisecond();
    conditions.require("hour >= ?", Some(Value::Integer(first)));
    conditions.require("hour < ?", Some(Value::Integer(question.until.as_millisecond())));
    conditions
}

/// The values of series.
fn series(question: &Question) -> Conditions {
    let mut conditions = Conditions::default();
    let text = |wanted: &Option<String>| wanted.clone().map(Value::Text);
    conditions.require("site = ?", text(&question.site));
    conditions.require("product_token = ?", text(&question.product_token));
    conditions.require("purpose = ?", text(&question.purpose));
    conditions
}

#[cfg(test)]
mod tests;
