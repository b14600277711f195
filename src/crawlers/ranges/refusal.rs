//! Why a list is not taken.

use std::fmt;

use super::{
    list::Family,
    prefix::{WIDEST_V4, WIDEST_V6},
    read::{MAX_OCTETS, MAX_PREFIXES},
};

/// Why a list is not taken. The copy in use, if there is one, stays in use.
///
/// Foreign text in it is escaped and bounded already.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Occurs when there is nothing, or no address that counts.
    Empty,
    /// Occurs when the list has more than [`MAX_OCTETS`].
    TooLarge {
        /// Its length in octets.
        octets: usize,
    },
    /// Occurs when the list has more than [`MAX_PREFIXES`] entries.
    TooMany,
    /// Occurs when the octets are still gzip.
    Compressed,
    /// Occurs when an HTML page came where the list is no page: an error page, most likely.
    ErrorPage,
    /// Occurs when JSON was to come and the text is not JSON, or broken off.
    NotJson {
        /// Line of the fault, from 1.
        line: usize,
        /// Column of the fault in octets, from 1; 0 before the line's first.
        column: usize,
    },
    /// Occurs when more entries are no addresses than are.
    MostlyUnread {
        /// How many entries are addresses.
        read: usize,
        /// How many are not.
        unread: usize,
        /// The first that is not.
        first: String,
    },
    /// Occurs when one prefix holds more than any crawler's addresses: wider than /8 in IPv4,
    /// than /16 in IPv6.
    TooWide {
        /// The entry as written.
        prefix: String,
    },
    /// Occurs when all IPv4 prefixes together hold more than two /8.
    CoversTooMuch,
    /// Occurs when a fresh copy has no address of a family that the copy in use has.
    FamilyGone(Family),
    /// Occurs when a fresh copy has kept less than half of the copy in use, and has not as many
    /// others instead.
    Shrunk {
        /// The family in which it has.
        family: Family,
        /// How many prefixes the copy in use has.
        old: usize,
        /// How many the fresh copy has.
        new: usize,
    },
}

impl Refusal {
    /// The stable name of the reason, fit for a metric label.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Empty => "ranges.empty",
            Self::TooLarge { .. } => "ranges.too_large",
            Self::TooMany => "ranges.too_many",
            Self::Compressed => "ranges.compressed",
            Self::ErrorPage => "ranges.error_page",
            Self::NotJson { .. } => "ranges.not_json",
            Self::MostlyUnread { .. } => "ranges.mostly_unread",
            Self::TooWide { .. } => "ranges.too_wide",
            Self::CoversTooMuch => "ranges.covers_too_much",
            Self::FamilyGone(_) => "ranges.family_gone",
            Self::Shrunk { .. } => "ranges.shrunk",
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("no address in the list (see whether its form has changed)"),
            Self::TooLarge { octets } => {
                write!(f, "the list has {octets} octets, at most {MAX_OCTETS} are read")
            }
            Self::TooMany => write!(f, "the list has more than {MAX_PREFIXES} entries"),
            Self::Compressed => f.write_str("the list is gzip (decompress it before it is read)"),
            Self::ErrorPage => f.write_str(
                "an HTML page instead of the list (see whether its address has changed; if the \
                 list is a page, say so with 'ip_format: html')",
            ),
            Self::NotJson { line, column } => {
                write!(f, "not JSON at line {line}, column {column} (see whether it is whole)")
            }
            Self::MostlyUnread { read, unread, first } => write!(
                f,
                "{unread} entries are no addresses and only {read} are; the first is '{first}'"
            ),
            Self::TooWide { prefix } => write!(
                f,
                "'{prefix}' is too wide for a crawler's addresses (at most /{WIDEST_V4} in IPv4, \
                 /{WIDEST_V6} in IPv6)"
            ),
            Self::CoversTooMuch => {
                f.write_str("all its IPv4 prefixes together hold more than two /8")
            }
            Self::FamilyGone(family) => {
                write!(f, "the fresh copy has no {family} address any more")
            }
            Self::Shrunk { family, old, new } => write!(
                f,
                "the fresh copy has {new} {family} prefixes of {old}, less than half (if that is \
                 meant, drop the copy in use)"
            ),
        }
    }
}

impl std::error::Error for Refusal {}
