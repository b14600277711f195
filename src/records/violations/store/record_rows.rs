//! Records as rows, written and read.

use rusqlite::{Connection, Row, params_from_iter, types::ValueRef};
use serde_json::Value;

use super::values;
use crate::records::record::{COLUMNS, Violation};

/// The bytes of a row beside its texts: its header, its page, and its entries in the indexes.
const ROW: usize = 170;

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

pub(super) fn violation(row: &Row<'_>) -> rusqlite::Result<(u64, Violation)> {
    let value = |at: usize| match row.get_ref(at)? {
        ValueRef::Null => Ok(Value::Null),
        ValueRef::Integer(number) => Ok(number.into()),
        _ => row.get::<_, String>(at).map(Value::String),
    };
    let columns = (1..row.as_ref().column_count()).map(value).collect::<Result<Vec<_>, _>>()?;
    let violation = Violation::read(columns).map_err(|error| values::unreadable(1, error))?;
    Ok((values::count(row, 0)?, violation))
}
