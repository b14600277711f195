//! `beadle check`: the findings of a policy, each with its repair.

use std::{io::Write, path::PathBuf};

use crate::{
    cli::{
        config::{ConfigFile, examine},
        exit::{Error, Exit},
        output::{Format, json},
    },
    diagnostic::Severity,
    trial,
};

/// Check a policy file without starting a server.
///
/// Prints each finding with file, line, column and the repair. Exits with 1 on errors or warnings,
/// and with 0 otherwise.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The policy file. Overrides --config.
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    #[command(flatten)]
    config: ConfigFile,
    /// Output format.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(super) fn run(args: &Args, out: &mut dyn Write) -> Result<Exit, Error> {
    let file = args.file.as_ref().unwrap_or(&args.config.config);
    let (policy, mut findings) = examine(file)?;
    let name = file.display().to_string();
    findings.extend(policy.iter().flat_map(|policy| trial::findings(policy, &name)));
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
