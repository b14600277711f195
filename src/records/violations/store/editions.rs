//! Editions of robots.txt: the bytes once, and the periods in which each was in force for a site.
//!
//! Several instances may publish to one database, a batch may come twice, and a clock may go back.
//! In all these cases a site has at most one period without an end, and periods never overlap.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

use bytes::Bytes;
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::{connection::Store, values};
use crate::{
    base::text::Text,
    formats::robots::OriginFile,
    records::record::{Edition, EditionFiles, EditionPeriod, Error, Unread, Violation},
};

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
        self.with_files(self.periods(site, since)?)
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
        let mut periods = self.periods(None, Some(since))?;
        if let Some(Unread { before, .. }) = rest {
            periods.retain(|(place, one)| one.until.is_some() && *place < before);
        }
        periods.sort_by_key(|(place, one)| (one.until.is_some(), Reverse(*place)));
        let (sizes, mut read, mut counted) = (self.sizes()?, 0, BTreeSet::new());
        let end = periods.iter().position(|(_, one)| {
            let is_over = read >= most && one.until.is_some() && !counted.contains(&one.id);
            if !is_over && counted.insert(one.id.clone()) {
                read += sizes.get(&one.id).copied().unwrap_or(0);
            }
            is_over
        });
        let rest = periods.split_off(end.unwrap_or(periods.len()));
        let until = rest.iter().filter_map(|(_, one)| one.until).max();
        let unread = until.zip(rest.first());
        let unread = unread.map(|(until, (place, _))| Unread { until, before: *place + 1 });
        // Of equal starts, the last one written comes last.
        periods.sort_by_key(|(place, one)| (one.from, *place));
        Ok((self.with_files(periods)?, unread))
    }

    /// The latest periods of a site's editions that were in force at `since` or later, the latest
    /// first and no more than `most`.
    pub fn edition_periods(
        &self,
        site: &str,
        since: Option<Timestamp>,
        most: usize,
    ) -> Result<Vec<EditionPeriod>, Error> {
        let mut periods = self.periods(Some(site), since)?;
        periods.sort_by_key(|(place, one)| (one.until.is_some(), Reverse((one.from, *place))));
        periods.truncate(most);
        Ok(self.with_files(periods)?.into_iter().map(EditionPeriod::of).collect())
    }

    /// The editions whose hash begins with `prefix`, each once, in the order of their ids; only
    /// those of `site` if given. Each comes with its latest period. None if the prefix is empty or
    /// has other characters than hexadecimal digits.
    pub fn editions_by_id(&self, prefix: &str, site: Option<&str>) -> Result<Vec<Edition>, Error> {
        if prefix.is_empty() || !prefix.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Ok(Vec::new());
        }
        let files = self.files_by_hash(&prefix.to_ascii_lowercase())?;
        let mut periods = self.periods(site, None)?;
        periods.retain(|(_, one)| files.contains_key(&one.id));
        periods.sort_by(|(place, one), (other_place, other)| {
            (&one.id, other.from, other_place).cmp(&(&other.id, one.from, place))
        });
        periods.dedup_by(|(_, next), (_, kept)| next.id == kept.id);
        Ok(filled(periods, &files))
    }

    fn with_files(&self, periods: Vec<(i64, Edition)>) -> Result<Vec<Edition>, Error> {
        let ids: BTreeSet<&Text> = periods.iter().map(|(_, one)| &one.id).collect();
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let files = self.files_of(&ids.into_iter().collect::<Vec<_>>())?;
        Ok(filled(periods, &files))
    }

    /// The editions that were in force at `since` or later, in the order of their start, each with the
    /// place of its period and without its file.
    fn periods(
        &self,
        site: Option<&str>,
        since: Option<Timestamp>,
    ) -> Result<Vec<(i64, Edition)>, Error> {
        if let Some(shared) = &self.shared {
            return shared.periods(site, since);
        }
        let sql = "SELECT sequence, site, edition, source, base, from_, until_ FROM edition_periods \
                   WHERE (?1 IS NULL OR site = ?1) \
                   AND (?2 IS NULL OR until_ IS NULL OR until_ >= ?2) ORDER BY from_, sequence";
        self.all(sql, params![site, since.map(Timestamp::as_millisecond)], |row| {
            let edition = Edition {
                site: row.get(1)?,
                id: row.get(2)?,
                sha256: Text::default(),
                bytes: Bytes::new(),
                source: row.get(3)?,
                origin_file: origin_file(row.get(4)?),
                from: values::time(row, 5)?,
                until: values::moment(row, 6)?,
            };
            Ok((row.get(0)?, edition))
        })
    }

    fn files_by_hash(&self, prefix: &str) -> Result<EditionFiles, Error> {
        if let Some(shared) = &self.shared {
            return shared.files_by_hash(prefix);
        }
        // The star is the only special character of GLOB in it.
        self.files("sha256 GLOB ?", &format!("{prefix}*"))
    }

    fn files_of(&self, ids: &[&Text]) -> Result<EditionFiles, Error> {
        if let Some(shared) = &self.shared {
            return shared.files_of(ids);
        }
        let ids = serde_json::json!(ids).to_string();
        self.files("id IN (SELECT value FROM json_each(?))", &ids)
    }

    fn files(&self, condition: &str, value: &str) -> Result<EditionFiles, Error> {
        let sql = format!("SELECT id, sha256, bytes FROM editions WHERE {condition}");
        let files = self.all(&sql, [value], |row| {
            Ok((row.get(0)?, (row.get(1)?, row.get::<_, Vec<u8>>(2)?.into())))
        });
        Ok(files?.into_iter().collect())
    }

    fn sizes(&self) -> Result<BTreeMap<Text, usize>, Error> {
        if let Some(shared) = &self.shared {
            return shared.sizes();
        }
        let sql = "SELECT id, length(bytes) FROM editions";
        let sizes = self.all(sql, [], |row| Ok((row.get(0)?, values::count(row, 1)? as usize)));
        Ok(sizes?.into_iter().collect())
    }
}

/// The editions with their files. One whose file is not there is left out.
fn filled(periods: Vec<(i64, Edition)>, files: &EditionFiles) -> Vec<Edition> {
    let with_file = |(_, edition): (i64, Edition)| {
        let (sha256, bytes) = files.get(&edition.id)?.clone();
        Some(Edition { sha256, bytes, ..edition })
    };
    periods.into_iter().filter_map(with_file).collect()
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

#[cfg(test)]
mod tests;
