//! Every metric of the process, in the text exposition of Prometheus.
//!
//! Label values are bounded by construction: a product token becomes a label only if the catalogue
//! or the policy knows it ([`OTHER_TOKEN`] stands for the rest), so no client can add a series.
//!
//! May use: version, prometheus. Must not know: any other room.

use std::sync::OnceLock;

use prometheus::{Encoder, Registry, TextEncoder};
pub use prometheus::{IntCounter as Counter, IntGauge as Gauge};

use self::families::{Families, FleetFamilies, forget};
pub use self::{
    families::{Metrics, Put, RecordFamilies},
    reading::{CrawlerRequests, CrawlerViolations},
};

mod families; // names, labels and help texts of all families, as a table
mod reading; // counts and states read back, for alerts and pages

/// The label of a product token that only the client itself names.
pub const OTHER_TOKEN: &str = "other";
/// The label of a client without a product token, as in records.
pub const NO_TOKEN: &str = "-";
/// The label of a claim that no evidence confirms or contradicts.
pub const NO_EVIDENCE: &str = "none";

impl Metrics {
    /// A registry with every metric in it.
    pub fn new() -> Self {
        let registry = Registry::new();
        let register = || {
            families::register_program(&registry)?;
            Ok::<_, prometheus::Error>((
                Families::register(&registry)?,
                families::register_decisions(&registry)?,
            ))
        };
        let (families, decision_seconds) =
            register().expect("the names of all families are distinct and well-formed");
        let in_flight = families.in_flight.clone();
        Self { decision_seconds, in_flight, families, fleet: OnceLock::new(), registry }
    }

    /// Removes an origin that a site has no more.
    pub fn forget_origin(&self, site: &str, origin: &str) {
        // A missing series needs no removal.
        let _ = self.families.origin_up.remove_label_values(&[site, origin]);
        for reason in ["connection", "response", "check"] {
            let _ = self.families.origin_fault.remove_label_values(&[site, origin, reason]);
        }
    }

    /// Shows that the policy file was read without errors, at this second since 1970.
    pub fn policy_accepted(&self, second: i64) {
        self.families.last_reload_successful.set(1);
        self.families.last_reload_success.set(second);
    }

    /// Shows that the policy file was refused.
    pub fn policy_refused(&self) {
        self.families.last_reload_successful.set(0);
    }

    /// Shows the files of the certificates that listeners present, each with the second since 1970 at
    /// which it ends.
    pub fn certificates(&self, ends: impl Iterator<Item = (String, i64)>) {
        self.families.certificate_ends.reset();
        for (file, second) in ends {
            self.families.certificate_ends.with_label_values(&[file.as_str()]).set(second);
        }
    }

    /// Removes the quarantine of a site whose origin's robots.txt is no longer fetched.
    pub fn forget_origin_robots_held(&self, site: &str) {
        forget(&self.families.origin_robots_held, site);
    }

    /// Counts a request of a crawler that has a pace. `product_token` is a known one or
    /// [`OTHER_TOKEN`].
    pub fn pace(&self, site: &str, product_token: &str, is_kept: bool) {
        let outcome = if is_kept { "kept" } else { "broken" };
        self.families.crawl_delay_requests.with_label_values(&[site, product_token, outcome]).inc();
    }

    /// Counts a step of a crawler, `up` or `down`, and shows its rung: 0 to 2. Rung 0 removes the
    /// series. `product_token` is a known one, or [`OTHER_TOKEN`], which has no rung of its own.
    pub fn ladder_step(
        &self,
        site: &str,
        product_token: &str,
        standing: &str,
        direction: &str,
        rung: i64,
    ) {
        self.families.ladder_steps.with_label_values(&[site, direction]).inc();
        let labels = [site, product_token, standing];
        if product_token == OTHER_TOKEN {
            return;
        }
        self.families.ladder_rung.with_label_values(&labels).set(rung);
        if rung == 0 {
            // The series exists: the line above sets it.
            let _ = self.families.ladder_rung.remove_label_values(&labels);
        }
    }

    /// Counts an opening of a site's breaker, by reason.
    pub fn breaker_opened(&self, site: &str, reason: &str) {
        self.families.breaker_openings.with_label_values(&[site, reason]).inc();
        self.breaker_open(site).set(1);
    }

    /// Counts lines of the access log that were written.
    pub fn access_log_written(&self, lines: u64) {
        self.families.access_log_lines.inc_by(lines);
    }

    /// Shows whether the access log can't be written.
    pub fn access_log_degraded(&self, is_degraded: bool) {
        self.families.access_log_degraded.set(i64::from(is_degraded));
    }

    /// Counts log lines that were dropped, and shows whether further ones are.
    pub fn log_dropped(&self, lines: u64, is_blocked: bool) {
        self.families.log_drops.inc_by(lines);
        self.families.log_blocked.set(i64::from(is_blocked));
    }

    /// Shows whether clients are turned away, because all connections are taken.
    pub fn connections_full(&self, is_full: bool) {
        self.families.connections_full.set(i64::from(is_full));
    }

    /// Removes the rungs of a site that has no ladder any more.
    pub fn forget_ladder(&self, site: &str) {
        forget(&self.families.ladder_rung, site);
    }

    /// Removes the breaker of a site that has none any more.
    pub fn forget_breaker(&self, site: &str) {
        forget(&self.families.breaker_open, site);
    }

    /// Removes what was found from outside of a site that is no longer watched.
    pub fn forget_watch_findings(&self, site: &str) {
        forget(&self.families.watch_findings, site);
    }

    /// Shows the limit for crawlers of a site where people come first, the requests by what they are
    /// of, and whether crawlers are put off.
    pub fn people_first(
        &self,
        site: &str,
        limit: u32,
        requests: [(&str, u32); 3],
        is_active: bool,
    ) {
        self.families.putting_off.with_label_values(&[site]).set(is_active.into());
        self.families.crawlers_limit.with_label_values(&[site]).set(limit.into());
        for (of, count) in requests {
            self.families.at_origin.with_label_values(&[site, of]).set(count.into());
        }
    }

    /// Removes what [`Self::people_first`] showed of a site.
    pub fn forget_people_first(&self, site: &str) {
        forget(&self.families.putting_off, site);
        forget(&self.families.crawlers_limit, site);
        forget(&self.families.at_origin, site);
    }

    /// Removes all series of a site that is no longer served.
    pub fn forget_site(&self, site: &str) {
        self.families.forget_site(site);
    }

    /// Shows the policy in force.
    pub fn policy(&self, fingerprint: &str) {
        self.families.policy.reset();
        self.families.policy.with_label_values(&[fingerprint]).set(1);
    }

    fn of_fleet(&self) -> &FleetFamilies {
        self.fleet.get_or_init(|| {
            let families = FleetFamilies::register(&self.registry)
                .expect("the names of all families are distinct and well-formed");
            for direction in ["sent", "received", "dropped"] {
                families.news.with_label_values(&[direction]);
            }
            families
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

    /// The text exposition. `count` says the record queue's counts as they are now.
    pub fn exposition(&self, count: impl FnOnce(&RecordFamilies)) -> String {
        let mut text = Vec::new();
        let records = Registry::new();
        let encoded = RecordFamilies::register(&records).and_then(|of_records| {
            count(&of_records);
            let mut families = self.registry.gather();
            families.extend(records.gather());
            families.sort_by(|a, b| a.name().cmp(b.name()));
            TextEncoder::new().encode(&families, &mut text)
        });
        match encoded {
            Ok(()) => String::from_utf8_lossy(&text).into_owned(),
            Err(error) => format!("# {error}\n"),
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
