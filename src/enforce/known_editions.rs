//! The editions that a client may know.

use super::edition_id::EditionId;

/// The editions that a client may know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KnownEditions {
    /// Any that was in force within the window: no fetch within it is known.
    Any,
    /// One of these: the editions that the client may have fetched last.
    Of(Vec<EditionId>),
}

impl KnownEditions {
    /// Whether one of these editions is among them.
    pub(super) fn has_any(&self, mut ids: impl Iterator<Item = EditionId>) -> bool {
        match self {
            Self::Any => true,
            Self::Of(known) => ids.any(|id| known.contains(&id)),
        }
    }
}
