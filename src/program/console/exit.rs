//! The end of a run: exit codes, and the reasons why a verb could not run.

use std::{
    io::{self, Write},
    process::ExitCode,
};

use derive_more::From;

use crate::{base::diagnostic::Diagnostic, records::record, review::report::terms::Refusal};

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
