//! Records as rows, written and read.

use rusqlite::{
    Connection, Row, params_from_iter,
    types::{FromSql, FromSqlError},
};

use super::values::unreadable;
use crate::{
    base::text::Text,
    records::record::{COLUMNS, Columns, Violation},
};

/// The bytes of a row beside its texts: its header, its page, and its entries in the indexes.
const ROW: usize = 170;

/// Reads a row column by column, in the order of [`COLUMNS`].
struct RowColumns<'a, 'b> {
    row: &'a Row<'b>,
    next: usize,
}

/// The question for the approximate bytes of a record with its indexes: the first one from a sequence
/// number on.
pub(super) fn size_of_next() -> String {
    let texts = COLUMNS.split(',').map(|column| format!("ifnull(octet_length({column}), 0)"));
    // Id, site and product token have indexes.
    let keys = ["id", "site", "product_token"].map(|column| format!("octet_length({column})"));
    let sum = texts.chain(keys).collect::<Vec<_>>().join(" + ");
    format!("SELECT {ROW} + {sum} FROM violations WHERE sequence >= ? ORDER BY sequence LIMIT 1")
}

/// Adds the records; a record that is there already stays as it is.
pub(super) fn add(connection: &Connection, records: &[&Violation]) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(&format!(
        "INSERT INTO violations ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, \
         ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING"
    ))?;
    records
        .iter()
        .try_for_each(|violation| statement.execute(params_from_iter(violation.values())).map(drop))
}

/// Reads a record with its sequence number.
pub(super) fn violation(row: &Row<'_>) -> rusqlite::Result<(u64, Violation)> {
    let mut columns = RowColumns { row, next: 0 };
    let sequence: i64 = columns.next()?;
    Ok((sequence.unsigned_abs(), Violation::read(&mut columns)?))
}

impl RowColumns<'_, '_> {
    fn next<T: FromSql>(&mut self) -> rusqlite::Result<T> {
        let at = self.next;
        self.next += 1;
        self.row.get(at)
    }
}

impl Columns for RowColumns<'_, '_> {
    type Error = rusqlite::Error;

    fn number(&mut self) -> rusqlite::Result<Option<i64>> {
        self.next()
    }

    fn text(&mut self) -> rusqlite::Result<Option<Text>> {
        self.next()
    }

    fn list(&mut self) -> rusqlite::Result<Vec<Text>> {
        let text: String = self.next()?;
        serde_json::from_str(&text).map_err(|error| unreadable(self.next - 1, error))
    }

    fn failure(&self) -> rusqlite::Error {
        unreadable(self.next - 1, FromSqlError::InvalidType)
    }
}
