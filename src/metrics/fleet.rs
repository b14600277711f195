//! The families of a node in a fleet. A node of its own has none of them.

use prometheus::{Gauge as Number, IntCounter, IntCounterVec, IntGauge, Opts, Registry};

use super::Metrics;

/// The registered families.
#[derive(Debug)]
pub(super) struct FleetFamilies {
    up: IntGauge,
    alone: IntGauge,
    nodes: IntGauge,
    lag: Number,
    offset: Number,
    news: IntCounterVec,
    gaps: IntCounter,
    failures: IntCounterVec,
}

impl FleetFamilies {
    fn register(registry: &Registry) -> prometheus::Result<Self> {
        let gauge = |name: &str, help: &str| {
            let gauge = IntGauge::new(name, help)?;
            registry.register(Box::new(gauge.clone()))?;
            prometheus::Result::Ok(gauge)
        };
        let number = |name: &str, help: &str| {
            let gauge = Number::new(name, help)?;
            registry.register(Box::new(gauge.clone()))?;
            prometheus::Result::Ok(gauge)
        };
        let counters = |name: &str, help: &str, label: &str| {
            let counters = IntCounterVec::new(Opts::new(name, help), &[label])?;
            registry.register(Box::new(counters.clone()))?;
            prometheus::Result::Ok(counters)
        };
        let gaps = IntCounter::new(
            "beadle_fleet_gaps_total",
            "Gaps in the messages of other nodes, filled from the registers.",
        )?;
        registry.register(Box::new(gaps.clone()))?;
        let families = Self {
            up: gauge("beadle_fleet_up", "1 while the fleet's server answers.")?,
            alone: gauge(
                "beadle_fleet_alone",
                "1 while this node has exchanged nothing with the fleet for 9 seconds.",
            )?,
            nodes: gauge("beadle_fleet_nodes", "Live nodes of the fleet, this one included.")?,
            lag: number(
                "beadle_fleet_lag_seconds",
                "Time since the node was heard that was not heard for longest.",
            )?,
            offset: number(
                "beadle_fleet_clock_offset_seconds",
                "The clock of this node, less that of the fleet's server.",
            )?,
            news: counters(
                "beadle_fleet_news_total",
                "Messages by direction: sent, received, or dropped because they can't be read.",
                "direction",
            )?,
            gaps,
            failures: counters(
                "beadle_fleet_failures_total",
                "Failed exchanges with the fleet's server, by reason.",
                "reason",
            )?,
        };
        for direction in ["sent", "received", "dropped"] {
            families.news.with_label_values(&[direction]);
        }
        Ok(families)
    }
}

impl Metrics {
    fn of_fleet(&self) -> &FleetFamilies {
        self.fleet.get_or_init(|| {
            FleetFamilies::register(&self.registry)
                .expect("the names of all families are distinct and well-formed")
        })
    }

    /// Shows the state of the exchange: the live nodes, the lag and the offset of the clock in
    /// milliseconds.
    pub fn fleet(&self, is_up: bool, nodes: usize, lag: i64, offset: i64) {
        let families = self.of_fleet();
        families.up.set(i64::from(is_up));
        families.nodes.set(i64::try_from(nodes).unwrap_or(i64::MAX));
        families.lag.set(lag as f64 / 1_000.0);
        families.offset.set(offset as f64 / 1_000.0);
    }

    /// Shows whether this node hears nothing of the others.
    pub fn fleet_alone(&self, is_alone: bool) {
        self.of_fleet().alone.set(i64::from(is_alone));
    }

    /// Counts messages: `sent`, `received` or `dropped`.
    pub fn fleet_news(&self, direction: &str, messages: u64) {
        self.of_fleet().news.with_label_values(&[direction]).inc_by(messages);
    }

    /// Counts a gap in the messages of others.
    pub fn fleet_gap(&self) {
        self.of_fleet().gaps.inc();
    }

    /// Counts a failed exchange, by the code of the failure.
    pub fn fleet_failure(&self, code: &str) {
        let reason = code.strip_prefix("fleet.").unwrap_or(code);
        self.of_fleet().failures.with_label_values(&[reason]).inc();
    }
}
