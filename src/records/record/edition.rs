//! The history of a site's robots.txt: published editions, hosts, quarantined files and fetches.
//!
//! A crawler may use a robots.txt for a day after it changed (RFC 9309 §2.4), and a restart does
//! not end that day; so the database keeps them all. Nothing is judged here.

use std::time::Duration;

use bytes::Bytes;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::time;
use crate::{base::text::Text, formats::robots::OriginFile};

/// One published state of a site's robots.txt, in force from a time until a time. An edition that
/// was replaced and published again has been in force twice, and is listed twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edition {
    /// The site, by the name that the policy gives it.
    pub site: Text,
    /// The first 16 hexadecimal digits of the hash. Same bytes, same id.
    pub id: Text,
    /// The SHA-256 of the bytes, 64 hexadecimal digits.
    pub sha256: Text,
    /// The published file, byte for byte; nothing in it is escaped.
    pub bytes: Bytes,
    /// The source of the rules: `policy`, `origin` or `merge`.
    pub source: Text,
    /// The origin's part of a merged file in force, as it was last known. `Unknown` in all other
    /// editions: an edition that was replaced is never merged again.
    pub origin_file: OriginFile,
    /// The start of the period in force, kept to the millisecond.
    pub from: Timestamp,
    /// The end of that period; `None` for the edition in force.
    pub until: Option<Timestamp>,
}

/// A period of an [`Edition`] in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditionPeriod {
    /// The id of the edition.
    pub id: Text,
    /// The source of the rules.
    pub source: Text,
    /// The start of the period.
    pub from: Timestamp,
    /// Its end; `None` for the edition in force.
    pub until: Option<Timestamp>,
    /// The length of the file in bytes.
    pub length: u64,
    /// The file, unless it is large.
    pub bytes: Option<Bytes>,
}

impl EditionPeriod {
    /// The largest file that comes with its period: most files are far smaller.
    pub(crate) const LARGEST: usize = 64 << 10;

    pub(crate) fn of(Edition { id, source, from, until, bytes, .. }: Edition) -> Self {
        let length = bytes.len() as u64;
        let bytes = (bytes.len() <= Self::LARGEST).then_some(bytes);
        Self { id, source, from, until, length, bytes }
    }
}

/// A robots.txt of an origin that is published only after an operator accepts it. A file that
/// closes the site to every crawler may come from a staging system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quarantined {
    /// The site, by the name that the policy gives it.
    pub site: Text,
    /// The id of the edition that the file would become.
    pub id: Text,
    /// The file, byte for byte.
    pub bytes: Bytes,
    /// The time of its arrival, kept to the millisecond.
    pub since: Timestamp,
    /// The time at which the operator accepted it, if so.
    pub accepted: Option<Timestamp>,
    /// The time at which the operator discarded it, if so.
    pub discarded: Option<Timestamp>,
}

/// What an operator decides about a quarantined file. The last decision counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum QuarantineAct {
    /// It is published.
    #[default]
    Accept,
    /// It stays out of force, and is no news any more.
    Discard,
}

/// A policy that came into force, as often as it did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyEntry {
    /// The number in the database; 0 before it is there.
    pub id: i64,
    /// The time, kept to the millisecond.
    pub at: Timestamp,
    /// The cause: `start`, `file` (a changed file), `reload` (the verb or the signal), `fleet`, the
    /// address of a policy on a server, or the name of a person.
    pub by: Text,
    /// The SHA-256 of the file, 64 hexadecimal digits.
    pub sha256: Text,
    /// The bytes of the file.
    pub length: u64,
}

/// The hosts of a site, from a time on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiteHosts {
    /// The site, by the name that the policy gives it.
    pub site: Text,
    /// Each host with the time since when it belongs to the site; none if the site was removed. A
    /// wildcard is `.example.com`; `*` is every host that no site names.
    pub hosts: Vec<(Text, Timestamp)>,
    /// The time at which all others left it.
    pub at: Timestamp,
}

/// The older rows of a history that were not read yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unread {
    /// The end of the latest period among them.
    pub until: Timestamp,
    /// The row before which they stand.
    pub(crate) before: i64,
}

/// A time in which a host belonged to a site, kept to the millisecond.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostPeriod {
    /// The host, as in [`SiteHosts::hosts`].
    pub host: Text,
    /// The site.
    pub site: Text,
    /// The start.
    pub from: Timestamp,
    /// The end; `None` if it still belongs to the site.
    pub until: Option<Timestamp>,
}

/// A jump of the clock: by it, what just happened lies far in the past.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockLeap {
    /// The time after the jump, kept to the millisecond.
    pub at: Timestamp,
    /// How far the clock was put forward.
    pub by: Duration,
}

/// What the origins of a site answered last when they were asked for forms of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probed {
    /// The site, by the name that the policy gives it.
    pub site: Text,
    /// The page and the origins, as a text that changes with any of them.
    pub question: Text,
    /// When they were asked, kept to the millisecond.
    pub at: Timestamp,
    /// Why nothing is known, if so.
    pub why: Option<Text>,
    /// The names of the steps that they take.
    pub taken: Text,
    /// The names of the steps that they don't take below the page's folder.
    pub not_taken: Text,
    /// Whether they ignore case.
    pub case_insensitive: bool,
    /// How often they decode a path.
    pub decode_depth: u8,
}

/// One crawler's fetches of one site's robots.txt from one network. The database keeps the latest
/// state of each, so that [`RobotsRead`](super::RobotsRead) survives a restart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fetch {
    /// The site, by the name that the policy gives it.
    pub site: Text,
    /// The crawler.
    pub product_token: Text,
    /// The client's network: `192.0.2.0/24`, `2001:db8::/48` or a hash, as the policy says; `-`
    /// where it is not known. `former` and an edition: networks that fetched another one later.
    pub network: Text,
    /// The standing of the claim, as in a record.
    pub standing: Text,
    /// The id of the edition that was fetched last.
    pub edition: Text,
    /// The time of the first fetch.
    #[serde(with = "time::required")]
    pub first: Timestamp,
    /// The time of the last fetch, kept to the millisecond.
    #[serde(with = "time::required")]
    pub last: Timestamp,
    /// The number of fetches.
    pub count: u64,
    /// The usual time between two fetches, kept to the second; `None` until it is known.
    #[serde(with = "time::seconds")]
    pub interval: Option<Duration>,
}
