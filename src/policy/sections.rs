//! A validated policy: its sections.

use std::{path::PathBuf, sync::Arc};

use crate::crawlers::Catalogue;

use super::{evidence::Evidence, server::Server, sites::Site, violations::Violations};

/// A validated policy.
#[derive(Clone, Debug)]
pub struct Policy {
    /// Listeners and their limits. A change needs a restart.
    pub server: Server,
    /// Where and how long records are kept. A change needs a restart.
    pub violations: Violations,
    /// The evidence that tells crawlers from impostors; `None` collects none.
    pub evidence: Option<Evidence>,
    /// The file that replaces the built-in catalogue; `None` is the built-in one.
    pub catalogue_file: Option<PathBuf>,
    /// The known crawlers: the catalogue and the policy's own.
    pub catalogue: Arc<Catalogue>,
    /// The sites, in the policy's order; their hosts are distinct.
    pub sites: Vec<Site>,
    /// The first 12 hexadecimal digits of a SHA-256, over the bytes of the policy and of the
    /// catalogue file, if there is one.
    pub fingerprint: String,
}
