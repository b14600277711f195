//! The messages of the fetches to the publisher.

use bytes::Bytes;
use jiff::Timestamp;

/// A message to the publisher. Messages arrive in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::state::publication) enum News {
    /// The file of a site changed, the first access to it ended, or it was unknown for too long.
    Changed {
        /// The site's name.
        site: String,
    },
    /// A file is held, in place of an earlier one. The file in force stays.
    Quarantined {
        /// The site's name.
        site: String,
        /// The name to accept it by: the first 16 hexadecimal digits of its SHA-256.
        id: String,
        /// The file; empty if the origin has none.
        file: Bytes,
        /// The time since when it is held.
        since: Timestamp,
    },
    /// No file of a site is held any more.
    Released {
        /// The site's name.
        site: String,
    },
}
