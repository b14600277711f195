//! The editions that nodes published, with their periods in the fleet.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use jiff::Timestamp;

use super::{
    condition::{Conditions, text},
    periods::{Period, Start, periods},
    reader::Reader,
};
use crate::{
    base::{escape::hex_octet, text::Text},
    formats::robots::OriginFile,
    records::record::{Edition, EditionPeriod, Error, Unread},
};

/// A file with its hash.
type Files = BTreeMap<Text, (Text, Bytes)>;

impl Reader {
    pub(crate) fn editions(
        &self,
        site: Option<&str>,
        since: Option<Timestamp>,
    ) -> Result<Vec<Edition>, Error> {
        let periods = self.periods(site, since)?;
        self.with_their_files(periods)
    }

    pub(crate) fn latest_editions(
        &self,
        since: Timestamp,
        rest: Option<Unread>,
        most: usize,
    ) -> Result<(Vec<Edition>, Option<Unread>), Error> {
        let mut periods = self.periods(None, Some(since))?;
        // Later periods come behind those that are there, so a number from the start stays the same.
        if let Some(rest) = rest {
            periods.truncate(usize::try_from(rest.before).unwrap_or(0));
            periods.retain(|period| period.until.is_some());
        }
        let sizes = self.sizes()?;
        let (mut read, mut counted, mut kept) = (0, BTreeSet::new(), Vec::new());
        let mut unread: Option<Unread> = None;
        for (at, period) in periods.into_iter().enumerate().rev() {
            let is_new = !counted.contains(&period.edition);
            if (read >= most && is_new || unread.is_some())
                && let Some(until) = period.until
            {
                let until = self.time(until)?;
                let before = i64::try_from(at).unwrap_or(i64::MAX).saturating_add(1);
                let known = unread.get_or_insert(Unread { until, before });
                known.until = known.until.max(until);
                continue;
            }
            if is_new {
                read += sizes.get(&period.edition).copied().unwrap_or(0);
                counted.insert(period.edition.clone());
            }
            kept.push(period);
        }
        kept.reverse();
        Ok((self.with_their_files(kept)?, unread))
    }

    pub(crate) fn editions_by_id(
        &self,
        prefix: &str,
        site: Option<&str>,
    ) -> Result<Vec<Edition>, Error> {
        if prefix.is_empty() || !prefix.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Ok(Vec::new());
        }
        let prefix = prefix.to_ascii_lowercase();
        let sql = format!(
            "SELECT id, any(sha256) AS hash, any(hex) AS digits FROM editions \
             WHERE startsWith(sha256, {}) GROUP BY id ORDER BY id",
            text(&prefix)
        );
        let files = self.read_files(&sql)?;
        let mut periods = self.periods(site, None)?;
        periods.retain(|period| files.contains_key(&period.edition));
        periods.sort_by(|one, other| (&one.edition, other.from).cmp(&(&other.edition, one.from)));
        periods.dedup_by(|next, kept| next.edition == kept.edition);
        self.with_files(periods, &files)
    }

    pub(crate) fn edition_periods(
        &self,
        site: &str,
        since: Option<Timestamp>,
        most: usize,
    ) -> Result<Vec<EditionPeriod>, Error> {
        let mut periods = self.periods(Some(site), since)?;
        periods.reverse();
        periods.sort_by_key(|period| period.until.is_some());
        periods.truncate(most);
        Ok(self.with_their_files(periods)?.into_iter().map(EditionPeriod::of).collect())
    }

    /// The periods of a site, or of all sites, that reach to `since` or later.
    fn periods(&self, site: Option<&str>, since: Option<Timestamp>) -> Result<Vec<Period>, Error> {
        let mut conditions = Conditions::new();
        if let Some(site) = site {
            let site = text(&site.to_ascii_lowercase());
            conditions.require(format_args!("lower(site) = {site}"));
        }
        let sql = format!(
            "SELECT site, edition, source, from_, node FROM publications FINAL{conditions} \
             ORDER BY node, run, batch, place"
        );
        let mut periods = periods(self.all::<Start>(&sql)?);
        let since = since.map(Timestamp::as_millisecond);
        periods.retain(|period| {
            since.is_none_or(|since| period.until.is_none_or(|until| until >= since))
        });
        Ok(periods)
    }

    fn with_their_files(&self, periods: Vec<Period>) -> Result<Vec<Edition>, Error> {
        let ids: BTreeSet<&Text> = periods.iter().map(|period| &period.edition).collect();
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let ids: Vec<_> = ids.into_iter().map(|id| text(id)).collect();
        let files = self.read_files(&format!(
            "SELECT id, any(sha256) AS hash, any(hex) AS digits FROM editions \
             WHERE id IN ({}) GROUP BY id",
            ids.join(", ")
        ))?;
        self.with_files(periods, &files)
    }

    fn read_files(&self, sql: &str) -> Result<Files, Error> {
        let files = self.all::<(Text, Text, String)>(sql)?.into_iter();
        files
            .map(|(id, hash, digits)| {
                let bytes =
                    unhex(&digits).ok_or_else(|| self.unreadable("a file has odd digits"))?;
                Ok((id, (hash, bytes)))
            })
            .collect()
    }

    /// The number of bytes of each edition.
    fn sizes(&self) -> Result<BTreeMap<Text, usize>, Error> {
        let sql = "SELECT id, toUInt64(any(length(hex)) / 2) AS size FROM editions GROUP BY id";
        Ok(self.all(sql)?.into_iter().collect())
    }

    /// The editions of periods. One whose file has not arrived yet is left out.
    fn with_files(&self, periods: Vec<Period>, files: &Files) -> Result<Vec<Edition>, Error> {
        let with_file = |period: Period| {
            let file = files.get(&period.edition)?;
            Some((period, file))
        };
        let found = periods.into_iter().filter_map(with_file);
        found
            .map(|(Period { site, edition, source, from, until }, (sha256, bytes))| {
                Ok(Edition {
                    site,
                    id: edition,
                    sha256: sha256.clone(),
                    bytes: bytes.clone(),
                    source,
                    origin_file: OriginFile::Unknown,
                    from: self.time(from)?,
                    until: until.map(|until| self.time(until)).transpose()?,
                })
            })
            .collect()
    }
}

/// The bytes of hexadecimal digits.
fn unhex(digits: &str) -> Option<Bytes> {
    digits.as_bytes().chunks(2).map(hex_octet).collect::<Option<Vec<u8>>>().map(Bytes::from)
}
