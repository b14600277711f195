//! Records, counts by hour and editions in ClickHouse, which many nodes share.
//!
//! [`inserts`] turns what a node has into rows ([`Insert`]) without any connection; a [`Client`] sends
//! them, and answers questions, each within a deadline. A row has the same key whenever it is sent, so
//! an insert that comes again changes nothing. [`migrate`] makes the tables.
//!
//! May use: robots, tally, counts, record, text, fetch, version. Must not know: violations, policy, the
//! local database, any clock.

pub use self::{
    client::{Attempt, Client, Settings},
    error::{Error, Failure},
    insert::{Insert, Origin, Portion, inserts},
    schema::{check, migrate},
    table::Table,
};

mod client; // requests with deadlines
mod error; // failures, with the server's own words
mod insert; // rows of one table, ready to be sent
mod rows; // values as rows
mod schema; // the tables, and their versions
mod table; // the tables by name and number

#[cfg(test)]
mod tests;
