//! The editions that a client may know.

use jiff::Timestamp;

use super::edition_id::EditionId;

/// The editions that a client may know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KnownEditions {
    /// Any that was in force within the window: no fetch within it is known.
    Any,
    /// One of these: the editions that the client may have fetched last.
    Of(Vec<EditionId>),
    /// One of these, or any that was in force at some node after this time: until then, the fetches
    /// at all nodes are known.
    OrSince(Vec<EditionId>, Timestamp),
}

impl KnownEditions {
    /// Whether one of these editions is among them, the last of which was in force until `until`.
    pub(super) fn has_any(
        &self,
        mut ids: impl Iterator<Item = EditionId>,
        until: Timestamp,
    ) -> bool {
        match self {
            Self::Any => true,
            Self::Of(known) => ids.any(|id| known.contains(&id)),
            Self::OrSince(known, since) => until > *since || ids.any(|id| known.contains(&id)),
        }
    }

    /// The editions by name, and the time after which any edition counts. `start` is the start of
    /// the window.
    pub(super) fn parts(&self, start: Timestamp) -> (&[EditionId], Timestamp) {
        match self {
            Self::Any => (&[], start),
            Self::Of(known) => (known, Timestamp::MAX),
            Self::OrSince(known, since) => (known, *since),
        }
    }
}
