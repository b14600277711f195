//! Quarantined files, and the acceptance of one, which another process writes
//! (`beadle robots accept`).

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, TransactionBehavior, params};

use super::{
    columns::time,
    connection::{READER_BUSY, Store},
};
use crate::violations::{Error, Quarantined, Text, notes::QuarantineNote};

const COLUMNS: &str = "site, id, bytes, since, accepted";

impl Store {
    /// The quarantined files, in the order of their sites.
    ///
    /// # Errors
    /// Where the database cannot be read.
    pub fn quarantine(&self) -> Result<Vec<Quarantined>, Error> {
        self.all(&format!("SELECT {COLUMNS} FROM held_robots ORDER BY site"), [], quarantined)
    }

    /// The quarantined file of a site.
    ///
    /// # Errors
    /// Where the database cannot be read.
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
mod tests {
    use std::{path::Path, thread, time::Duration};

    use super::*;
    use crate::violations::{
        Obstacle, Settings, Sink,
        tests::{eventually, violation},
    };

    fn quarantined(id: &'static str, since: i64) -> Quarantined {
        Quarantined {
            site: Text::word("shop.example"),
            id: Text::word(id),
            bytes: (&b"User-agent: *\nDisallow: /\n\xff\0"[..]).into(),
            since: Timestamp::from_second(since).expect("a time"),
            accepted: None,
        }
    }

    fn run(path: &Path, notes: impl FnOnce(&Sink)) -> Vec<Quarantined> {
        let settings = Settings { database: Some(path.to_owned()), ..Settings::default() };
        let sink = Sink::start(settings).expect("a sink");
        notes(&sink);
        sink.close(Duration::from_secs(9));
        Store::open_read_only(path).expect("a database").quarantine().expect("rows")
    }

    #[test]
    fn an_acceptance_belongs_to_the_file_and_not_to_the_site() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("beadle.db");
        let at = |second| Timestamp::from_second(second).expect("a time");
        let accept = |second| {
            let mut store = Store::open_existing(&path).expect("a database");
            store.accept("SHOP.example", None, at(second)).expect("written")
        };
        assert_eq!(
            run(&path, |sink| sink.quarantined(quarantined("a", 10))),
            [quarantined("a", 10)]
        );
        let accepted = Quarantined { accepted: Some(at(20)), ..quarantined("a", 10) };
        assert_eq!(accept(20), Some(accepted.clone()));
        assert_eq!(accept(30), Some(accepted.clone()), "the first time counts");
        let mut store = Store::open_existing(&path).expect("a database");
        let mut named = |id| store.accept("shop.example", Some(id), at(35)).expect("written");
        assert_eq!((named("b"), named("a")), (None, Some(accepted.clone())), "by its id");
        assert_eq!(store.quarantine_of("SHOP.example").expect("rows"), Some(accepted.clone()));
        assert_eq!(store.quarantine_of("x.example").expect("rows"), None);
        drop(store);
        assert_eq!(run(&path, |sink| sink.quarantined(quarantined("a", 40))), [accepted]);
        assert_eq!(
            run(&path, |sink| sink.quarantined(quarantined("b", 50))),
            [quarantined("b", 50)]
        );
        accept(60).expect("it is in quarantine");
        let again = |sink: &Sink| {
            sink.released(Text::word("shop.example"));
            sink.quarantined(quarantined("b", 70));
        };
        assert_eq!(
            run(&path, again),
            [quarantined("b", 70)],
            "a file that comes back needs a new acceptance"
        );
        assert_eq!(run(&path, |sink| sink.released(Text::word("shop.example"))), []);
        assert_eq!(accept(80), None);
    }

    #[test]
    fn a_file_is_accepted_while_another_process_writes() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("beadle.db");
        let settings = Settings { database: Some(path.clone()), ..Settings::default() };
        let sink = Sink::start(settings).expect("a sink");
        sink.quarantined(quarantined("a", 10));
        sink.record(violation(0));
        eventually("written", || sink.counts().stored == 1);
        let now = Timestamp::from_second(20).expect("a time");
        thread::scope(|scope| {
            let writing = scope.spawn(|| {
                (1..400).for_each(|number| {
                    sink.record(violation(number));
                    thread::sleep(Duration::from_millis(1));
                });
            });
            let mut store = Store::open_existing(&path).expect("a database");
            store.accept("shop.example", None, now).expect("written").expect("it is in quarantine");
            writing.join().expect("it ends");
        });
        assert_eq!(sink.close(Duration::from_secs(9)).stored, 400);

        // A lock that lasts longer than a writer's patience, but not than an operator's.
        let other = Connection::open(&path).expect("a connection");
        other.execute_batch("BEGIN IMMEDIATE").expect("a lock");
        thread::scope(|scope| {
            scope.spawn(move || {
                thread::sleep(Duration::from_millis(600));
                other.execute_batch("ROLLBACK").expect("unlocked");
            });
            let mut store = Store::open_existing(&path).expect("a database");
            let found = store.accept("shop.example", None, now).expect("written");
            assert_eq!(found.and_then(|file| file.accepted), Some(now));
        });
        let mut store = Store::open_read_only(&path).expect("a database");
        let error = store.accept("shop.example", None, now).expect_err("it is read only");
        assert_eq!(error.obstacle, Obstacle::Denied);
        let error = Store::open_existing(&folder.path().join("none.db")).expect_err("not made");
        assert_eq!(error.obstacle, Obstacle::NoFile);
    }
}
