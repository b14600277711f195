//! Counts and states read back from the registered families, for alerts and pages.

use prometheus::{core::Collector, proto::Metric};

use super::Metrics;

/// The requests of one crawler at one site since the start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CrawlerRequests {
    /// The site.
    pub site: String,
    /// The product token, as in the label.
    pub product_token: String,
    /// The standing of its claim.
    pub standing: String,
    /// The requests.
    pub requests: u64,
}

/// The violations of one crawler at one site since the start, without other forms of closed paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CrawlerViolations {
    /// The site.
    pub site: String,
    /// The product token, as in the label.
    pub product_token: String,
    /// Whether they are those of its impostors.
    pub is_impostor: bool,
    /// The violations.
    pub violations: u64,
}

impl Metrics {
    /// The sites whose breaker is open.
    pub fn open_breakers(&self) -> Vec<String> {
        sites(&self.families.breaker_open)
    }

    /// The sites where crawlers make room for people.
    pub fn crawlers_put_off(&self) -> Vec<String> {
        sites(&self.families.putting_off)
    }

    /// The sites with a robots.txt in quarantine.
    pub fn robots_in_quarantine(&self) -> Vec<String> {
        sites(&self.families.origin_robots_held)
    }

    /// The second since 1970 at which the policy file was last read without errors; 0 before that.
    pub fn policy_read(&self) -> i64 {
        self.families.last_reload_success.get()
    }

    /// The lines of the access log that were written, and those that were not.
    pub fn access_log_lines(&self) -> (u64, u64) {
        let dropped = counts(&self.families.access_log_drops, |_, lines| lines);
        (self.families.access_log_lines.get(), dropped.iter().sum())
    }

    /// The logs that can't be written now, each with the reason.
    pub fn unwritten_logs(&self) -> Vec<(&'static str, String)> {
        let dropped = self.families.log_drops.get();
        let logs = [
            (&self.families.access_log_degraded, "access log", "it can't be written".to_owned()),
            (
                &self.families.log_blocked,
                "log",
                format!("standard error is not read: {dropped} lines are dropped"),
            ),
        ];
        let logs = logs.into_iter().filter(|(gauge, ..)| gauge.get() != 0);
        logs.map(|(_, log, reason)| (log, reason)).collect()
    }

    /// Whether clients are turned away, because all connections are taken.
    pub fn are_connections_full(&self) -> bool {
        self.families.connections_full.get() != 0
    }

    /// The lookups of addresses by outcome.
    pub fn lookups(&self) -> Vec<(String, u64)> {
        counts(&self.families.evidence_lookups, |label, lookups| (label("outcome"), lookups))
    }

    /// The requests of all crawlers.
    pub fn requests_of_crawlers(&self) -> Vec<CrawlerRequests> {
        counts(&self.families.crawler_requests, |label, requests| CrawlerRequests {
            site: label("site"),
            product_token: label("product_token"),
            standing: label("standing"),
            requests,
        })
    }

    /// The violations of all crawlers and their impostors.
    pub fn violations_of_crawlers(&self) -> Vec<CrawlerViolations> {
        let read = |is_impostor| {
            move |label: &Label<'_>, violations| CrawlerViolations {
                site: label("site"),
                product_token: label("product_token"),
                is_impostor,
                violations,
            }
        };
        let own = counts(&self.families.violation, read(false));
        let impostors = counts(&self.families.impostor_violation, read(true));
        own.into_iter().chain(impostors).collect()
    }
}

/// The value of a label of a series.
type Label<'a> = dyn Fn(&str) -> String + 'a;

/// The sites whose gauge is not 0.
fn sites(gauge: &impl Collector) -> Vec<String> {
    let read = |label: &Label<'_>, metric: &Metric| {
        (metric.get_gauge().get_value() != 0.0).then(|| label("site"))
    };
    series(gauge, read).into_iter().flatten().collect()
}

/// What `read` makes of each counter of a family.
fn counts<T>(family: &impl Collector, read: impl Fn(&Label<'_>, u64) -> T) -> Vec<T> {
    series(family, |label, metric| read(label, metric.get_counter().get_value() as u64))
}

/// What `read` makes of each series of a family.
fn series<T>(family: &impl Collector, read: impl Fn(&Label<'_>, &Metric) -> T) -> Vec<T> {
    let mut found = Vec::new();
    for family in family.collect() {
        for metric in family.get_metric() {
            let label = |name: &str| {
                let pair = metric.get_label().iter().find(|pair| pair.name() == name);
                pair.map(|pair| pair.value().to_owned()).unwrap_or_default()
            };
            found.push(read(&label, metric));
        }
    }
    found
}
