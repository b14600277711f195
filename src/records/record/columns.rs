//! A record as the values of its fields, for every form that has a column for each.

use jiff::Timestamp;
use serde::{Serialize, Serializer, de::Error};

use crate::{
    base::text::Text,
    records::{
        record::{Violation, time},
        tally::{Hour, PeopleCount, PlaceCount, ReadState, ReferralCount, Rollup, Series},
    },
};

/// The columns of a record in a database, in the order of its fields.
pub(crate) const COLUMNS: &str = "schema, id, time, site, client_ip, method, host, path, \
    user_agent, product_token, product_tokens, operator, purpose, standing, evidence, verdict, \
    reason, action, status, robots_edition, robots_line, robots_directive, robots_pattern, \
    robots_group, robots_read_state, robots_read_edition, robots_read_at";

/// The last columns: those of the rule, and of what was read.
const ROBOTS_COLUMNS: usize = 5;
const READ_COLUMNS: usize = 3;

#[derive(Clone, Copy, Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Value<'a> {
    Nothing,
    Number(i64),
    Count(u64),
    #[serde(serialize_with = "milliseconds")]
    Time(Timestamp),
    Word(&'a str),
    List(&'a [Text]),
}

impl Violation {
    pub(crate) fn values(&self) -> [Value<'_>; 27] {
        let Self { robots, robots_read, .. } = self;
        [
            Value::Number(self.schema.into()),
            Value::Word(&self.id),
            Value::Time(self.time),
            Value::Word(&self.site),
            Value::Word(&self.client_ip),
            Value::Word(&self.method),
            Value::Word(&self.host),
            Value::Word(&self.path),
            Value::Word(&self.user_agent),
            Value::Word(&self.product_token),
            Value::List(&self.product_tokens),
            optional(&self.operator),
            optional(&self.purpose),
            Value::Word(&self.standing),
            optional(&self.evidence),
            Value::Word(&self.verdict),
            Value::Word(&self.reason),
            Value::Word(&self.action),
            Value::Number(self.status.into()),
            Value::Word(&robots.edition),
            robots.line.map_or(Value::Nothing, |line| Value::Number(line.into())),
            Value::Word(&robots.directive),
            Value::Word(&robots.pattern),
            Value::List(&robots.group),
            Value::Word(robots_read.state.as_str()),
            optional(&robots_read.edition),
            robots_read.at.map_or(Value::Nothing, Value::Time),
        ]
    }

    /// Reads the values of [`COLUMNS`]. They are those of the fields, but for times in milliseconds, lists
    /// as texts, and the fields of the rule and of what was read, which are values of their own.
    pub(crate) fn of_columns(mut columns: Vec<serde_json::Value>) -> serde_json::Result<Self> {
        for (column, value) in COLUMNS.split(", ").zip(&mut columns) {
            match (column, &value) {
                ("time" | "robots_read_at", time) if !time.is_null() => {
                    let at = time.as_i64().and_then(|at| Timestamp::from_millisecond(at).ok());
                    *value = time::text(at.ok_or_else(|| Error::custom("no time"))?).into();
                }
                ("product_tokens" | "robots_group", serde_json::Value::String(list)) => {
                    *value = serde_json::from_str(list)?;
                }
                _ => {}
            }
        }
        let robots_read = columns.split_off(columns.len().saturating_sub(READ_COLUMNS));
        let robots = columns.split_off(columns.len().saturating_sub(ROBOTS_COLUMNS));
        columns.extend([robots.into(), robots_read.into()]);
        serde_json::from_value(columns.into())
    }
}

/// A count of an hour, as the values of its key behind the hour, and its numbers.
pub(crate) struct CountRow<'a> {
    pub(crate) hour: Hour,
    pub(crate) key: Vec<Value<'a>>,
    pub(crate) numbers: Vec<u64>,
}

impl<'a> From<&'a Rollup> for CountRow<'a> {
    fn from(Rollup { hour, series, requests, folded, dropped }: &'a Rollup) -> Self {
        let numbers = vec![*requests, *folded, *dropped];
        Self { hour: *hour, key: of_series(series).into(), numbers }
    }
}

impl<'a> From<&'a PlaceCount> for CountRow<'a> {
    fn from(count: &'a PlaceCount) -> Self {
        let PlaceCount { hour, kind, site, product_token, claimant, place, violations } = count;
        let key = [kind.word(*claimant), site, product_token, place].map(Value::Word);
        Self { hour: *hour, key: key.into(), numbers: vec![*violations] }
    }
}

impl<'a> From<&'a PeopleCount> for CountRow<'a> {
    fn from(PeopleCount { hour, site, requests }: &'a PeopleCount) -> Self {
        Self { hour: *hour, key: vec![Value::Word(site)], numbers: vec![*requests] }
    }
}

impl<'a> From<&'a ReferralCount> for CountRow<'a> {
    fn from(ReferralCount { hour, site, operator, visits }: &'a ReferralCount) -> Self {
        let key = vec![Value::Word(site), Value::Word(operator)];
        Self { hour: *hour, key, numbers: vec![*visits] }
    }
}

/// The values of a series in the order of its fields, which is that of its columns.
pub(crate) fn of_series(series: &Series) -> [Value<'_>; 13] {
    [
        Value::Word(&series.site),
        Value::Word(&series.class),
        Value::Word(&series.product_token),
        Value::Word(&series.purpose),
        Value::Word(&series.standing),
        Value::Word(&series.verdict),
        Value::Word(&series.action),
        Value::Word(&series.reason),
        Value::Word(&series.edition),
        Value::Number(series.line.into()),
        Value::Word(&series.directive),
        Value::Word(&series.pattern),
        Value::Word(series.read.map_or("", ReadState::as_str)),
    ]
}

fn optional(text: &Option<Text>) -> Value<'_> {
    text.as_deref().map_or(Value::Nothing, Value::Word)
}

fn milliseconds<S: Serializer>(time: &Timestamp, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_i64(time.as_millisecond())
}
