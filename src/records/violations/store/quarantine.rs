//! Quarantined files, and the acceptance of one, which another process writes
//! (`beadle robots accept`).

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, TransactionBehavior, params};

use super::{
    connection::{READER_BUSY, Store},
    values::time,
};
use crate::{
    base::text::Text,
    records::{
        record::{Error, Quarantined},
        violations::notes::QuarantineNote,
    },
};

const COLUMNS: &str = "site, id, bytes, since, accepted";

impl Store {
    /// The quarantined files, in the order of their sites.
    pub fn quarantine(&self) -> Result<Vec<Quarantined>, Error> {
        self.all(&format!("SELECT {COLUMNS} FROM held_robots ORDER BY site"), [], quarantined)
    }

    /// The quarantined file of a site.
    pub fn quarantine_of(&self, site: &str) -> Result<Option<Quarantined>, Error> {
        let sql = format!("SELECT {COLUMNS} FROM held_robots WHERE site = ?");
        Ok(self.all(&sql, [site], quarantined)?.pop())
    }

    /// Accepts the site's quarantined file and returns it; `None` where there is none, or another
    /// than the one with this `id`. A file that was accepted before keeps its time. Waits up to five
    /// seconds while another process writes.
    ///
    /// # Errors
    /// Where the database cannot be written.
    pub fn accept(
        &mut self,
        site: &str,
        id: Option<&str>,
        now: Timestamp,
    ) -> Result<Option<Quarantined>, Error> {
        self.attempt(|connection| {
            connection.busy_timeout(READER_BUSY)?;
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let sql = format!(
                "UPDATE held_robots SET accepted = coalesce(accepted, ?1) \
                 WHERE site = ?2 AND id = coalesce(?3, id) RETURNING {COLUMNS}"
            );
            let now = now.as_millisecond();
            let found =
                transaction.query_row(&sql, params![now, site, id], quarantined).optional()?;
            transaction.commit()?;
            Ok(found)
        })
    }
}

/// Writes the changes of the quarantine.
pub(super) fn add<'a>(
    connection: &Connection,
    notes: impl Iterator<Item = (&'a Text, &'a QuarantineNote)>,
) -> rusqlite::Result<()> {
    let mut delete = connection.prepare_cached("DELETE FROM held_robots WHERE site = ?")?;
    // An acceptance belongs to the file, not to the site: another file needs its own.
    let mut upsert = connection.prepare_cached(
        "INSERT INTO held_robots (site, id, bytes, since) VALUES (?, ?, ?, ?) \
         ON CONFLICT (site) DO UPDATE SET id = excluded.id, bytes = excluded.bytes, \
         since = iif(id = excluded.id, min(since, excluded.since), excluded.since), \
         accepted = iif(id = excluded.id, accepted, NULL)",
    )?;
    for (site, QuarantineNote { is_released, file }) in notes {
        if *is_released {
            delete.execute([site])?;
        }
        if let Some(Quarantined { site, id, bytes, since, .. }) = file {
            upsert.execute(params![site, id, bytes.as_ref(), since.as_millisecond()])?;
        }
    }
    Ok(())
}

fn quarantined(row: &Row<'_>) -> rusqlite::Result<Quarantined> {
    Ok(Quarantined {
        site: row.get(0)?,
        id: row.get(1)?,
        bytes: row.get::<_, Vec<u8>>(2)?.into(),
        since: time(row.get(3)?, 3)?,
        accepted: row.get::<_, Option<i64>>(4)?.map(|at| time(at, 4)).transpose()?,
    })
}

#[cfg(test)]
mod tests;
