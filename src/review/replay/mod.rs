//! Access logs run through a policy: what would have been logged, throttled or blocked.
//!
//! ```text
//! source     a file or standard input, decompressed, in blocks of whole lines     a thread for each open file
//! batch      a block -> rows                                                      a pool of threads
//! merge      the rows of all files in the order of time, within WINDOW
//! judge      rows -> the gate of the proxy, with the logs' time as now            one thread
//! totals     what is counted, bounded; `changes` against another policy
//! json, layout   the outcome as JSON lines, as a document
//! ```
//! The result does not depend on the number of threads: blocks, their order and their merge depend on
//! the files alone. The memory does not depend on the size of the logs.
//!
//! May use: framing, access_log, robots, crawlers, policy, enforce, record, report, publication, gate,
//! diagnostic, escape, text, tally. Must not know: the command line, any clock, the terminal.

mod basis;
mod batch;
mod json;
mod judge;
mod layout;
mod log_file;
mod merge;
mod totals;

#[cfg(test)]
mod tests;

pub(crate) use self::{
    basis::Basis,
    json::json_lines,
    judge::{Judge, Stop},
    layout::document,
    log_file::Source,
    merge::{Logs, Progress},
    totals::{Changes, Tally},
};
