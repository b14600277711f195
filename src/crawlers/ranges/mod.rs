//! Published lists of the addresses that a crawler's operator sends from.
//!
//! [`read`] takes a list as it came, in any of the forms that operators use, or refuses it;
//! [`sane_successor`] says whether a fresh copy may replace the one in use; [`Table`] answers for
//! all lists at once which of them hold an address. Whoever fetches lists keeps the last good copy:
//! a refused one says nothing about anybody.
//!
//! Nothing here decides what an address that is in no list means, and nothing fetches.

mod html;
mod json;
mod list;
mod prefix;
mod read;
mod refusal;
mod rows;
mod table;

pub use list::{Families, Family, List, sane_successor};
pub use prefix::is_public;
pub use read::{Format, MAX_OCTETS, MAX_PREFIXES, read};
pub use refusal::Refusal;
pub use table::{ListId, Membership, Table};

#[cfg(test)]
mod tests;
