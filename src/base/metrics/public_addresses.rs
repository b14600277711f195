//! Sites that Beadle looks at from outside.

use super::{Metrics, family_table::forget};

impl Metrics {
    /// Shows how many findings of a kind hold at the fronts of a site.
    pub fn watch_findings(&self, site: &str, kind: &str, count: usize) {
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        self.families.watch_findings.with_label_values(&[site, kind]).set(count);
    }

    /// Removes what [`Self::watch_findings`] showed of a site.
    pub fn forget_watch_findings(&self, site: &str) {
        forget(&self.families.watch_findings, site);
    }
}
