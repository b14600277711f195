//! The policies that came into force: the bytes once, and each time that they did.
//!
//! They are in the local database of a node, also where nodes share a ClickHouse server.

use std::sync::Arc;

use jiff::Timestamp;
use rusqlite::{Connection, params};

use super::{connection::Store, values};
use crate::records::record::{Error, PolicyEntry};

const MOST: i64 = 1_000;
/// The most bytes of all files. The latest one stays, however large.
const MOST_BYTES: i64 = 64 << 20;

const FORGET: &str =
    "DELETE FROM policy_history WHERE id <= (SELECT max(id) FROM policy_history) - ?";
const FORGET_LARGE: &str = "DELETE FROM policy_history WHERE sha256 IN (SELECT sha256 FROM \
    (SELECT sha256, sum(length(bytes)) OVER newest AS sum_, row_number() OVER newest AS place \
     FROM (SELECT sha256, max(id) AS last FROM policy_history GROUP BY sha256) \
     JOIN policy_files USING (sha256) WINDOW newest AS (ORDER BY last DESC)) \
    WHERE sum_ > ? AND place > 1)";
const DROP_FILES: &str =
    "DELETE FROM policy_files WHERE sha256 NOT IN (SELECT sha256 FROM policy_history)";

impl Store {
    /// The policies that came into force at `since` or later and before the entry `before`, newest
    /// first.
    pub fn policies(
        &self,
        since: Option<Timestamp>,
        before: Option<i64>,
        most: usize,
    ) -> Result<Vec<PolicyEntry>, Error> {
        let sql = "SELECT id, at, by_, sha256, length(bytes) \
                   FROM policy_history JOIN policy_files USING (sha256) \
                   WHERE (?1 IS NULL OR at >= ?1) AND (?2 IS NULL OR id < ?2) \
                   ORDER BY id DESC LIMIT ?3";
        let since = since.map(Timestamp::as_millisecond);
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        self.all(sql, params![since, before, most], |row| {
            Ok(PolicyEntry {
                id: row.get(0)?,
                at: values::time(row, 1)?,
                by: row.get(2)?,
                sha256: row.get(3)?,
                length: values::count(row, 4)?,
            })
        })
    }

    /// The bytes of a policy with this hash.
    pub fn policy_file(&self, sha256: &str) -> Result<Option<Vec<u8>>, Error> {
        let sql = "SELECT bytes FROM policy_files WHERE sha256 = ?";
        Ok(self.all(sql, [sha256], |row| row.get(0))?.pop())
    }
}

pub(super) fn add(
    connection: &Connection,
    entries: &[(PolicyEntry, Arc<[u8]>)],
) -> rusqlite::Result<()> {
    for (PolicyEntry { at, by, sha256, .. }, bytes) in entries {
        let sql = "INSERT INTO policy_files VALUES (?, ?) ON CONFLICT DO NOTHING";
        connection.prepare_cached(sql)?.execute(params![sha256, bytes])?;
        let sql = "INSERT INTO policy_history (at, by_, sha256) VALUES (?, ?, ?)";
        connection.prepare_cached(sql)?.execute(params![at.as_millisecond(), by, sha256])?;
    }
    if !entries.is_empty() {
        forget(connection, MOST_BYTES)?;
    }
    Ok(())
}

fn forget(connection: &Connection, most_bytes: i64) -> rusqlite::Result<()> {
    connection.execute(FORGET, [MOST])?;
    connection.execute(FORGET_LARGE, [most_bytes])?;
    connection.execute(DROP_FILES, []).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(number: u64, file: &str) -> (PolicyEntry, Arc<[u8]>) {
        let at = Timestamp::from_second(number.cast_signed()).expect("a time");
        let (by, sha256) = ("file".into(), file.into());
        (PolicyEntry { id: 0, at, by, sha256, length: 0 }, file.as_bytes().into())
    }

    #[test]
    fn the_last_thousand_are_kept_and_each_file_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut store = Store::open(&folder.path().join("beadle.db")).expect("a database");
        let mut write = |entries: &[(PolicyEntry, Arc<[u8]>)]| {
            store.attempt(|connection| add(connection, entries)).expect("written");
        };
        let ids = |all: &[PolicyEntry]| all.iter().map(|one| one.id).collect::<Vec<_>>();
        write(&[entry(1, "a"), entry(2, "b"), entry(3, "a")]);
        (4..1_003).for_each(|number| write(&[entry(number, "b")]));
        let all = store.policies(None, None, usize::MAX).expect("rows");
        assert_eq!((all.len(), all[0].id, all[999].id), (1_000, 1_002, 3), "newest first");
        assert_eq!((&*all[999].sha256, all[999].length), ("a", 1));
        let since = Timestamp::from_second(1_001).ok();
        assert_eq!(ids(&store.policies(since, None, 9).expect("rows")), [1_002, 1_001]);
        assert_eq!(ids(&store.policies(None, Some(9), 2).expect("rows")), [8, 7]);
        assert_eq!(store.policy_file("a"), Ok(Some(b"a".to_vec())));
        store.attempt(|connection| add(connection, &[entry(9, "b")])).expect("written");
        assert_eq!(store.policy_file("a"), Ok(None), "no entry has it any more");
    }

    #[test]
    fn files_are_bounded_and_the_latest_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut store = Store::open(&folder.path().join("beadle.db")).expect("a database");
        for (file, expected) in [
            ("aaaa", &[1][..]),
            ("bbbb", &[2, 1]),
            ("aaaa", &[3, 2, 1]),
            ("cccc", &[4, 3, 1]),
            ("a long one", &[5]),
            ("d", &[6]),
        ] {
            let written = store.attempt(|connection| {
                add(connection, &[entry(1, file)])?;
                forget(connection, 8)
            });
            written.expect("written");
            let kept = store.policies(None, None, 9).expect("rows");
            assert_eq!(kept.iter().map(|one| one.id).collect::<Vec<_>>(), expected, "{file}");
        }
    }
}
