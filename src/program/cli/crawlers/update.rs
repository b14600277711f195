//! `beadle crawlers update`: a newer catalogue without a newer program.

use std::{
    fs::Permissions,
    io::{self, Write},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use serde::Serialize;

use crate::{
    base::{
        diagnostic::{Diagnostic, Severity},
        escape, whole_file,
    },
    program::console::{
        ConfigFile, Error, Exit, Format, control_runtime, good, json, no_policy, refuse,
    },
    rules::{
        crawlers::{CatalogueFile, Changes},
        policy::{self, MAX_CATALOGUE_BYTES, built_in_catalogue_file, read_catalogue_file},
    },
    state::publication,
};

/// A newer catalogue may lack one in this many crawlers.
const MOST_LOST: usize = 10;
/// The most changes of a kind in the text output.
const MOST_CHANGES: usize = 200;

/// Install a newer crawler catalogue without a newer program
///
/// Checks the catalogue by the rules of the built-in one, and the policy with the new catalogue. If
/// there are no errors, replaces the catalogue file in one step; a running server reloads it.
/// Prints all changes. Exits with 1 if the catalogue is refused.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// The newer catalogue: a file, or an https:// address.
    #[arg(long, value_name = "FILE|URL")]
    from: String,
    /// The file to replace, without a check of the policy (default: 'catalogue' in the policy).
    #[arg(long, value_name = "FILE")]
    to: Option<PathBuf>,
    #[command(flatten)]
    config: ConfigFile,
    /// Also install a catalogue that is not newer or lacks more than a tenth of the crawlers. A
    /// catalogue with errors is always refused.
    #[arg(long)]
    force: bool,
    /// Show the changes without writing.
    #[arg(long)]
    dry_run: bool,
    /// Output format.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

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
    /// The file is replaced.
    Written,
    /// The file could be replaced; this is a dry run.
    Sound,
    /// The file has this content already.
    Unchanged,
    Refused,
}

pub(super) fn run(args: &Args, out: &mut dyn Write) -> Result<Exit, Error> {
    let destination = Destination::find(args.to.as_deref(), args.config.file())?;
    if std::fs::metadata(&destination.to).is_ok_and(|found| !found.is_file()) {
        let to = escape::path(&destination.to);
        return refuse(format!("{to}: not a regular file (name a file with --to)"));
    }
    let bytes = read(&args.from, destination.evidence.as_ref())?;
    let in_use = destination.in_use();
    let name = escape::shown(&args.from);
    let report = |outcome, newer: Option<&CatalogueFile>, changes, findings| Report {
        to: escape::path(&destination.to),
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
    findings.extend(destination.objections(&bytes)?);
    let is_there = publication::read_catalogue_file(&destination.to).is_ok_and(|old| old == bytes);
    let outcome = match () {
        () if findings.iter().any(|one| one.severity == Severity::Error) => Outcome::Refused,
        () if is_there => Outcome::Unchanged,
        () if args.dry_run => Outcome::Sound,
        () => {
            destination.replace(&bytes).map_err(|error| {
                Error::Refused(format!(
                    "{}: {error} (the catalogue in use is unchanged)",
                    destination.to.display()
                ))
            })?;
            Outcome::Written
        }
    };
    print(&report(outcome, Some(&newer), changes, findings), args.format, out)
}

fn read(from: &str, evidence: Option<&policy::Evidence>) -> Result<Vec<u8>, Error> {
    let refused = |why: String| Error::Refused(format!("{}: {why}", escape::shown(from)));
    if from.contains("://") {
        let fetched = crate::clients::evidence::fetch_once(from, MAX_CATALOGUE_BYTES, evidence);
        let fetched = control_runtime()?.block_on(fetched).map_err(refused)?;
        return Ok(fetched.to_vec());
    }
    publication::read_catalogue_file(Path::new(from)).map_err(|error| refused(error.to_string()))
}

/// Objections to a valid catalogue, which --force overrides.
fn doubts(in_use: &CatalogueFile, newer: &CatalogueFile, changes: &Changes) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    if newer.version <= in_use.version && !changes.is_empty() {
        let message = format!("version {} is not newer than {}", newer.version, in_use.version);
        findings.push(
            Diagnostic::error("catalogue.not_newer", message)
                .help("use a later one, or write --force to go back"),
        );
    }
    let (lost, before) = (changes.gone.len(), in_use.crawlers.len());
    if lost * MOST_LOST > before {
        let message = format!("{lost} of {before} crawlers are missing in it");
        findings.push(
            Diagnostic::error("catalogue.shrunk", message)
                .help("check that it is complete, or write --force to install it"),
        );
    }
    findings
}

fn print(report: &Report, format: Format, out: &mut dyn Write) -> Result<Exit, Error> {
    let exit = if report.outcome == Outcome::Refused { Exit::Findings } else { Exit::Fine };
    if format == Format::Json {
        json(out, report)?;
        return Ok(exit);
    }
    let Changes { new, gone, changed } = &report.changes;
    let (deciding, others): (Vec<_>, Vec<_>) = changed.iter().partition(|change| change.decides);
    some(out, "new", new.iter())?;
    some(out, "gone", gone.iter())?;
    some(out, "changed", deciding.iter())?;
    some(out, "told", others.iter())?;
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
            deciding.len(),
            others.len()
        )?;
    }
    let to = &report.to;
    match report.outcome {
        Outcome::Written => writeln!(out, "{to}: written")?,
        Outcome::Sound => writeln!(out, "{to}: not written (dry run)")?,
        Outcome::Unchanged => writeln!(out, "{to}: nothing to do")?,
        Outcome::Refused => writeln!(out, "{to}: unchanged")?,
    }
    Ok(exit)
}

fn some(
    out: &mut dyn Write,
    label: &str,
    items: impl ExactSizeIterator<Item = impl std::fmt::Display>,
) -> Result<(), Error> {
    let more = items.len().saturating_sub(MOST_CHANGES);
    for item in items.take(MOST_CHANGES) {
        writeln!(out, "{label:<8} {item}")?;
    }
    if more > 0 {
        writeln!(out, "{label:<8} and {more} more (--format json has all)")?;
    }
    Ok(())
}

struct Destination {
    to: PathBuf,
    policy: Option<PathBuf>,
    evidence: Option<policy::Evidence>,
}

impl Destination {
    /// The file `to`, else the one that the policy file names.
    fn find(to: Option<&Path>, file: &Path) -> Result<Self, Error> {
        if let Some(to) = to {
            return Ok(Self { to: to.to_owned(), policy: None, evidence: None });
        }
        let unreadable = |error: io::Error| no_policy(file, &error);
        let mut read = publication::read_policy(file).map_err(unreadable)?;
        let names = read.catalogue_file.clone();
        if read.policy.is_none() && names.is_some() {
            // The named file may be missing or broken; an update repairs it.
            let built_in = |_: &Path| Ok(policy::BUILT_IN_CATALOGUE.as_bytes().to_vec());
            let again = publication::read_policy_with(file, built_in).map_err(unreadable)?;
            if again.policy.is_some() {
                read = again;
            }
        }
        let (policy, _) = good(read)?;
        let Some(to) = names else {
            return refuse(format!(
                "{} names no catalogue file (add a line such as 'catalogue: crawlers.yaml', or \
                 name the file with --to)",
                file.display()
            ));
        };
        Ok(Self { to, policy: Some(file.to_owned()), evidence: policy.evidence })
    }

    fn in_use(&self) -> CatalogueFile {
        let bytes = publication::read_catalogue_file(&self.to).ok();
        let read = bytes.and_then(|bytes| read_catalogue_file("", &bytes).ok());
        read.unwrap_or_else(built_in_catalogue_file)
    }

    /// The errors of the policy with a catalogue of these bytes, and a warning about a catalogue
    /// that is older than the built-in one.
    fn objections(&self, bytes: &[u8]) -> Result<Vec<Diagnostic>, Error> {
        let Some(file) = &self.policy else { return Ok(Vec::new()) };
        let read = publication::read_policy_with(file, |_| Ok(bytes.to_vec()))
            .map_err(|error| no_policy(file, &error))?;
        let is_objection = |one: &Diagnostic| {
            one.severity == Severity::Error || one.code == "policy.old_catalogue"
        };
        Ok(read.findings.into_iter().filter(is_objection).collect())
    }

    /// Writes a new file beside the old one and renames it, so that the file is always complete.
    fn replace(&self, bytes: &[u8]) -> io::Result<()> {
        // A link stays, and the file behind it is replaced.
        let to = std::fs::canonicalize(&self.to).unwrap_or_else(|_| self.to.clone());
        let old = std::fs::metadata(&to).ok();
        whole_file::replace(&to, bytes, |new| match &old {
            Some(old) => new.set_permissions(old.permissions()),
            None => new.set_permissions(Permissions::from_mode(0o644)),
        })
    }
}
