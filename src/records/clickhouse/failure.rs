//! Failures of a server, with its own words.

use std::fmt;

use crate::{
    base::escape,
    records::record::{self, Obstacle},
};

/// The longest text of the server that is shown.
const SHOWN: usize = 400;

/// The codes of errors that no retry of the same rows helps: the server cannot read them.
const UNREADABLE_ROWS: [u32; 11] = [6, 25, 26, 27, 32, 38, 41, 53, 70, 72, 117];
/// The codes of a full disk.
const FULL: [u32; 2] = [243, 290];
/// The codes of a database or a table that does not exist.
const MISSING: [u32; 2] = [60, 81];

/// A server that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The database as the operator wrote it.
    pub address: String,
    /// The reason.
    pub failure: Failure,
}

/// The reason why a server cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Occurs when there is no answer within the deadline.
    Late(String),
    /// Occurs when there is no connection, or it breaks.
    Unreachable(String),
    /// Occurs when the server refuses; has ClickHouse's code, if any, and its text.
    Refused(u32, String),
    /// Occurs when the tables do not exist.
    Missing,
    /// Occurs when a newer version of this program made the tables; has that version's number.
    Newer(u32),
    /// Occurs when the answer is not what was asked for.
    Unreadable(String),
}

impl Failure {
    /// The refusal of the server, by its answer.
    pub(super) fn refused(code: Option<u32>, text: &str) -> Self {
        let code = code.or_else(|| code_of(text)).unwrap_or(0);
        match MISSING.contains(&code) {
            true => Self::Missing,
            false => Self::Refused(code, escape::bounded(text.trim().as_bytes(), SHOWN)),
        }
    }
}

/// The code at the beginning of an exception's text.
pub(super) fn code_of(text: &str) -> Option<u32> {
    let rest = text.trim_start().strip_prefix("Code: ")?;
    rest.split(|one: char| !one.is_ascii_digit()).next()?.parse().ok()
}

impl Error {
    /// The stable name of the kind of failure, for a log or a metric.
    pub const fn code(&self) -> &'static str {
        match &self.failure {
            Failure::Late(_) => "clickhouse.late",
            Failure::Unreachable(_) => "clickhouse.unreachable",
            Failure::Refused(..) if self.is_full() => "clickhouse.full",
            Failure::Refused(..) => "clickhouse.refused",
            Failure::Missing => "clickhouse.missing",
            Failure::Newer(_) => "clickhouse.newer",
            Failure::Unreadable(_) => "clickhouse.unreadable",
        }
    }

    /// Whether the server cannot read the rows, so that no retry helps.
    pub fn is_about_rows(&self) -> bool {
        matches!(self.failure, Failure::Refused(code, _) if UNREADABLE_ROWS.contains(&code))
    }

    /// Whether the server's disk is full.
    pub const fn is_full(&self) -> bool {
        matches!(self.failure, Failure::Refused(code, _) if code == FULL[0] || code == FULL[1])
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}'", self.address)?;
        match &self.failure {
            Failure::Late(how) => {
                write!(f, " does not answer in time: {how} (see the load of that server)")
            }
            Failure::Unreachable(how) => write!(
                f,
                " cannot be reached: {how} (start ClickHouse, or correct violations.database)"
            ),
            Failure::Refused(_, text) if self.is_full() => {
                write!(f, " has no room: {text} (make room on that server)")
            }
            Failure::Refused(_, text) => {
                write!(f, " refuses: {text} (see the user's rights, and the server's log)")
            }
            Failure::Missing => {
                write!(f, " has no tables of Beadle (start 'beadle serve' with it once)")
            }
            Failure::Newer(version) => write!(
                f,
                " was written by a newer version, as schema {version} (run that version, or name \
                 another database)"
            ),
            Failure::Unreadable(how) => {
                write!(f, " gives no answer of ClickHouse: {how} (name a ClickHouse server)")
            }
        }
    }
}

impl std::error::Error for Error {}

impl From<Error> for record::Error {
    fn from(error: Error) -> Self {
        Self { path: error.address.clone().into(), obstacle: Obstacle::Server(error.to_string()) }
    }
}
