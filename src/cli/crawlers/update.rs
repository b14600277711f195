//! `beadle crawlers update`: a newer catalogue without a newer program.

use std::{
    fs::File,
    io::{self, Write},
    path::{Path, PathBuf},
};

use serde::Serialize;

use crate::{
    cli::{ConfigFile, Error, Exit, Format, json, no_policy, serve::control_runtime},
    crawlers::{CatalogueFile, Changes},
    diagnostic::{Diagnostic, Severity},
    escape,
    policy::{self, MAX_CATALOGUE_BYTES, built_in_catalogue_file, read_catalogue_file},
    proxy,
};

/// One of so many crawlers may be gone without a question.
const MOST_LOST: usize = 10;
/// How many changes of a kind are printed for people.
const SHOWN: usize = 200;

/// Take a newer catalogue, without a newer program
///
/// The catalogue is read whole and held against everything that the built-in one keeps, and the
/// policy against the catalogue. It is written only if all of that is fine, beside the old file and
/// then into its place; a running proxy takes it by itself. Printed is what changes by it. Exits
/// with 1 where it is not taken.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// The newer catalogue: a file, or an https:// address.
    #[arg(long, value_name = "FILE|URL")]
    from: String,
    /// Where to write it, without asking a policy; without it, the file that the policy names under
    /// 'catalogue'.
    #[arg(long, value_name = "FILE")]
    to: Option<PathBuf>,
    #[command(flatten)]
    config: ConfigFile,
    /// Take it even if it is not newer, or has lost more than a tenth of the crawlers. One that is
    /// broken is never taken.
    #[arg(long)]
    force: bool,
    /// Show what would change, and write nothing.
    #[arg(long)]
    dry_run: bool,
    /// How to print.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// What a run came to.
#[derive(Serialize)]
struct Report {
    to: String,
    /// The version in use until now.
    previous: String,
    version: Option<String>,
    crawlers: usize,
    outcome: Outcome,
    changes: Changes,
    findings: Vec<Diagnostic>,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Outcome {
    /// It is in its place.
    Written,
    /// It would be.
    Sound,
    /// It is what is there already.
    Unchanged,
    /// It is not taken, for the findings.
    Refused,
}

pub(super) fn run(args: &Args, out: &mut dyn Write) -> Result<Exit, Error> {
    let place = Place::find(args)?;
    let bytes = obtain(&args.from, place.evidence.as_ref())?;
    let in_use = place.in_use();
    let name = escape::bounded(args.from.as_bytes(), 200);
    let report = |outcome, newer: Option<&CatalogueFile>, changes, findings| Report {
        to: escape::text(place.to.as_os_str().as_encoded_bytes()),
        previous: in_use.version.clone(),
        version: newer.map(|newer| escape::bounded(newer.version.as_bytes(), 32)),
        crawlers: newer.map_or(0, |newer| newer.crawlers.len()),
        outcome,
        changes,
        findings,
    };
    let newer = match read_catalogue_file(&name, &bytes) {
        Ok(newer) => newer,
        Err(findings) => {
            let report = report(Outcome::Refused, None, Changes::default(), findings);
            return print(&report, args.format, out);
        }
    };
    let changes = Changes::between(&in_use, &newer);
    let mut findings = if args.force { Vec::new() } else { doubts(&in_use, &newer, &changes) };
    findings = findings.into_iter().map(|finding| finding.in_file(&name)).collect();
    findings.extend(place.objections(&bytes)?);
    let is_there = std::fs::read(&place.to).is_ok_and(|old| old == bytes);
    let outcome = match () {
        () if findings.iter().any(|one| one.severity == Severity::Error) => Outcome::Refused,
        () if is_there => Outcome::Unchanged,
        () if args.dry_run => Outcome::Sound,
        () => {
            replace(&place.to, &bytes).map_err(|error| {
                Error::Refused(format!(
                    "{}: {error} (the catalogue in use is as it was)",
                    place.to.display()
                ))
            })?;
            Outcome::Written
        }
    };
    print(&report(outcome, Some(&newer), changes, findings), args.format, out)
}

/// Where the catalogue is kept, and who uses it.
struct Place {
    to: PathBuf,
    /// The policy that names it.
    policy: Option<PathBuf>,
    evidence: Option<policy::Evidence>,
}

impl Place {
    fn find(args: &Args) -> Result<Self, Error> {
        if let Some(to) = &args.to {
            return Ok(Self { to: to.clone(), policy: None, evidence: None });
        }
        let file = &args.config.config;
        let unreadable = |error: io::Error| no_policy(file, &error);
        let mut read = proxy::read_policy(file).map_err(unreadable)?;
        let names = read.catalogue_file.clone();
        if read.policy.is_none() && names.is_some() {
            // The file that it names may be missing or broken: that is what an update is for.
            let built_in = |_: &Path| Ok(policy::BUILT_IN_CATALOGUE.as_bytes().to_vec());
            let again = proxy::read_policy_with(file, built_in).map_err(unreadable)?;
            if again.policy.is_some() {
                read = again;
            }
        }
        let Some(policy) = read.policy else { return Err(Error::Findings(errors(read.findings))) };
        let Some(to) = names else {
            return Err(Error::Refused(format!(
                "{} names no catalogue file (add a line such as 'catalogue: crawlers.yaml', or \
                 say where to write with --to)",
                file.display()
            )));
        };
        Ok(Self { to, policy: Some(file.clone()), evidence: policy.evidence })
    }

    /// The catalogue of now: the file's, else the built-in one.
    fn in_use(&self) -> CatalogueFile {
        let bytes = proxy::read_catalogue_file(&self.to).ok();
        let read = bytes.and_then(|bytes| read_catalogue_file("", &bytes).ok());
        read.unwrap_or_else(built_in_catalogue_file)
    }

    /// What the policy would have against a catalogue of these bytes, and whether that is older than
    /// the built-in one.
    fn objections(&self, bytes: &[u8]) -> Result<Vec<Diagnostic>, Error> {
        let Some(file) = &self.policy else { return Ok(Vec::new()) };
        let read = proxy::read_policy_with(file, |_| Ok(bytes.to_vec()))
            .map_err(|error| no_policy(file, &error))?;
        let is_told = |one: &Diagnostic| {
            one.severity == Severity::Error || one.code == "policy.old_catalogue"
        };
        Ok(read.findings.into_iter().filter(is_told).collect())
    }
}

fn errors(findings: Vec<Diagnostic>) -> Vec<Diagnostic> {
    findings.into_iter().filter(|finding| finding.severity == Severity::Error).collect()
}

/// The bytes of a file, or of what is at an address.
fn obtain(from: &str, evidence: Option<&policy::Evidence>) -> Result<Vec<u8>, Error> {
    let refused =
        |why: String| Error::Refused(format!("{}: {why}", escape::bounded(from.as_bytes(), 200)));
    if from.contains("://") {
        let fetched = proxy::fetch_once(from, MAX_CATALOGUE_BYTES, evidence);
        return control_runtime()?.block_on(fetched).map_err(refused);
    }
    proxy::read_catalogue_file(Path::new(from)).map_err(|error| refused(error.to_string()))
}

/// What speaks against a sound catalogue, and is a matter of opinion.
fn doubts(in_use: &CatalogueFile, newer: &CatalogueFile, changes: &Changes) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    if newer.version <= in_use.version && !changes.is_empty() {
        let message = format!("version {} is not newer than {}", newer.version, in_use.version);
        findings.push(
            Diagnostic::error("catalogue.not_newer", message)
                .help("take a later one, or say --force to go back"),
        );
    }
    let (lost, before) = (changes.gone.len(), in_use.crawlers.len());
    if lost * MOST_LOST > before {
        let message = format!("{lost} of {before} crawlers would no longer be known");
        findings.push(
            Diagnostic::error("catalogue.shrunk", message)
                .help("check that it is whole, or say --force to take it"),
        );
    }
    findings
}

/// Writes beside the file and puts that in its place, so that there is never half of one.
fn replace(to: &Path, bytes: &[u8]) -> io::Result<()> {
    // A link is kept, and what it leads to replaced.
    let to = std::fs::canonicalize(to).unwrap_or_else(|_| to.to_owned());
    let mut name = to.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_owned();
    name.push(format!(".{}.new", std::process::id()));
    let new = to.with_file_name(name);
    let written = File::create(&new)
        .and_then(|mut file| {
            if let Ok(old) = std::fs::metadata(&to) {
                file.set_permissions(old.permissions())?;
            }
            file.write_all(bytes)?;
            file.sync_all()
        })
        .and_then(|()| std::fs::rename(&new, &to));
    if written.is_err() {
        // It may not have come into being.
        let _ = std::fs::remove_file(&new);
    }
    written
}

fn print(report: &Report, format: Format, out: &mut dyn Write) -> Result<Exit, Error> {
    let exit = if report.outcome == Outcome::Refused { Exit::Findings } else { Exit::Fine };
    if format == Format::Json {
        json(out, report)?;
        return Ok(exit);
    }
    let Changes { new, gone, changed } = &report.changes;
    let (decides, tells): (Vec<_>, Vec<_>) = changed.iter().partition(|change| change.decides);
    some(out, "new", new.iter())?;
    some(out, "gone", gone.iter())?;
    some(out, "changed", decides.iter())?;
    some(out, "told", tells.iter())?;
    for finding in &report.findings {
        writeln!(out, "{finding}")?;
    }
    if let Some(version) = &report.version {
        writeln!(
            out,
            "{} instead of {}: {} crawlers, {} new, {} gone; {} facts that decide are changed, {} \
             others",
            version,
            report.previous,
            report.crawlers,
            new.len(),
            gone.len(),
            decides.len(),
            tells.len()
        )?;
    }
    let to = &report.to;
    match report.outcome {
        Outcome::Written => writeln!(out, "{to}: written")?,
        Outcome::Sound => writeln!(out, "{to}: not written, as asked")?,
        Outcome::Unchanged => writeln!(out, "{to}: nothing to do")?,
        Outcome::Refused => writeln!(out, "{to}: left as it is")?,
    }
    Ok(exit)
}

/// The first lines of a kind, and how many more there are.
fn some(
    out: &mut dyn Write,
    label: &str,
    items: impl ExactSizeIterator<Item = impl std::fmt::Display>,
) -> Result<(), Error> {
    let more = items.len().saturating_sub(SHOWN);
    for item in items.take(SHOWN) {
        writeln!(out, "{label:<8} {item}")?;
    }
    if more > 0 {
        writeln!(out, "{label:<8} and {more} more (--format json has all)")?;
    }
    Ok(())
}
