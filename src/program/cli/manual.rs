//! `beadle manual`: the pages for `man`.

use std::{io::Write, path::PathBuf};

use clap::Command;

use crate::{
    advice::manual,
    base::escape,
    program::console::{Error, Exit, write_file},
};

/// Write the manual as pages for man
///
/// Writes beadle.1, a page for each command, such as beadle-serve.1, and beadle.yaml.5 with all keys of
/// a policy. Makes the folder, and replaces pages of an earlier version in it.
///
///   beadle manual pages
///   man ./pages/beadle-serve.1
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// The folder of the pages.
    #[arg(value_name = "DIRECTORY")]
    folder: PathBuf,
}

pub(super) fn run(args: &Args, command: Command, out: &mut dyn Write) -> Result<Exit, Error> {
    let folder = &args.folder;
    std::fs::create_dir_all(folder)
        .map_err(|error| Error::Refused(format!("{}: {error}", escape::path(folder))))?;
    let pages = manual::pages(command);
    for page in &pages {
        write_file(&folder.join(&page.name), page.text.as_bytes(), true)?;
    }
    writeln!(out, "{} pages in {}", pages.len(), escape::path(folder))?;
    Ok(Exit::Fine)
}
