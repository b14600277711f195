//! A file that a verb writes.

use std::{fs::OpenOptions, io::Write, path::Path};

use crate::{base::escape, program::console::exit::Error};

/// Writes a new file. A file that is there is replaced only if `replaces` says so.
pub(crate) fn write(file: &Path, bytes: &[u8], replaces: bool) -> Result<(), Error> {
    let mut options = OpenOptions::new();
    options.write(true);
    match replaces {
        true => options.create(true).truncate(true),
        false => options.create_new(true),
    };
    let written = options.open(file).and_then(|mut file| file.write_all(bytes));
    written.map_err(|error| {
        let hint = match error.kind() {
            std::io::ErrorKind::AlreadyExists => " (name another file, or replace it with --force)",
            _ => "",
        };
        Error::Refused(format!("{}: {error}{hint}", escape::path(file)))
    })
}
