//! One published state of a site's robots.txt, named by the hash of its bytes.
//!
//! The matcher is compiled from the published bytes, read as a crawler reads them. So a rule that
//! was not published is never enforced.
//!
//! An edition of an earlier run consists of its bytes. They are read and compiled when they are
//! first needed: most are summed up, and never judge a request alone.

use std::{
    collections::BTreeSet,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

use bytes::Bytes;
use derive_more::Display;
use jiff::Timestamp;
use sha2::{Digest, Sha256};

use crate::{base::escape::hex, formats::robots};

/// A published robots.txt.
#[derive(Debug)]
pub struct Edition {
    bytes: Bytes,
    sha256: String,
    id: EditionId,
    digests: OnceLock<Digests>,
    file: OnceLock<robots::RobotsTxt>,
    matcher: OnceLock<Arc<robots::Matcher>>,
    /// The source of each line that has a rule, in the order of lines.
    sources: Vec<(u32, RuleSource)>,
    /// Of a provisional edition, whether it was sent to a client.
    provisional: Option<AtomicBool>,
}

/// The digests of a file as a crawler reads it.
#[derive(Clone, Copy, Debug)]
struct Digests {
    /// Of the rules and records for each name.
    meaning: [u8; 32],
    /// Of the names of its groups, each once.
    names: [u8; 32],
}

/// The source of a published rule.
#[derive(Clone, Copy, Debug, Display, PartialEq, Eq, PartialOrd, Ord)]
pub enum RuleSource {
    /// This line of the policy.
    #[display("policy line {_0}")]
    Policy(u32),
    /// This line of the origin's own robots.txt.
    #[display("origin's line {_0}")]
    Origin(u32),
}

impl Edition {
    /// The edition that consists of these bytes; the sources of its rules are unknown. It is read
    /// when it is needed.
    pub(crate) fn of_bytes(bytes: Bytes) -> Self {
        let digest = Sha256::digest(&bytes);
        let sha256 = hex(digest.iter());
        Self {
            id: EditionId::of_digest(&digest),
            bytes,
            sha256,
            digests: OnceLock::new(),
            file: OnceLock::new(),
            matcher: OnceLock::new(),
            sources: Vec::new(),
            provisional: None,
        }
    }

    /// A file that was never published. It is not read back, as it may be longer than any that is.
    pub(super) fn summed(file: robots::RobotsTxt) -> Self {
        Self { file: OnceLock::from(file.clone()), ..Self::of_bytes(file.to_string().into()) }
    }

    /// Writes the file and reads it back. `sources` has the source of each rule, by group and rule.
    pub(crate) fn written(file: &robots::RobotsTxt, sources: &[Vec<RuleSource>]) -> Self {
        Self::compiled(file.to_string().into(), |read_back| {
            let groups = read_back.groups.iter().zip(sources);
            let rules = groups.flat_map(|(group, sources)| group.rules.iter().zip(sources));
            rules.map(|(rule, source)| (rule.line, *source)).collect()
        })
    }

    pub(crate) fn of_origin(bytes: Bytes) -> Self {
        Self::compiled(bytes, |read| {
            let rules = read.groups.iter().flat_map(|group| &group.rules);
            rules.map(|rule| (rule.line, RuleSource::Origin(rule.line))).collect()
        })
    }

    fn compiled(
        bytes: Bytes,
        sources: impl FnOnce(&robots::RobotsTxt) -> Vec<(u32, RuleSource)>,
    ) -> Self {
        let edition = Self::of_bytes(bytes);
        let mut sources = sources(edition.file());
        sources.sort_unstable();
        edition.matcher();
        Self { sources, ..edition }
    }

    /// The same edition without the parts that only the edition in force needs.
    pub(super) fn shelved(&self) -> Self {
        Self {
            bytes: self.bytes.clone(),
            sha256: self.sha256.clone(),
            id: self.id,
            digests: OnceLock::from(*self.digests()),
            file: OnceLock::new(),
            matcher: self.matcher.clone(),
            sources: Vec::new(),
            provisional: None,
        }
    }

    /// Makes the edition provisional: a substitute until the site's rules are known.
    pub(crate) fn provisional(self) -> Self {
        Self { provisional: Some(AtomicBool::new(false)), ..self }
    }

    pub(crate) const fn is_provisional(&self) -> bool {
        self.provisional.is_some()
    }

    pub(crate) fn was_given(&self) {
        if let Some(given) = &self.provisional {
            given.store(true, Ordering::Relaxed);
        }
    }

    /// Whether any client may know it. A provisional edition is known only if a client got it.
    pub(crate) fn may_be_known(&self) -> bool {
        self.provisional.as_ref().is_none_or(|given| given.load(Ordering::Relaxed))
    }

    pub(crate) const fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// The name of the edition, which is also its entity tag.
    pub const fn id(&self) -> EditionId {
        self.id
    }

    pub(crate) fn id_text(&self) -> &str {
        // The first 64 bits of the digest.
        self.sha256.get(..16).unwrap_or_default()
    }

    /// Whether both say the same to each crawler. Comments and the order of groups and rules don't
    /// count.
    pub(crate) fn is_equivalent(&self, other: &Self) -> bool {
        self.id == other.id || self.digests().meaning == other.digests().meaning
    }

    pub(super) fn has_names_of(&self, other: &Self) -> bool {
        self.digests().names == other.digests().names
    }

    /// The file for a use that is soon over: if it is not kept, the bytes are read once more.
    pub(super) fn read(&self) -> robots::RobotsTxt {
        self.file.get().cloned().unwrap_or_else(|| robots::parse(&self.bytes).0)
    }

    fn digests(&self) -> &Digests {
        self.digests.get_or_init(|| match self.file.get() {
            Some(file) => Digests::of(file),
            None => Digests::of(&self.read()),
        })
    }

    /// The SHA-256 of its bytes, as 64 hexadecimal digits.
    pub(crate) fn sha256(&self) -> &str {
        &self.sha256
    }

    pub(crate) fn file(&self) -> &robots::RobotsTxt {
        self.file.get_or_init(|| self.read())
    }

    /// The rules, compiled.
    pub fn matcher(&self) -> &robots::Matcher {
        self.matcher.get_or_init(|| {
            Arc::new(match self.file.get() {
                Some(file) => robots::Matcher::new(file),
                None => robots::Matcher::new(&self.read()),
            })
        })
    }

    pub(crate) fn sets_pace(&self) -> bool {
        self.matcher().sets_pace()
    }

    /// The source of the rule in this line; `None` if it is unknown.
    pub(crate) fn source(&self, robots_line: u32) -> Option<RuleSource> {
        let at = self.sources.binary_search_by_key(&robots_line, |(line, _)| *line).ok()?;
        self.sources.get(at).map(|(_, source)| *source)
    }
}

impl Digests {
    fn of(file: &robots::RobotsTxt) -> Self {
        let mut names = BTreeSet::new();
        for user_agent in file.groups.iter().flat_map(|group| &group.user_agents) {
            names.insert(user_agent.name.to_ascii_lowercase());
        }
        let names = digest(names.iter().map(|name| (&**name, "")));
        Self { meaning: meaning(file), names }
    }
}

/// The digest of what a file says to each crawler. The order of groups, names, rules and records
/// doesn't count.
fn meaning(file: &robots::RobotsTxt) -> [u8; 32] {
    let mut named = BTreeSet::new();
    for group in robots::arrange(file).file.groups {
        let rules = group.rules.iter().map(|rule| (rule.directive.as_str(), &*rule.pattern));
        let rules: BTreeSet<_> = rules.collect();
        let records = group.records.iter();
        let records: BTreeSet<_> = records.map(|one| (digested(one), &*one.value)).collect();
        let records = records.iter().map(|(name, value)| (&**name, *value));
        let lines = digest(rules.into_iter().chain([("", "")]).chain(records));
        let names = group.user_agents.iter().map(|one| one.name.to_ascii_lowercase());
        named.extend(names.map(|name| (name, format!("{lines:?}"))));
    }
    digest(named.iter().map(|(name, lines)| (&**name, &**lines)))
}

/// The name of a record. One that says a limit is another one.
fn digested(record: &robots::Record) -> String {
    let limit = if record.is_limit { "#" } else { "" };
    record.name.to_ascii_lowercase() + limit
}

fn digest<'t>(pairs: impl Iterator<Item = (&'t str, &'t str)>) -> [u8; 32] {
    let texts = pairs.flat_map(<[&str; 2]>::from);
    let put = |digest: Sha256, text: &str| {
        digest.chain_update((text.len() as u64).to_le_bytes()).chain_update(text)
    };
    texts.fold(Sha256::new(), put).finalize().into()
}

/// The name of an edition: the first 64 bits of the SHA-256 of its bytes, written as 16 hexadecimal
/// digits. The same bytes have the same name, wherever and whenever they are published.
#[derive(Clone, Copy, Debug, Display, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[display("{_0:016x}")]
pub struct EditionId(u64);

impl EditionId {
    /// The name of the edition that consists of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self::of_digest(&Sha256::digest(bytes))
    }

    pub(super) fn of_digest(digest: &[u8]) -> Self {
        Self(digest.iter().take(8).fold(0, |id, &octet| id << 8 | u64::from(octet)))
    }

    /// Reads the written form: 16 hexadecimal digits and nothing else.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let is_written = text.len() == 16 && text.bytes().all(|b| b.is_ascii_hexdigit());
        u64::from_str_radix(text, 16).ok().filter(|_| is_written).map(Self)
    }
}

/// The editions that a client may know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KnownEditions {
    /// Any that was in force within the window: no fetch within it is known.
    Any,
    /// One of these: the editions that the client may have fetched last.
    Of(Vec<EditionId>),
    /// One of these, or any that was in force at some node after this time: until then, the fetches
    /// at all nodes are known.
    OrSince(Vec<EditionId>, Timestamp),
}

impl KnownEditions {
    /// Whether one of these editions is among them, the last of which was in force until `until`.
    pub(super) fn has_any(
        &self,
        mut ids: impl Iterator<Item = EditionId>,
        until: Timestamp,
    ) -> bool {
        match self {
            Self::Any => true,
            Self::Of(known) => ids.any(|id| known.contains(&id)),
            Self::OrSince(known, since) => until > *since || ids.any(|id| known.contains(&id)),
        }
    }

    /// The editions by name, and the time after which any edition counts. `start` is the start of
    /// the window.
    pub(super) fn parts(&self, start: Timestamp) -> (&[EditionId], Timestamp) {
        match self {
            Self::Any => (&[], start),
            Self::Of(known) => (known, Timestamp::MAX),
            Self::OrSince(known, since) => (known, *since),
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

    #[test]
    fn a_provisional_edition_is_known_once_a_client_got_it() {
        let edition = Edition::of_bytes("User-agent: *\n".into());
        assert!(!edition.is_provisional() && edition.may_be_known());
        let edition = edition.provisional();
        assert!(edition.is_provisional() && !edition.may_be_known());
        edition.was_given();
        assert!(edition.is_provisional() && edition.may_be_known());
    }
}
