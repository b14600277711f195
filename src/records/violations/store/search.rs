//! The way through the records that a filter may list: by their summaries, and where one is missing,
//! record by record.

use rusqlite::Row;

use super::{blocks::LARGE, connection::Store, values};
use crate::records::record::{
    Filter,
    block::{self, Chosen, Search},
};

const BLOCKS: &str = "SELECT first, last, records, earliest, latest, has_gaps FROM record_blocks \
    WHERE first BETWEEN ? AND ? AND last >= ? AND is_readable ORDER BY first";
const NAMES: &str = "SELECT names FROM record_blocks WHERE first = ?";
const NAMES_OF: &str = "SELECT names_of FROM record_blocks WHERE first = ?";
const PATHS: &str = "SELECT paths FROM record_block_paths WHERE first = ?";
const PATHS_OF: &str = "SELECT paths_of FROM record_block_paths WHERE first = ?";

/// A range of sequence numbers, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) first: i64,
    pub(super) last: i64,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    range: Range,
    /// The summary of its records; `None` where one is missing.
    block: Option<Block>,
}

/// The records of a span that a filter may list.
#[derive(Debug)]
pub(super) struct Candidates {
    pub(super) ranges: Vec<Range>,
    /// The number of records that the filter lists, if the summary tells it.
    pub(super) count: Option<u64>,
}

/// The summary of a block, but for its names and paths.
#[derive(Clone, Copy, Debug)]
struct Block {
    whole: Range,
    records: u64,
    earliest: i64,
    latest: i64,
    has_gaps: bool,
}

/// The conditions of a filter on the way through the records.
#[derive(Debug)]
pub(super) struct Way<'a> {
    search: Search<'a>,
    /// The times in milliseconds.
    since: Option<i64>,
    until: Option<i64>,
}

impl Range {
    /// The sequence numbers that the filter leaves.
    pub(super) fn of(filter: &Filter) -> Self {
        let number = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        Self {
            first: filter.after_sequence.map_or(i64::MIN, |after| number(after).saturating_add(1)),
            last: filter.before_sequence.map_or(i64::MAX, |before| number(before) - 1),
        }
    }

    const fn is_empty(self) -> bool {
        self.last < self.first
    }

    pub(super) const fn length(self) -> u64 {
        if self.is_empty() { 0 } else { self.last.abs_diff(self.first).saturating_add(1) }
    }

    fn part(self, other: Self) -> Self {
        Self { first: self.first.max(other.first), last: self.last.min(other.last) }
    }

    /// The ranges of these places, ascending, of those from `first` on; as far as they are within.
    fn of_places(self, first: i64, places: &[usize]) -> Vec<Self> {
        let mut ranges: Vec<Self> = Vec::new();
        for place in places {
            let at = first + *place as i64;
            match ranges.last_mut() {
                _ if at < self.first || at > self.last => {}
                Some(before) if before.last + 1 == at => before.last = at,
                _ => ranges.push(Self { first: at, last: at }),
            }
        }
        ranges
    }
}

impl Block {
    fn of(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            whole: Range { first: row.get(0)?, last: row.get(1)? },
            records: values::count(row, 2)?,
            earliest: row.get(3)?,
            latest: row.get(4)?,
            has_gaps: row.get(5)?,
        })
    }
}

impl<'a> Way<'a> {
    pub(super) fn of(filter: &'a Filter) -> Self {
        let [since, until] = filter.milliseconds();
        Self { search: Search::of(filter), since, until }
    }

    /// Whether no record of the block has such a time.
    fn is_beside(&self, block: &Block) -> bool {
        self.since.is_some_and(|since| block.latest < since)
            || self.until.is_some_and(|until| until <= block.earliest)
    }

    /// Whether all records of the block have such a time.
    fn is_around(&self, block: &Block) -> bool {
        self.since.is_none_or(|since| since <= block.earliest)
            && self.until.is_none_or(|until| block.latest < until)
    }
}

impl Store {
    /// The records within, ascending: blocks with a summary, and ranges without one.
    pub(super) fn spans(&self, within: Range) -> rusqlite::Result<Vec<Span>> {
        let (mut spans, mut rest) = (Vec::new(), within);
        let least = within.first.saturating_sub(LARGE - 1);
        let mut statement = self.connection.prepare_cached(BLOCKS)?;
        let mut rows = statement.query([least, within.last, within.first])?;
        while let Some(row) = rows.next()? {
            let block = Block::of(row)?;
            let range = block.whole.part(rest);
            if range.is_empty() {
                continue;
            }
            if range.first > rest.first {
                let gap = Range { first: rest.first, last: range.first - 1 };
                spans.push(Span { range: gap, block: None });
            }
            spans.push(Span { range, block: Some(block) });
            rest.first = range.last.saturating_add(1);
        }
        if !rest.is_empty() {
            spans.push(Span { range: rest, block: None });
        }
        Ok(spans)
    }

    pub(super) fn candidates(&self, way: &Way<'_>, span: Span) -> rusqlite::Result<Candidates> {
        let Span { range, block } = span;
        let any = |count| Ok(Candidates { ranges: vec![range], count });
        let none = || Ok(Candidates { ranges: Vec::new(), count: Some(0) });
        let Some(block) = block else { return any(None) };
        if way.is_beside(&block) {
            return none();
        }
        let is_exact = way.is_around(&block) && !block.has_gaps && way.search.is_exact();
        let first = block.whole.first;
        let mut paths = None;
        let names = match self.part(NAMES, first, |packed| way.search.names(packed))? {
            None => return any(None),
            Some(chosen) if chosen.is_empty => return none(),
            chosen => chosen.filter(|chosen| !chosen.is_all),
        };
        if way.search.path.is_some() {
            paths = self.part(PATHS, first, |packed| way.search.paths(packed))?;
            match &paths {
                None => return any(None),
                Some(chosen) if chosen.is_empty => return none(),
                Some(_) => {}
            }
        }
        if names.is_none() && paths.is_none() {
            return any((is_exact && range == block.whole).then_some(block.records));
        }
        let Some(places) = self.places_of(first, names, paths)? else { return any(None) };
        let ranges = range.of_places(first, &places);
        let count = ranges.iter().map(|range| range.length()).sum();
        Ok(Candidates { ranges, count: is_exact.then_some(count) })
    }

    fn places_of(
        &self,
        first: i64,
        names: Option<Chosen>,
        paths: Option<Chosen>,
    ) -> rusqlite::Result<Option<Vec<usize>>> {
        let of_names = |with: Option<(&Chosen, &[u8])>| match &names {
            Some(chosen) => self.part(NAMES_OF, first, |packed| {
                Some(block::positions(Some((chosen, packed)), with))
            }),
            None => Ok(Some(block::positions(None, with))),
        };
        match &paths {
            Some(chosen) => {
                let found =
                    self.part(PATHS_OF, first, |packed| Some(of_names(Some((chosen, packed)))))?;
                found.unwrap_or(Ok(None))
            }
            None => of_names(None),
        }
    }

    /// Reads a part of a summary; `None` if it is not there or cannot be read.
    fn part<T>(
        &self,
        sql: &str,
        first: i64,
        read: impl FnOnce(&[u8]) -> Option<T>,
    ) -> rusqlite::Result<Option<T>> {
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query([first])?;
        let Some(row) = rows.next()? else { return Ok(None) };
        Ok(row.get_ref(0)?.as_blob_or_null().ok().flatten().and_then(read))
    }
}
