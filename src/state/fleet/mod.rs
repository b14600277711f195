//! What the nodes of a fleet tell each other: messages, registers, presence, and the time they share.
//!
//! A node tells [`News`] about what its requests changed, numbered within its run. Others take each
//! message once ([`Heard`]); what came is merged so that order and repetition do not matter. A
//! [`Beat`] says what a node has told and taken in so far. From the beats follows the
//! [`Roster`]: who is there, up to when everybody was heard ([`Roster::horizon`]), and whether
//! everybody knows of a new edition ([`Roster::have_read`]). [`Statements`] tell when each edition
//! was served anywhere. Registers hold what a new node has to know.
//!
//! Everything on the wire is JSON with times of the fleet ([`Clocks`]): of the shared server's
//! clock, in milliseconds. A reader ignores fields and kinds that it does not know, and messages of
//! a newer version.
//!
//! May use: conduct, enforce. Must not know: publication, redis, tokio, any clock.

mod clocks; // the time of the fleet
mod heard; // messages taken in, and gaps
mod news; // one message, and an event on its way to the node that sends it
mod presence; // nodes: beats and reports
pub mod registers; // what a new node reads
mod roster; // who is there, and how far it was heard
mod statements; // the editions that each node serves
#[cfg(test)]
mod tests;

pub use self::{
    clocks::Clocks,
    heard::Heard,
    news::{MOST_ITEMS, News, Notice, Shift, Told, VERSION, json},
    presence::{Beat, Difference, Position, Report, differences},
    roster::{Ends, LIVE, RECENT, Roster, Silent},
    statements::{Served, Statement, Statements},
};
