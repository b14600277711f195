//! Failures of a server, with its own words.

use derive_more::Display;

use crate::{
    base::escape,
    records::record::{self, Obstacle},
};

const SHOWN: usize = 400;

/// The codes of errors that no retry of the same rows helps: the server cannot read them.
const UNREADABLE_ROWS: [u32; 11] = [6, 25, 26, 27, 32, 38, 41, 53, 70, 72, 117];
const FULL: [u32; 2] = [243, 290];
const MISSING: [u32; 2] = [60, 81];

/// A server that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Display)]
#[display("'{address}' {failure}")]
pub struct Error {
    /// The database as the operator wrote it.
    pub address: String,
    /// The reason.
    pub failure: Failure,
}

/// The reason why a server cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Display)]
pub enum Failure {
    /// Occurs when there is no answer within the deadline.
    #[display("does not answer in time: {_0} (see the load of that server)")]
    Late(String),
    /// Occurs when there is no connection, or it breaks.
    #[display("cannot be reached: {_0} (start ClickHouse, or correct violations.database)")]
    Unreachable(String),
    /// Occurs when the server's disk is full; has its text.
    #[display("has no room: {_0} (make room on that server)")]
    Full(String),
    /// Occurs when the server refuses; has ClickHouse's code, if any, and its text.
    #[display("refuses: {_1} (see the user's rights, and the server's log)")]
    Refused(u32, String),
    /// Occurs when the tables do not exist.
    #[display("has no tables of Beadle (start 'beadle serve' with it once)")]
    Missing,
    /// Occurs when a newer version of this program made the tables; has that version's number.
    #[display(
        "was written by a newer version, as schema {_0} (run that version, or name another database)"
    )]
    Newer(u32),
    /// Occurs when the answer is not what was asked for.
    #[display("gives no answer of ClickHouse: {_0} (name a ClickHouse server)")]
    Unreadable(String),
}

impl Failure {
    pub(super) fn refused(code: Option<u32>, text: &str) -> Self {
        let code = code.or_else(|| code_of(text)).unwrap_or(0);
        let shown = || escape::bounded(text.trim().as_bytes(), SHOWN);
        match code {
            code if MISSING.contains(&code) => Self::Missing,
            code if FULL.contains(&code) => Self::Full(shown()),
            code => Self::Refused(code, shown()),
        }
    }
}

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
            Failure::Full(_) => "clickhouse.full",
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
}

impl std::error::Error for Error {}

impl From<Error> for record::Error {
    fn from(error: Error) -> Self {
        Self { path: error.address.clone().into(), obstacle: Obstacle::Server(error.to_string()) }
    }
}
