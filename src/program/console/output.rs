//! The output format of a verb: text or JSON lines.

use std::io::{self, Write};

use crate::program::console::exit::Error;

/// The output format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// Text for people.
    #[default]
    Text,
    /// One JSON object per line.
    Json,
}

/// Prints a remark on standard error; standard output has only results.
pub(crate) fn remark(sentence: &str) {
    // A failed write to standard error cannot be reported anywhere.
    let _ = writeln!(io::stderr(), "beadle: {sentence}");
}

pub(crate) fn json(out: &mut dyn Write, value: &impl serde::Serialize) -> Result<(), Error> {
    let line = serde_json::to_string(value).map_err(io::Error::other)?;
    Ok(writeln!(out, "{line}")?)
}
