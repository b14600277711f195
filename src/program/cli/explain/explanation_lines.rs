//! The lines of an explanation, printed.

use std::io::Write;

use crate::{program::console::Error, review::explanation::Line};

pub(super) fn print(out: &mut dyn Write, lines: &[Line]) -> Result<(), Error> {
    Ok(lines.iter().try_for_each(|line| writeln!(out, "{line}"))?)
}

/// Prints one line.
pub(super) fn line(out: &mut dyn Write, label: &'static str, value: &str) -> Result<(), Error> {
    print(out, &[Line::new(label, value)])
}
