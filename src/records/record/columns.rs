//! A record as the values of its fields, for every form that has a column for each.

use jiff::Timestamp;
use serde::{
    Serialize, Serializer,
    de::{DeserializeOwned, Error},
};
use serde_json::Value as Json;

use crate::{
    base::text::Text,
    records::{
        record::{Robots, RobotsRead, Violation},
        tally::{Hour, PeopleCount, PlaceCount, ReadState, ReferralCount, Rollup, Series},
    },
};

/// The columns of a record in a database, in the order of its fields.
pub(crate) const COLUMNS: &str = "schema, id, time, site, client_ip, method, host, path, \
    user_agent, product_token, product_tokens, operator, purpose, standing, evidence, verdict, \
    reason, action, status, robots_edition, robots_line, robots_directive, robots_pattern, \
    robots_group, robots_read_state, robots_read_edition, robots_read_at";

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

    /// Reads the values of [`COLUMNS`]: times are milliseconds, and lists may be JSON texts.
    pub(crate) fn read(columns: impl IntoIterator<Item = Json>) -> serde_json::Result<Self> {
        let from = &mut columns.into_iter();
        Ok(Self {
            schema: next(from)?,
            id: next(from)?,
            time: time(next(from)?)?,
            site: next(from)?,
            client_ip: next(from)?,
            method: next(from)?,
            host: next(from)?,
            path: next(from)?,
            user_agent: next(from)?,
            product_token: next(from)?,
            product_tokens: list(from)?,
            operator: next(from)?,
            purpose: next(from)?,
            standing: next(from)?,
            evidence: next(from)?,
            verdict: next(from)?,
            reason: next(from)?,
            action: next(from)?,
            status: next(from)?,
            robots: Robots {
                edition: next(from)?,
                line: next(from)?,
                directive: next(from)?,
                pattern: next(from)?,
                group: list(from)?,
            },
            robots_read: RobotsRead {
                state: next(from)?,
                edition: next(from)?,
                at: next::<Option<i64>>(from)?.map(time).transpose()?,
            },
        })
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

fn next<T: DeserializeOwned>(columns: &mut impl Iterator<Item = Json>) -> serde_json::Result<T> {
    serde_json::from_value(columns.next().unwrap_or_default())
}

fn list(columns: &mut impl Iterator<Item = Json>) -> serde_json::Result<Vec<Text>> {
    match columns.next() {
        Some(Json::String(list)) => serde_json::from_str(&list),
        list => serde_json::from_value(list.unwrap_or_default()),
    }
}

fn time(millisecond: i64) -> serde_json::Result<Timestamp> {
    Timestamp::from_millisecond(millisecond).map_err(Error::custom)
}

fn optional(text: &Option<Text>) -> Value<'_> {
    text.as_deref().map_or(Value::Nothing, Value::Word)
}

fn milliseconds<S: Serializer>(time: &Timestamp, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_i64(time.as_millisecond())
}
