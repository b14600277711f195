//! The families of the record queue.
//!
//! The queue counts for itself. So each exposition builds these families anew from its counts: a
//! registered counter could not be set to a count, only be added to, and two expositions at the same
//! time would add twice.

use prometheus::{IntCounterVec, IntGaugeVec, Opts, Registry, proto::MetricFamily};

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
        let families = Families(Registry::new());
        let counter = |name, help, count| families.counters(name, help, [], [([], count)]);
        counter("beadle_records_seen_total", "Violations: recorded, or counted alone.", self.seen)?;
        counter("beadle_records_stored_total", "Violations written.", self.stored)?;
        let help =
            "Violations beyond violations.detail or violations.max_size, counted without a record.";
        counter("beadle_records_folded_total", help, self.folded)?;
        counter("beadle_records_dropped_total", "Violations counted but not kept.", self.dropped)?;
        families.gauge(
            "beadle_records_queued",
            "Violations waiting to be written.",
            self.queued,
        )?;
        families.counters(
            "beadle_records_removed_total",
            "Records that the database removed or lost, by cause: age, size or loss.",
            ["cause"],
            self.removed.iter().map(|(cause, count)| ([*cause], *count)),
        )?;
        if let Some(bytes) = self.database_bytes {
            let help = "The size of the database as violations.max_size counts it.";
            families.gauge("beadle_database_bytes", help, bytes)?;
        }
        if let Some(bytes) = self.database_max_bytes {
            let help = "The limit of the size of the database: violations.max_size.";
            families.gauge("beadle_database_max_bytes", help, bytes)?;
        }
        families.counters(
            "beadle_record_drops_total",
            "Violations counted but not kept, by destination (database or log) and cause.",
            ["destination", "cause"],
            self.drops.iter().map(|(destination, cause, count)| ([*destination, *cause], *count)),
        )?;
        families.gauges(
            "beadle_records_degraded",
            "1 while violations are not written to a destination: database, log or clickhouse.",
            ["destination"],
            self.degraded.iter().map(|(destination, is)| ([*destination], u64::from(*is))),
        )?;
        families.counters(
            "beadle_history_lost_total",
            "Editions, fetches and quarantined files of robots.txt that the database lacks, by kind.",
            ["kind"],
            self.history_lost.iter().map(|(kind, count)| ([*kind], *count)),
        )?;
        if let Some(forwarded) = &self.forwarded {
            forwarded.register(&families)?;
        }
        Ok(families.0.gather())
    }
}

impl ForwardCounts {
    fn register(&self, families: &Families) -> prometheus::Result<()> {
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
            families.gauge(name, help, value)?;
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
            families.counters(name, help, [], [([], count)])?;
        }
        families.counters(
            "beadle_clickhouse_failures_total",
            "Requests to ClickHouse that failed, by code.",
            ["code"],
            self.failures.iter().map(|(code, count)| ([*code], *count)),
        )
    }
}

/// The families of one exposition.
struct Families(Registry);

impl Families {
    fn counters<'v, const N: usize>(
        &self,
        name: &str,
        help: &str,
        labels: [&str; N],
        series: impl IntoIterator<Item = ([&'v str; N], u64)>,
    ) -> prometheus::Result<()> {
        let counters = IntCounterVec::new(Opts::new(name, help), &labels)?;
        for (values, count) in series {
            counters.with_label_values(&values).inc_by(count);
        }
        self.0.register(Box::new(counters))
    }

    fn gauges<'v, const N: usize>(
        &self,
        name: &str,
        help: &str,
        labels: [&str; N],
        series: impl IntoIterator<Item = ([&'v str; N], u64)>,
    ) -> prometheus::Result<()> {
        let gauges = IntGaugeVec::new(Opts::new(name, help), &labels)?;
        for (values, value) in series {
            gauges.with_label_values(&values).set(i64::try_from(value).unwrap_or(i64::MAX));
        }
        self.0.register(Box::new(gauges))
    }

    fn gauge(&self, name: &str, help: &str, value: u64) -> prometheus::Result<()> {
        self.gauges(name, help, [], [([], value)])
    }
}
