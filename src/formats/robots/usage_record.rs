//! The records of a group that state preferences about use (draft-ietf-aipref-attach §3).
//!
//! Of the records that match a path those with the longest path decide, counted as for rules. A
//! record without a path matches every path with length 0, so `/` is longer. Several records of the
//! same length all count, and the stricter preference wins for each category. `Content-Usage` and
//! `Content-Signal` never replace each other.
//!
//! In the draft a `Content-Usage` line is a rule, so a user-agent line after it begins a new group.
//! Here it begins none, as for crawlers that know RFC 9309 alone: what they may fetch stays the same.

use super::{other_record::Record, pattern::Pattern};
use crate::formats::usage::{Carrier, Category, Statement, split_path};

/// A record of a group that states preferences.
#[derive(Clone, Debug)]
pub struct UsageRecord {
    /// The form of the record.
    pub carrier: Carrier,
    /// What it states for the paths that it matches.
    pub statement: Statement,
    /// The record as written, with its line.
    pub record: Record,
    /// `None` matches every path.
    pattern: Option<Pattern>,
}

/// What records of one carrier state about a path.
#[derive(Clone, Debug, Default)]
pub struct Usage<'m> {
    /// What they state together.
    pub statement: Statement,
    /// The records with the longest path, in the order of the file.
    pub records: Vec<&'m UsageRecord>,
}

impl UsageRecord {
    /// The preferences that `record` states, if it is of that kind.
    pub fn of(record: &Record) -> Option<Self> {
        let carrier = Carrier::named(&record.name)?;
        let (path, statement) = split_path(&record.value);
        Some(Self {
            carrier,
            statement: carrier.read(statement.as_bytes()),
            record: record.clone(),
            pattern: path.map(|path| Pattern::compile(path.as_bytes())),
        })
    }

    fn matches(&self, path: &[u8]) -> bool {
        self.pattern.as_ref().is_none_or(|pattern| pattern.matches(path))
    }

    fn specificity(&self) -> u32 {
        self.pattern.as_ref().map_or(0, Pattern::specificity)
    }
}

impl<'m> Usage<'m> {
    /// What the longest of `all` state about a path in normal form.
    pub(super) fn about(all: impl Iterator<Item = &'m UsageRecord>, path: &[u8]) -> Self {
        let mut records: Vec<_> = all.filter(|one| one.matches(path)).collect();
        let longest = records.iter().map(|one| one.specificity()).max();
        records.retain(|one| Some(one.specificity()) == longest);
        records.sort_by_key(|one| one.record.line);
        let together = |so_far: Statement, one: &&UsageRecord| so_far.combine(one.statement);
        Self { statement: records.iter().fold(Statement::default(), together), records }
    }

    /// The first record that states what counts for a category.
    pub fn decider(&self, category: Category) -> Option<&'m Record> {
        let said = self.statement.get(category)?;
        let decides = |one: &&&UsageRecord| one.statement.get(category) == Some(said);
        self.records.iter().find(decides).map(|one| &one.record)
    }
}
