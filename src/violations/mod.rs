//! The violation record: who asked for what, which rule forbade it, in which edition, and whether
//! the crawler had read it.
//!
//! A record enters through [`Sink::record`], which never waits for a disk, and is written by
//! threads of this room to a SQLite database ([`Store`]), to JSON lines ([`jsonl`]), or both. What
//! finds no room on the way is counted exactly ([`Overflow`]). This room judges nothing, and every
//! text in a record is bounded and escaped by its type ([`Text`]), so that no caller can forget it.
//!
//! The database keeps what the judgement needs after a restart as well: every [`Edition`] of a
//! site's robots.txt, byte for byte, [`Quarantined`] files, and each crawler's fetches ([`Fetch`]).
//!
//! May use: diagnostic, escape, product_token, robots. Must not know: policy, enforce, proxy, admin, cli.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

pub use self::{
    edition::{Edition, Fetch, Quarantined},
    error::{Error, Obstacle},
    filter::{Filter, Listing},
    overflow::Overflow,
    queue::{Counts, Health},
    sink::{LogTarget, Settings, Sink},
    store::Store,
    text::{Text, redact_query},
};

mod edition; // the history of a site's robots.txt: editions, quarantine, fetches
mod error; // what can be wrong with a database or a log, with the repair
mod filter; // which records are asked for, the same for both ways of keeping them
pub mod jsonl; // JSON lines: one record a line, read back with a filter
mod log; // where the lines go: a file or standard output
mod notes; // what waits for the database besides records
mod overflow; // what was not kept, counted by name
mod queue; // bounded, with exact accounts
mod retention; // how many old records may go, and when
mod sink; // the door: queues and writers
mod store; // SQLite: schema, transactions, queries
mod text; // foreign bytes, bounded and escaped
mod time; // RFC 3339 with milliseconds
mod writer; // the thread that empties a queue into its target

#[cfg(test)]
mod tests;

/// The version of the record's form, its first field.
pub const SCHEMA: u32 = 1;

/// A decision against a request that the rules disallow. The fields stand in the order in which
/// they are written; their names are a contract with whatever reads the lines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Violation {
    /// The version of this form: [`SCHEMA`].
    pub schema: u32,
    /// A UUIDv7 (RFC 9562 §5.7), given by the caller; a second record of one id is not kept.
    pub id: Text,
    /// When the request was judged, kept to the millisecond.
    #[serde(with = "time::required")]
    pub time: Timestamp,
    /// The site, by the name that the policy gives it.
    pub site: Text,
    /// The client, behind trusted proxies as well: its address, its network or a hash, as the policy
    /// says.
    pub client_ip: Text,
    /// The request's method.
    pub method: Text,
    /// The host that was asked for.
    pub host: Text,
    /// Path and query as forwarded ([`Text::path`]).
    pub path: Text,
    /// The `User-Agent` field ([`Text::user_agent`]).
    pub user_agent: Text,
    /// The product token that was judged (the strictest verdict's).
    pub product_token: Text,
    /// Every product token that the `User-Agent` claims ([`Text::list`]).
    pub product_tokens: Vec<Text>,
    /// Who runs the crawler, where the catalogue knows.
    pub operator: Option<Text>,
    /// What it crawls for, where the catalogue knows.
    pub purpose: Option<Text>,
    /// What is known about the claim: `confirmed`, `contradicted`, `unverifiable`, `unknown`.
    pub standing: Text,
    /// By what it is confirmed or contradicted: `signature`, `ip-range`, `reverse-dns`.
    #[serde(default)]
    pub evidence: Option<Text>,
    /// What the rules say: `disallow`, or `allow` where something else speaks against the request.
    pub verdict: Text,
    /// The stable code of why: `robots.disallow`, …
    pub reason: Text,
    /// What was done: `log`, `block`, …
    pub action: Text,
    /// The status that was sent in the end.
    pub status: u16,
    /// The rule that forbade it.
    pub robots: Robots,
    /// What the crawler had read of the rules.
    pub robots_read: RobotsRead,
}

/// The rule behind a verdict (RFC 9309 §2.2.2) and the edition that it stands in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Robots {
    /// The edition, by its hash.
    pub edition: Text,
    /// The rule's line in that edition, from 1.
    pub line: Option<u32>,
    /// `disallow` or `allow`; empty where no rule matches.
    pub directive: Text,
    /// The path pattern as written ([`Text::path`]).
    pub pattern: Text,
    /// The product tokens of the group.
    pub group: Vec<Text>,
}

/// What the crawler had read before it asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RobotsRead {
    /// Whether, and which.
    pub state: ReadState,
    /// The edition that it fetched last.
    pub edition: Option<Text>,
    /// When it fetched that.
    #[serde(with = "time::optional")]
    pub at: Option<Timestamp>,
}

/// How the edition that a crawler fetched last stands to the one that forbade the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReadState {
    /// It has not been seen to fetch robots.txt.
    Never,
    /// It fetched an edition before that one.
    Older,
    /// It fetched that one and went on.
    Current,
}

impl ReadState {
    /// The word that stands in a record.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Never => "never",
            Self::Older => "older",
            Self::Current => "current",
        }
    }

    /// The state of that word.
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Never, Self::Older, Self::Current].into_iter().find(|state| state.as_str() == word)
    }
}

impl Violation {
    /// About how many bytes of memory the record holds; queues are bounded by it.
    pub(crate) fn weight(&self) -> usize {
        let texts = [
            &self.id,
            &self.site,
            &self.method,
            &self.host,
            &self.path,
            &self.user_agent,
            &self.product_token,
            &self.robots.edition,
            &self.robots.pattern,
        ];
        let lists = self.product_tokens.len() + self.robots.group.len();
        let list_bytes = self.product_tokens.iter().chain(&self.robots.group).map(|t| t.len());
        size_of::<Self>()
            + texts.iter().map(|text| text.len()).sum::<usize>()
            + lists * size_of::<Text>()
            + list_bytes.sum::<usize>()
    }
}
