//! The editions that nodes published, with their periods in the fleet.

use std::collections::BTreeMap;

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
    records::record::{Edition, EditionFiles, Error},
};

impl Reader {
    /// The editions of a site, or of all sites, in force at `since` or later, without their files. Later
    /// periods come behind those that are there, so a place stays the same.
    pub(crate) fn periods(
        &self,
        site: Option<&str>,
        since: Option<Timestamp>,
    ) -> Result<Vec<(i64, Edition)>, Error> {
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
        let edition = |(place, period): (i64, Period)| {
            let Period { site, edition, source, from, until } = period;
            let edition = Edition {
                site,
                id: edition,
                sha256: Text::default(),
                bytes: Bytes::new(),
                source,
                origin_file: OriginFile::Unknown,
                from: self.time(from)?,
                until: until.map(|until| self.time(until)).transpose()?,
            };
            Ok((place, edition))
        };
        (0..).zip(periods).map(edition).collect()
    }

    /// The files of editions whose hash begins with this.
    pub(crate) fn files_by_hash(&self, prefix: &str) -> Result<EditionFiles, Error> {
        self.files(&format!("startsWith(sha256, {})", text(prefix)))
    }

    /// The files of these editions, as far as they have arrived.
    pub(crate) fn files_of(&self, ids: &[&Text]) -> Result<EditionFiles, Error> {
        let ids = ids.iter().map(|id| text(id)).collect::<Vec<_>>().join(", ");
        self.files(&format!("id IN ({ids})"))
    }

    fn files(&self, condition: &str) -> Result<EditionFiles, Error> {
        let files = self.all::<(Text, Text, String)>(&format!(
            "SELECT id, any(sha256) AS hash, any(hex) AS digits FROM editions \
             WHERE {condition} GROUP BY id ORDER BY id"
        ))?;
        let file = |(id, hash, digits): (_, _, String)| {
            let bytes = unhex(&digits).ok_or_else(|| self.unreadable("a file has odd digits"))?;
            Ok((id, (hash, bytes)))
        };
        files.into_iter().map(file).collect()
    }

    pub(crate) fn sizes(&self) -> Result<BTreeMap<Text, usize>, Error> {
        let sql = "SELECT id, toUInt64(any(length(hex)) / 2) AS size FROM editions GROUP BY id";
        Ok(self.all(sql)?.into_iter().collect())
    }
}

fn unhex(digits: &str) -> Option<Bytes> {
    digits.as_bytes().chunks(2).map(hex_octet).collect::<Option<Vec<u8>>>().map(Bytes::from)
}
