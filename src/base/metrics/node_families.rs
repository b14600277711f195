//! The families of a node in a fleet. A node of its own has none of them.

use prometheus::{Gauge as Number, IntCounter, IntCounterVec, IntGauge, Opts, Registry};

/// The registered families.
#[derive(Debug)]
pub(super) struct FleetFamilies {
    pub(super) up: IntGauge,
    pub(super) alone: IntGauge,
    pub(super) nodes: IntGauge,
    pub(super) lag: Number,
    pub(super) offset: Number,
    pub(super) news: IntCounterVec,
    pub(super) gaps: IntCounter,
    pub(super) failures: IntCounterVec,
}

impl FleetFamilies {
    pub(super) fn register(registry: &Registry) -> prometheus::Result<Self> {
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
                "Age of the oldest heartbeat among the live nodes.",
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
