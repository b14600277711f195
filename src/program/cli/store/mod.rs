//! `beadle store`: the database as a file: checked, copied, made smaller.

use std::{io::Write, path::PathBuf};

use self::place::Database;
use crate::program::console::{Error, Exit, Format};

mod backup; // a copy
mod check; // what does not hold together, and what takes the room
mod compact; // free pages, given back
mod disk; // free disk space
mod place; // the database that is meant
mod size; // sizes for people

/// Check, copy or compact the database of violations
///
///   beadle store check
///   beadle store backup /var/backups/violations.db
///   beadle store compact
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
#[command(mut_arg("config", |arg| arg.global(true)))]
#[command(mut_arg("config_key", |arg| arg.global(true)))]
#[command(mut_arg("config_copy", |arg| arg.global(true)))]
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
        Verb::Check => check::run(&found, format, out),
        Verb::Backup { file, force } => backup::run(&found.path, file, *force, format, out),
        Verb::Compact => compact::run(&found.path, format, out),
    }
}
