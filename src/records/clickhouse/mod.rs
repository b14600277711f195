//! Records, counts by hour and editions in ClickHouse, which many nodes share.
//!
//! [`inserts`] turns what a node has into rows ([`Insert`]) without any connection; a [`Client`] sends
//! them, and answers questions, each within a deadline. A row has the same key whenever it is sent, so
//! an insert that comes again changes nothing. [`migrate`] makes the tables. A `Reader` answers the
//! questions of reports and pages, with the same meaning as the database of one node.
//!
//! May use: robots, tally, counts, record, text, escape, fetch. Must not know: violations, policy, the
//! local database, any clock.

pub use self::{
    client::{Attempt, Client, Settings},
    failure::{Error, Failure},
    insert::{Insert, Origin, Portion, inserts},
    schema::migrate,
    tables::{RECORD_HOURS, Table},
};

pub(crate) use self::{insert::day, reader::Reader};

mod client; // requests with deadlines
mod condition; // conditions in SQL, with foreign texts quoted
mod counts; // counts by hour, read into memory
mod failure; // failures, with the server's own words
mod insert; // rows of one table, ready to be sent
mod periods; // the periods of all nodes as those of the fleet
mod publications; // editions with their periods in the fleet
mod reader; // questions, and those for names
mod records; // records listed, counted and grouped
mod schema; // the tables, and their versions
mod tables; // the tables by name and number
mod window; // ranges of time, from one end to the other

#[cfg(test)]
pub(crate) mod tests;
