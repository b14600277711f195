//! The values of columns: texts, lists and times.

use jiff::Timestamp;
use rusqlite::{
    ToSql,
    types::{FromSql, FromSqlResult, ToSqlOutput, Type, ValueRef},
};

use crate::base::text::Text;

/// A list as a JSON array, which SQLite's own functions can read.
pub(super) fn list(texts: &[Text]) -> String {
    serde_json::to_string(texts).expect("a list of texts has no map with odd keys")
}

/// The time of a column.
pub(super) fn time(milliseconds: i64, column: usize) -> rusqlite::Result<Timestamp> {
    Timestamp::from_millisecond(milliseconds).map_err(|error| unreadable(column, error))
}

/// The failure of a column whose value is invalid.
pub(super) fn unreadable(
    column: usize,
    error: impl std::error::Error + Send + Sync + 'static,
) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(error))
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
