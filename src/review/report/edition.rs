//! An edition of a site's robots.txt as JSON.

use jiff::Timestamp;
use serde::Serialize;

use crate::{formats::robots, records::record::Edition};

/// An edition that was published, with its period in force.
#[derive(Debug, Serialize)]
pub struct EditionRow {
    /// The site.
    pub site: String,
    /// The id.
    pub edition: String,
    /// The hash of the bytes.
    pub sha256: String,
    /// Whose rules they are.
    pub source: String,
    /// The start of the period.
    pub from: String,
    /// Its end; `None` while it is in force.
    pub until: Option<String>,
    /// The number of bytes.
    pub bytes: usize,
    /// The number of rules.
    pub rules: usize,
}

impl EditionRow {
    /// The row of an edition of the database.
    pub fn of(edition: &Edition) -> Self {
        let time = |at: Timestamp| format!("{at:.0}");
        Self {
            site: edition.site.to_string(),
            edition: edition.id.to_string(),
            sha256: edition.sha256.to_string(),
            source: edition.source.to_string(),
            from: time(edition.from),
            until: edition.until.map(time),
            bytes: edition.bytes.len(),
            rules: robots::parse(&edition.bytes).0.rule_count(),
        }
    }
}
