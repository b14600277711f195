//! The periods of a site's editions as a list, without the bytes of large files.

use jiff::Timestamp;
use rusqlite::params;

use super::{connection::Store, values};
use crate::records::record::{EditionPeriod, Error};

impl Store {
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
}
