//! One published state of a site's robots.txt, named by the hash of its bytes.
//!
//! The matcher is compiled from the published bytes, read as a crawler reads them. So a rule that
//! was not published is never enforced.

use std::{
    fmt,
    hash::{DefaultHasher, Hash, Hasher},
    sync::atomic::{AtomicBool, Ordering},
};

use bytes::Bytes;
use sha2::{Digest, Sha256};

use crate::robots;

use super::edition_id::EditionId;

/// A published robots.txt.
#[derive(Debug)]
pub struct Edition {
    bytes: Bytes,
    sha256: String,
    id: EditionId,
    /// A hash of the names, rules and records of its groups.
    meaning: u64,
    file: robots::RobotsTxt,
    matcher: robots::Matcher,
    sets_pace: bool,
    /// The source of each line that has a rule, in the order of lines.
    sources: Vec<(u32, RuleSource)>,
    /// Of a provisional edition, whether it was sent to a client.
    provisional: Option<AtomicBool>,
}

/// The source of a published rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RuleSource {
    /// This line of the policy.
    Policy(u32),
    /// This line of the origin's own robots.txt.
    Origin(u32),
}

impl Edition {
    /// The edition that consists of these bytes; the sources of its rules are unknown.
    pub fn of_bytes(bytes: Bytes) -> Self {
        Self::of(bytes, |_| Vec::new())
    }

    /// Writes the file and reads it back. `sources` has the source of each rule, by group and rule.
    pub fn written(file: &robots::RobotsTxt, sources: &[Vec<RuleSource>]) -> Self {
        Self::of(file.to_string().into(), |read_back| {
            let groups = read_back.groups.iter().zip(sources);
            let rules = groups.flat_map(|(group, sources)| group.rules.iter().zip(sources));
            rules.map(|(rule, source)| (rule.line, *source)).collect()
        })
    }

    /// The edition that is the origin's own file.
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
        let sets_pace = records.any(|record| robots::PaceRecord::of(record).is_some());
        let (id, meaning) = (EditionId::of_digest(&digest), meaning(&file));
        Self { bytes, sha256, id, meaning, file, matcher, sets_pace, sources, provisional: None }
    }

    /// Makes the edition provisional: a substitute until the site's rules are known.
    pub fn provisional(self) -> Self {
        Self { provisional: Some(AtomicBool::new(false)), ..self }
    }

    /// Whether it is only a substitute until the site's rules are known.
    pub const fn is_provisional(&self) -> bool {
        self.provisional.is_some()
    }

    /// Notes that a client got it.
    pub fn was_given(&self) {
        if let Some(given) = &self.provisional {
            given.store(true, Ordering::Relaxed);
        }
    }

    /// Whether any client may know it. A provisional edition is known only if a client got it.
    pub fn may_be_known(&self) -> bool {
        self.provisional.as_ref().is_none_or(|given| given.load(Ordering::Relaxed))
    }

    /// The bytes of the file.
    pub const fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// The name of the edition, which is also its entity tag.
    pub const fn id(&self) -> EditionId {
        self.id
    }

    /// Whether the groups of both are equal, apart from comments and line numbers.
    pub fn is_equivalent(&self, other: &Self) -> bool {
        self.meaning == other.meaning && parts(&self.file).eq(parts(&other.file))
    }

    /// The SHA-256 of its bytes, as 64 hexadecimal digits.
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// The file as a crawler reads it.
    pub const fn file(&self) -> &robots::RobotsTxt {
        &self.file
    }

    /// The rules, compiled.
    pub const fn matcher(&self) -> &robots::Matcher {
        &self.matcher
    }

    /// Whether any group sets a pace.
    pub const fn sets_pace(&self) -> bool {
        self.sets_pace
    }

    /// The source of the rule in this line; `None` if it is unknown.
    pub fn source(&self, robots_line: u32) -> Option<RuleSource> {
        let at = self.sources.binary_search_by_key(&robots_line, |(line, _)| *line).ok()?;
        self.sources.get(at).map(|(_, source)| *source)
    }
}

/// A part of a group: a name, a rule or a record.
#[derive(PartialEq, Eq, Hash)]
enum Part<'a> {
    Group,
    Name(&'a str),
    Rule(robots::Directive, &'a str),
    Record(&'a str, &'a str),
}

/// The parts of all groups of a file, in order.
fn parts(file: &robots::RobotsTxt) -> impl Iterator<Item = Part<'_>> {
    file.groups.iter().flat_map(|group| {
        let names = group.user_agents.iter().map(|user_agent| Part::Name(&user_agent.name));
        let rules = group.rules.iter().map(|rule| Part::Rule(rule.directive, &rule.pattern));
        let records = group.records.iter().map(|one| Part::Record(&one.name, &one.value));
        std::iter::once(Part::Group).chain(names).chain(rules).chain(records)
    })
}

fn meaning(file: &robots::RobotsTxt) -> u64 {
    let mut hasher = DefaultHasher::new();
    parts(file).for_each(|part| part.hash(&mut hasher));
    hasher.finish()
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
