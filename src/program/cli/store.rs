//! `beadle store`: the database as a file: checked, copied, made smaller.

use std::{
    ffi::OsString,
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Write},
    os::unix::fs::{MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use jiff::Timestamp;
use serde_json::json;

use crate::{
    base::escape,
    program::console::{ConfigFile, Error, Exit, Format, json, load_with_database, refuse, remark},
    records::{
        lines::folder_of,
        record::Obstacle,
        violations::{Examination, Store, Table},
    },
    rules::policy,
};

/// Check, copy or compact the database of violations
///
///   beadle store check
///   beadle store backup /var/backups/violations.db
///   beadle store compact
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    #[command(flatten)]
    database: Database,
    /// Output format.
    #[arg(long, value_enum, default_value_t, global = true)]
    format: Format,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// Check the database, and show what takes its room.
    ///
    /// Reads the whole database and changes nothing. Checks the pages and indexes, the references, and
    /// the records against the counts by hour. Exits with 1 if something does not hold together.
    Check,
    /// Copy the database as it is now, while the server runs.
    ///
    /// The copy has every violation that the server counts as stored at this moment, also those that
    /// are only in the -wal file. It is checked before it gets its name.
    Backup {
        /// The file of the copy.
        file: PathBuf,
        /// Replace the file if it exists.
        #[arg(long)]
        force: bool,
    },
    /// Give the free pages of the database back to the file system.
    ///
    /// Removed violations leave free pages, which new ones use. Works in small steps while the server
    /// runs. A database of an earlier version has to be rebuilt once, while the server is stopped.
    Compact,
}

pub(super) fn run(args: &Args, out: &mut dyn Write) -> Result<Exit, Error> {
    let (found, format) = (args.database.find()?, args.format);
    match &args.verb {
        Verb::Check => check(&found, format, out),
        Verb::Backup { file, force } => backup(&found.path, file, *force, format, out),
        Verb::Compact => compact(&found.path, format, out),
    }
}

/// The database, named by the policy or by itself.
#[derive(Debug, clap::Args)]
struct Database {
    #[command(flatten)]
    config: ConfigFile,
    /// The database, if not that of the policy.
    #[arg(long, value_name = "FILE", global = true)]
    database: Option<PathBuf>,
}

/// A database, and its limit of size if a policy names it.
struct Found {
    path: PathBuf,
    max_size: Option<u64>,
}

impl Database {
    /// The database, which may not exist.
    fn find(&self) -> Result<Found, Error> {
        if let Some(path) = &self.database {
            return Ok(Found { path: path.clone(), max_size: None });
        }
        let violations = load_with_database(&self.config)?.violations;
        let clickhouse = violations.database.as_ref().and_then(policy::Database::clickhouse);
        if let Some(policy::ClickHouse { server, local, .. }) = clickhouse {
            let local = escape::path(local);
            remark(&format!("the records are in {server}: this is about '{local}' alone"));
        }
        let Some(path) = violations.local_database().map(Path::to_owned) else {
            return refuse(
                "the policy has no database (set violations.database, or name a file with \
                 --database)",
            );
        };
        Ok(Found { path, max_size: Some(violations.max_size) })
    }
}

fn check(found: &Found, format: Format, out: &mut dyn Write) -> Result<Exit, Error> {
    let examination = Store::open_to_examine(&found.path)?.examine()?;
    match format {
        Format::Text => print(found, &examination, out)?,
        Format::Json => print_json(found, &examination, out)?,
    }
    Ok(if examination.faults.is_empty() { Exit::Fine } else { Exit::Findings })
}

fn print(found: &Found, examination: &Examination, out: &mut dyn Write) -> Result<(), Error> {
    let (records, counts) = (examination.record_table(), examination.count_tables());
    writeln!(out, "database  {}", escape::path(&found.path))?;
    writeln!(out, "version   {}", examination.version)?;
    let limit = found.max_size.map(|most| format!(" of {} (max_size)", size(most)));
    writeln!(
        out,
        "size      {}{}: file {}, -wal {}, less free pages {}",
        size(examination.bytes()),
        limit.unwrap_or_default(),
        size(examination.file_bytes),
        size(examination.log_bytes),
        size(examination.free_bytes)
    )?;
    for (table, span) in [(&records, examination.records), (&counts, examination.hours)] {
        let each = table.bytes_of_row().map(|each| format!(", {each} bytes each"));
        let times = span.map(|(first, last)| format!(", from {first:.0} to {last:.0}"));
        let (each, times) = (each.unwrap_or_default(), times.unwrap_or_default());
        writeln!(out, "{:<9} {}{each}{times}", table.name, table.rows)?;
    }
    writeln!(out)?;
    let tables = examination.tables.iter();
    let width = tables.clone().map(|table| shown_name(table).len()).max().unwrap_or(0).max(5);
    writeln!(out, "{:width$}  {:>10}  {:>12}", "TABLE", "ROWS", "SIZE")?;
    for table in tables {
        let size = size(table.bytes);
        writeln!(out, "{:width$}  {:>10}  {size:>12}", shown_name(table), table.rows)?;
    }
    writeln!(out)?;
    for fault in &examination.faults {
        writeln!(out, "{}: {}", fault.code, escape::text(fault.message.as_bytes()))?;
    }
    if examination.faults.is_empty() {
        writeln!(out, "everything holds together")?;
    }
    Ok(())
}

fn print_json(found: &Found, examination: &Examination, out: &mut dyn Write) -> Result<(), Error> {
    let (records, counts) = (examination.record_table(), examination.count_tables());
    let first = |span: Option<(Timestamp, _)>| span.map(|(first, _)| first.to_string());
    let last = |span: Option<(_, Timestamp)>| span.map(|(_, last)| last.to_string());
    json(
        out,
        &json!({
            "kind": "database",
            "database": escape::path(&found.path),
            "version": examination.version,
            "bytes": examination.bytes(),
            "max_size": found.max_size,
            "file_bytes": examination.file_bytes,
            "log_bytes": examination.log_bytes,
            "free_bytes": examination.free_bytes,
            "records": records.rows,
            "bytes_per_record": records.bytes_of_row(),
            "oldest_record": first(examination.records),
            "newest_record": last(examination.records),
            "counts": counts.rows,
            "bytes_per_count": counts.bytes_of_row(),
            "oldest_hour": first(examination.hours),
            "newest_hour": last(examination.hours),
        }),
    )?;
    for Table { name, rows, bytes } in &examination.tables {
        json(out, &json!({ "kind": "table", "name": name, "rows": rows, "bytes": bytes }))?;
    }
    for fault in &examination.faults {
        let (code, message) = (fault.code, escape::text(fault.message.as_bytes()));
        json(out, &json!({ "kind": "finding", "code": code, "message": message }))?;
    }
    Ok(())
}

fn shown_name(table: &Table) -> String {
    escape::text(table.name.as_bytes())
}

/// The mode of a copy, as of the database.
const MODE: u32 = 0o640;
/// More than SQLite needs to finish a copy.
const MARGIN: u64 = 1 << 20;

fn backup(
    database: &Path,
    copy: &Path,
    is_forced: bool,
    format: Format,
    out: &mut dyn Write,
) -> Result<Exit, Error> {
    let mut store = Store::open_to_examine(database)?;
    check_place(database, copy, is_forced)?;
    need(copy, store.bytes_on_disk() + MARGIN)?;
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
    let (shown, records, bytes) = (escape::path(copy), copied.records, copied.bytes);
    let row = json!({ "kind": "backup", "file": shown, "records": records, "bytes": bytes });
    match format {
        Format::Text => writeln!(out, "'{shown}': {records} records, {}, checked", size(bytes))?,
        Format::Json => json(out, &row)?,
    }
    Ok(Exit::Fine)
}

/// Refuses a place where a copy would destroy something.
fn check_place(database: &Path, copy: &Path, is_forced: bool) -> Result<(), Error> {
    let refused = |why: &str| refuse(format!("'{}' {why}", escape::path(copy)));
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

fn compact(path: &Path, format: Format, out: &mut dyn Write) -> Result<Exit, Error> {
    let mut store = Store::open_existing(path)?;
    let (before, plan) = (store.bytes_on_disk(), store.compaction_plan()?);
    need(path, plan.needs)?;
    let shown = escape::path(path);
    let store = match plan.is_in_steps {
        true => {
            store.compact()?;
            store
        }
        false => {
            drop(store);
            Store::rebuild(path).map_err(|error| match error.obstacle {
                Obstacle::Locked => Error::Refused(format!(
                    "'{shown}' is in use, and was made by an earlier version (stop 'beadle serve' and \
                     compact it once; after that, it can be compacted while the server runs)"
                )),
                _ => error.into(),
            })?;
            Store::open_existing(path)?
        }
    };
    let after = store.bytes_on_disk();
    let given_back = before.saturating_sub(after);
    let row = json!({
        "kind": "compaction", "database": shown, "before": before, "after": after,
        "given_back": given_back,
    });
    match format {
        Format::Text if given_back == 0 => {
            writeln!(out, "'{shown}': nothing to give back, {}", size(after))?;
        }
        Format::Text => writeln!(
            out,
            "'{shown}': {} given back, from {} to {}",
            size(given_back),
            size(before),
            size(after)
        )?,
        Format::Json => json(out, &row)?,
    }
    Ok(Exit::Fine)
}

/// Refuses where the disk of a file has fewer free bytes than `needs`. A file system that does not
/// tell its free space refuses nothing here.
fn need(file: &Path, needs: u64) -> Result<(), Error> {
    let Ok(found) = rustix::fs::statvfs(folder_of(file)) else {
        return Ok(());
    };
    let free = found.f_bavail.saturating_mul(found.f_frsize);
    if free >= needs {
        return Ok(());
    }
    refuse(format!(
        "'{}': the disk has {} free, and this needs {} (make room)",
        escape::path(file),
        size(free),
        size(needs)
    ))
}

/// A size in the largest binary unit that it fills: `8.1 MiB`.
fn size(bytes: u64) -> String {
    let units = [("GiB", 1_u64 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    match units.into_iter().find(|(_, unit)| bytes >= *unit) {
        Some((name, unit)) => format!("{:.1} {name}", bytes as f64 / unit as f64),
        None => format!("{bytes} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_the_largest_unit_that_they_fill() {
        for (bytes, expected) in [
            (0, "0 bytes"),
            (1023, "1023 bytes"),
            (1024, "1.0 KiB"),
            (8 << 20, "8.0 MiB"),
            ((8 << 20) + 104_858, "8.1 MiB"),
            (5 << 30, "5.0 GiB"),
        ] {
            assert_eq!(size(bytes), expected);
        }
    }
}
