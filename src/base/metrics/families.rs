//! The registered families of metrics: the name, the labels and the help text of each.

use prometheus::{
    Histogram, HistogramOpts, IntCounter, IntCounterVec, IntGauge, IntGaugeVec, Opts, Registry,
};

use crate::base::version;

/// The registered families.
#[derive(Debug)]
pub(super) struct Families {
    pub(super) requests: IntCounterVec,
    pub(super) crawler_requests: IntCounterVec,
    pub(super) violations: IntCounterVec,
    pub(super) other_forms: IntCounterVec,
    pub(super) limited: IntCounterVec,
    pub(super) put_off: IntCounterVec,
    pub(super) crawlers_limit: IntGaugeVec,
    pub(super) at_origin: IntGaugeVec,
    pub(super) putting_off: IntGaugeVec,
    pub(super) impostor_violations: IntCounterVec,
    pub(super) grace: IntCounterVec,
    pub(super) refusals: IntCounterVec,
    pub(super) invalid_tag_lines: IntCounterVec,
    pub(super) reloads: IntCounterVec,
    pub(super) policy_fetches: IntCounterVec,
    pub(super) alert_attempts: IntCounterVec,
    pub(super) alerts_lost: IntCounterVec,
    pub(super) claims: IntCounterVec,
    pub(super) evidence_fetches: IntCounterVec,
    pub(super) evidence_findings: IntCounterVec,
    pub(super) evidence_lookups: IntCounterVec,
    pub(super) signatures: IntCounterVec,
    pub(super) origin_robots_fetches: IntCounterVec,
    pub(super) origin_robots_held: IntGaugeVec,
    pub(super) origin_failures: IntCounterVec,
    pub(super) origin_faults: IntCounterVec,
    pub(super) origin_up: IntGaugeVec,
    pub(super) watch_requests: IntCounterVec,
    pub(super) watch_findings: IntGaugeVec,
    pub(super) crawl_delay_requests: IntCounterVec,
    pub(super) ladder_steps: IntCounterVec,
    pub(super) ladder_rung: IntGaugeVec,
    pub(super) breaker_openings: IntCounterVec,
    pub(super) breaker_open: IntGaugeVec,
    pub(super) access_log_lines: IntCounter,
    pub(super) access_log_drops: IntCounterVec,
    pub(super) access_log_degraded: IntGauge,
    pub(super) log_drops: IntCounter,
    pub(super) connections_full: IntGauge,
    pub(super) log_blocked: IntGauge,
    pub(super) policy: IntGaugeVec,
    pub(super) last_reload_successful: IntGauge,
    pub(super) certificate_ends: IntGaugeVec,
    pub(super) certificate_reads: IntCounterVec,
    pub(super) acme_orders: IntCounterVec,
    pub(super) last_reload_success: IntGauge,
    pub(super) decision_seconds: Histogram,
    pub(super) in_flight: IntGauge,
}

impl Families {
    /// Registers every family.
    pub(super) fn register(registry: &Registry) -> prometheus::Result<Self> {
        let counters = |name: &str, help: &str, labels: &[&str]| {
            let counters = IntCounterVec::new(Opts::new(name, help), labels)?;
            registry.register(Box::new(counters.clone()))?;
            prometheus::Result::Ok(counters)
        };
        let counter = |name: &str, help: &str| {
            let counter = IntCounter::new(name, help)?;
            registry.register(Box::new(counter.clone()))?;
            prometheus::Result::Ok(counter)
        };
        let gauges = |name: &str, help: &str, labels: &[&str]| {
            let gauges = IntGaugeVec::new(Opts::new(name, help), labels)?;
            registry.register(Box::new(gauges.clone()))?;
            prometheus::Result::Ok(gauges)
        };
        let gauge = |name: &str, help: &str| {
            let gauge = IntGauge::new(name, help)?;
            registry.register(Box::new(gauge.clone()))?;
            prometheus::Result::Ok(gauge)
        };
        Ok(Self {
            requests: counters(
                "beadle_requests_total",
                "Requests by site, class of client and action.",
                &["site", "class", "action"],
            )?,
            crawler_requests: counters(
                "beadle_crawler_requests_total",
                "Requests of clients other than browsers, by site, product token, standing and action.",
                &["site", "product_token", "standing", "action"],
            )?,
            violations: counters(
                "beadle_violations_total",
                "Violations of robots.txt rules by site, product token, reason and action.",
                &["site", "product_token", "reason", "action"],
            )?,
            other_forms: counters(
                "beadle_other_forms_total",
                "Requests for other forms of closed paths by site, product token and action.",
                &["site", "product_token", "action"],
            )?,
            limited: counters(
                "beadle_limited_requests_total",
                "Requests beyond a rate limit of the policy by site, product token and mode.",
                &["site", "product_token", "mode"],
            )?,
            put_off: counters(
                "beadle_put_off_requests_total",
                "Requests of crawlers that made room for people, by site and product token.",
                &["site", "product_token"],
            )?,
            crawlers_limit: gauges(
                "beadle_people_first_limit",
                "Requests of crawlers that may be at the origin at one time, where people come first, by site.",
                &["site"],
            )?,
            at_origin: gauges(
                "beadle_people_first_requests",
                "Requests at the origin, where people come first, by site: of people, of crawlers, or of crawlers that wait for it.",
                &["site", "of"],
            )?,
            putting_off: gauges(
                "beadle_people_first_active",
                "Whether a crawler made room for people in the last minute, by site.",
                &["site"],
            )?,
            impostor_violations: counters(
                "beadle_impostor_violations_total",
                "Violations by impostors of a crawler, by site, its product token, reason and action.",
                &["site", "product_token", "reason", "action"],
            )?,
            grace: counters(
                "beadle_grace_total",
                "Requests that only the newest robots.txt disallows, by crawlers that may use an older one.",
                &["site", "product_token"],
            )?,
            refusals: counters(
                "beadle_refusals_total",
                "Requests and connections refused before the decision, or delayed by a limit, by reason.",
                &["reason"],
            )?,
            invalid_tag_lines: counters(
                "beadle_origin_invalid_robots_tag_lines_total",
                "Invalid Robots-Tag and X-Robots-Tag lines of the origin, repaired by Beadle, by site.",
                &["site"],
            )?,
            alert_attempts: counters(
                "beadle_alert_attempts_total",
                "Attempts to send an alert to a webhook by outcome: accepted, refused or failed.",
                &["webhook", "outcome"],
            )?,
            alerts_lost: counters(
                "beadle_alerts_lost_total",
                "Alerts that a webhook did not accept in all attempts, or had no room for.",
                &["webhook"],
            )?,
            policy_fetches: counters(
                "beadle_policy_fetches_total",
                "Fetches of a policy on a server by outcome: new, unchanged, refused or failed.",
                &["outcome"],
            )?,
            reloads: counters(
                "beadle_policy_reloads_total",
                "Policy reloads by outcome: applied, unchanged or refused.",
                &["outcome"],
            )?,
            claims: counters(
                "beadle_claims_total",
                "Requests that claim to be a known crawler, by site, standing and evidence.",
                &["site", "standing", "evidence"],
            )?,
            evidence_fetches: counters(
                "beadle_evidence_fetches_total",
                "Fetches of address lists and key directories, by evidence and outcome.",
                &["evidence", "outcome"],
            )?,
            evidence_findings: counters(
                "beadle_evidence_findings_total",
                "Findings in fetched address lists, by evidence and finding.",
                &["evidence", "finding"],
            )?,
            evidence_lookups: counters(
                "beadle_evidence_lookups_total",
                "DNS lookups of client addresses, by evidence and outcome.",
                &["evidence", "outcome"],
            )?,
            signatures: counters(
                "beadle_signatures_total",
                "Signatures on requests that claim to be a known crawler, by outcome.",
                &["outcome"],
            )?,
            origin_robots_fetches: counters(
                "beadle_origin_robots_fetches_total",
                "Fetches of the origin's robots.txt, by site and outcome.",
                &["site", "outcome"],
            )?,
            watch_requests: counters(
                "beadle_watch_requests_total",
                "Beadle's own requests to the public address of a site, by outcome: fine, finding or failed.",
                &["site", "outcome"],
            )?,
            watch_findings: gauges(
                "beadle_watch_findings",
                "What servers in front of a site do to Beadle's answers, by kind.",
                &["site", "kind"],
            )?,
            origin_robots_held: gauges(
                "beadle_origin_robots_held",
                "1 while a robots.txt of the origin is in quarantine.",
                &["site"],
            )?,
            origin_failures: counters(
                "beadle_origin_failures_total",
                "Requests that the origin failed to answer, answered with 502, 503 or 504, by site.",
                &["site"],
            )?,
            origin_faults: counters(
                "beadle_origin_faults_total",
                "Failures of one origin of a site, by reason: connection, response or check.",
                &["site", "origin", "reason"],
            )?,
            origin_up: gauges(
                "beadle_origin_up",
                "1 while an origin of a site gets requests, 0 while it is down.",
                &["site", "origin"],
            )?,
            crawl_delay_requests: counters(
                "beadle_crawl_delay_requests_total",
                "Requests of crawlers with a Crawl-delay or Request-rate, by outcome: kept or broken.",
                &["site", "product_token", "outcome"],
            )?,
            ladder_steps: counters(
                "beadle_ladder_steps_total",
                "Steps of crawlers on the ladder, by direction: up or down.",
                &["site", "direction"],
            )?,
            ladder_rung: gauges(
                "beadle_ladder_rung",
                "Rung of a crawler on the ladder: 1 throttle, 2 block; absent without a rung.",
                &["site", "product_token", "standing"],
            )?,
            breaker_openings: counters(
                "beadle_breaker_openings_total",
                "Openings of the breaker, by reason.",
                &["site", "reason"],
            )?,
            breaker_open: gauges(
                "beadle_breaker_open",
                "1 while the breaker is open and Beadle refuses nothing.",
                &["site"],
            )?,
            access_log_lines: counter(
                "beadle_access_log_lines_total",
                "Lines of the access log that were written.",
            )?,
            access_log_drops: counters(
                "beadle_access_log_drops_total",
                "Lines of the access log that were not written, by cause.",
                &["cause"],
            )?,
            access_log_degraded: gauge(
                "beadle_access_log_degraded",
                "1 while the access log can't be written.",
            )?,
            log_drops: counter(
                "beadle_log_drops_total",
                "Log lines that were dropped, because standard error was not read.",
            )?,
            connections_full: gauge(
                "beadle_connections_full",
                "1 while clients are turned away, because all connections are taken.",
            )?,
            log_blocked: gauge(
                "beadle_log_blocked",
                "1 while log lines are dropped, because standard error is not read.",
            )?,
            policy: gauges(
                "beadle_policy_info",
                "The policy in force, by fingerprint.",
                &["fingerprint"],
            )?,
            certificate_ends: gauges(
                "beadle_certificate_end_timestamp_seconds",
                "End of the validity of a certificate that a listener presents, in seconds since 1970.",
                &["file"],
            )?,
            certificate_reads: counters(
                "beadle_certificate_reads_total",
                "Changed certificate files by outcome: taken or refused.",
                &["outcome"],
            )?,
            acme_orders: counters(
                "beadle_acme_orders_total",
                "Orders of certificates by outcome: issued or failed.",
                &["outcome"],
            )?,
            last_reload_successful: gauge(
                "beadle_policy_last_reload_successful",
                "1 if the policy file is in force as it was last read, 0 if it was refused.",
            )?,
            last_reload_success: gauge(
                "beadle_policy_last_reload_success_timestamp_seconds",
                "Time at which the policy file was last read without errors.",
            )?,
            decision_seconds: {
                let options = HistogramOpts::new(
                    "beadle_decision_duration_seconds",
                    "Time to identify and judge one request.",
                );
                let bounds = vec![2.5e-7, 5e-7, 1e-6, 2.5e-6, 5e-6, 1e-5, 2.5e-5, 1e-4, 1e-3];
                let histogram = Histogram::with_opts(options.buckets(bounds))?;
                registry.register(Box::new(histogram.clone()))?;
                histogram
            },
            in_flight: gauge("beadle_requests_in_flight", "Requests in progress.")?,
        })
    }
}

/// Registers the families with one series that never changes, and those of the process.
pub(super) fn register_program(registry: &Registry) -> prometheus::Result<()> {
    let options =
        Opts::new("beadle_build_info", "The running program, by version, commit and profile.");
    let build = IntGaugeVec::new(options, &["version", "commit", "profile"])?;
    build.with_label_values(&[version::NUMBER, version::COMMIT, version::PROFILE]).set(1);
    registry.register(Box::new(build))?;
    #[cfg(target_os = "linux")]
    registry.register(Box::new(prometheus::process_collector::ProcessCollector::for_self()))?;
    Ok(())
}
