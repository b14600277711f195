//! `editions.json`: the editions that count, with their times in force.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{
    file,
    manifest::{Leap, Settings, start},
};
use crate::{
    records::record::{Edition, Violation, time},
    rules::enforce::Stay,
};

/// One time in force of an edition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Row {
    /// The site for whose requests it counts.
    pub(super) site: String,
    pub(super) edition: String,
    pub(super) sha256: String,
    pub(super) file: String,
    /// The source of the rules: `policy`, `origin` or `merge`.
    pub(super) source: String,
    #[serde(with = "time::required")]
    pub(super) from: Timestamp,
    #[serde(with = "time::optional")]
    pub(super) until: Option<Timestamp>,
    /// The site that published it, if that was another one, which had the hosts of this site.
    pub(super) published_by: Option<String>,
}

impl Row {
    fn of(edition: &Edition, site: &str) -> Self {
        Self {
            site: site.to_owned(),
            edition: edition.id.to_string(),
            sha256: edition.sha256.to_string(),
            file: file::of_edition(site, &edition.id),
            source: edition.source.to_string(),
            from: edition.from,
            until: edition.until,
            published_by: None,
        }
    }

    /// Whether it was in force at some time after `start`, up to `end`.
    pub(super) fn is_within(&self, start: Timestamp, end: Timestamp) -> bool {
        self.from <= end && self.until.is_none_or(|until| until > start)
    }

    /// The part of the time that lies in another one.
    fn clipped(mut self, from: Timestamp, until: Timestamp) -> Option<Self> {
        self.from = self.from.max(from);
        self.until = Some(self.until.map_or(until, |end| end.min(until)));
        (self.until > Some(self.from)).then_some(self)
    }
}

/// The editions of one site.
pub(super) struct History<'a> {
    rows: Vec<Row>,
    bytes: BTreeMap<&'a str, &'a Edition>,
}

impl<'a> History<'a> {
    /// The whole history of a site: its own editions, and those of sites that had its hosts.
    pub(super) fn of(site: &str, inherited: &[Stay<'_>], editions: &'a [Edition]) -> Self {
        let of_site = |name: &str| {
            let name = name.to_owned();
            editions.iter().filter(move |one| one.site.eq_ignore_ascii_case(&name))
        };
        let own = of_site(site).map(|edition| Row::of(edition, site));
        let inherited = inherited.iter().flat_map(|stay| {
            of_site(stay.site).filter_map(|edition| {
                let row = Row::of(edition, site).clipped(stay.from, stay.until)?;
                Some(Row { published_by: Some(stay.site.to_owned()), ..row })
            })
        });
        let mut rows: Vec<Row> = own.chain(inherited).collect();
        rows.sort_by(|a, b| (a.from, &a.edition).cmp(&(b.from, &b.edition)));
        rows.dedup();
        Self { rows, bytes: editions.iter().map(|one| (one.id.as_str(), one)).collect() }
    }

    /// The rows that count for these records: those in force in the window before any of them, and
    /// those that a record names. The second value has the named editions that are not kept.
    pub(super) fn concerned(
        &self,
        settings: Option<&Settings>,
        leaps: &[Leap],
        records: &[&Violation],
    ) -> (Vec<Row>, BTreeSet<String>) {
        let window = |at| settings.map_or(at, |one| start(at, one.window(), leaps));
        let mut times: Vec<_> = records.iter().map(|one| (window(one.time), one.time)).collect();
        times.sort_unstable();
        // Windows that touch become one, so that many records need few comparisons.
        let mut spans: Vec<(Timestamp, Timestamp)> = Vec::new();
        for (start, end) in times {
            match spans.last_mut() {
                Some(last) if start <= last.1 => last.1 = last.1.max(end),
                _ => spans.push((start, end)),
            }
        }
        let named: BTreeSet<&str> = records.iter().flat_map(|record| named(record)).collect();
        let is_concerned = |row: &&Row| {
            named.contains(row.edition.as_str())
                || spans.iter().any(|(start, end)| row.is_within(*start, *end))
        };
        let rows: Vec<Row> = self.rows.iter().filter(is_concerned).cloned().collect();
        let is_missing = |id: &&str| !rows.iter().any(|row| row.edition == **id);
        let missing = named.iter().copied().filter(is_missing).map(str::to_owned).collect();
        (rows, missing)
    }

    pub(super) fn bytes(&self, edition: &str) -> Option<&'a [u8]> {
        self.bytes.get(edition).map(|edition| edition.bytes.as_ref())
    }
}

fn named(record: &Violation) -> impl Iterator<Item = &str> {
    let read = record.robots_read.edition.as_deref();
    let broken = record.robots.edition.as_str();
    [Some(broken), read].into_iter().flatten().filter(|id| !id.is_empty())
}
