//! `beadle check`: what is wrong with a policy, and what to write instead.

use std::{io::Write, path::PathBuf};

use crate::{
    cli::{ConfigFile, Error, Exit, Format, examine, json},
    diagnostic::Severity,
};

/// Check a policy file without starting anything.
///
/// Prints every finding with file, line, column and the repair. Exits with 1 where there are
/// errors or warnings, with 0 where there are notes at most.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The policy file; without it, that of --config.
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    #[command(flatten)]
    config: ConfigFile,
    /// How to print.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(super) fn run(args: &Args, out: &mut dyn Write) -> Result<Exit, Error> {
    let file = args.file.as_ref().unwrap_or(&args.config.config);
    let (policy, findings) = examine(file)?;
    for finding in &findings {
        match args.format {
            Format::Text => writeln!(out, "{finding}")?,
            Format::Json => json(out, finding)?,
        }
    }
    let count = |severity| findings.iter().filter(|one| one.severity == severity).count();
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    if args.format == Format::Text {
        match &policy {
            Some(policy) => {
                let sites = policy.sites.len();
                let plural = if sites == 1 { "" } else { "s" };
                write!(out, "{}: fine, {sites} site{plural}", file.display())?;
                if warnings > 0 {
                    write!(out, ", {warnings} warning{}", if warnings == 1 { "" } else { "s" })?;
                }
                writeln!(out)?;
            }
            None => writeln!(
                out,
                "{}: {errors} error{}, not usable",
                file.display(),
                if errors == 1 { "" } else { "s" }
            )?,
        }
    }
    Ok(if errors + warnings > 0 { Exit::Findings } else { Exit::Fine })
}
