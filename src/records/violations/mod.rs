//! The records of violations ([`record`](crate::records::record)) on their way to the disk, and the questions to
//! them.
//!
//! A record enters through [`Sink::record`], which never waits for a disk. Threads of this room
//! write it to a SQLite database ([`Store`]), to JSON lines ([`jsonl`]), or both. Records that find
//! no room are counted exactly. Every text in a record is bounded and escaped by its type, so that no
//! caller can forget it. This room judges nothing.
//!
//! The database also keeps the facts that the judgement needs after a restart: every edition of a site's
//! robots.txt, byte for byte, the site of each host, files in quarantine, each crawler's fetches, jumps of
//! the clock, and what origins answered about forms of paths. It counts all requests by hour; whatever
//! summarises asks for these counts ([`Question`](super::counts::Question)).
//!
//! May use: tally, counts, record, lines, clickhouse, forward, robots, text. Must not know: policy,
//! enforce, proxy, admin, cli.

pub use self::{
    accounts::{Counts, Drops, Health, Record},
    fill::Removed,
    notes::{History, Note, NoteCounts},
    sink::{Settings, Sink},
    store::{CompactionPlan, DatabaseCopy, Examination, Fault, Location, OnDamage, Store, Table},
};

mod accounts; // the state of a queue, with exact counts
mod fill; // how full the database is
pub mod jsonl; // JSON lines: one record a line, written, and read back with a filter
mod notes; // editions, quarantine and fetches that wait for the database; the history for a new one
mod queue; // bounded, between the requests and one writer
mod relay; // notes into the local database, records on their way to ClickHouse
mod retention; // how many old records may go, and when
mod sink; // the door: takes records and notes
mod size_limit; // how large a database may become
mod store; // SQLite: schema, transactions, queries
mod writer; // a queue with the thread that empties it into its target

#[cfg(test)]
mod tests;
