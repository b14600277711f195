//! The record of a violation and the other facts that are kept, as values: no queue, no database, no thread.
//!
//! [`Violation`] is the record, [`Filter`] a selection of records, [`csv`] their form for spreadsheets.
//! `block` summarises many records for a search.
//! [`Edition`], [`Fetch`], [`HostPeriod`] and [`Quarantined`] are the history of a site's robots.txt.
//! [`Error`] names a database or a log that fails, with the repair.
//!
//! May use: tally, robots, text, escape. Must not know: violations, policy, enforce, proxy, admin, cli.

pub(crate) use self::{
    columns::{COLUMNS, CountRow, Value, of_series},
    filter::MOST_NAMES,
    overflow::Tally,
    path_pattern::PathPattern,
};
pub use self::{
    edition::{
        ClockLeap, Edition, EditionPeriod, Fetch, HostPeriod, PolicyEntry, Probed, QuarantineAct,
        Quarantined, SiteHosts, Unread,
    },
    error::{Error, Obstacle},
    filter::{Filter, Listing, NameFound, NameKind, RecordColumn},
    overflow::Overflow,
    redaction::{REDACTED, redact_query},
    violation::{BrokenRule, REASONS, Robots, RobotsRead, SCHEMA, Violation, rule_line},
};

pub(crate) mod block; // many records in a few bytes each, for a search
mod columns; // the values of a record, one for each column
pub mod csv; // CSV: one record a line, safe for spreadsheets
mod edition; // the history of a site's robots.txt: editions, hosts, quarantine, fetches
mod error; // failures of a database or a log, with the repair
mod filter; // the selection of records, the same for database and lines; their names
mod overflow; // records that were not kept, counted by name
pub(crate) mod packing; // numbers and texts as bytes
mod path_pattern; // path patterns for many recorded paths
mod redaction; // secrets in a query, replaced
#[cfg(test)]
pub(crate) mod tests;
pub(crate) mod time; // RFC 3339 with milliseconds
mod violation; // the record and its fields
