//! One published state of a site's robots.txt: the bytes that everyone gets, named by their hash.
//!
//! The matcher is compiled from these very bytes, read back as a crawler reads them, so that
//! nobody can be held to a rule that was not published.

use std::{
    fmt,
    hash::{DefaultHasher, Hash, Hasher},
    sync::atomic::{AtomicBool, Ordering},
};

use bytes::Bytes;
use sha2::{Digest, Sha256};

use crate::robots;

/// A published robots.txt.
#[derive(Debug)]
pub struct Edition {
    bytes: Bytes,
    sha256: String,
    id: EditionId,
    /// A hash of what its groups say.
    meaning: u64,
    file: robots::RobotsTxt,
    matcher: robots::Matcher,
    asks_for_pace: bool,
    /// Where each line that holds a rule comes from, ascending.
    sources: Vec<(u32, RuleSource)>,
    /// Of one that only fills in until the site's rules are known: whether somebody was given it.
    provisional: Option<AtomicBool>,
}

/// An edition's name: the first 64 bits of the SHA-256 of its bytes, written as 16 hexadecimal
/// digits. The same bytes have the same name, wherever and whenever they are published.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EditionId(u64);

/// Where a published rule comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RuleSource {
    /// The policy, in this line.
    Policy(u32),
    /// The origin's own robots.txt, in this line.
    Origin(u32),
}

impl Edition {
    /// The edition that consists of these bytes, of which nobody knows more.
    pub fn of_bytes(bytes: Bytes) -> Self {
        Self::of(bytes, |_| Vec::new())
    }

    /// Writes the file and reads it back; `sources` tells where its rules come from, by group and
    /// rule.
    pub fn written(file: &robots::RobotsTxt, sources: &[Vec<RuleSource>]) -> Self {
        Self::of(file.to_string().into(), |read_back| {
            let groups = read_back.groups.iter().zip(sources);
            let rules = groups.flat_map(|(group, sources)| group.rules.iter().zip(sources));
            rules.map(|(rule, source)| (rule.line, *source)).collect()
        })
    }

    /// The origin's own file, as it is.
    pub fn of_origin(bytes: Bytes) -> Self {
        Self::of(bytes, |read| {
            let rules = read.groups.iter().flat_map(|group| &group.rules);
            rules.map(|rule| (rule.line, RuleSource::Origin(rule.line))).collect()
        })
    }

    fn of(
        bytes: Bytes,
        sources: impl FnOnce(&robots::RobotsTxt) -> Vec<(u32, RuleSource)>,
    ) -> Self {
        let (file, _) = robots::parse(&bytes);
        let digest = Sha256::digest(&bytes);
        let sha256 = digest.iter().map(|octet| format!("{octet:02x}")).collect();
        let mut sources = sources(&file);
        sources.sort_unstable();
        let matcher = robots::Matcher::new(&file);
        let mut records = file.groups.iter().flat_map(|group| &group.records);
        let asks_for_pace = records.any(|record| robots::PaceRecord::of(record).is_some());
        let (id, meaning) = (EditionId::of_digest(&digest), meaning(&file));
        Self {
            bytes,
            sha256,
            id,
            meaning,
            file,
            matcher,
            asks_for_pace,
            sources,
            provisional: None,
        }
    }

    /// The same, filling in until the site's rules are known.
    pub fn provisional(self) -> Self {
        Self { provisional: Some(AtomicBool::new(false)), ..self }
    }

    /// Whether it only fills in until the site's rules are known.
    pub const fn is_provisional(&self) -> bool {
        self.provisional.is_some()
    }

    /// Notes that somebody was given it.
    pub fn was_given(&self) {
        if let Some(given) = &self.provisional {
            given.store(true, Ordering::Relaxed);
        }
    }

    /// Whether somebody may hold it: of one that fills in, whether it was given to anybody.
    pub fn may_be_known(&self) -> bool {
        self.provisional.as_ref().is_none_or(|given| given.load(Ordering::Relaxed))
    }

    /// The file.
    pub const fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// The edition's name. Also its entity tag.
    pub const fn id(&self) -> EditionId {
        self.id
    }

    /// Whether the groups of the two say the same, whatever comments there are and on which lines.
    pub(super) fn says_the_same(&self, other: &Self) -> bool {
        self.meaning == other.meaning && said(&self.file).eq(said(&other.file))
    }

    /// The SHA-256 of its bytes, as 64 hexadecimal digits.
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// The file as it is read.
    pub const fn file(&self) -> &robots::RobotsTxt {
        &self.file
    }

    /// The rules, compiled.
    pub const fn matcher(&self) -> &robots::Matcher {
        &self.matcher
    }

    /// Whether any group asks for a pace, so that there is something to look for.
    pub const fn asks_for_pace(&self) -> bool {
        self.asks_for_pace
    }

    /// Where the rule in this line of the file comes from; `None` where that is not known.
    pub fn source(&self, robots_line: u32) -> Option<RuleSource> {
        let at = self.sources.binary_search_by_key(&robots_line, |(line, _)| *line).ok()?;
        self.sources.get(at).map(|(_, source)| *source)
    }
}

/// A part of a group: a name, a rule or a record.
#[derive(PartialEq, Eq, Hash)]
enum Said<'a> {
    Group,
    Name(&'a str),
    Rule(robots::Directive, &'a str),
    Record(&'a str, &'a str),
}

/// What the groups of a file say, in order.
fn said(file: &robots::RobotsTxt) -> impl Iterator<Item = Said<'_>> {
    file.groups.iter().flat_map(|group| {
        let names = group.user_agents.iter().map(|user_agent| Said::Name(&user_agent.name));
        let rules = group.rules.iter().map(|rule| Said::Rule(rule.directive, &rule.pattern));
        let records = group.records.iter().map(|one| Said::Record(&one.name, &one.value));
        std::iter::once(Said::Group).chain(names).chain(rules).chain(records)
    })
}

fn meaning(file: &robots::RobotsTxt) -> u64 {
    let mut hasher = DefaultHasher::new();
    said(file).for_each(|part| part.hash(&mut hasher));
    hasher.finish()
}

impl EditionId {
    /// The name of the edition that consists of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self::of_digest(&Sha256::digest(bytes))
    }

    fn of_digest(digest: &[u8]) -> Self {
        Self(digest.iter().take(8).fold(0, |id, &octet| id << 8 | u64::from(octet)))
    }

    /// The name in its written form; `None` for anything but 16 hexadecimal digits.
    pub fn parse(text: &str) -> Option<Self> {
        let is_written = text.len() == 16 && text.bytes().all(|b| b.is_ascii_hexdigit());
        u64::from_str_radix(text, 16).ok().filter(|_| is_written).map(Self)
    }
}

impl fmt::Display for EditionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl fmt::Display for RuleSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Policy(line) => write!(f, "policy line {line}"),
            Self::Origin(line) => write!(f, "origin's line {line}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_bytes_are_the_same_edition() {
        let text = "User-agent: *\nDisallow: /a\n";
        let edition = Edition::of_bytes(text.into());
        // printf 'User-agent: *\nDisallow: /a\n' | sha256sum
        assert_eq!(edition.id(), Edition::of_origin(text.into()).id());
        assert_eq!(edition.id().to_string(), edition.sha256()[..16]);
        assert_eq!(EditionId::parse(&edition.id().to_string()), Some(edition.id()));
        for text in ["", "abc", "+123456789abcdef", "0123456789abcdefg"] {
            assert_eq!(EditionId::parse(text), None, "{text}");
        }
    }
}
