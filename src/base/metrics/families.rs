//! The registered families of metrics: the name, the labels and the help text of each.

use std::sync::OnceLock;

use prometheus::{
    Histogram, HistogramOpts, IntCounter as Counter, IntCounterVec as Counters, IntGauge as Gauge,
    IntGaugeVec as Gauges, Opts, Registry,
};

use crate::base::version;

use super::{
    family_table::{families, forget},
    node_families::FleetFamilies,
};

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
