//! What crawlers did in a span of time, against the span before.

use std::{io::Write, path::Path};

use jiff::Timestamp;

use super::{evidence::save, format::Format, lookup};
use crate::{
    program::console::{ConfigFile, Error, Exit, Screen, load_with_database},
    review::report::{
        self, Span, html, markdown,
        review::{Answers, Review, document, json_lines},
        text,
    },
};

/// The most rows of a table: on a terminal, and in a file for mail and print.
const MOST_ROWS: (usize, usize) = (10, 20);

/// The options of a review.
pub(super) struct Options<'a> {
    pub(super) config: &'a ConfigFile,
    pub(super) since: &'a str,
    pub(super) until: Option<&'a str>,
    pub(super) site: Option<&'a str>,
    /// The file; `None` and `-` are standard output.
    pub(super) output: Option<&'a Path>,
    /// Whether an existing file is overwritten.
    pub(super) force: bool,
    pub(super) format: Format,
}

/// Writes the review.
pub(super) fn write(options: &Options<'_>, out: &mut dyn Write) -> Result<Exit, Error> {
    let policy = load_with_database(options.config)?;
    let now = Timestamp::now();
    let (since, until) = lookup::span(options.since, options.until, now)?;
    let store = lookup::database(&policy)?;
    let site = options.site.map(|host| lookup::site(&policy, &store, host)).transpose()?;
    let answers = Answers::of(&store, Span::new(since, until, now), site)?;
    let review = Review::of(&answers, &policy.catalogue);
    let file = options.output.filter(|file| file.as_os_str() != "-");
    let written = match options.format {
        Format::Json => json_lines(&review),
        Format::Text => text(&document(&review, MOST_ROWS.0), screen(file)),
        Format::Markdown => markdown(&document(&review, MOST_ROWS.1)),
        Format::Html => html(&document(&review, MOST_ROWS.1)),
    };
    match file {
        Some(file) => save(file, written.as_bytes(), options.force)?,
        None => out.write_all(written.as_bytes())?,
    }
    Ok(Exit::Fine)
}

/// The screen of a document: the terminal, unless it goes into a file.
pub(in crate::program::cli) fn screen(file: Option<&Path>) -> report::Screen {
    let screen = Screen::of_standard_output();
    let to_terminal = file.is_none();
    report::Screen {
        width: screen.width.filter(|_| to_terminal).unwrap_or(report::UNCUT),
        has_colours: screen.has_colours && to_terminal,
    }
}
