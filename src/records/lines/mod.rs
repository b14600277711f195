//! Lines on their way to a file or to standard output.
//!
//! ```text
//! Output     writes whole lines; reopens the file after log rotation; tears no line
//! Log        a bounded buffer of lines and a thread that writes them: the access log
//! ```
//! A request that logs a line waits for no disk. Lines that find no room are counted exactly.
//!
//! May use: record (for the failures of files), metrics. Must not know: the content of lines,
//! violations, the policy, requests.

mod database; // what stops a file that SQLite uses
mod file; // rules for files: mode, folder, identity
mod life; // the life of a queue, and its troubles
mod log; // the door: takes lines, never waits
mod output; // an open file or standard output

#[cfg(test)]
mod tests;

pub(crate) use self::database::database_failure;
pub use self::{
    file::{FILE_MODE, Stamp, check_folder, folder_of, identity},
    life::{MESSAGE_INTERVAL, Phase, STALL, is_due},
    log::Log,
    output::{LogTarget, Output},
};
