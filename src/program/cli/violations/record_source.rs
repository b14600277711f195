//! The place to read records from: the database with its counts by hour, or the JSON lines.

use std::{ops::ControlFlow, path::PathBuf};

use jiff::Timestamp;

use crate::{
    program::console::{Error, database, refuse},
    records::{
        counts::{Counted, Question},
        record::{self, Filter, Listing, NameFound, NameKind},
        violations::{
            Store,
            jsonl::{self, Line},
        },
    },
    review::report::terms::{Recorded, counted_spellings},
    rules::policy::{Log, Policy},
};

pub(super) enum Source {
    Database(Store),
    Lines(PathBuf),
}

impl Source {
    pub(super) fn of(policy: &Policy) -> Result<Self, Error> {
        match (database::location(policy)?, &policy.violations.log) {
            (Some(location), _) => Ok(Self::Database(database::open(&location)?)),
            (None, Some(Log::File(file))) => Ok(Self::Lines(file.clone())),
            (None, Some(Log::Stdout)) => refuse(
                "the records go to standard output and can't be read back (set \
                 violations.database, or a file as violations.log)",
            ),
            (None, None) => refuse("the policy keeps no records (set violations.database)"),
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
            Self::Database(store) => unrecorded_by_hour(store, filter),
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

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Unrecorded {
    /// Beyond the number that is recorded in detail.
    pub(super) folded: u64,
    /// Found no room.
    pub(super) dropped: u64,
}

impl Unrecorded {
    pub(super) const fn sum(self) -> u64 {
        self.folded + self.dropped
    }
}

/// The violations without a record in the hours of the span.
fn unrecorded_by_hour(store: &Store, filter: &Filter) -> Result<Unrecorded, Error> {
    let mut sum = Unrecorded::default();
    if filter.reason.is_some() {
        // They are counted without their reasons.
        return Ok(sum);
    }
    for question in questions(filter) {
        for Counted { key, folded, dropped, .. } in store.unrecorded(&question)? {
            if key.first().is_some_and(|action| is_wanted(filter, action)) {
                sum.folded += folded;
                sum.dropped += dropped;
            }
        }
    }
    Ok(sum)
}

pub(super) fn is_wanted(filter: &Filter, action: &str) -> bool {
    filter.action.as_ref().is_none_or(|wanted| wanted.eq_ignore_ascii_case(action))
}

pub(super) fn questions(filter: &Filter) -> Vec<Question> {
    let question = |product_token| Question {
        since: filter.since.unwrap_or(Timestamp::MIN),
        until: filter.until.unwrap_or(Timestamp::MAX),
        site: filter.site.clone(),
        product_token,
        purpose: filter.purpose.clone(),
        claimant: filter.claimant,
        ..Question::default()
    };
    counted_spellings(filter.product_token.clone()).into_iter().map(question).collect()
}
