//! Files that are held back, and the confirmation that lets one through, which another process
//! writes (`beadle robots accept`).

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, TransactionBehavior, params};

use super::{Store, open::READER_BUSY, query::time};
use crate::violations::{Error, Held, Text, notes::Holding};

const COLUMNS: &str = "site, id, bytes, since, accepted";

impl Store {
    /// The files that are held back, in the order of their sites.
    ///
    /// # Errors
    /// Where the database cannot be read.
    pub fn held(&self) -> Result<Vec<Held>, Error> {
        self.all(&format!("SELECT {COLUMNS} FROM held_robots ORDER BY site"), [], held)
    }

    /// Confirms the file that is held back for the site, and returns it; `None` where there is
    /// none. One that was confirmed before keeps its time. While another process writes, it waits
    /// for up to five seconds.
    ///
    /// # Errors
    /// Where the database cannot be written.
    pub fn accept(&mut self, site: &str, now: Timestamp) -> Result<Option<Held>, Error> {
        self.attempt(|connection| {
            connection.busy_timeout(READER_BUSY)?;
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let sql = format!(
                "UPDATE held_robots SET accepted = coalesce(accepted, ?) WHERE site = ? \
                 RETURNING {COLUMNS}"
            );
            let now = now.as_millisecond();
            let found = transaction.query_row(&sql, params![now, site], held).optional()?;
            transaction.commit()?;
            Ok(found)
        })
    }
}

/// Writes what became of the held files.
pub(super) fn hold<'a>(
    connection: &Connection,
    holdings: impl Iterator<Item = (&'a Text, &'a Holding)>,
) -> rusqlite::Result<()> {
    let mut delete = connection.prepare_cached("DELETE FROM held_robots WHERE site = ?")?;
    // What was confirmed is the file, not the site: another file asks anew.
    let mut upsert = connection.prepare_cached(
        "INSERT INTO held_robots (site, id, bytes, since) VALUES (?, ?, ?, ?) \
         ON CONFLICT (site) DO UPDATE SET id = excluded.id, bytes = excluded.bytes, \
         since = iif(id = excluded.id, min(since, excluded.since), excluded.since), \
         accepted = iif(id = excluded.id, accepted, NULL)",
    )?;
    for (site, Holding { is_released, held }) in holdings {
        if *is_released {
            delete.execute([site])?;
        }
        if let Some(Held { site, id, bytes, since, .. }) = held {
            upsert.execute(params![site, id, bytes, since.as_millisecond()])?;
        }
    }
    Ok(())
}

fn held(row: &Row<'_>) -> rusqlite::Result<Held> {
    Ok(Held {
        site: row.get(0)?,
        id: row.get(1)?,
        bytes: row.get(2)?,
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

    fn held(id: &'static str, since: i64) -> Held {
        Held {
            site: Text::word("shop.example"),
            id: Text::word(id),
            bytes: b"User-agent: *\nDisallow: /\n\xff\0".to_vec(),
            since: Timestamp::from_second(since).expect("a time"),
            accepted: None,
        }
    }

    fn run(path: &Path, notes: impl FnOnce(&Sink)) -> Vec<Held> {
        let settings = Settings { database: Some(path.to_owned()), ..Settings::default() };
        let sink = Sink::start(settings).expect("a sink");
        notes(&sink);
        sink.close(Duration::from_secs(9));
        Store::open_read_only(path).expect("a database").held().expect("rows")
    }

    #[test]
    fn ours_what_is_confirmed_is_the_file_and_not_the_site() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("beadle.db");
        let at = |second| Timestamp::from_second(second).expect("a time");
        let accept = |second| {
            let mut store = Store::open_existing(&path).expect("a database");
            store.accept("SHOP.example", at(second)).expect("written")
        };
        assert_eq!(run(&path, |sink| sink.held(held("a", 10))), [held("a", 10)]);
        let accepted = Held { accepted: Some(at(20)), ..held("a", 10) };
        assert_eq!(accept(20), Some(accepted.clone()));
        assert_eq!(accept(30), Some(accepted.clone()), "the first time counts");
        assert_eq!(run(&path, |sink| sink.held(held("a", 40))), [accepted]);
        assert_eq!(run(&path, |sink| sink.held(held("b", 50))), [held("b", 50)]);
        accept(60).expect("it is held");
        let again = |sink: &Sink| {
            sink.released(Text::word("shop.example"));
            sink.held(held("b", 70));
        };
        assert_eq!(run(&path, again), [held("b", 70)], "what comes back asks anew");
        assert_eq!(run(&path, |sink| sink.released(Text::word("shop.example"))), []);
        assert_eq!(accept(80), None);
    }

    #[test]
    fn ours_a_file_is_confirmed_while_another_process_writes() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("beadle.db");
        let settings = Settings { database: Some(path.clone()), ..Settings::default() };
        let sink = Sink::start(settings).expect("a sink");
        sink.held(held("a", 10));
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
            store.accept("shop.example", now).expect("written").expect("it is held");
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
            let found = store.accept("shop.example", now).expect("written");
            assert_eq!(found.and_then(|held| held.accepted), Some(now));
        });
        let mut store = Store::open_read_only(&path).expect("a database");
        let error = store.accept("shop.example", now).expect_err("it is read only");
        assert_eq!(error.obstacle, Obstacle::Denied);
        let error = Store::open_existing(&folder.path().join("none.db")).expect_err("not made");
        assert_eq!(error.obstacle, Obstacle::NoFile);
    }
}
