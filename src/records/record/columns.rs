//! A record as the values of its fields, for every form that has a column for each.

use jiff::Timestamp;
use serde::{Serialize, Serializer};

use crate::{
    base::text::Text,
    records::{
        record::{Robots, RobotsRead, Violation},
        tally::{ReadState, Series},
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

/// The columns of a stored record, read one after the other.
pub(crate) trait Columns {
    type Error;

    fn number(&mut self) -> Result<Option<i64>, Self::Error>;

    fn text(&mut self) -> Result<Option<Text>, Self::Error>;

    fn list(&mut self) -> Result<Vec<Text>, Self::Error>;

    /// The failure of the last column: its value is none of a record's.
    fn failure(&self) -> Self::Error;

    fn number_of<T: TryFrom<i64>>(&mut self) -> Result<Option<T>, Self::Error> {
        let number = self.number()?.map(T::try_from).transpose();
        number.map_err(|_| self.failure())
    }

    fn time(&mut self) -> Result<Option<Timestamp>, Self::Error> {
        let time = self.number()?.map(Timestamp::from_millisecond).transpose();
        time.map_err(|_| self.failure())
    }

    fn some<T>(
        &mut self,
        read: fn(&mut Self) -> Result<Option<T>, Self::Error>,
    ) -> Result<T, Self::Error> {
        read(self)?.ok_or_else(|| self.failure())
    }
}

impl Violation {
    /// The values of [`COLUMNS`].
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

    /// Reads the columns in the order of [`COLUMNS`].
    pub(crate) fn read<C: Columns>(from: &mut C) -> Result<Self, C::Error> {
        Ok(Self {
            schema: from.some(C::number_of)?,
            id: from.some(C::text)?,
            time: from.some(C::time)?,
            site: from.some(C::text)?,
            client_ip: from.some(C::text)?,
            method: from.some(C::text)?,
            host: from.some(C::text)?,
            path: from.some(C::text)?,
            user_agent: from.some(C::text)?,
            product_token: from.some(C::text)?,
            product_tokens: from.list()?,
            operator: from.text()?,
            purpose: from.text()?,
            standing: from.some(C::text)?,
            evidence: from.text()?,
            verdict: from.some(C::text)?,
            reason: from.some(C::text)?,
            action: from.some(C::text)?,
            status: from.some(C::number_of)?,
            robots: Robots {
                edition: from.some(C::text)?,
                line: from.number_of()?,
                directive: from.some(C::text)?,
                pattern: from.some(C::text)?,
                group: from.list()?,
            },
            robots_read: RobotsRead {
                state: {
                    let state = from.text()?.and_then(|word| ReadState::from_word(&word));
                    state.ok_or_else(|| from.failure())?
                },
                edition: from.text()?,
                at: from.time()?,
            },
        })
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
