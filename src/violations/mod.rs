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
//! May use: tally, robots, text, diagnostic, escape, product_token. Must not know: policy, enforce, proxy,
//! admin, cli.

pub use crate::{
    tally::{
        Detail, Hour, People, PeopleCount, PlaceCount, PlaceKind, Places, ReadState, ReferralCount,
        Rollup, Rollups, Series, SeriesKey, Tallied,
    },
    text::Text,
};

pub use self::{
    accounts::{Counts, Drops, Health},
    damage::OnDamage,
    edition::{
        ClockLeap, Edition, EditionPeriod, Fetch, HostPeriod, Quarantined, SiteHosts, Unread,
    },
    error::{Error, Obstacle},
    fill::Removed,
    filter::{Filter, Listing},
    history::History,
    names::{NameFound, NameKind},
    notes::NoteCounts,
    overflow::Overflow,
    record::{Robots, RobotsRead, SCHEMA, Violation, rule_line},
    redaction::{REDACTED, redact_query},
    sink::{LogTarget, Settings, Sink},
    store::{
        CompactionPlan, Counted, DatabaseCopy, Dimension, Examination, Fault, Place, Question,
        RecordColumn, Referral, Store, Table,
    },
    waiting::Record,
};

mod accounts; // the state of a queue, with exact counts
pub mod csv; // CSV: one record a line, safe for spreadsheets
mod damage; // what happens to a damaged database
mod edition; // the history of a site's robots.txt: editions, hosts, quarantine, fetches
mod error; // failures of a database or a log, with the repair
mod file; // rules for files: mode, folder, identity
mod fill; // how full the database is
mod filter; // the selection of records, the same for database and lines
mod history; // what the running program judges by, for a database that lacks it
pub mod jsonl; // JSON lines: one record a line, read back with a filter
mod lane; // a queue with its writer
mod log; // the target of JSON lines: a file or standard output
mod names; // the names in records: sites, product tokens, purposes
mod notes; // editions, quarantine and fetches that wait for the database
mod overflow; // records that were not kept, counted by name
mod queue; // bounded, between the requests and one writer
mod record; // the record and its fields
mod redaction; // secrets in a query, replaced
mod retention; // how many old records may go, and when
mod sink; // the door: takes records and notes
mod size_limit; // how large a database may become
mod store; // SQLite: schema, transactions, queries
mod time; // RFC 3339 with milliseconds
mod waiting; // a record on its way to the store
mod writer; // the thread that empties a queue into its target

#[cfg(test)]
mod tests;
