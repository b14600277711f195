//! The editions that a client may know.

use super::edition::EditionId;

/// The editions that a client may know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KnownEditions {
    /// Any that was in force within the window: no fetch within it is known.
    Any,
    /// One of these: the editions that the client may have fetched last.
    Of(Vec<EditionId>),
}
