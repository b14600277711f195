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
    connection::Store,
    copy::DatabaseCopy,
    damage::OnDamage,
    examination::{Examination, Fault, Table},
    location::Location,
};

mod appender; // the writer's target: one transaction for each batch
mod blocks; // summaries of records, made a piece at a time
mod compaction; // free pages, given back
mod conditions; // conditions in SQL
mod connection; // an open database: checks, errors
mod copy; // a copy of a database in use
mod count_questions; // questions to the counts by hour, answered from memory
mod damage; // a damaged database: traces of ours, moved aside
mod editions; // editions of robots.txt and their periods
mod examination; // whether a database holds together
mod fetches; // each crawler's fetches of robots.txt
mod files; // the open files: moved, truncated, copied from the log
mod find_name; // the names in the database
mod hosts; // the site of each host
mod inspection; // damage to a database in use
mod leaps; // jumps of the clock
mod location; // a file, and a server that many nodes share
mod migrations; // the tables, and their versions
mod policies; // the policies that came into force
mod probes; // what origins answered about forms of paths
mod quarantine; // files that wait for an acceptance
mod query; // a filter as a question to the database
mod record_rows; // records as rows
mod removal; // old rows that go
mod rollups; // counts by hour as rows
mod search; // the way through the records that a filter may list
mod unkept; // records that were not kept, counted
mod upkeep; // old rows, a piece between batches
mod values; // the values of columns

#[cfg(test)]
mod tests;
