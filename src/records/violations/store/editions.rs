//! Editions of robots.txt: the bytes once, and the periods in which each was in force for a site.
//!
//! Several instances may publish to one database, a batch may come twice, and a clock may go back.
//! In all these cases a site has at most one period without an end, and periods never overlap.

use std::collections::{BTreeMap, HashMap};

use bytes::Bytes;
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::{connection::Store, values};
use crate::{
    base::text::Text,
    formats::robots::OriginFile,
    records::record::{Edition, EditionPeriod, Error, Unread, Violation},
};

/// The periods of editions; [`edition`] reads the columns in this order.
const PERIODS: &str = "SELECT site, id, sha256, bytes, source, base, from_, until_";
const PERIODS_FROM: &str = "edition_periods JOIN editions ON id = edition";

struct InForce {
    sequence: i64,
    edition: Text,
    from: i64,
}

impl Store {
    /// The editions of a site, or of all sites, one for each period in force, in the order of their
    /// start. With `since`, only editions that were in force at that time or later.
    pub fn editions(
        &self,
        site: Option<&str>,
        since: Option<Timestamp>,
    ) -> Result<Vec<Edition>, Error> {
        if let Some(shared) = &self.shared {
            return shared.editions(site, since);
        }
        let sql = format!(
            "{PERIODS} FROM {PERIODS_FROM} WHERE (?1 IS NULL OR site = ?1) \
             AND (?2 IS NULL OR until_ IS NULL OR until_ >= ?2) ORDER BY from_, sequence"
        );
        self.all(&sql, params![site, since.map(Timestamp::as_millisecond)], edition)
    }

    /// The latest editions that were in force at `since` or later, in the order of their start: all
    /// that are in force, and others up to `most` bytes of files. Periods with one file share its
    /// bytes. The second value stands for the rest, of which a further call reads a part.
    pub fn latest_editions(
        &self,
        since: Timestamp,
        rest: Option<Unread>,
        most: usize,
    ) -> Result<(Vec<Edition>, Option<Unread>), Error> {
        if let Some(shared) = &self.shared {
            return shared.latest_editions(since, rest, most);
        }
        let failed = |error| self.failure(error);
        self.latest(since, rest, most).map_err(failed)
    }

    fn latest(
        &self,
        since: Timestamp,
        rest: Option<Unread>,
        most: usize,
    ) -> rusqlite::Result<(Vec<Edition>, Option<Unread>)> {
        let since = since.as_millisecond();
        let before = rest.map(|rest| rest.before);
        let sql = format!(
            "{PERIODS}, sequence FROM {PERIODS_FROM} \
             WHERE (until_ >= ?1 AND (?2 IS NULL OR sequence < ?2)) \
             OR (until_ IS NULL AND ?2 IS NULL) ORDER BY until_ IS NULL DESC, sequence DESC"
        );
        let mut statement = self.connection.prepare_cached(&sql)?;
        let mut rows = statement.query(params![since, before])?;
        let mut files: HashMap<Text, Bytes> = HashMap::new();
        let (mut found, mut read, mut last) = (Vec::new(), 0, i64::MAX);
        let mut is_whole = true;
        while let Some(row) = rows.next()? {
            let is_open = row.get::<_, Option<i64>>(7)?.is_none();
            let id: Text = row.get(1)?;
            let bytes = match files.get(&id) {
                Some(bytes) => bytes.clone(),
                None if read >= most && !is_open => {
                    is_whole = false;
                    break;
                }
                None => {
                    let bytes = Bytes::from(row.get::<_, Vec<u8>>(3)?);
                    read += bytes.len();
                    files.insert(id, bytes.clone());
                    bytes
                }
            };
            if !is_open {
                last = row.get(8)?;
            }
            found.push(edition_of(row, bytes)?);
        }
        // Of equal starts, the last one written comes last.
        found.reverse();
        found.sort_by_key(|edition| edition.from);
        if is_whole {
            return Ok((found, None));
        }
        let sql = "SELECT max(until_) FROM edition_periods WHERE until_ >= ? AND sequence < ?";
        let mut statement = self.connection.prepare_cached(sql)?;
        let until: Option<i64> = statement.query_row([since, last], |row| row.get(0))?;
        let until = until.map(|until| values::timestamp(until, 0)).transpose()?;
        Ok((found, until.map(|until| Unread { until, before: last })))
    }

    /// The latest periods of a site's editions that were in force at `since` or later, the latest
    /// first and no more than `most`.
    pub fn edition_periods(
        &self,
        site: &str,
        since: Option<Timestamp>,
        most: usize,
    ) -> Result<Vec<EditionPeriod>, Error> {
        if let Some(shared) = &self.shared {
            return shared.edition_periods(site, since, most);
        }
        let sql = "SELECT id, source, from_, until_, length(bytes), \
                   iif(length(bytes) <= ?4, bytes, NULL) \
                   FROM edition_periods JOIN editions ON id = edition \
                   WHERE site = ?1 AND (?2 IS NULL OR until_ IS NULL OR until_ >= ?2) \
                   ORDER BY until_ IS NULL DESC, from_ DESC, sequence DESC LIMIT ?3";
        let since = since.map(Timestamp::as_millisecond);
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        self.all(sql, params![site, since, most, EditionPeriod::LARGEST as i64], |row| {
            Ok(EditionPeriod {
                id: row.get(0)?,
                source: row.get(1)?,
                from: values::time(row, 2)?,
                until: values::moment(row, 3)?,
                length: values::count(row, 4)?,
                bytes: row.get::<_, Option<Vec<u8>>>(5)?.map(Into::into),
            })
        })
    }

    /// The editions whose hash begins with `prefix`, each once, in the order of their ids; only
    /// those of `site` if given. Each comes with its latest period. None if the prefix is empty or
    /// has other characters than hexadecimal digits.
    pub fn editions_by_id(&self, prefix: &str, site: Option<&str>) -> Result<Vec<Edition>, Error> {
        if let Some(shared) = &self.shared {
            return shared.editions_by_id(prefix, site);
        }
        if prefix.is_empty() || !prefix.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Ok(Vec::new());
        }
        // The star is the only special character of GLOB in it.
        let pattern = format!("{}*", prefix.to_ascii_lowercase());
        let sql = format!(
            "{PERIODS} FROM {PERIODS_FROM} WHERE sha256 GLOB ?1 AND (?2 IS NULL OR site = ?2) \
             ORDER BY id, from_ DESC, sequence DESC"
        );
        let mut found: Vec<Edition> = self.all(&sql, params![pattern, site], edition)?;
        found.dedup_by(|next, kept| next.id == kept.id);
        Ok(found)
    }
}

pub(super) fn publish<'a>(
    connection: &Connection,
    editions: impl Iterator<Item = &'a Edition>,
) -> rusqlite::Result<()> {
    let mut sequences: BTreeMap<String, Vec<&Edition>> = BTreeMap::new();
    for edition in editions {
        sequences.entry(edition.site.to_ascii_lowercase()).or_default().push(edition);
    }
    for sequence in sequences.into_values() {
        let last = sequence.last().copied();
        follow(connection, sequence)?;
        last.map_or(Ok(()), |last| keep_origin_file(connection, last))?;
    }
    Ok(())
}

/// Writes a history: the periods that are not written yet, and the ends of those that have none.
pub(super) fn restore(connection: &Connection, editions: &[Edition]) -> rusqlite::Result<()> {
    let mut end = connection.prepare_cached(
        "UPDATE edition_periods SET until_ = ?4, base = NULL \
         WHERE site = ?1 AND edition = ?2 AND from_ = ?3 AND until_ IS NULL",
    )?;
    let mut insert = connection.prepare_cached(
        "INSERT INTO edition_periods (site, edition, source, from_, until_) \
         VALUES (?1, ?2, ?5, ?3, ?4)",
    )?;
    for edition in editions {
        let Some(until) = edition.until.map(Timestamp::as_millisecond) else { continue };
        let from = edition.from.as_millisecond();
        end.execute(params![edition.site, edition.id, from, until])?;
        if !is_written(connection, edition)? {
            keep_bytes(connection, edition)?;
            let Edition { site, id, source, .. } = edition;
            insert.execute(params![site, id, from, until, source])?;
        }
    }
    publish(connection, editions.iter().filter(|edition| edition.until.is_none()))
}

fn is_written(connection: &Connection, edition: &Edition) -> rusqlite::Result<bool> {
    let sql = "SELECT 1 FROM edition_periods WHERE site = ? AND edition = ? AND from_ = ?";
    let Edition { site, id, from, .. } = edition;
    connection.prepare_cached(sql)?.exists(params![site, id, from.as_millisecond()])
}

fn keep_bytes(connection: &Connection, edition: &Edition) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO editions (id, sha256, bytes) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
        )?
        .execute(params![edition.id, edition.sha256, edition.bytes.as_ref()])
        .map(drop)
}

/// Writes the time of the last record that names each edition.
pub(super) fn mention(connection: &Connection, records: &[&Violation]) -> rusqlite::Result<()> {
    let mut last: BTreeMap<&Text, Timestamp> = BTreeMap::new();
    for Violation { time, robots, robots_read, .. } in records {
        for edition in [Some(&robots.edition), robots_read.edition.as_ref()].into_iter().flatten() {
            let latest = last.entry(edition).or_insert(*time);
            *latest = (*latest).max(*time);
        }
    }
    let mut upsert = connection.prepare_cached(
        "INSERT INTO edition_mentions (edition, last) VALUES (?, ?) ON CONFLICT (edition) \
         DO UPDATE SET last = excluded.last WHERE excluded.last > last",
    )?;
    for (edition, last) in last {
        upsert.execute(params![edition, last.as_millisecond()])?;
    }
    Ok(())
}

fn follow(connection: &Connection, mut sequence: Vec<&Edition>) -> rusqlite::Result<()> {
    sequence.dedup_by(|next, kept| next.id == kept.id);
    let mut in_force = in_force(connection, &sequence)?;
    if let ([_, .., last], Some(found)) = (sequence.as_slice(), &in_force)
        && last.id == found.edition
        && last.from.as_millisecond() == found.from
    {
        return Ok(()); // this batch is already written
    }
    for edition in sequence {
        let is_in_force = in_force.as_ref().is_some_and(|found| found.edition == edition.id);
        // A restored history has publications that were still waiting, and later ones.
        let from = edition.from.as_millisecond();
        let is_before = in_force.as_ref().is_some_and(|found| from < found.from);
        let is_known = is_in_force || is_before && is_written(connection, edition)?;
        if !is_known {
            in_force = Some(replace(connection, in_force, edition)?);
        }
    }
    Ok(())
}

/// Writes the origin's part of the edition in force; it may change while the edition does not.
fn keep_origin_file(connection: &Connection, edition: &Edition) -> rusqlite::Result<()> {
    let sql = "UPDATE edition_periods SET base = ?1 \
               WHERE site = ?2 AND edition = ?3 AND until_ IS NULL AND base IS NOT ?1";
    let Edition { origin_file, site, id, .. } = edition;
    let base = base(origin_file);
    connection.prepare_cached(sql)?.execute(params![base, site, id]).map(drop)
}

fn in_force(connection: &Connection, sequence: &[&Edition]) -> rusqlite::Result<Option<InForce>> {
    let Some(Edition { site, .. }) = sequence.first() else { return Ok(None) };
    let sql = "SELECT sequence, edition, from_ FROM edition_periods \
               WHERE site = ? AND until_ IS NULL";
    let read = |row: &Row<'_>| {
        Ok(InForce { sequence: row.get(0)?, edition: row.get(1)?, from: row.get(2)? })
    };
    connection.prepare_cached(sql)?.query_row([site], read).optional()
}

fn replace(
    connection: &Connection,
    replaced: Option<InForce>,
    edition: &Edition,
) -> rusqlite::Result<InForce> {
    let mut from = edition.from.as_millisecond();
    if let Some(replaced) = replaced {
        // A clock that went back must not end a period before its start.
        from = from.max(replaced.from);
        connection
            .prepare_cached(
                "UPDATE edition_periods SET until_ = ?, base = NULL WHERE sequence = ?",
            )?
            .execute([from, replaced.sequence])?;
    }
    keep_bytes(connection, edition)?;
    connection
        .prepare_cached(
            "INSERT INTO edition_periods (site, edition, source, from_) VALUES (?, ?, ?, ?)",
        )?
        .execute(params![edition.site, edition.id, edition.source, from])?;
    let sequence = connection.last_insert_rowid();
    Ok(InForce { sequence, edition: edition.id.clone(), from })
}

/// The column `base` of an origin's file: NULL is unknown, an empty value is no file.
fn base(file: &OriginFile) -> Option<&[u8]> {
    match file {
        OriginFile::Unknown => None,
        OriginFile::Absent => Some(&[]),
        OriginFile::Present(bytes) => Some(bytes),
    }
}

fn origin_file(base: Option<Vec<u8>>) -> OriginFile {
    match base {
        None => OriginFile::Unknown,
        Some(base) if base.is_empty() => OriginFile::Absent,
        Some(base) => OriginFile::Present(base.into()),
    }
}

fn edition(row: &Row<'_>) -> rusqlite::Result<Edition> {
    edition_of(row, row.get::<_, Vec<u8>>(3)?.into())
}

fn edition_of(row: &Row<'_>, bytes: Bytes) -> rusqlite::Result<Edition> {
    Ok(Edition {
        site: row.get(0)?,
        id: row.get(1)?,
        sha256: row.get(2)?,
        bytes,
        source: row.get(4)?,
        origin_file: origin_file(row.get(5)?),
        from: values::time(row, 6)?,
        until: values::moment(row, 7)?,
    })
}

#[cfg(test)]
mod tests;
