//! An edition of a site's robots.txt as JSON.

use jiff::Timestamp;
use serde::Serialize;

use crate::{formats::robots, records::record::Edition};

/// An edition that was published, with its period in force.
#[derive(Debug, Serialize)]
pub(crate) struct EditionRow {
    pub(crate) site: String,
    pub(crate) edition: String,
    pub(crate) sha256: String,
    /// Whose rules they are.
    pub(crate) source: String,
    pub(crate) from: String,
    /// Its end; `None` while it is in force.
    pub(crate) until: Option<String>,
    pub(crate) bytes: usize,
    pub(crate) rules: usize,
}

impl EditionRow {
    pub(crate) fn of(edition: &Edition) -> Self {
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
