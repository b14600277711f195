//! The evidence bundle of one crawler, written to a file.

use std::{
    fs::{self, OpenOptions},
    io::{self, IsTerminal, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use jiff::Timestamp;
use serde::Serialize;

use super::lookup;
use crate::{
    base::whole_file,
    program::console::{
        ConfigFile, Error, Exit, Format, input::name, json, load_with_database, remark,
    },
    records::tally::Claimant,
    review::report::bundle::{MAX_RECORDS, MOST_EDITIONS, Wanted, digest, file_name, gather, pack},
};

/// Only the owner reads the file: it has the addresses of clients.
const FILE_MODE: u32 = 0o600;

/// The options of a bundle.
pub(super) struct Options<'a> {
    /// The policy.
    pub(super) config: &'a ConfigFile,
    pub(super) product_token: &'a str,
    pub(super) since: &'a str,
    pub(super) until: Option<&'a str>,
    pub(super) site: Option<&'a str>,
    /// Whether it is about the crawler or about its impostors.
    pub(super) claimant: Claimant,
    /// The file to write; `-` is standard output.
    pub(super) output: Option<&'a Path>,
    pub(super) force: bool,
    pub(super) format: Format,
}

/// What was written.
#[derive(Serialize)]
struct BundleRow<'a> {
    kind: &'static str,
    file: &'a str,
    bytes: usize,
    sha256: &'a str,
    product_token: &'a str,
    /// Of a bundle about impostors.
    #[serde(skip_serializing_if = "Option::is_none")]
    standing: Option<&'static str>,
    violations: usize,
    files: usize,
}

/// Writes the bundle of a crawler.
pub(super) fn write(options: &Options<'_>, out: &mut dyn Write) -> Result<Exit, Error> {
    let policy = load_with_database(options.config)?;
    let now = Timestamp::now();
    let (since, until) = lookup::span(options.since, options.until, now)?;
    let store = lookup::database(&policy)?;
    let product_token = lookup::crawler(&policy, &store, options.product_token)?;
    let site = options.site.map(|host| lookup::site(&policy, &store, host)).transpose()?;
    let output = output(options, &product_token)?;
    let wanted = Wanted {
        product_token: &product_token,
        site: site.as_deref(),
        claimant: options.claimant,
        since,
        until,
        made: now,
    };

    let Some(bundle) = gather(&store, &policy, &wanted)? else {
        let place = site.map(|site| format!(" on {site}")).unwrap_or_default();
        let or = match options.claimant {
            Claimant::Crawler => " (or ask for its impostors: --impostors only)",
            Claimant::Impostor => "",
        };
        return Err(Error::Refused(format!(
            "no violations {} {product_token}{place} from {since:.0} to {until:.0}, so there is \
             nothing to prove: name an earlier --since{or}",
            of(options.claimant.standing())
        )));
    };
    if bundle.are_editions_cut {
        let most = MOST_EDITIONS >> 20;
        remark(&format!("only the latest {most} MiB of robots.txt files are considered"));
    }
    let bytes = pack(&bundle.files);
    let Some(file) = output else {
        out.write_all(&bytes)?;
        return Ok(Exit::Fine);
    };
    save(&file, &bytes, options.force)?;
    let row = BundleRow {
        kind: "bundle",
        file: &name(&file),
        bytes: bytes.len(),
        sha256: &digest(&bytes),
        product_token: &product_token,
        standing: options.claimant.standing(),
        violations: bundle.violations,
        files: bundle.files.len(),
    };
    report(&row, &bundle.recipient, options.format, out)?;
    if bundle.is_cut {
        remark(&format!(
            "only the latest {MAX_RECORDS} violations are in it (choose a later --since)"
        ));
    }
    Ok(Exit::Fine)
}

/// The words between violations and the crawler's name.
const fn of(standing: Option<&str>) -> &'static str {
    if standing.is_some() { "by impostors of" } else { "of" }
}

fn report(
    row: &BundleRow<'_>,
    recipient: &str,
    format: Format,
    out: &mut dyn Write,
) -> Result<(), Error> {
    if format == Format::Json {
        return json(out, row);
    }
    let BundleRow { file, violations, product_token, standing, sha256, .. } = row;
    let of = of(*standing);
    let noun = if *violations == 1 { "violation" } else { "violations" };
    writeln!(out, "{file}: {violations} {noun} {of} {product_token}")?;
    writeln!(out, "SHA-256 {sha256}")?;
    writeln!(out, "To: {recipient}")?;
    writeln!(
        out,
        "'message.txt' in it is the draft of a message; read it and the records before you send them."
    )?;
    Ok(())
}

/// The file to write; `None` is standard output.
fn output(options: &Options<'_>, product_token: &str) -> Result<Option<PathBuf>, Error> {
    let file = match options.output {
        Some(file) if file.as_os_str() == "-" => {
            if io::stdout().is_terminal() {
                let message = "a terminal can't show a zip file (write '--output FILE')";
                return Err(Error::Refused(message.to_owned()));
            }
            return Ok(None);
        }
        Some(file) => file.to_owned(),
        None => PathBuf::from(file_name(product_token)),
    };
    if !options.force && fs::symlink_metadata(&file).is_ok() {
        return Err(there_already(&file));
    }
    Ok(Some(file))
}

fn there_already(file: &Path) -> Error {
    Error::Refused(format!("{} is there already (overwrite it with --force)", name(file)))
}

/// Writes the file whole, or not at all.
pub(in crate::program::cli) fn save(file: &Path, bytes: &[u8], force: bool) -> Result<(), Error> {
    let refused = |error: &io::Error| match error.kind() {
        io::ErrorKind::AlreadyExists if !force => there_already(file),
        _ => Error::Refused(format!("{}: {error}", name(file))),
    };
    let mut options = OpenOptions::new();
    options.write(true).mode(FILE_MODE);
    if !force {
        let mut new = options.create_new(true).open(file).map_err(|error| refused(&error))?;
        let written = new.write_all(bytes).and_then(|()| new.sync_all());
        return written.map_err(|error| {
            // A part of a bundle is of no use. A failure to remove it adds nothing to the first one.
            let _ = fs::remove_file(file);
            refused(&error)
        });
    }
    whole_file::replace(file, bytes, |_| Ok(())).map_err(|error| refused(&error))
}
