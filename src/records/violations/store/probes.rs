//! What origins answered about the forms of paths. Another process shows it (`beadle explain`).

use rusqlite::{Connection, params};

use super::{connection::Store, values};
use crate::records::record::{Error, Probed};

impl Store {
    /// The last answers of the origins of all sites.
    pub fn probed(&self) -> Result<Vec<Probed>, Error> {
        let sql = "SELECT site, question, at, why, taken, not_taken, case_insensitive, decode_depth \
                   FROM probed";
        self.all(sql, [], |row| {
            Ok(Probed {
                site: row.get(0)?,
                question: row.get(1)?,
                at: values::time(row, 2)?,
                why: row.get(3)?,
                taken: row.get(4)?,
                not_taken: row.get(5)?,
                case_insensitive: row.get(6)?,
                decode_depth: row.get(7)?,
            })
        })
    }
}

/// Writes answers in place of earlier ones.
pub(super) fn add<'a>(
    connection: &Connection,
    answers: impl Iterator<Item = &'a Probed>,
) -> rusqlite::Result<()> {
    let mut replace = connection
        .prepare_cached("INSERT OR REPLACE INTO probed VALUES (?, ?, ?, ?, ?, ?, ?, ?)")?;
    for one in answers {
        replace.execute(params![
            one.site,
            one.question,
            one.at.as_millisecond(),
            one.why,
            one.taken,
            one.not_taken,
            one.case_insensitive,
            one.decode_depth,
        ])?;
    }
    Ok(())
}
