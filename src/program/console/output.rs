//! The output of a verb: text or JSON lines, and files; the terminal with its width and its colours. The end of
//! a run: exit codes, and the reasons why a verb could not run.

use std::{
    env,
    fs::OpenOptions,
    io::{self, IsTerminal, Write},
    path::Path,
    process::ExitCode,
};

use derive_more::From;
use terminal_size::{Width, terminal_size_of};

use crate::{
    base::{diagnostic::Diagnostic, escape},
    records::record,
    review::report::{Screen, terms::Refusal},
};

/// The output format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// Text for people.
    #[default]
    Text,
    /// One JSON object per line.
    Json,
}

/// Prints a remark on standard error; standard output has only results.
pub(crate) fn remark(sentence: &str) {
    // A failed write to standard error cannot be reported anywhere.
    let _ = writeln!(io::stderr(), "beadle: {sentence}");
}

pub(crate) fn json(out: &mut dyn Write, value: &impl serde::Serialize) -> Result<(), Error> {
    let line = serde_json::to_string(value).map_err(io::Error::other)?;
    Ok(writeln!(out, "{line}")?)
}

/// Writes a new file. A file that is there is replaced only if `replaces` says so.
pub(crate) fn write_file(file: &Path, bytes: &[u8], replaces: bool) -> Result<(), Error> {
    let mut options = OpenOptions::new();
    options.write(true);
    match replaces {
        true => options.create(true).truncate(true),
        false => options.create_new(true),
    };
    let written = options.open(file).and_then(|mut file| file.write_all(bytes));
    written.map_err(|error| {
        let hint = match error.kind() {
            io::ErrorKind::AlreadyExists => " (name another file, or replace it with --force)",
            _ => "",
        };
        Error::Refused(format!("{}: {error}{hint}", escape::path(file)))
    })
}

/// The width of a terminal that does not tell it.
const USUAL_WIDTH: usize = 80;
const LEAST_WIDTH: usize = 40;

impl Screen {
    /// The screen behind standard output. `COLUMNS` overrides the width of a terminal.
    pub(crate) fn of_standard_output() -> Self {
        let out = io::stdout();
        if !out.is_terminal() {
            return Self { width: None, has_colours: false };
        }
        let named = variable("COLUMNS").and_then(|columns| columns.parse().ok());
        let own = || terminal_size_of(&out).map(|(Width(columns), _)| usize::from(columns));
        let width = named.or_else(own).filter(|&width| width > 0).unwrap_or(USUAL_WIDTH);
        Self { width: Some(width.max(LEAST_WIDTH)), has_colours: wants_colours() }
    }
}

/// Whether the environment lets a terminal have colours: neither `NO_COLOR` nor a dumb terminal says
/// no.
pub(crate) fn wants_colours() -> bool {
    variable("NO_COLOR").is_none() && variable("TERM").is_none_or(|term| term != "dumb")
}

fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    Fine = 0,
    Findings = 1,
    /// The verb could not run.
    Failed = 2,
}

#[derive(Debug, From)]
pub(crate) enum Error {
    /// The verb refuses; holds a sentence with the repair.
    Refused(String),
    Findings(Vec<Diagnostic>),
    /// The output failed; a closed pipe is one of these failures.
    #[from]
    Output(io::Error),
}

pub(crate) fn refuse<T>(sentence: impl Into<String>) -> Result<T, Error> {
    Err(Error::Refused(sentence.into()))
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

impl From<record::Error> for Error {
    fn from(error: record::Error) -> Self {
        Self::Refused(error.to_string())
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Term(sentence) => Self::Refused(sentence),
            Refusal::Store(error) => error.into(),
        }
    }
}

impl Exit {
    /// The exit of an outcome; prints an error on standard error.
    pub(crate) fn of(outcome: Result<Self, Error>) -> Self {
        let mut err = io::stderr().lock();
        // A failed write to standard error cannot be reported anywhere.
        let _ = match outcome {
            Ok(exit) => return exit,
            Err(Error::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
                return Self::Fine;
            }
            Err(Error::Output(error)) => writeln!(err, "beadle: {error}"),
            Err(Error::Refused(sentence)) => writeln!(err, "beadle: {sentence}"),
            Err(Error::Findings(findings)) => {
                findings.iter().try_for_each(|finding| writeln!(err, "{finding}"))
            }
        };
        Self::Failed
    }
}
