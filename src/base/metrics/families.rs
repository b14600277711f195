//! The families of metrics: the name, the labels and the help text of each.

use std::{collections::HashMap, sync::OnceLock};

use prometheus::{
    Gauge as Number, Histogram, HistogramOpts, IntCounter as Counter, IntCounterVec as Counters,
    IntGauge as Gauge, IntGaugeVec as Gauges, Opts, Registry,
    core::{Collector, MetricVec, MetricVecBuilder},
};

use crate::base::version;

/// Declares families: the name of each, its labels if it has any, and its help text. A counter under
/// `counted` is known by the method that adds one to it, a family under `kept` by the method that finds a
/// series of it; the others are fields with a type.
macro_rules! families {
    (
        $(#[$about:meta])*
        $vis:vis $families:ident
        $(counted {
            $($method:ident($($of:ident),+) = $counter:literal $counter_help:literal,)*
        })?
        $(kept {
            $($handle:ident: $handles:ty => $series:ty = $handle_name:literal ($($by:ident),+) $handle_help:literal,)*
        })?
        labelled { $($field:ident: $vec:ty = $name:literal ($($label:ident),*) $help:literal,)* }
        single { $($one:ident: $metric:ty = $one_name:literal $one_help:literal,)* }
    ) => {
        $(#[$about])*
        #[derive(Debug)]
        $vis struct $families {
            $($(#[doc = $counter_help] $vis $method: Counters,)*)?
            $($(#[doc = $handle_help] $vis $handle: $handles,)*)?
            $(#[doc = $help] $vis $field: $vec,)*
            $(#[doc = $one_help] $vis $one: $metric,)*
        }

        impl $families {
            pub(super) fn register(registry: &Registry) -> prometheus::Result<Self> {
                let families = Self {
                    $($($method: Counters::new(
                        Opts::new($counter, $counter_help),
                        &[$(stringify!($of)),+],
                    )?,)*)?
                    $($($handle: <$handles>::new(
                        Opts::new($handle_name, $handle_help),
                        &[$(stringify!($by)),+],
                    )?,)*)?
                    $($field: <$vec>::new(Opts::new($name, $help), &[$(stringify!($label)),*])?,)*
                    $($one: <$metric>::new($one_name, $one_help)?,)*
                };
                $($(registry.register(Box::new(families.$method.clone()))?;)*)?
                $($(registry.register(Box::new(families.$handle.clone()))?;)*)?
                $(registry.register(Box::new(families.$field.clone()))?;)*
                $(registry.register(Box::new(families.$one.clone()))?;)*
                Ok(families)
            }

            #[allow(dead_code, reason = "not every family has sites")]
            pub(super) fn forget_site(&self, site: &str) {
                $($(forget(&self.$method, site);)*)?
                $($(forget(&self.$handle, site);)*)?
                $(forget(&self.$field, site);)*
            }
        }

        $(
            impl Metrics {
                $(
                    #[doc = concat!("Counts one. ", $counter_help)]
                    pub fn $method(&self, $($of: &str),+) {
                        self.families.$method.with_label_values(&[$($of),+]).inc();
                    }
                )*
            }
        )?
        $(
            impl Metrics {
                $(
                    #[doc = concat!("Finds a series. Keep it: a look-up is slow. ", $handle_help)]
                    pub fn $handle(&self, $($by: &str),+) -> $series {
                        self.families.$handle.with_label_values(&[$($by),+])
                    }
                )*
            }
        )?
    };
}

/// Removes each series of a site from a family.
pub(super) fn forget<B: MetricVecBuilder>(family: &MetricVec<B>, site: &str) {
    for found in family.collect() {
        for series in found.get_metric() {
            let labels: HashMap<&str, &str> =
                series.get_label().iter().map(|pair| (pair.name(), pair.value())).collect();
            if labels.get("site") == Some(&site) {
                // A missing series needs no removal.
                let _ = family.remove(&labels);
            }
        }
    }
}

/// All metrics of one process.
#[derive(Debug)]
pub struct Metrics {
    pub(super) registry: Registry,
    pub(super) families: Families,
    /// Registered when a node joins a fleet.
    pub(super) fleet: OnceLock<FleetFamilies>,
    /// Time to identify and judge one request, in seconds.
    pub decision_seconds: Histogram,
    /// Requests in progress.
    pub in_flight: Gauge,
}

families! {
    pub(super) Families
    counted {
        origin_fault(site, origin, reason) = "beadle_origin_faults_total"
            "Failures of one origin of a site, by reason: connection, response or check.",
        violation(site, product_token, reason, action) = "beadle_violations_total"
            "Violations of robots.txt rules by site, product token, reason and action.",
        other_form(site, product_token, action) = "beadle_other_forms_total"
            "Requests for other forms of closed paths by site, product token and action.",
        limited(site, product_token, mode) = "beadle_limited_requests_total"
            "Requests beyond a rate limit of the policy by site, product token and mode.",
        impostor_violation(site, product_token, reason, action) = "beadle_impostor_violations_total"
            "Violations by impostors of a crawler, by site, its product token, reason and action.",
        grace(site, product_token) = "beadle_grace_total"
            "Requests that only the newest robots.txt disallows, by crawlers that may use an older one.",
        refusal(reason) = "beadle_refusals_total"
            "Requests and connections refused before the decision, or delayed by a limit, by reason.",
        alert_attempt(webhook, outcome) = "beadle_alert_attempts_total"
            "Attempts to send an alert to a webhook by outcome: accepted, refused or failed.",
        alert_lost(webhook) = "beadle_alerts_lost_total"
            "Alerts that a webhook did not accept in all attempts, or had no room for.",
        policy_fetched(outcome) = "beadle_policy_fetches_total"
            "Fetches of a policy on a server by outcome: new, unchanged, refused or failed.",
        reload(outcome) = "beadle_policy_reloads_total"
            "Policy reloads by outcome: applied, unchanged or refused.",
        certificate_read(outcome) = "beadle_certificate_reads_total"
            "Changed certificate files by outcome: taken or refused.",
        acme_order(outcome) = "beadle_acme_orders_total"
            "Orders of certificates by outcome: issued or failed.",
        evidence_fetch(evidence, outcome) = "beadle_evidence_fetches_total"
            "Fetches of address lists and key directories, by evidence and outcome.",
        evidence_finding(evidence, finding) = "beadle_evidence_findings_total"
            "Findings in fetched address lists, by evidence and finding.",
        signature(outcome) = "beadle_signatures_total"
            "Signatures on requests that claim to be a known crawler, by outcome.",
        origin_robots_fetch(site, outcome) = "beadle_origin_robots_fetches_total"
            "Fetches of the origin's robots.txt, by site and outcome.",
        put_off(site, product_token) = "beadle_put_off_requests_total"
            "Requests of crawlers that made room for people, by site and product token.",
        watch_request(site, outcome) = "beadle_watch_requests_total"
            "Beadle's own requests to the public address of a site, by outcome: fine, finding or failed.",
    }
    kept {
        requests: Counters => Counter = "beadle_requests_total" (site, class, action)
            "Requests by site, class of client and action.",
        crawler_requests: Counters => Counter = "beadle_crawler_requests_total" (site, product_token, standing, action)
            "Requests of clients other than browsers, by site, product token, standing and action.",
        invalid_tag_lines: Counters => Counter = "beadle_origin_invalid_robots_tag_lines_total" (site)
            "Invalid Robots-Tag and X-Robots-Tag lines of the origin, repaired by Beadle, by site.",
        claims: Counters => Counter = "beadle_claims_total" (site, standing, evidence)
            "Requests that claim to be a known crawler, by site, standing and evidence.",
        evidence_lookups: Counters => Counter = "beadle_evidence_lookups_total" (evidence, outcome)
            "DNS lookups of client addresses, by evidence and outcome.",
        origin_robots_held: Gauges => Gauge = "beadle_origin_robots_held" (site)
            "1 while a robots.txt of the origin is in quarantine.",
        origin_failures: Counters => Counter = "beadle_origin_failures_total" (site)
            "Requests that the origin failed to answer, answered with 502, 503 or 504, by site.",
        origin_up: Gauges => Gauge = "beadle_origin_up" (site, origin)
            "1 while an origin of a site gets requests, 0 while it is down.",
        breaker_open: Gauges => Gauge = "beadle_breaker_open" (site)
            "1 while the breaker is open and Beadle refuses nothing.",
        access_log_drops: Counters => Counter = "beadle_access_log_drops_total" (cause)
            "Lines of the access log that were not written, by cause.",
        watch_findings: Gauges => Gauge = "beadle_watch_findings" (site, kind)
            "What servers in front of a site do to Beadle's answers, by kind.",
    }
    labelled {
        crawlers_limit: Gauges = "beadle_people_first_limit" (site)
            "Requests of crawlers that may be at the origin at one time, where people come first, by site.",
        at_origin: Gauges = "beadle_people_first_requests" (site, of)
            "Requests at the origin, where people come first, by site: of people, of crawlers, or of crawlers that wait for it.",
        putting_off: Gauges = "beadle_people_first_active" (site)
            "Whether a crawler made room for people in the last minute, by site.",
        crawl_delay_requests: Counters = "beadle_crawl_delay_requests_total" (site, product_token, outcome)
            "Requests of crawlers with a Crawl-delay or Request-rate, by outcome: kept or broken.",
        ladder_steps: Counters = "beadle_ladder_steps_total" (site, direction)
            "Steps of crawlers on the ladder, by direction: up or down.",
        ladder_rung: Gauges = "beadle_ladder_rung" (site, product_token, standing)
            "Rung of a crawler on the ladder: 1 throttle, 2 block; absent without a rung.",
        breaker_openings: Counters = "beadle_breaker_openings_total" (site, reason)
            "Openings of the breaker, by reason.",
        policy: Gauges = "beadle_policy_info" (fingerprint)
            "The policy in force, by fingerprint.",
        certificate_ends: Gauges = "beadle_certificate_end_timestamp_seconds" (file)
            "End of the validity of a certificate that a listener presents, in seconds since 1970.",
    }
    single {
        access_log_lines: Counter = "beadle_access_log_lines_total"
            "Lines of the access log that were written.",
        access_log_degraded: Gauge = "beadle_access_log_degraded"
            "1 while the access log can't be written.",
        log_drops: Counter = "beadle_log_drops_total"
            "Log lines that were dropped, because standard error was not read.",
        connections_full: Gauge = "beadle_connections_full"
            "1 while clients are turned away, because all connections are taken.",
        log_blocked: Gauge = "beadle_log_blocked"
            "1 while log lines are dropped, because standard error is not read.",
        last_reload_successful: Gauge = "beadle_policy_last_reload_successful"
            "1 if the policy file is in force as it was last read, 0 if it was refused.",
        last_reload_success: Gauge = "beadle_policy_last_reload_success_timestamp_seconds"
            "Time at which the policy file was last read without errors.",
        in_flight: Gauge = "beadle_requests_in_flight"
            "Requests in progress.",
    }
}

// A node of its own has none of these.
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

// The queue counts for itself. So each exposition builds these families anew from its counts: a registered
// counter could not be set to a count, only be added to, and two expositions at the same time would add
// twice.
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

pub(super) fn register_decisions(registry: &Registry) -> prometheus::Result<Histogram> {
    let options = HistogramOpts::new(
        "beadle_decision_duration_seconds",
        "Time to identify and judge one request.",
    );
    let bounds = vec![2.5e-7, 5e-7, 1e-6, 2.5e-6, 5e-6, 1e-5, 2.5e-5, 1e-4, 1e-3];
    let histogram = Histogram::with_opts(options.buckets(bounds))?;
    registry.register(Box::new(histogram.clone()))?;
    Ok(histogram)
}

/// Registers the families with one series that never changes, and those of the process.
pub(super) fn register_program(registry: &Registry) -> prometheus::Result<()> {
    let options =
        Opts::new("beadle_build_info", "The running program, by version, commit and profile.");
    let build = Gauges::new(options, &["version", "commit", "profile"])?;
    build.with_label_values(&[version::NUMBER, version::COMMIT, version::PROFILE]).set(1);
    registry.register(Box::new(build))?;
    #[cfg(target_os = "linux")]
    registry.register(Box::new(prometheus::process_collector::ProcessCollector::for_self()))?;
    Ok(())
}
