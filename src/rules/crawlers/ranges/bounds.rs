//! The limits of a list.

/// The longest list that is read, in octets.
pub const MAX_OCTETS: usize = 4 << 20;
/// The most entries of a list, duplicates and ignored ones included.
pub const MAX_PREFIXES: usize = 50_000;

/// The most IPv4 addresses of a list: two /8.
pub(super) const MAX_V4_ADDRESSES: u64 = 2 << 24;
/// The most IPv6 addresses of a list: two /16.
pub(super) const MAX_V6_ADDRESSES: u128 = 2 << 112;
/// The most entries that are no addresses: one for this many that are.
pub(super) const READ_FOR_EACH_UNREAD: usize = 4;
/// The widest IPv4 prefix that is accepted. One operator has published a whole /8 of its own.
pub(super) const WIDEST_V4: u8 = 8;
/// The widest IPv6 prefix that is accepted; registries allocate nothing wider.
pub(super) const WIDEST_V6: u8 = 16;
