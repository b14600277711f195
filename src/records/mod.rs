//! What is kept of requests: counts, violations, editions, in SQLite or ClickHouse.
//!
//! Look here for how a violation is queued, written, removed and found again.
//!
//! ```text
//! tally ─▶ record ─▶ counts ─▶ clickhouse ─▶ forward ─▶ violations
//!          record ─▶ lines ─▶ forward
//!          lines ─▶ spool ─▶ forward
//! ```

pub mod clickhouse; // rows, tables and SQL of the server that many nodes share
pub mod counts; // counts by hour read into memory, and the sums for a span of time
pub mod forward; // batches on their way to ClickHouse, by the spool
pub mod lines; // lines on their way to a file or to standard output
pub mod record; // the records as values, their columns, filters and texts; failures of files and databases
pub mod spool; // frames of bytes that wait on the disk
pub mod tally; // requests counted by hour before they are written: by crawler, path, network, people
pub mod violations; // the records: queue, SQLite store, queries, damage, retention
