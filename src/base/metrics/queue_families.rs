//! The families of the record queue.
//!
//! The queue counts for itself. So each exposition builds these families anew from its counts: a
//! registered counter could not be set to a count, only be added to, and two expositions at the same
//! time would add twice.

use prometheus::{IntCounterVec as Counters, IntGaugeVec as Gauges, Opts, Registry};

use super::family_table::{families, forget};

// A family without a series is not shown.
families! {
    /// What the record queue counts for itself.
    pub RecordFamilies
    labelled {
        seen: Counters = "beadle_records_seen_total" ()
            "Violations: recorded, or counted alone.",
        stored: Counters = "beadle_records_stored_total" ()
            "Violations written.",
        folded: Counters = "beadle_records_folded_total" ()
            "Violations beyond violations.detail or violations.max_size, counted without a record.",
        dropped: Counters = "beadle_records_dropped_total" ()
            "Violations counted but not kept.",
        queued: Gauges = "beadle_records_queued" ()
            "Violations waiting to be written.",
        removed: Counters = "beadle_records_removed_total" (cause)
            "Records that the database removed or lost, by cause: age, size or loss.",
        database_bytes: Gauges = "beadle_database_bytes" ()
            "The size of the database as violations.max_size counts it.",
        database_max_bytes: Gauges = "beadle_database_max_bytes" ()
            "The limit of the size of the database: violations.max_size.",
        drops: Counters = "beadle_record_drops_total" (destination, cause)
            "Violations counted but not kept, by destination (database or log) and cause.",
        degraded: Gauges = "beadle_records_degraded" (destination)
            "1 while violations are not written to a destination: database, log or clickhouse.",
        history_lost: Counters = "beadle_history_lost_total" (kind)
            "Editions, fetches and quarantined files of robots.txt that the database lacks, by kind.",
        spool_bytes: Gauges = "beadle_spool_bytes" ()
            "The size of the spool on the way to ClickHouse.",
        spool_max_bytes: Gauges = "beadle_spool_max_bytes" ()
            "The limit of that size: violations.clickhouse.spool_size.",
        spool_records: Gauges = "beadle_spool_records" ()
            "Violations that wait in the spool.",
        spool_age: Gauges = "beadle_spool_age_seconds" ()
            "The age of the oldest rows that wait in the spool; 0 if none do.",
        sent: Counters = "beadle_clickhouse_records_total" ()
            "Violations that ClickHouse took.",
        inserts: Counters = "beadle_clickhouse_inserts_total" ()
            "Inserts that ClickHouse took.",
        refused: Counters = "beadle_clickhouse_refused_rows_total" ()
            "Rows that ClickHouse refuses for ever; they were set aside.",
        lost: Counters = "beadle_spool_lost_records_total" ()
            "Violations that damage to the spool lost.",
        failures: Counters = "beadle_clickhouse_failures_total" (code)
            "Requests to ClickHouse that failed, by code.",
    }
    single {}
}

/// A family that is built anew for each exposition.
pub trait Put {
    /// Gives the series with these labels its value.
    fn put(&self, labels: &[&str], value: u64);
}

impl Put for Counters {
    fn put(&self, labels: &[&str], value: u64) {
        self.with_label_values(labels).inc_by(value);
    }
}

impl Put for Gauges {
    fn put(&self, labels: &[&str], value: u64) {
        self.with_label_values(labels).set(i64::try_from(value).unwrap_or(i64::MAX));
    }
}
