//! A section of a report as a part of a page.

use askama::Template;

use super::chart::{bar, trend};
use crate::review::report::{Cell, Section, number::grouped};

#[derive(Template)]
#[template(path = "sheet.html", config = "src/desk/pages/askama.toml")]
struct Sheet<'s> {
    section: &'s Section,
    has_headings: bool,
    /// The link of the first cell of each row, if it has one.
    links: &'s [String],
}

/// The table and the remarks of a section as HTML, without its heading.
pub(super) fn sheet(section: &Section) -> String {
    linked_sheet(section, &[])
}

/// The same; the first cell of each row is a link.
pub(super) fn linked_sheet(section: &Section, links: &[String]) -> String {
    let has_headings = section.table.columns.iter().any(|column| !column.heading.is_empty());
    match (Sheet { section, has_headings, links }).render() {
        Ok(html) => html,
        Err(error) => {
            tracing::error!(%error, "section not written");
            String::new()
        }
    }
}

impl Sheet<'_> {
    /// The name in a cell without its indent, and whether it has one: it belongs to the one above.
    fn name<'t>(&self, text: &'t str) -> (&'t str, bool) {
        let name = text.trim_start();
        (name, name.len() < text.len())
    }

    fn link(&self, row: &usize) -> Option<&String> {
        self.links.get(*row)
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
