//! The values of columns, and conditions with values.

use jiff::Timestamp;
use rusqlite::{
    Row, ToSql,
    types::{self, FromSql, FromSqlResult, ToSqlOutput, Type, ValueRef},
};

use crate::{base::text::Text, records::record::Value};

/// The text of a `WHERE` clause, empty without a condition, and its values in order.
#[derive(Default)]
pub(super) struct Conditions {
    pub(super) text: String,
    pub(super) values: Vec<types::Value>,
}

impl Conditions {
    /// Adds a condition with one placeholder; nothing without a value.
    pub(super) fn require(&mut self, condition: &'static str, value: Option<types::Value>) {
        let Some(value) = value else { return };
        self.add(condition);
        self.values.push(value);
    }

    pub(super) fn add(&mut self, condition: &str) {
        self.text.push_str(if self.text.is_empty() { " WHERE " } else { " AND " });
        self.text.push_str(condition);
    }
}

/// A time in milliseconds; `column` names it in a failure.
pub(super) fn timestamp(milliseconds: i64, column: usize) -> rusqlite::Result<Timestamp> {
    Timestamp::from_millisecond(milliseconds).map_err(|error| unreadable(column, error))
}

pub(super) fn time(row: &Row<'_>, column: usize) -> rusqlite::Result<Timestamp> {
    timestamp(row.get(column)?, column)
}

pub(super) fn moment(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<Timestamp>> {
    let milliseconds: Option<i64> = row.get(column)?;
    milliseconds.map(|milliseconds| timestamp(milliseconds, column)).transpose()
}

pub(super) fn count(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    row.get(column).map(i64::unsigned_abs)
}

pub(super) fn unreadable(
    column: usize,
    error: impl std::error::Error + Send + Sync + 'static,
) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(error))
}

impl ToSql for Value<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match *self {
            Self::Nothing => ToSqlOutput::Borrowed(ValueRef::Null),
            Self::Number(number) => number.into(),
            Self::Count(count) => i64::try_from(count).unwrap_or(i64::MAX).into(),
            Self::Time(time) => time.as_millisecond().into(),
            Self::Word(word) => word.into(),
            // SQLite's own functions can read a JSON array.
            Self::List(texts) => {
                let list = serde_json::to_string(texts);
                list.expect("a list of texts has no map with odd keys").into()
            }
        })
    }
}

impl ToSql for Text {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(ValueRef::Text(self.as_str().as_bytes())))
    }
}

impl FromSql for Text {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        value.as_str().map(|text| Self::read_back(text.to_owned()))
    }
}
