//! The limits of a list, and the reasons to refuse it.

use std::fmt;

use super::family::Family;

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

/// The reason to refuse a list. The copy in use, if any, stays in use.
///
/// Foreign text in it is escaped and bounded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Occurs when the list is empty or contains no address that counts.
    Empty,
    /// Occurs when the list has more than [`MAX_OCTETS`].
    TooLarge {
        /// Its length in octets.
        octets: usize,
    },
    /// Occurs when the list has more than [`MAX_PREFIXES`] entries.
    TooMany,
    /// Occurs when the list is still gzip.
    Compressed,
    /// Occurs when an HTML page arrives instead of a list, probably an error page.
    ErrorPage,
    /// Occurs when a JSON list is not JSON, or truncated.
    NotJson {
        /// The line of the error, from 1.
        line: usize,
        /// The column of the error in octets, from 1; 0 before the line's first.
        column: usize,
    },
    /// Occurs when there are fewer than four addresses for each entry that is none.
    MostlyUnread {
        /// The number of addresses.
        read: usize,
        /// The number of other entries.
        unread: usize,
        /// The first of the other entries.
        first: String,
    },
    /// Occurs when one prefix is wider than any crawler's addresses: wider than /8 in IPv4, or than
    /// /16 in IPv6.
    TooWide {
        /// The entry as written.
        prefix: String,
    },
    /// Occurs when all prefixes of a family together contain more than two /8 (IPv4) or two /16
    /// (IPv6).
    CoversTooMuch(Family),
    /// Occurs when a fresh copy contains no address of the copy in use.
    Unrelated,
    /// Occurs when a fresh copy has lost all addresses of a family.
    FamilyGone(Family),
    /// Occurs when a fresh copy has lost more than half of the copy in use, without as many new
    /// prefixes.
    Shrunk {
        /// The family of the lost prefixes.
        family: Family,
        /// The number of prefixes of the copy in use.
        old: usize,
        /// The number of prefixes of the fresh copy.
        new: usize,
    },
}

impl Refusal {
    /// The stable name of the reason, fit for a metric label.
    pub(crate) fn code(&self) -> &'static str {
        match self {
            Self::Empty => "ranges.empty",
            Self::TooLarge { .. } => "ranges.too_large",
            Self::TooMany => "ranges.too_many",
            Self::Compressed => "ranges.compressed",
            Self::ErrorPage => "ranges.error_page",
            Self::NotJson { .. } => "ranges.not_json",
            Self::MostlyUnread { .. } => "ranges.mostly_unread",
            Self::TooWide { .. } => "ranges.too_wide",
            Self::CoversTooMuch(_) => "ranges.covers_too_much",
            Self::Unrelated => "ranges.unrelated",
            Self::FamilyGone(_) => "ranges.family_gone",
            Self::Shrunk { .. } => "ranges.shrunk",
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => {
                f.write_str("the list contains no address (check whether its format has changed)")
            }
            Self::TooLarge { octets } => {
                write!(f, "the list has {octets} octets, more than the limit of {MAX_OCTETS}")
            }
            Self::TooMany => write!(f, "the list has more than {MAX_PREFIXES} entries"),
            Self::Compressed => f.write_str("the list is still gzip (decompress it first)"),
            Self::ErrorPage => f.write_str(
                "an HTML page instead of the list (check whether its URL has changed; if the list \
                 is a page, set 'ip_format: html')",
            ),
            Self::NotJson { line, column } => {
                write!(
                    f,
                    "not JSON at line {line}, column {column} (check whether the list is complete)"
                )
            }
            Self::MostlyUnread { read, unread, first } => write!(
                f,
                "{unread} entries are not addresses and only {read} are (at least \
                 {READ_FOR_EACH_UNREAD} for each of the others); the first is '{first}'"
            ),
            Self::TooWide { prefix } => write!(
                f,
                "'{prefix}' is too wide for a crawler's addresses (at most /{WIDEST_V4} in IPv4, \
                 /{WIDEST_V6} in IPv6)"
            ),
            Self::CoversTooMuch(family) => {
                let widest = if *family == Family::V4 { WIDEST_V4 } else { WIDEST_V6 };
                write!(f, "all {family} prefixes together contain more than two /{widest}")
            }
            Self::Unrelated => f.write_str(
                "the fresh copy contains no address of the copy in use (it is accepted if the \
                 source still has it an hour later)",
            ),
            Self::FamilyGone(family) => {
                write!(f, "the fresh copy has lost all {family} addresses")
            }
            Self::Shrunk { family, old, new } => write!(
                f,
                "the fresh copy has {new} {family} prefixes instead of {old}, less than half (if \
                 this is right, delete the copy in use)"
            ),
        }
    }
}

impl std::error::Error for Refusal {}
