//! The command line: one file for each verb, each read args, call one function, print.
//!
//! Exit codes: 0 fine, 1 findings, 2 could not run. A closed pipe is no error: whoever read has
//! read enough. With `--format json` every verb prints one object a line.
//!
//! May use: everything. Must not know: how anything is decided.

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::{Parser, Subcommand, ValueEnum};

use crate::{
    diagnostic::{Diagnostic, Severity},
    policy::Policy,
    proxy,
};

mod check;
mod crawlers;
mod demo;
mod explain;
mod memory;
mod robots;
mod serve;
mod tags;
mod violations;

/// Holds crawlers to your site's own robots rules.
///
/// Beadle stands in front of your server. From one policy file it serves robots.txt, sets
/// Robots-Tag on answers, recognises crawlers, and logs or blocks the requests that break the
/// rules you published.
#[derive(Debug, Parser)]
#[command(name = "beadle", version, max_term_width = 100, disable_help_subcommand = true)]
struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Serve(serve::Args),
    Demo(demo::Args),
    Check(check::Args),
    Robots(robots::Args),
    Explain(explain::Args),
    Crawlers(crawlers::Args),
    Tags(tags::Args),
    Violations(violations::Args),
}

/// How a verb prints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Exit {
    /// Nothing to complain about.
    Fine = 0,
    /// There are findings.
    Findings = 1,
    /// It could not run.
    Failed = 2,
}

/// Why a verb could not run.
#[derive(Debug)]
enum Error {
    /// What was asked for can't be done; a sentence with the repair.
    Refused(String),
    /// These findings stand against it.
    Findings(Vec<Diagnostic>),
    /// Output failed; a closed pipe is among these.
    Output(io::Error),
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

/// Runs the program.
pub fn run() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => {
            // Help and version come this way too, and are no failure.
            let exit = if error.use_stderr() { Exit::Failed } else { Exit::Fine };
            let _ = error.print();
            return ExitCode::from(exit as u8);
        }
    };
    let mut out = io::stdout().lock();
    let outcome = match args.verb {
        Verb::Serve(args) => {
            drop(out);
            serve::run(&args)
        }
        Verb::Demo(args) => {
            drop(out);
            demo::run(&args)
        }
        Verb::Check(args) => check::run(&args, &mut out),
        Verb::Robots(args) => robots::run(&args, &mut out),
        Verb::Explain(args) => explain::run(&args, &mut out),
        Verb::Crawlers(args) => crawlers::run(&args, &mut out),
        Verb::Tags(args) => tags::run(&args, &mut out),
        Verb::Violations(args) => violations::run(&args, &mut out),
    };
    ExitCode::from(exit_of(outcome) as u8)
}

fn exit_of(outcome: Result<Exit, Error>) -> Exit {
    let mut err = io::stderr().lock();
    // Where standard error is closed there is nobody left to tell.
    let _ = match outcome {
        Ok(exit) => return exit,
        Err(Error::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            return Exit::Fine;
        }
        Err(Error::Output(error)) => writeln!(err, "beadle: {error}"),
        Err(Error::Refused(sentence)) => writeln!(err, "beadle: {sentence}"),
        Err(Error::Findings(findings)) => {
            findings.iter().try_for_each(|finding| writeln!(err, "{finding}"))
        }
    };
    Exit::Failed
}

/// The policy of a file with the findings that are no errors.
///
/// # Errors
/// All findings, where one is an error.
fn load(file: &Path) -> Result<(Policy, Vec<Diagnostic>), Error> {
    let (policy, findings) = examine(file)?;
    match policy {
        Some(policy) => Ok((policy, findings)),
        None => Err(Error::Findings(
            findings.into_iter().filter(|one| one.severity == Severity::Error).collect(),
        )),
    }
}

/// The policy of a file, if it is one, with all findings.
///
/// # Errors
/// Where the file can't be read.
fn examine(file: &Path) -> Result<(Option<Policy>, Vec<Diagnostic>), Error> {
    let read = proxy::read_policy(file).map_err(|error| no_policy(file, &error))?;
    Ok((read.policy, read.findings))
}

/// The refusal of a policy file that can't be read.
fn no_policy(file: &Path, error: &io::Error) -> Error {
    let hint = match error.kind() {
        io::ErrorKind::NotFound => " (name the policy file with --config)",
        _ => "",
    };
    Error::Refused(format!("{}: {error}{hint}", file.display()))
}

/// Writes a value as one line of JSON.
fn json(out: &mut dyn Write, value: &impl serde::Serialize) -> Result<(), Error> {
    let line = serde_json::to_string(value).map_err(io::Error::other)?;
    Ok(writeln!(out, "{line}")?)
}

/// The policy file as an option of a verb.
#[derive(Debug, clap::Args)]
struct ConfigFile {
    /// The policy file.
    #[arg(long, short, value_name = "FILE", default_value = "beadle.yaml", env = "BEADLE_CONFIG")]
    config: PathBuf,
}

/// Reads standard input line by line as bytes, without the line end.
fn input_lines() -> impl Iterator<Item = io::Result<Vec<u8>>> {
    use io::BufRead;
    io::stdin().lock().split(b'\n').map(|line| {
        line.map(|mut line| {
            if line.last() == Some(&b'\r') {
                line.pop();
            }
            line
        })
    })
}
