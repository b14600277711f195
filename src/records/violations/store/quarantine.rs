//! Quarantined files, and what the operator decides about one, which another process writes
//! (`beadle robots accept` and `discard`).

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::{
    connection::{READER_BUSY, Store},
    values,
};
use crate::{
    base::text::Text,
    records::{
        record::{Error, QuarantineAct, Quarantined},
        violations::notes::QuarantineNote,
    },
};

const COLUMNS: &str = "site, id, bytes, since, accepted, discarded";

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

    /// Notes a decision about the site's quarantined file and returns the file; `None` where there is none,
    /// or another than the one with this `id`. The same decision keeps its first time. Waits up to five
    /// seconds while another process writes.
    pub fn decide(
        &mut self,
        (site, id): (&str, Option<&str>),
        decision: QuarantineAct,
        now: Timestamp,
    ) -> Result<Option<Quarantined>, Error> {
        let [set, unset] = match decision {
            QuarantineAct::Accept => ["accepted", "discarded"],
            QuarantineAct::Discard => ["discarded", "accepted"],
        };
        let sql = format!(
            "UPDATE held_robots SET {set} = coalesce({set}, ?1), {unset} = NULL \
             WHERE site = ?2 AND id = coalesce(?3, id) RETURNING {COLUMNS}"
        );
        let bound = params![now.as_millisecond(), site, id];
        self.attempt(|connection| connection.busy_timeout(READER_BUSY))?;
        self.write(|transaction| transaction.query_row(&sql, bound, quarantined).optional())
    }
}

pub(super) fn add<'a>(
    connection: &Connection,
    notes: impl Iterator<Item = (&'a Text, &'a QuarantineNote)>,
) -> rusqlite::Result<()> {
    let mut delete = connection.prepare_cached("DELETE FROM held_robots WHERE site = ?")?;
    // A decision belongs to the file, not to the site: another file needs its own.
    let mut upsert = connection.prepare_cached(
        "INSERT INTO held_robots (site, id, bytes, since) VALUES (?, ?, ?, ?) \
         ON CONFLICT (site) DO UPDATE SET id = excluded.id, bytes = excluded.bytes, \
         since = iif(id = excluded.id, min(since, excluded.since), excluded.since), \
         accepted = iif(id = excluded.id, accepted, NULL), \
         discarded = iif(id = excluded.id, discarded, NULL)",
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
        since: values::time(row, 3)?,
        accepted: values::moment(row, 4)?,
        discarded: values::moment(row, 5)?,
    })
}

#[cfg(test)]
mod tests;
