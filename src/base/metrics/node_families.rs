//! The families of a node in a fleet. A node of its own has none of them.

use prometheus::{
    Gauge as Number, IntCounter as Counter, IntCounterVec as Counters, IntGauge as Gauge, Opts,
    Registry,
};

use super::family_table::{families, forget};

families! {
    pub(super) FleetFamilies
    labelled {
        news: Counters = "beadle_fleet_news_total" (direction)
            "Messages by direction: sent, received, or dropped because they can't be read.",
        failures: Counters = "beadle_fleet_failures_total" (reason)
            "Failed exchanges with the fleet's server, by reason.",
    }
    single {
        up: Gauge = "beadle_fleet_up"
            "1 while the fleet's server answers.",
        alone: Gauge = "beadle_fleet_alone"
            "1 while this node has exchanged nothing with the fleet for 9 seconds.",
        nodes: Gauge = "beadle_fleet_nodes"
            "Live nodes of the fleet, this one included.",
        lag: Number = "beadle_fleet_lag_seconds"
            "Age of the oldest heartbeat among the live nodes.",
        offset: Number = "beadle_fleet_clock_offset_seconds"
            "The clock of this node, less that of the fleet's server.",
        gaps: Counter = "beadle_fleet_gaps_total"
            "Gaps in the messages of other nodes, filled from the registers.",
    }
}
