//! The SQLite database of violations, and of the editions and fetches that judgements need.
//!
//! Write-ahead logging lets readers and the writer work at once. With `synchronous = FULL`, an
//! acknowledged record survives a power cut. No other room knows SQLite.
//!
//! In a fleet, records, counts and editions are in a ClickHouse server that all nodes share. A [`Store`]
//! then asks that server, with the same meaning; the file has what this node alone needs.

pub(super) use self::appender::Appender;
pub use self::{
    compaction::CompactionPlan,
    connection::{Location, Store},
    copy::DatabaseCopy,
    damage::OnDamage,
    examination::{Examination, Fault, Table},
};

mod appender; // the writer's target: one transaction for each batch
mod blocks; // summaries of records, made a piece at a time
mod compaction; // free pages, given back
mod connection; // an open database: its location, checks, errors
mod copy; // a copy of a database in use
mod count_questions; // questions to the counts by hour, answered from memory
mod damage; // a damaged database: traces of ours, moved aside
mod editions; // editions of robots.txt and their periods
mod examination; // whether a database holds together
mod files; // the open files: moved, truncated, copied from the log
mod find_name; // the names in the database
mod history; // hosts, jumps of the clock, fetches, answers of origins
mod inspection; // damage to a database in use
mod migrations; // the tables, and their versions
mod policies; // the policies that came into force
mod quarantine; // files that wait for an acceptance
mod query; // a filter as a question to the database
mod record_rows; // records as rows
mod removal; // old rows that go
mod rollups; // counts as rows
mod search; // the way through the records that a filter may list
mod upkeep; // old rows, a piece between batches
mod values; // the values of columns, and conditions with values

#[cfg(test)]
mod tests;
