//! Every metric: its name, its labels and its meaning, once. Text exposition for Prometheus.
//!
//! Label values are bounded by construction: a product token becomes a label only if the catalogue
//! or the policy knows it ([`OTHER_TOKEN`] stands for the rest), so no client can add a series.

use std::collections::HashMap;

use prometheus::{
    Encoder, Histogram, HistogramOpts, IntCounterVec, IntGaugeVec, Opts, Registry, TextEncoder,
    core::Collector,
};
pub use prometheus::{IntCounter as Counter, IntGauge as Gauge};

/// Stands for a product token that only the client itself names.
pub const OTHER_TOKEN: &str = "other";
/// Stands for a client that gives no name.
pub const NO_TOKEN: &str = "none";

/// Stands for the evidence of a claim that nothing confirms or contradicts.
pub const NO_EVIDENCE: &str = "none";

/// All metrics of one process.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    requests: IntCounterVec,
    violations: IntCounterVec,
    grace: IntCounterVec,
    refusals: IntCounterVec,
    invalid_tag_lines: IntCounterVec,
    reloads: IntCounterVec,
    claims: IntCounterVec,
    evidence_fetches: IntCounterVec,
    signatures: IntCounterVec,
    evidence_lookups: IntCounterVec,
    origin_robots_fetches: IntCounterVec,
    origin_robots_held: IntGaugeVec,
    crawl_delay_requests: IntCounterVec,
    ladder_steps: IntCounterVec,
    ladder_rung: IntGaugeVec,
    breaker_openings: IntCounterVec,
    breaker_open: IntGaugeVec,
    policy: IntGaugeVec,
    /// Time to identify and judge one request, in seconds.
    pub decision_seconds: Histogram,
    /// Requests under way.
    pub in_flight: Gauge,
    /// Upstream failures that were answered by us.
    pub origin_failures: Counter,
    records_seen: Gauge,
    records_stored: Gauge,
    records_dropped: Gauge,
    records_queued: Gauge,
}

/// What the record queue has counted so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct RecordCounts {
    /// Violations handed over.
    pub seen: u64,
    /// Written.
    pub stored: u64,
    /// Counted but not kept in detail.
    pub dropped: u64,
    /// Waiting to be written.
    pub queued: u64,
}

impl Metrics {
    /// A registry with every metric in it.
    pub fn new() -> Self {
        Self::register().expect("the names below are distinct and well-formed")
    }

    fn register() -> prometheus::Result<Self> {
        let registry = Registry::new();
        let counters = |name: &str, help: &str, labels: &[&str]| {
            let counters = IntCounterVec::new(Opts::new(name, help), labels)?;
            registry.register(Box::new(counters.clone()))?;
            prometheus::Result::Ok(counters)
        };
        let gauge = |name: &str, help: &str| {
            let gauge = Gauge::new(name, help)?;
            registry.register(Box::new(gauge.clone()))?;
            prometheus::Result::Ok(gauge)
        };
        let requests = counters(
            "beadle_requests_total",
            "Requests by site, class of client and action.",
            &["site", "class", "action"],
        )?;
        let violations = counters(
            "beadle_violations_total",
            "Violations of robots.txt rules by site, product token, reason and action.",
            &["site", "product_token", "reason", "action"],
        )?;
        let grace = counters(
            "beadle_grace_total",
            "Requests that only the newest robots.txt disallows, of crawlers that may not know it yet.",
            &["site", "product_token"],
        )?;
        let refusals = counters(
            "beadle_refusals_total",
            "Requests refused before they were judged, by reason.",
            &["reason"],
        )?;
        let invalid_tag_lines = counters(
            "beadle_origin_invalid_robots_tag_lines_total",
            "Robots-Tag and X-Robots-Tag lines of the origin that had to be mended, by site.",
            &["site"],
        )?;
        let reloads = counters(
            "beadle_policy_reloads_total",
            "Policy reloads by outcome: applied, unchanged or refused.",
            &["outcome"],
        )?;
        let claims = counters(
            "beadle_claims_total",
            "Requests that claim to be a known crawler, by site, standing and evidence.",
            &["site", "standing", "evidence"],
        )?;
        let evidence_fetches = counters(
            "beadle_evidence_fetches_total",
            "Lists and key directories fetched, by evidence and outcome.",
            &["evidence", "outcome"],
        )?;
        let signatures = counters(
            "beadle_signatures_total",
            "Signatures of requests that claim to be a known crawler, by what came of them.",
            &["outcome"],
        )?;
        let evidence_lookups = counters(
            "beadle_evidence_lookups_total",
            "Names of addresses looked up, by evidence and outcome.",
            &["evidence", "outcome"],
        )?;
        let origin_robots_fetches = counters(
            "beadle_origin_robots_fetches_total",
            "Fetches of the origin's own robots.txt, by site and outcome.",
            &["site", "outcome"],
        )?;
        let crawl_delay_requests = counters(
            "beadle_crawl_delay_requests_total",
            "Requests of crawlers that are measured by a pace, by whether they kept it.",
            &["site", "product_token", "outcome"],
        )?;
        let ladder_steps = counters(
            "beadle_ladder_steps_total",
            "Steps of crawlers on the ladder, up and down.",
            &["site", "direction"],
        )?;
        let breaker_openings = counters(
            "beadle_breaker_openings_total",
            "How often the breaker opened, by reason.",
            &["site", "reason"],
        )?;
        let gauges = |name: &str, help: &str, labels: &[&str]| {
            let gauges = IntGaugeVec::new(Opts::new(name, help), labels)?;
            registry.register(Box::new(gauges.clone()))?;
            prometheus::Result::Ok(gauges)
        };
        let origin_robots_held = gauges(
            "beadle_origin_robots_held",
            "Whether a robots.txt of the origin that closes the whole site is held back.",
            &["site"],
        )?;
        let ladder_rung = gauges(
            "beadle_ladder_rung",
            "Where a crawler stands on the ladder: 1 throttle, 2 block; at the bottom it is not shown.",
            &["site", "product_token", "standing"],
        )?;
        let breaker_open = gauges(
            "beadle_breaker_open",
            "1 while the breaker is open, so that nothing is refused.",
            &["site"],
        )?;
        let policy =
            gauges("beadle_policy_info", "The policy in force, by fingerprint.", &["fingerprint"])?;
        let decision_seconds = Histogram::with_opts(
            HistogramOpts::new(
                "beadle_decision_duration_seconds",
                "Time to identify and judge one request.",
            )
            .buckets(vec![2.5e-7, 5e-7, 1e-6, 2.5e-6, 5e-6, 1e-5, 2.5e-5, 1e-4, 1e-3]),
        )?;
        registry.register(Box::new(decision_seconds.clone()))?;
        let origin_failures = Counter::new(
            "beadle_origin_failures_total",
            "Requests that the origin did not answer and that got a 502, 503 or 504.",
        )?;
        registry.register(Box::new(origin_failures.clone()))?;
        Ok(Self {
            requests,
            violations,
            grace,
            refusals,
            invalid_tag_lines,
            reloads,
            claims,
            evidence_fetches,
            signatures,
            evidence_lookups,
            origin_robots_fetches,
            origin_robots_held,
            crawl_delay_requests,
            ladder_steps,
            ladder_rung,
            breaker_openings,
            breaker_open,
            policy,
            decision_seconds,
            origin_failures,
            in_flight: gauge("beadle_requests_in_flight", "Requests under way.")?,
            records_seen: gauge("beadle_records_seen", "Violations handed to the record queue.")?,
            records_stored: gauge("beadle_records_stored", "Records written.")?,
            records_dropped: gauge(
                "beadle_records_dropped",
                "Violations that were counted but not kept in detail.",
            )?,
            records_queued: gauge("beadle_records_queued", "Records waiting to be written.")?,
            registry,
        })
    }

    /// The counter of one site's requests of one class and action; to be kept, not looked up for
    /// each request.
    pub fn requests(&self, site: &str, class: &str, action: &str) -> Counter {
        self.requests.with_label_values(&[site, class, action])
    }

    /// Counts a violation. `product_token` is a known one, [`OTHER_TOKEN`] or [`NO_TOKEN`].
    pub fn violation(&self, site: &str, product_token: &str, reason: &str, action: &str) {
        self.violations.with_label_values(&[site, product_token, reason, action]).inc();
    }

    /// Counts a request that only the newest edition disallows. `product_token` as in a violation.
    pub fn grace(&self, site: &str, product_token: &str) {
        self.grace.with_label_values(&[site, product_token]).inc();
    }

    /// Counts a request that was refused before it was judged.
    pub fn refusal(&self, reason: &str) {
        self.refusals.with_label_values(&[reason]).inc();
    }

    /// Counts lines of an origin that had to be mended.
    pub fn invalid_tag_lines(&self, site: &str, lines: u32) {
        self.invalid_tag_lines.with_label_values(&[site]).inc_by(u64::from(lines));
    }

    /// Counts a reload: `applied`, `unchanged` or `refused`.
    pub fn reload(&self, outcome: &str) {
        self.reloads.with_label_values(&[outcome]).inc();
    }

    /// The counter of one site's claims of one standing; to be kept, not looked up for each
    /// request.
    pub fn claims(&self, site: &str, standing: &str, evidence: &str) -> Counter {
        self.claims.with_label_values(&[site, standing, evidence])
    }

    /// Counts something that was fetched to tell who is asking.
    pub fn evidence_fetch(&self, evidence: &str, outcome: &str) {
        self.evidence_fetches.with_label_values(&[evidence, outcome]).inc();
    }

    /// Counts a signature: `verified`, or why it is not.
    pub fn signature(&self, outcome: &str) {
        self.signatures.with_label_values(&[outcome]).inc();
    }

    /// The counter of what was looked up to tell who is asking, with one outcome; to be kept.
    pub fn evidence_lookups(&self, evidence: &str, outcome: &str) -> Counter {
        self.evidence_lookups.with_label_values(&[evidence, outcome])
    }

    /// Counts a fetch of an origin's own robots.txt: `rules`, `no_rules`, `unchanged`, or why it is
    /// not taken.
    pub fn origin_robots_fetch(&self, site: &str, outcome: &str) {
        self.origin_robots_fetches.with_label_values(&[site, outcome]).inc();
    }

    /// Says whether an origin's robots.txt is held back.
    pub fn origin_robots_held(&self, site: &str, is_held: bool) {
        self.origin_robots_held.with_label_values(&[site]).set(i64::from(is_held));
    }

    /// Takes a site whose origin is no longer asked for its robots.txt out of the exposition.
    pub fn forget_origin_robots_held(&self, site: &str) {
        // It may be gone already; then it is as it should be.
        let _ = self.origin_robots_held.remove_label_values(&[site]);
    }

    /// Counts a request of a crawler that is measured by a pace. `product_token` is a known one or
    /// [`OTHER_TOKEN`].
    pub fn pace(&self, site: &str, product_token: &str, is_kept: bool) {
        let outcome = if is_kept { "kept" } else { "broken" };
        self.crawl_delay_requests.with_label_values(&[site, product_token, outcome]).inc();
    }

    /// Counts a step of a crawler, `up` or `down`, and says where it stands now: 0 to 2. At the
    /// bottom it is no longer shown. `product_token` is a known one, or [`OTHER_TOKEN`], of which
    /// only the steps are counted.
    pub fn ladder_step(
        &self,
        site: &str,
        product_token: &str,
        standing: &str,
        direction: &str,
        rung: i64,
    ) {
        self.ladder_steps.with_label_values(&[site, direction]).inc();
        let labels = [site, product_token, standing];
        if product_token == OTHER_TOKEN {
            return;
        }
        self.ladder_rung.with_label_values(&labels).set(rung);
        if rung == 0 {
            // It is there: it was set a line above.
            let _ = self.ladder_rung.remove_label_values(&labels);
        }
    }

    /// Counts that a site's breaker opened, and why.
    pub fn breaker_opened(&self, site: &str, reason: &str) {
        self.breaker_openings.with_label_values(&[site, reason]).inc();
        self.breaker_open(site).set(1);
    }

    /// Whether a site's breaker is open: 1 or 0; to be kept, not looked up for each request.
    pub fn breaker_open(&self, site: &str) -> Gauge {
        self.breaker_open.with_label_values(&[site])
    }

    /// Takes where the crawlers of a site stand out of the exposition: it has no ladder any more.
    pub fn forget_ladder(&self, site: &str) {
        forget(&self.ladder_rung, site, |labels| self.ladder_rung.remove(labels));
    }

    /// Takes a breaker that is no more out of the exposition.
    pub fn forget_breaker(&self, site: &str) {
        // It may be gone already; then it is as it should be.
        let _ = self.breaker_open.remove_label_values(&[site]);
    }

    /// Takes the series of a site that is no longer served out of the exposition.
    pub fn forget_site(&self, site: &str) {
        self.forget_origin_robots_held(site);
        for counters in [
            &self.requests,
            &self.violations,
            &self.grace,
            &self.invalid_tag_lines,
            &self.claims,
            &self.origin_robots_fetches,
            &self.crawl_delay_requests,
            &self.ladder_steps,
            &self.breaker_openings,
        ] {
            forget(counters, site, |labels| counters.remove(labels));
        }
        self.forget_ladder(site);
        self.forget_breaker(site);
    }

    /// Names the policy in force.
    pub fn policy(&self, fingerprint: &str) {
        self.policy.reset();
        self.policy.with_label_values(&[fingerprint]).set(1);
    }

    /// The text exposition, with the record queue's counts as they are now.
    pub fn exposition(&self, records: RecordCounts) -> String {
        let set = |gauge: &Gauge, n: u64| gauge.set(i64::try_from(n).unwrap_or(i64::MAX));
        set(&self.records_seen, records.seen);
        set(&self.records_stored, records.stored);
        set(&self.records_dropped, records.dropped);
        set(&self.records_queued, records.queued);
        let mut text = Vec::new();
        match TextEncoder::new().encode(&self.registry.gather(), &mut text) {
            Ok(()) => String::from_utf8_lossy(&text).into_owned(),
            Err(error) => format!("# {error}\n"),
        }
    }
}

/// Removes each series of a site from a family.
fn forget(
    family: &impl Collector,
    site: &str,
    remove: impl Fn(&HashMap<&str, &str>) -> prometheus::Result<()>,
) {
    for family in family.collect() {
        for series in family.get_metric() {
            let labels: HashMap<&str, &str> =
                series.get_label().iter().map(|pair| (pair.name(), pair.value())).collect();
            if labels.get("site") == Some(&site) {
                // It may be gone already; then it is as it should be.
                let _ = remove(&labels);
            }
        }
    }
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests;
