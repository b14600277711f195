//! The limits of a list, and the refusal of one that breaks them.

use std::fmt;

/// The longest list that is read, in octets.
pub const MAX_OCTETS: usize = 4 << 20;
/// The most entries of a list, duplicates and ignored ones included.
pub const MAX_PREFIXES: usize = 50_000;

/// The most IPv4 addresses of a list: two /8.
pub(super) const MAX_V4_ADDRESSES: u128 = 2 << 24;
/// The most IPv6 addresses of a list: two /16.
pub(super) const MAX_V6_ADDRESSES: u128 = 2 << 112;
/// The most entries that are no addresses: one for this many that are.
pub(super) const READ_FOR_EACH_UNREAD: usize = 4;
/// The widest IPv4 prefix that is accepted. One operator has published a whole /8 of its own.
pub(super) const WIDEST_V4: u8 = 8;
/// The widest IPv6 prefix that is accepted; registries allocate nothing wider.
pub(super) const WIDEST_V6: u8 = 16;

/// A refusal of a list. The copy in use, if any, stays in use. Foreign text in it is escaped and bounded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The stable name of the reason, fit for a metric label.
    pub(crate) code: &'static str,
    message: String,
}

impl Refusal {
    pub(super) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    /// The refusal of a list without an address that counts.
    pub(super) fn empty() -> Self {
        let message = "the list contains no address (check whether its format has changed)";
        Self::new("ranges.empty", message)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Refusal {}
