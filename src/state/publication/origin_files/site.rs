//! A site with fetches of its origin's robots.txt.

use std::{sync::Arc, time::Duration};

use crate::rules::{
    crawlers::Catalogue,
    policy::{self, Origin, Policy},
};

/// A site with fetches of its origin's robots.txt.
#[derive(Clone, Debug)]
pub(in crate::state::publication) struct WatchedSite {
    pub(in crate::state::publication) name: String,
    /// The servers to fetch from: the first, and the next ones if it does not answer.
    pub(in crate::state::publication) origins: Vec<Origin>,
    /// The `Host` field: the first host of the site without a wildcard.
    pub(in crate::state::publication) host: String,
    pub(in crate::state::publication) scheme: &'static str,
    pub(in crate::state::publication) caution: Caution,
    /// The crawlers that the findings about a file know.
    pub(in crate::state::publication) catalogue: Arc<Catalogue>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::state::publication) struct Caution {
    /// Whether to publish a file at once that suddenly closes the whole site.
    pub(in crate::state::publication) accept_full_disallow: bool,
    /// How long the last file stays in force after its rules vanished; zero is not at all.
    pub(in crate::state::publication) vanish_after: Duration,
}

#[cfg(test)]
impl Default for Caution {
    fn default() -> Self {
        Self {
            accept_full_disallow: false,
            vanish_after: policy::RobotsTxt::default().vanish_after,
        }
    }
}

impl WatchedSite {
    pub(in crate::state::publication) fn of(site: &policy::Site, policy: &Policy) -> Self {
        let policy::RobotsTxt { accept_full_disallow, vanish_after, .. } = site.robots_txt;
        let is_secure = policy.server.listen.iter().any(|listener| listener.tls.is_some());
        Self {
            name: site.name().to_owned(),
            origins: site.backend.origins.clone(),
            host: site.backend.host.clone(),
            scheme: if is_secure { "https" } else { "http" },
            caution: Caution { accept_full_disallow, vanish_after },
            catalogue: Arc::clone(&policy.catalogue),
        }
    }

    pub(super) fn urls(&self) -> String {
        let urls: Vec<String> = self.origins.iter().map(ToString::to_string).collect();
        urls.join(", ")
    }
}
