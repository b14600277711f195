//! The violation record: the client, the request, the broken rule, the edition that holds it, and
//! whether the crawler had read it.
//!
//! A record enters through [`Sink::record`], which never waits for a disk. Threads of this room
//! write it to a SQLite database ([`Store`]), to JSON lines ([`jsonl`]), or both. Records that find
//! no room are counted exactly ([`Overflow`]). Every text in a record is bounded and escaped by its
//! type ([`Text`]), so that no caller can forget it. This room judges nothing.
//!
//! The database also keeps the facts that the judgement needs after a restart: every [`Edition`] of
//! a site's robots.txt, byte for byte, the site of each host ([`HostPeriod`]), [`Quarantined`] files,
//! each crawler's fetches ([`Fetch`]), and jumps of the clock ([`ClockLeap`]). It counts all requests by
//! hour ([`Rollups`]); whatever summarises asks for these counts ([`Question`]).
//!
//! May use: diagnostic, escape, product_token, robots. Must not know: policy, enforce, proxy,
//! admin, cli.

pub use self::{
    accounts::{Counts, Drops, Health},
    damage::OnDamage,
    edition::{ClockLeap, Edition, Fetch, HostPeriod, Quarantined, SiteHosts, Unread},
    error::{Error, Obstacle},
    filter::{Filter, Listing},
    notes::NoteCounts,
    overflow::Overflow,
    record::{ReadState, Robots, RobotsRead, SCHEMA, Violation},
    redaction::{REDACTED, redact_query},
    rollup::{Hour, PeopleCount, PlaceCount, PlaceKind, ReferralCount, Rollup, Rollups, Series},
    sink::{LogTarget, Settings, Sink},
    store::{Counted, Dimension, Place, Question, Referral, Store},
    text::Text,
};

mod accounts; // the state of a queue, with exact counts
mod damage; // what happens to a damaged database
mod edition; // the history of a site's robots.txt: editions, hosts, quarantine, fetches
mod error; // failures of a database or a log, with the repair
mod file; // rules for files: mode, folder, identity
mod filter; // the selection of records, the same for database and lines
pub mod jsonl; // JSON lines: one record a line, read back with a filter
mod lane; // a queue with its writer
mod log; // the target of JSON lines: a file or standard output
mod notes; // editions, quarantine and fetches that wait for the database
mod overflow; // records that were not kept, counted by name
mod queue; // bounded, between the requests and one writer
mod record; // the record and its fields
mod redaction; // secrets in a query, replaced
mod retention; // how many old records may go, and when
mod rollup; // requests counted by hour
mod sink; // the door: takes records and notes
mod store; // SQLite: schema, transactions, queries
mod text; // foreign bytes, bounded and escaped
mod time; // RFC 3339 with milliseconds
mod writer; // the thread that empties a queue into its target

#[cfg(test)]
mod tests;
