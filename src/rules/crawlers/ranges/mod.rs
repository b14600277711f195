//! Published lists of a crawler's addresses.
//!
//! [`read`] reads a list in any format that operators use, or refuses it. [`sane_successor`] checks
//! whether a fresh copy may replace the one in use. [`Table`] finds the lists that contain an
//! address. The caller keeps the last good copy: a refused list says nothing about any client.
//!
//! This folder does not fetch, and it does not decide what an unlisted address means.
//!
//! ```text
//! limits, family    the limits of a list; the families of addresses
//! prefix            one entry: text -> prefixes
//! refusal, list     the reasons to refuse a list; a list that was accepted
//! entries           the entries of a list while it is read
//! keys              names of members and columns that contain addresses
//! html, json, rows  one format each: text -> entries
//! format            the choice of the format: octets -> list
//! table             many lists: address -> lists
//! ```

mod bounds;
mod entries;
mod family;
mod format;
mod html;
mod json;
mod list;
mod member_names;
mod prefix;
mod refusal;
mod rows;
mod table;

pub use bounds::{MAX_OCTETS, MAX_PREFIXES};
pub use family::{Families, Family};
pub use format::{Format, read};
pub use list::{List, sane_successor};
pub use prefix::is_public;
pub use refusal::Refusal;
pub use table::{ListId, Membership, Table};

#[cfg(test)]
mod tests;
