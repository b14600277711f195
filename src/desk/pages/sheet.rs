//! Parts of a page: a section of a report, and facts with their names.

use crate::review::report::{Cell, Section, Table, number::grouped};

pub(super) struct Part {
    pub(super) section: Section,
    /// The link of the first cell of each row; empty or missing for none.
    pub(super) links: Vec<String>,
}

impl Part {
    pub(super) fn of(section: Section) -> Self {
        Self { section, links: Vec::new() }
    }

    /// A table of the first rows, each with its link; `none` is said if there are none.
    pub(super) fn of_rows<const N: usize>(
        heading: &str,
        headings: [&'static str; N],
        most: usize,
        rows: impl ExactSizeIterator<Item = (String, [Cell; N])>,
        none: &str,
    ) -> Self {
        let more = rows.len().saturating_sub(most);
        // Only those that are shown get their texts.
        let (links, rows): (Vec<String>, Vec<_>) = rows.take(most).unzip();
        let table = Table { more, ..Table::new(headings, most, rows) };
        let section = Section::new(heading, table);
        let section = if links.is_empty() { section.remark(none) } else { section };
        Self { section, links }
    }

    pub(super) fn has_headings(&self) -> bool {
        self.section.table.headings.iter().any(|heading| !heading.is_empty())
    }

    /// The name in a cell without its indent, and whether it has one: it belongs to the one above.
    pub(super) fn name<'t>(&self, text: &'t str) -> (&'t str, bool) {
        let name = text.trim_start();
        (name, name.len() < text.len())
    }

    pub(super) fn link(&self, row: &usize) -> Option<&String> {
        self.links.get(*row).filter(|link| !link.is_empty())
    }

    pub(super) fn more(&self) -> String {
        grouped(self.section.table.more as u64)
    }
}

pub(super) struct Group {
    pub(super) name: String,
    pub(super) facts: Vec<Fact>,
}

/// A fact: one value, or several lines of them.
pub(super) struct Fact {
    pub(super) name: String,
    pub(super) values: Vec<String>,
    /// How it looks; empty for plain text.
    pub(super) class: &'static str,
    /// Where it leads; empty for nowhere.
    pub(super) link: String,
}

pub(super) fn group(name: impl Into<String>, facts: Vec<Fact>) -> Group {
    Group { name: name.into(), facts }
}

pub(super) fn fact(name: impl Into<String>, value: impl Into<String>) -> Fact {
    Fact { name: name.into(), values: vec![value.into()], class: "", link: String::new() }
}
