//! The overflow in the database: records that were not kept, counted.

use rusqlite::{Connection, params};

use super::{connection::Store, values};
use crate::records::record::{Error, Overflow};

impl Store {
    /// The overflow of all runs, the highest count first.
    pub fn overflow(&self) -> Result<Vec<Overflow>, Error> {
        if let Some(shared) = &self.shared {
            return shared.overflow();
        }
        let sql = "SELECT site, product_token, rule, sum(count), min(first), max(last) \
                   FROM overflow GROUP BY site, product_token, rule \
                   ORDER BY sum(count) DESC, site, product_token, rule";
        self.all(sql, [], |row| {
            Ok(Overflow {
                site: row.get(0)?,
                product_token: row.get(1)?,
                rule: row.get(2)?,
                count: values::count(row, 3)?,
                first: values::time(row, 4)?,
                last: values::time(row, 5)?,
            })
        })
    }
}

/// Adds counts of this run.
pub(super) fn add(connection: &Connection, overflow: &[Overflow]) -> rusqlite::Result<()> {
    let mut insert = connection.prepare_cached(
        "INSERT INTO overflow (site, product_token, rule, count, first, last) \
         VALUES (?, ?, ?, ?, ?, ?)",
    )?;
    for Overflow { site, product_token, rule, count, first, last } in overflow {
        let (first, last) = (first.as_millisecond(), last.as_millisecond());
        insert.execute(params![site, product_token, rule, count.cast_signed(), first, last])?;
    }
    Ok(())
}
