//! One published state of a site's robots.txt: the bytes that everyone gets, named by their hash.
//!
//! The matcher is compiled from these very bytes, read back as a crawler reads them, so that
//! nobody can be held to a rule that was not published.

use jiff::Timestamp;
use sha2::{Digest, Sha256};

use crate::{policy, robots};

/// A published robots.txt.
#[derive(Debug)]
pub struct Edition {
    bytes: Vec<u8>,
    id: String,
    matcher: robots::Matcher,
    /// The policy's line for each robots.txt line that holds a rule, ascending.
    origins: Vec<(u32, u32)>,
    max_age: u64,
    since: Timestamp,
}

impl Edition {
    /// Writes the file and reads it back. It counts as published at `now`, or since when the same
    /// bytes were already in force as `previous`.
    pub fn publish(
        robots_txt: &policy::RobotsTxt,
        now: Timestamp,
        previous: Option<&Self>,
    ) -> Self {
        let bytes = robots_txt.file.to_string().into_bytes();
        let (read_back, _) = robots::parse(&bytes);
        let rules = read_back.groups.iter().zip(&robots_txt.rule_lines);
        let mut origins: Vec<(u32, u32)> = rules
            .flat_map(|(group, lines)| {
                group.rules.iter().map(|rule| rule.line).zip(lines.iter().copied())
            })
            .collect();
        origins.sort_unstable();
        let id: String =
            Sha256::digest(&bytes).iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        let matcher = robots::Matcher::new(&read_back);
        let since =
            previous.filter(|edition| edition.id == id).map_or(now, |edition| edition.since);
        Self { bytes, id, matcher, origins, max_age: robots_txt.max_age.as_secs(), since }
    }

    /// The file.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The edition's name: the first 16 hexadecimal digits of the SHA-256 of its bytes. Also its
    /// entity tag.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Since when it is in force.
    pub const fn since(&self) -> Timestamp {
        self.since
    }

    /// The rules, compiled.
    pub const fn matcher(&self) -> &robots::Matcher {
        &self.matcher
    }

    /// `Cache-Control: max-age`, in seconds.
    pub const fn max_age(&self) -> u64 {
        self.max_age
    }

    /// The policy's line for a rule of the file.
    pub fn policy_line(&self, robots_line: u32) -> Option<u32> {
        let at = self.origins.binary_search_by_key(&robots_line, |(line, _)| *line).ok()?;
        self.origins.get(at).map(|(_, policy_line)| *policy_line)
    }
}
