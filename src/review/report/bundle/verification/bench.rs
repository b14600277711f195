//! The files of a bundle, ready to judge by.

use std::collections::BTreeMap;

use crate::{
    formats::robots::{Matcher, Scope},
    records::record::Fetch,
    review::report::bundle::{
        history::Row,
        manifest::{Manifest, Settings},
    },
    rules::enforce::{Edition, first_group},
};

/// The files of a bundle, ready to judge by.
pub(super) struct Bench<'a> {
    pub(super) manifest: &'a Manifest,
    /// The times in force by site, in lower case.
    rows: BTreeMap<String, Vec<&'a Row>>,
    /// The editions by file; each is compiled when it is first needed.
    editions: BTreeMap<&'a str, Edition>,
    fetches: &'a [Fetch],
}

impl<'a> Bench<'a> {
    pub(super) fn new(
        manifest: &'a Manifest,
        rows: &'a [Row],
        fetches: &'a [Fetch],
        files: &BTreeMap<String, Vec<u8>>,
    ) -> Self {
        let mut by_site: BTreeMap<String, Vec<&Row>> = BTreeMap::new();
        let mut editions = BTreeMap::new();
        for row in rows {
            by_site.entry(row.site.to_ascii_lowercase()).or_default().push(row);
            if let Some(bytes) = files.get(&row.file) {
                let edition = || Edition::of_bytes(bytes.clone().into());
                editions.entry(row.file.as_str()).or_insert_with(edition);
            }
        }
        Self { manifest, rows: by_site, editions, fetches }
    }

    /// The times in force of editions that count for a site.
    pub(super) fn rows(&self, site: &str) -> impl Iterator<Item = &'a Row> {
        let rows = self.rows.get(&site.to_ascii_lowercase()).map(Vec::as_slice);
        rows.unwrap_or_default().iter().copied()
    }

    pub(super) fn edition_of(&self, row: &Row) -> Option<&Edition> {
        self.editions.get(row.file.as_str())
    }

    pub(super) fn edition(&self, site: &str, id: &str) -> Option<&Edition> {
        self.rows(site).find(|row| row.edition == id).and_then(|row| self.edition_of(row))
    }

    /// The crawler's fetches of a site's robots.txt.
    pub(super) fn fetches(&self, site: &str) -> impl Iterator<Item = &'a Fetch> {
        let is_name =
            |row: &Fetch| self.names().any(|name| name.eq_ignore_ascii_case(&row.product_token));
        let is_site = move |row: &Fetch| row.site.eq_ignore_ascii_case(site);
        self.fetches.iter().filter(move |row| is_site(row) && is_name(row))
    }

    /// The names of groups that the crawler looks for.
    pub(super) fn names(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.manifest.group_names.iter().map(String::as_str)
    }

    /// The group that the crawler obeys.
    pub(super) fn group(&self, matcher: &Matcher, settings: &Settings) -> Option<Scope> {
        first_group(matcher, self.names(), || settings.is_bound_by_star)
    }
}
