//! A site with fetches of its origin's robots.txt.

use crate::policy::Origin;

/// A site with fetches of its origin's robots.txt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::publication) struct WatchedSite {
    /// Its name in news, logs and metrics.
    pub(in crate::publication) name: String,
    /// The servers to fetch from: the first, and the next ones if it does not answer.
    pub(in crate::publication) origins: Vec<Origin>,
    /// The `Host` field: the first host of the site without a wildcard.
    pub(in crate::publication) host: String,
    /// Whether to publish a file at once that suddenly closes the whole site.
    pub(in crate::publication) accept_full_disallow: bool,
}

impl WatchedSite {
    /// The URLs of its servers, for the log.
    pub(super) fn urls(&self) -> String {
        let urls: Vec<String> = self.origins.iter().map(ToString::to_string).collect();
        urls.join(", ")
    }
}
