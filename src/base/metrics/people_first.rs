//! Sites where crawlers take what people leave of the origin.

use super::{Metrics, family_table::forget};

impl Metrics {
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
}
