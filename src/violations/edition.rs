//! A site's robots.txt through time: what was published, what was held back, and who fetched what.
//!
//! A crawler may go by a robots.txt for a day after it changed (RFC 9309 §2.4), and that day does
//! not end with a restart; so the database keeps all three. Nothing is judged here.

use std::time::Duration;

use jiff::Timestamp;

use crate::violations::Text;

/// One published state of a site's robots.txt, in force from a time until a time. One that was
/// replaced and came back has been in force twice, and is listed twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edition {
    /// The site, by the name that the policy gives it.
    pub site: Text,
    /// The first 16 hexadecimal digits of the hash. Same bytes, same id.
    pub id: Text,
    /// The SHA-256 of the bytes, 64 hexadecimal digits.
    pub sha256: Text,
    /// What was published, byte for byte; nothing in it is escaped.
    pub bytes: Vec<u8>,
    /// Where it came from: `policy`, `origin` or `merge`.
    pub source: Text,
    /// Of a merged file in force, the origin's part, as it was last known; empty where the origin
    /// has none. `None` of all others: a file that was replaced is never joined again.
    pub base: Option<Vec<u8>>,
    /// Since when it is in force, kept to the millisecond.
    pub from: Timestamp,
    /// Until when it was; `None` while it is.
    pub until: Option<Timestamp>,
}

/// A robots.txt that an origin sent and that is not published until somebody confirms it: what
/// shuts out every crawler at once may be a file from staging.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// The site, by the name that the policy gives it.
    pub site: Text,
    /// The edition that it would be, by its id.
    pub id: Text,
    /// What is held back, byte for byte.
    pub bytes: Vec<u8>,
    /// Since when, kept to the millisecond.
    pub since: Timestamp,
    /// When it was confirmed, if it was ([`Store::accept`](super::Store::accept)).
    pub accepted: Option<Timestamp>,
}

/// What is known of one crawler's fetches of one site's robots.txt from one network. The latest
/// word on each is kept in the database, so that [`RobotsRead`](super::RobotsRead) survives a
/// restart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetch {
    /// The site, by the name that the policy gives it.
    pub site: Text,
    /// Who fetched.
    pub product_token: Text,
    /// From where: `192.0.2.0/24`, `2001:db8::/48` or a hash, as the policy says; `-` where that is
    /// not known.
    pub network: Text,
    /// What is known about the claim, as in a record.
    pub standing: Text,
    /// The edition that was fetched last, by its id.
    pub edition: Text,
    /// The first fetch seen.
    pub first: Timestamp,
    /// The last fetch seen, kept to the millisecond.
    pub last: Timestamp,
    /// How many there were.
    pub count: u64,
    /// The usual time between two of them, kept to the second; `None` until it is known.
    pub interval: Option<Duration>,
}
