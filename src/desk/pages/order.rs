//! The orders of the list of violations.
//!
//! The database finds records by their number, which is their time, and by the names in its
//! summaries. So the list is sorted by these columns alone, and a page asks for a few names at most.

use crate::records::{
    record::{Error, Filter, Violation},
    violations::Store,
};

/// The violations on a page.
const PAGE: usize = 100;
/// The most names of which a page asks for the violations.
const MOST_NAMES: usize = 20;
pub(super) const COLUMNS: [&str; 4] = ["time", "site", "action", "crawler"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Order {
    pub(super) column: &'static str,
    pub(super) is_descending: bool,
}

/// The records of a page with their numbers, and where the next page begins: with a name, and behind
/// a record.
pub(super) type Part = (Vec<(u64, Violation)>, Option<(String, Option<u64>)>);

impl Order {
    pub(super) const LATEST: Self = Self { column: "time", is_descending: true };

    /// The order as an address names it; an empty text is the usual one.
    pub(super) fn of(text: &str) -> Option<Self> {
        let column = COLUMNS.into_iter().find(|name| *name == text.trim_start_matches('-'));
        let order = column.map(|column| Self { column, is_descending: text.starts_with('-') });
        order.or_else(|| text.is_empty().then_some(Self::LATEST))
    }

    pub(super) fn name(self) -> String {
        let minus = if self.is_descending { "-" } else { "" };
        if self == Self::LATEST { String::new() } else { format!("{minus}{}", self.column) }
    }

    /// The order that a click on the heading of `column` leads to.
    pub(super) fn after_click(self, column: &'static str) -> Self {
        let is_here = self.column == column;
        Self { column, is_descending: if is_here { !self.is_descending } else { column == "time" } }
    }

    /// A page of the list. `names` are all names of the column; the page begins with `first`.
    pub(super) fn part(
        self,
        store: &Store,
        filter: &Filter,
        mut names: Vec<String>,
        first: &str,
    ) -> Result<Part, Error> {
        let first = first.to_ascii_lowercase();
        names.sort_by_cached_key(|name| name.to_ascii_lowercase());
        if self.is_descending {
            names.reverse();
        }
        let is_before = |name: &String| {
            let name = name.to_ascii_lowercase();
            !first.is_empty() && if self.is_descending { name > first } else { name < first }
        };
        let mut names = names.into_iter().skip_while(is_before);
        let (mut records, mut behind) = (Vec::new(), filter.before_sequence);
        for name in names.by_ref().take(MOST_NAMES) {
            // One more than the page has tells whether there are more.
            let most = PAGE + 1 - records.len();
            let filter = self.of_name(filter, &name, behind.take(), most);
            let mut found = store.query(&filter)?.records;
            if filter.after_sequence.is_none() {
                found.reverse();
            }
            let has_more = found.len() == most;
            found.truncate(most - 1);
            let last = found.last().map(|(number, _)| *number);
            records.extend(found);
            if has_more {
                return Ok((records, Some((name, last))));
            }
        }
        Ok((records, names.next().map(|name| (name, None))))
    }

    /// The filter for the records of one name: the latest ones, unless the oldest come first.
    fn of_name(self, filter: &Filter, name: &str, behind: Option<u64>, most: usize) -> Filter {
        let filter = Filter { limit: Some(most), before_sequence: behind, ..filter.clone() };
        let name = Some(name.to_owned());
        match self.column {
            "site" => Filter { site: name, ..filter },
            "crawler" => Filter { product_token: name, ..filter },
            "action" => Filter { action: name, ..filter },
            _ if self.is_descending => filter,
            _ => {
                let after_sequence = Some(behind.unwrap_or(0));
                Filter { after_sequence, before_sequence: None, ..filter }
            }
        }
    }
}
