//! The families of the record queue.
//!
//! The queue counts for itself. So each exposition builds these families anew from its counts: a
//! registered counter could not be set to a count, only be added to, and two expositions at the same
//! time would add twice.

use prometheus::{
    IntCounter, IntCounterVec, IntGauge, IntGaugeVec, Opts, Registry, proto::MetricFamily,
};

/// The counts of the record queue.
#[derive(Clone, Debug, Default)]
pub struct RecordCounts {
    /// Violations handed to the queue.
    pub seen: u64,
    /// Violations written.
    pub stored: u64,
    /// Violations beyond the number of full records or the size of the database, counted alone.
    pub folded: u64,
    /// Violations counted but not kept.
    pub dropped: u64,
    /// Violations waiting to be written.
    pub queued: u64,
    /// Records that the database removed, by cause.
    pub removed: Vec<(&'static str, u64)>,
    /// The size of the database, without free pages.
    pub database_bytes: Option<u64>,
    /// The limit of that size.
    pub database_max_bytes: Option<u64>,
    /// Violations counted but not kept, by destination and cause.
    pub drops: Vec<(&'static str, &'static str, u64)>,
    /// Whether a destination is not written at present.
    pub degraded: Vec<(&'static str, bool)>,
    /// Editions, fetches and quarantined files that were lost, by kind.
    pub history_lost: Vec<(&'static str, u64)>,
    /// The way to ClickHouse, if there is one.
    pub forwarded: Option<ForwardCounts>,
}

/// The counts of the spool, and of what was sent from it.
#[derive(Clone, Debug, Default)]
pub struct ForwardCounts {
    /// The bytes of the spool.
    pub bytes: u64,
    /// Their limit.
    pub max_bytes: u64,
    /// The records that wait in it.
    pub waiting: u64,
    /// The age of the oldest rows that wait, in seconds.
    pub age: u64,
    /// The records that ClickHouse took.
    pub sent: u64,
    /// The inserts that succeeded.
    pub inserts: u64,
    /// The requests to ClickHouse that failed, by code.
    pub failures: Vec<(&'static str, u64)>,
    /// The rows that ClickHouse refuses; they were set aside.
    pub refused: u64,
    /// The records that damaged segments lost.
    pub lost: u64,
}

impl RecordCounts {
    /// The counts as families of metrics.
    pub(super) fn families(&self) -> prometheus::Result<Vec<MetricFamily>> {
        let registry = Registry::new();
        let counter = |name, help, count| {
            let counter = IntCounter::new(name, help)?;
            counter.inc_by(count);
            registry.register(Box::new(counter))
        };
        counter("beadle_records_seen_total", "Violations: recorded, or counted alone.", self.seen)?;
        counter("beadle_records_stored_total", "Violations written.", self.stored)?;
        let help =
            "Violations beyond violations.detail or violations.max_size, counted without a record.";
        counter("beadle_records_folded_total", help, self.folded)?;
        counter("beadle_records_dropped_total", "Violations counted but not kept.", self.dropped)?;
        let queued = IntGauge::new("beadle_records_queued", "Violations waiting to be written.")?;
        queued.set(i64::try_from(self.queued).unwrap_or(i64::MAX));
        registry.register(Box::new(queued))?;
        let removed = IntCounterVec::new(
            Opts::new(
                "beadle_records_removed_total",
                "Records that the database removed or lost, by cause: age, size or loss.",
            ),
            &["cause"],
        )?;
        for (cause, count) in &self.removed {
            removed.with_label_values(&[cause]).inc_by(*count);
        }
        registry.register(Box::new(removed))?;
        for (name, help, bytes) in [
            (
                "beadle_database_bytes",
                "The size of the database as violations.max_size counts it.",
                self.database_bytes,
            ),
            (
                "beadle_database_max_bytes",
                "The limit of the size of the database: violations.max_size.",
                self.database_max_bytes,
            ),
        ] {
            let Some(bytes) = bytes else { continue };
            let size = IntGauge::new(name, help)?;
            size.set(i64::try_from(bytes).unwrap_or(i64::MAX));
            registry.register(Box::new(size))?;
        }
        let drops = IntCounterVec::new(
            Opts::new(
                "beadle_record_drops_total",
                "Violations counted but not kept, by destination (database or log) and cause.",
            ),
            &["destination", "cause"],
        )?;
        for (destination, cause, count) in &self.drops {
            drops.with_label_values(&[destination, cause]).inc_by(*count);
        }
        registry.register(Box::new(drops))?;
        let degraded = IntGaugeVec::new(
            Opts::new(
                "beadle_records_degraded",
                "1 while violations are not written to a destination: database, log or clickhouse.",
            ),
            &["destination"],
        )?;
        for (destination, is_degraded) in &self.degraded {
            degraded.with_label_values(&[destination]).set(i64::from(*is_degraded));
        }
        registry.register(Box::new(degraded))?;
        let lost = IntCounterVec::new(
            Opts::new(
                "beadle_history_lost_total",
                "Editions, fetches and quarantined files of robots.txt that the database lacks, by kind.",
            ),
            &["kind"],
        )?;
        for (kind, count) in &self.history_lost {
            lost.with_label_values(&[kind]).inc_by(*count);
        }
        registry.register(Box::new(lost))?;
        if let Some(forwarded) = &self.forwarded {
            forwarded.register(&registry)?;
        }
        Ok(registry.gather())
    }
}

impl ForwardCounts {
    fn register(&self, registry: &Registry) -> prometheus::Result<()> {
        for (name, help, value) in [
            ("beadle_spool_bytes", "The size of the spool on the way to ClickHouse.", self.bytes),
            (
                "beadle_spool_max_bytes",
                "The limit of that size: violations.clickhouse.spool_size.",
                self.max_bytes,
            ),
            ("beadle_spool_records", "Violations that wait in the spool.", self.waiting),
            (
                "beadle_spool_age_seconds",
                "The age of the oldest rows that wait in the spool; 0 if none do.",
                self.age,
            ),
        ] {
            let gauge = IntGauge::new(name, help)?;
            gauge.set(i64::try_from(value).unwrap_or(i64::MAX));
            registry.register(Box::new(gauge))?;
        }
        for (name, help, count) in [
            ("beadle_clickhouse_records_total", "Violations that ClickHouse took.", self.sent),
            ("beadle_clickhouse_inserts_total", "Inserts that ClickHouse took.", self.inserts),
            (
                "beadle_clickhouse_refused_rows_total",
                "Rows that ClickHouse refuses for ever; they were set aside.",
                self.refused,
            ),
            (
                "beadle_spool_lost_records_total",
                "Violations in damaged segments of the spool.",
                self.lost,
            ),
        ] {
            let counter = IntCounter::new(name, help)?;
            counter.inc_by(count);
            registry.register(Box::new(counter))?;
        }
        let opts = Opts::new(
            "beadle_clickhouse_failures_total",
            "Requests to ClickHouse that failed, by code.",
        );
        let failures = IntCounterVec::new(opts, &["code"])?;
        for (code, count) in &self.failures {
            failures.with_label_values(&[code]).inc_by(*count);
        }
        registry.register(Box::new(failures))
    }
}
