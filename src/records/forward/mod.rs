//! Batches on their way to ClickHouse: onto the disk first, which acknowledges them, then to the server.
//!
//! A [`Forwarder`] belongs to the thread that empties the queue of records. It turns a batch into rows
//! and appends them to the spool, all or none. A thread of this room sends the frames of the spool in
//! order, removes what the server took, and keeps the rest while the server is away, hung, slow or full.
//! Rows have keys of their own, so a retry changes nothing: of counts by hour, each row has the whole
//! count of this run. Rows that the server refuses for ever are set aside. [`Forwarding`] tells how it goes.
//!
//! May use: tally, record, lines, spool, clickhouse, text. Must not know: violations, policy, who reads.

use std::{path::PathBuf, time::Duration};

use crate::records::clickhouse;

pub use self::{
    forwarder::{Forwarder, Forwarding},
    state::Status,
};

mod forwarder; // the writer's side: batches into the spool; the sending thread
mod old_days; // old days, dropped
mod sender; // the thread that sends
mod shipment; // segments on their way, piece by piece
mod state; // what both sides share, and how it goes
mod totals; // the counts of this run so far

/// Where batches go, and where they wait.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The server.
    pub server: clickhouse::Settings,
    /// The folder of the spool.
    pub folder: PathBuf,
    /// The most bytes of the spool.
    pub limit: u64,
    /// The name of this node, a part of the keys of counts.
    pub node: String,
    /// How long the server keeps records and counts; `None` keeps them all.
    pub retention: Option<Duration>,
}

#[cfg(test)]
mod tests;
