//! `beadle store backup`: a copy of the database, which gets its name when it is whole.

use std::{
    ffi::OsString,
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Write},
    os::unix::fs::{MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use serde_json::json;

use super::{disk, size};
use crate::{
    base::escape,
    program::console::{Error, Exit, Format, json},
    records::{lines::folder_of, violations::Store},
};

/// The mode of a copy, as of the database.
const MODE: u32 = 0o640;
/// More than SQLite needs to finish a copy.
const MARGIN: u64 = 1 << 20;

pub(super) fn run(
    database: &Path,
    copy: &Path,
    is_forced: bool,
    format: Format,
    out: &mut dyn Write,
) -> Result<Exit, Error> {
    let mut store = Store::open_to_examine(database)?;
    check_place(database, copy, is_forced)?;
    disk::need(copy, store.bytes_on_disk() + MARGIN)?;
    let unfinished = beside(copy, ".partial");
    let lock = begin(&unfinished).map_err(|error| failed(&unfinished, &error))?;
    let copied = store.copy_to(&unfinished);
    if copied.is_err() {
        // It is of no use; the failure to remove it is not the one to tell.
        let _ = fs::remove_file(&unfinished);
    }
    let copied = copied?;
    publish(&unfinished, copy, is_forced).map_err(|error| failed(copy, &error))?;
    drop(lock);
    let shown = escape::path(copy);
    match format {
        Format::Text => writeln!(
            out,
            "'{shown}': {} records, {}, checked",
            copied.records,
            size::shown(copied.bytes)
        )?,
        Format::Json => json(
            out,
            &json!({
                "kind": "backup", "file": shown, "records": copied.records, "bytes": copied.bytes,
            }),
        )?,
    }
    Ok(Exit::Fine)
}

/// Refuses a place where a copy would destroy something.
fn check_place(database: &Path, copy: &Path, is_forced: bool) -> Result<(), Error> {
    let refused = |why: &str| Err(Error::Refused(format!("'{}' {why}", escape::path(copy))));
    let identity = |path: &Path| fs::metadata(path).ok().map(|file| (file.dev(), file.ino()));
    let is = |other: &Path| identity(copy).is_some() && identity(copy) == identity(other);
    if ["", "-wal", "-shm"].iter().any(|ending| is(&beside(database, ending))) {
        return refused("is the database itself (name another file)");
    }
    let found = fs::symlink_metadata(copy);
    if found.as_ref().is_ok_and(|found| !found.is_file()) {
        return refused("is not a regular file (name a file)");
    }
    if found.is_ok() && !is_forced {
        return refused("exists (name another file, or replace it with --force)");
    }
    // SQLite would take a log that lies there for that of the copy.
    if fs::metadata(beside(copy, "-wal")).is_ok_and(|log| log.len() > 0) {
        return refused("has a -wal file, so a program uses it (name another file)");
    }
    Ok(())
}

/// Creates the unfinished copy, or empties one that a killed process left. Fails while another process
/// writes it.
fn begin(unfinished: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    let file = options.write(true).create(true).truncate(false).mode(MODE).open(unfinished)?;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => {
            return Err(io::Error::other("another backup writes it (wait for its end)"));
        }
        Err(TryLockError::Error(error)) => return Err(error),
        Ok(()) => {}
    }
    for ending in ["-journal", "-wal", "-shm"] {
        match fs::remove_file(beside(unfinished, ending)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    file.set_len(0)?;
    Ok(file)
}

/// Gives the finished copy its name, durably.
fn publish(unfinished: &Path, copy: &Path, is_forced: bool) -> io::Result<()> {
    if is_forced {
        fs::rename(unfinished, copy)?;
    } else {
        // Unlike a renaming, this never replaces a file that came meanwhile.
        fs::hard_link(unfinished, copy)?;
        fs::remove_file(unfinished)?;
    }
    File::open(folder_of(copy))?.sync_all()
}

fn failed(path: &Path, error: &io::Error) -> Error {
    Error::Refused(format!("'{}': {error}", escape::path(path)))
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(ending);
    name.into()
}
