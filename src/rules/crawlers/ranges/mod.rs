//! Published lists of a crawler's addresses.
//!
//! [`read`] reads a list in any format that operators use, or refuses it. [`sane_successor`] checks
//! whether a fresh copy may replace the one in use. [`Table`] finds the lists that contain an
//! address. The caller keeps the last good copy: a refused list says nothing about any client.
//!
//! This folder does not fetch, and it does not decide what an unlisted address means.

mod entries; // the entries of a list while it is read
mod format; // the choice of the format: octets -> list
mod html; // a page
mod json; // JSON of any shape
mod list; // a list that was accepted
mod prefix; // one entry: text -> prefixes
mod table; // many lists: address -> lists

pub use entries::MAX_PREFIXES;
pub use format::{Format, MAX_OCTETS, read};
pub(crate) use list::UNRELATED;
pub use list::{Families, Family, List, sane_successor};
pub use prefix::is_public;
pub use table::{ListId, Membership, Table};

#[cfg(test)]
mod tests;
