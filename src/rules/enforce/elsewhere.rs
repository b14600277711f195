//! The editions that other nodes of a fleet serve or served.
//!
//! An edition is in force from the first node that served it until the last that stopped. While a
//! new one spreads, both are in force. What one of them allows is no violation at any node.

use std::sync::Arc;

use jiff::Timestamp;

use super::{edition::Edition, past::Past};

/// An edition in force at other nodes.
#[derive(Clone, Debug)]
pub struct Elsewhere {
    /// The site's name.
    pub site: String,
    /// The edition.
    pub edition: Arc<Edition>,
    /// The time at which the first node served it.
    pub from: Timestamp,
    /// The time at which the last node stopped; `None` while one serves it.
    pub until: Option<Timestamp>,
}

impl Elsewhere {
    /// Whether any client may use it after `start`.
    pub(super) fn is_within(&self, start: Timestamp) -> bool {
        self.until.is_none_or(|until| until > start)
    }

    /// The edition as one that is not in force here.
    pub(super) fn past(&self) -> Past {
        let until = self.until.unwrap_or(Timestamp::MAX);
        Past::new(Arc::clone(&self.edition), self.from.min(until), until)
    }
}

/// The same bytes at the same times.
impl PartialEq for Elsewhere {
    fn eq(&self, other: &Self) -> bool {
        let key = |one: &Self| (one.edition.id(), one.from, one.until);
        self.site == other.site && key(self) == key(other)
    }
}

impl Eq for Elsewhere {}

#[cfg(test)]
mod tests;
