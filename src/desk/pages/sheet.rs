//! A section of a report as a part of a page.

use askama::Template;

use super::chart::{bar, trend};
use crate::review::report::{Cell, Section, Table, number::grouped};

/// A section as a part of a page.
pub(super) struct Part {
    pub(super) heading: String,
    pub(super) html: String,
}

#[derive(Template)]
#[template(path = "sheet.html", config = "src/desk/pages/askama.toml")]
struct Sheet<'s> {
    section: &'s Section,
    has_headings: bool,
    /// The link of the first cell of each row; empty for none.
    links: &'s [String],
}

impl Part {
    /// A section with a link of the first cell of each row. Rows without a link have an empty one or none.
    pub(super) fn of(section: Section, links: &[String]) -> Self {
        let has_headings = section.table.headings.iter().any(|heading| !heading.is_empty());
        let sheet = Sheet { section: &section, has_headings, links };
        let html = sheet.render().unwrap_or_else(|error| {
            tracing::error!(%error, "section not written");
            String::new()
        });
        Self { heading: section.heading, html }
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
        Self::of(if links.is_empty() { section.remark(none) } else { section }, &links)
    }
}

impl Sheet<'_> {
    /// The name in a cell without its indent, and whether it has one: it belongs to the one above.
    fn name<'t>(&self, text: &'t str) -> (&'t str, bool) {
        let name = text.trim_start();
        (name, name.len() < text.len())
    }

    fn link(&self, row: &usize) -> Option<&String> {
        self.links.get(*row).filter(|link| !link.is_empty())
    }

    fn bar(&self, part: &u64, whole: &u64) -> String {
        bar(*part, *whole)
    }

    fn trend(&self, numbers: &[u64]) -> String {
        trend(numbers)
    }

    fn more(&self) -> String {
        grouped(self.section.table.more as u64)
    }
}
