//! The output of a verb: text or JSON lines, and files.

use std::{
    fs::OpenOptions,
    io::{self, Write},
    path::Path,
};

use crate::{base::escape, program::console::exit::Error};

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

/// Writes a new file. A file that is there is replaced only if `replaces` says so.
pub(crate) fn write_file(file: &Path, bytes: &[u8], replaces: bool) -> Result<(), Error> {
    let mut options = OpenOptions::new();
    options.write(true);
    match replaces {
        true => options.create(true).truncate(true),
        false => options.create_new(true),
    };
    let written = options.open(file).and_then(|mut file| file.write_all(bytes));
    written.map_err(|error| {
        let hint = match error.kind() {
            io::ErrorKind::AlreadyExists => " (name another file, or replace it with --force)",
            _ => "",
        };
        Error::Refused(format!("{}: {error}{hint}", escape::path(file)))
    })
}
