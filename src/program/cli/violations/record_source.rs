//! The place to read records from: the database, or the JSON lines.

use std::{ops::ControlFlow, path::PathBuf};

use super::hours::{self, Unrecorded};
use crate::{
    program::console::{Error, database},
    records::{
        record::{self, Filter, Listing, NameFound, NameKind},
        violations::{
            Store,
            jsonl::{self, Line},
        },
    },
    review::report::terms::Recorded,
    rules::policy::{Log, Policy},
};

/// The place to read records from.
pub(super) enum Source {
    Database(Store),
    Lines(PathBuf),
}

impl Source {
    pub(super) fn of(policy: &Policy) -> Result<Self, Error> {
        match (database::location(policy)?, &policy.violations.log) {
            (Some(location), _) => Ok(Self::Database(database::open(&location)?)),
            (None, Some(Log::File(file))) => Ok(Self::Lines(file.clone())),
            (None, Some(Log::Stdout)) => Err(Error::Refused(
                "the records go to standard output and can't be read back (set \
                 violations.database, or a file as violations.log)"
                    .to_owned(),
            )),
            (None, None) => Err(Error::Refused(
                "the policy keeps no records (set violations.database)".to_owned(),
            )),
        }
    }

    /// The records that the filter lists, with the number of those beyond its limit.
    pub(super) fn list(&self, filter: &Filter) -> Result<Listing, Error> {
        match self {
            Self::Database(store) => {
                let mut listing = store.query(filter)?;
                let found = listing.records.len() as u64;
                // Below the limit there are no more; who reads on sees all.
                let is_last = filter.after_sequence.is_none();
                if is_last && filter.limit.is_some_and(|limit| found >= limit as u64) {
                    let all = store.count_records(filter)?;
                    listing.more = all.saturating_sub(found + listing.unreadable);
                }
                Ok(listing)
            }
            Self::Lines(file) => Ok(jsonl::read(file, filter)?),
        }
    }

    /// The database, which also has counts by hour.
    pub(super) const fn hours(&self) -> Option<&Store> {
        match self {
            Self::Database(store) => Some(store),
            Self::Lines(_) => None,
        }
    }

    /// The bytes of an edition; a log has none.
    pub(super) fn edition(&self, id: &str) -> Result<Option<Vec<u8>>, Error> {
        let Some(store) = self.hours() else { return Ok(None) };
        let edition = store.editions_by_id(id, None)?.into_iter().next();
        Ok(edition.map(|edition| edition.bytes.to_vec()))
    }

    /// The violations that meet the conditions and have no record, on any path: a database counts
    /// them by hour, a log in lines of their own.
    pub(super) fn unrecorded(&self, filter: &Filter) -> Result<Unrecorded, Error> {
        match self {
            _ if filter.id.is_some() => Ok(Unrecorded::default()),
            Self::Database(store) => hours::unrecorded(store, filter),
            Self::Lines(file) => {
                let mut dropped = 0;
                jsonl::scan(file, None, |_, line| {
                    match line {
                        Line::Overflow(one) if filter.covers(&one) => dropped += one.count,
                        Line::Record(_) | Line::Overflow(_) => {}
                    }
                    ControlFlow::Continue(())
                })?;
                Ok(Unrecorded { folded: 0, dropped })
            }
        }
    }
}

impl Recorded for Source {
    fn find_name(&self, kind: NameKind, name: &str) -> Result<NameFound, record::Error> {
        match self {
            Self::Database(store) => store.find_name(kind, name),
            Self::Lines(file) => jsonl::find_name(file, kind, name),
        }
    }

    fn published_files(&self) -> Result<Vec<Vec<u8>>, record::Error> {
        self.hours().map_or_else(|| Ok(Vec::new()), Recorded::published_files)
    }
}
