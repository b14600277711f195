//! What comes out: a policy, and the parts of the source that it does not have.

use std::fmt;

use serde::Serialize;

use crate::base::escape;

/// A policy made of foreign rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Imported {
    pub(crate) policy: String,
    /// The parts that are not carried over, in the order of the source.
    pub(crate) losses: Vec<Loss>,
}

/// A part of the source that is not carried over, or that means something else in a policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Loss {
    /// The place in the source: `line 12`, or a name.
    pub(crate) place: String,
    /// The part, as written.
    pub(crate) what: String,
    pub(crate) why: String,
}

impl Loss {
    pub(super) fn new(
        place: impl Into<String>,
        what: impl AsRef<[u8]>,
        why: impl Into<String>,
    ) -> Self {
        Self { place: place.into(), what: escape::shown(what), why: why.into() }
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.place, self.what, self.why)
    }
}
