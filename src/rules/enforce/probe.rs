//! What the origins of a site answered when they were asked for forms of a page.

use jiff::Timestamp;

use crate::{formats::probe::Found, rules::policy};

/// The page of a site to ask its origins for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Probe {
    /// The servers, each of which is asked.
    pub(crate) origins: Vec<policy::Origin>,
    pub(crate) host: String,
    pub(crate) path: String,
}

/// The answers of the origins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probed {
    pub(crate) probe: Probe,
    /// When.
    pub at: Timestamp,
    /// What is known of all origins together; else the origin and the reason.
    pub(crate) found: Result<Found, String>,
}

impl Probe {
    /// The page that the policy names, whether a running server asks for it or not.
    pub fn of(backend: &policy::Backend) -> Option<Self> {
        let path = backend.probe_path.clone()?;
        Some(Self { origins: backend.origins.clone(), host: backend.host.clone(), path })
    }

    /// The page that a running server asks for.
    pub(crate) fn wanted(backend: &policy::Backend) -> Option<Self> {
        Self::of(backend).filter(|_| backend.is_probed)
    }
}
