//! A document as one HTML file, for mail, a browser and paper.
//!
//! It has no script, and nothing that is loaded. Some mail programs drop style sheets, so whatever
//! matters is in attributes, and few of them: large mails are cut. The colours of text and page are
//! those of the reader. Bars are borders, because printers leave backgrounds out.

use askama::Template;

use super::{
    document::{Cell, Document, spark},
    number::{grouped, percent},
};

#[derive(Template)]
#[template(path = "document.html", config = "src/review/report/askama.toml")]
struct Page<'d> {
    document: &'d Document,
}

pub(crate) fn html(document: &Document) -> String {
    // Writing into a string can't fail.
    Page { document }.render().map(|page| page + "\n").unwrap_or_default()
}

impl Page<'_> {
    fn percent(&self, part: &u64, whole: &u64) -> u64 {
        percent(*part, *whole)
    }

    fn more(&self, rows: &usize) -> String {
        grouped(*rows as u64)
    }
}
