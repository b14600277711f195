//! Two files made one: the origin's, and the policy's own.
//!
//! Joined is what crawlers read (§2.2.1), not text. A crawler that both files name gets the groups
//! of both; one that a single file names keeps what that file says to it, and goes by the other's
//! `*` no more than it does in one file; `*` is joined like a name. Where a group of the own file
//! that names the crawler overrides, the groups of the base are left out for it. Which line names
//! whom is [`name`]'s matter.
//!
//! Two files appended would say the same to whoever puts groups with the same token together, as
//! §2.2.1 asks. Not everybody does, so each crawler finds all that is for it in one group:
//!
//! - Names with the same groups share one; the order is that of the own file, then of the base.
//! - Rules of the own file come first, each rule once. An own record displaces those of its name.
//! - Records of the whole site are those of both files, each once.
//! - The own file's header stands, with a line that names the other file. A line that names nobody
//!   is left out.
//!
//! A group for many names is written again for each name with further groups of its own, so the
//! file can be longer than both together. What no crawler has to read any more ([`LEAST_BYTES`])
//! is refused, and never built.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::{
    Directive, Group, LEAST_BYTES, Record, RobotsTxt, UserAgent,
    emit::closes,
    name,
    naming::{List, Naming},
    normal,
};
use crate::diagnostic::Diagnostic;

/// What a merged file says of itself.
const HEADER: &str = "Merged with the origin's own robots.txt.";

/// Two files made one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Merged {
    /// The file. Its rules have the lines of the files they come from.
    pub file: RobotsTxt,
    /// For each group of `file`, for each rule: where it comes from. A rule of both files comes
    /// from the own.
    pub sources: Vec<Vec<Source>>,
}

/// Where a rule comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Source {
    /// Which of the two files.
    pub side: Side,
    /// The place of its group there, from 0.
    pub group: usize,
    /// Its place in the group, from 0.
    pub rule: usize,
}

/// One of the two files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// The file that is added to: the origin's.
    Base,
    /// The file that is added, and that may override: the policy's.
    Own,
}

/// The file that says what `base` and `own` say. `overriding` tells for each group of `own` whether
/// it overrides; groups beyond its end don't.
///
/// The same files give the same file, byte for byte.
///
/// # Errors
/// `robots.merged_too_long`: the file would be longer than [`LEAST_BYTES`] (§2.5).
pub fn merge(base: &RobotsTxt, own: &RobotsTxt, overriding: &[bool]) -> Result<Merged, Diagnostic> {
    let sides = Sides {
        base,
        own,
        overriding,
        base_naming: Naming::of(&base.groups),
        own_naming: Naming::of(&own.groups),
    };
    let blocks = sides.blocks();
    let mut room = Room(LEAST_BYTES);
    let mut merged = Merged { file: sides.frame(), sources: Vec::new() };
    for (parts, user_agents) in blocks {
        let (group, sources) = sides.group(parts, user_agents, &mut room)?;
        merged.file.groups.push(group);
        merged.sources.push(sources);
    }
    // Exactly, now that it is known not to be out of all proportion.
    Room(LEAST_BYTES).take(merged.file.to_string().len())?;
    Ok(merged)
}

/// The groups that a crawler obeys: of the own file, of the base.
type Parts = (Option<List>, Option<List>);

/// What is merged.
struct Sides<'a> {
    base: &'a RobotsTxt,
    own: &'a RobotsTxt,
    overriding: &'a [bool],
    base_naming: Naming,
    own_naming: Naming,
}

impl Sides<'_> {
    /// What is for `*`.
    fn star(&self) -> Parts {
        self.join(self.own_naming.star(), self.base_naming.star())
    }

    /// What is for the crawler `name`.
    fn parts(&self, name: &str) -> Parts {
        match (self.own_naming.named(name), self.base_naming.named(name)) {
            (None, None) => self.star(),
            (own, base) => self.join(own, base),
        }
    }

    fn join(&self, own: Option<List>, base: Option<List>) -> Parts {
        let overrides = |group: &usize| self.overriding.get(*group) == Some(&true);
        let is_overridden =
            own.is_some_and(|own| self.own_naming.groups(own).iter().any(overrides));
        (own, base.filter(|_| !is_overridden))
    }

    /// The numbers of the groups, the own file's first.
    fn members(&self, (own, base): Parts) -> impl Iterator<Item = (Side, usize)> {
        let own = own.map(|list| self.own_naming.groups(list)).unwrap_or_default();
        let base = base.map(|list| self.base_naming.groups(list)).unwrap_or_default();
        let of = |side| move |group: &usize| (side, *group);
        own.iter().map(of(Side::Own)).chain(base.iter().map(of(Side::Base)))
    }

    /// The groups to be: of what they are made and whom they name.
    fn blocks(&self) -> Vec<(Parts, Vec<UserAgent>)> {
        let mut blocks = Blocks::default();
        let groups = self.own.groups.iter().chain(&self.base.groups);
        for user_agent in groups.flat_map(|group| &group.user_agents) {
            let value = user_agent.name.trim_matches(name::SPACE);
            if name::is_star(value) {
                blocks.add("*", self.star());
            } else if name::forms(value).iter().any(Option::is_some) {
                blocks.add(value, self.parts(value));
            }
        }
        // A crawler that no line names whole obeys all lines that name it in another form, and
        // those of one file may have come to say what the other's do not: "A 1.0" overrides and
        // "A 2.0" doesn't. Such a crawler gets a line. It is shorter than those it was made of, so
        // this ends.
        loop {
            let groups: Vec<Group> = blocks.groups();
            let naming = Naming::of(&groups);
            let wrong: Vec<_> = naming
                .names()
                .map(|name| (name, self.parts(name)))
                .filter(|(name, parts)| !self.says(&blocks, &naming, name, *parts))
                .collect();
            if wrong.is_empty() {
                return blocks.blocks;
            }
            for (name, parts) in wrong {
                blocks.add(name, parts);
            }
        }
    }

    /// Whether the blocks that name the crawler `name` are made of `parts`.
    fn says(&self, blocks: &Blocks, naming: &Naming, name: &str, parts: Parts) -> bool {
        let found = naming.named(name).map(|list| naming.groups(list)).unwrap_or_default();
        let found = || found.iter().filter_map(|&block| blocks.blocks.get(block));
        found().all(|(made, _)| *made == parts)
            || found().flat_map(|(made, _)| self.members(*made)).collect::<BTreeSet<_>>()
                == self.members(parts).collect()
    }

    /// The file without groups.
    fn frame(&self) -> RobotsTxt {
        let mut header = self.own.header.clone();
        if !header.iter().any(|line| line == HEADER) {
            header.push(HEADER.to_owned());
        }
        let mut known = HashSet::new();
        let records = self.own.records.iter().chain(&self.base.records);
        let records = records.filter(|record| known.insert((key(record), &record.value)));
        // What closes the file is written there only if nothing stands behind it.
        let (closing, mut records): (Vec<_>, Vec<_>) = records.cloned().partition(closes);
        records.extend(closing);
        RobotsTxt { header, groups: Vec::new(), records }
    }

    fn group(
        &self,
        parts: Parts,
        user_agents: Vec<UserAgent>,
        room: &mut Room,
    ) -> Result<(Group, Vec<Source>), Diagnostic> {
        let (mut group, mut sources) = (Group { user_agents, ..Group::default() }, Vec::new());
        let mut rules: HashSet<(Directive, String)> = HashSet::new();
        let mut comments: HashSet<&str> = HashSet::new();
        let mut own_records = HashSet::new();
        let mut records = HashSet::new();
        for user_agent in &group.user_agents {
            room.take("User-agent: ".len() + user_agent.name.len())?;
        }
        for (side, number) in self.members(parts) {
            let groups = if side == Side::Own { &self.own.groups } else { &self.base.groups };
            let Some(part) = groups.get(number) else { continue };
            for line in &part.comment {
                if comments.insert(line) {
                    room.take(line.len())?;
                    group.comment.push(line.clone());
                }
            }
            for (place, rule) in part.rules.iter().enumerate() {
                if rules.insert((rule.directive, normal::ascii(rule.pattern.as_bytes()))) {
                    room.take(rule.directive.field_name().len() + 2 + rule.pattern.len())?;
                    group.rules.push(rule.clone());
                    sources.push(Source { side, group: number, rule: place });
                }
            }
            for record in &part.records {
                let name = key(record);
                if side == Side::Own {
                    own_records.insert(name.clone());
                } else if own_records.contains(&name) {
                    continue;
                }
                if records.insert((name, &record.value)) {
                    room.take(record.name.len() + 1 + record.value.len())?;
                    group.records.push(record.clone());
                }
            }
        }
        Ok((group, sources))
    }
}

/// The groups to be, in their order.
#[derive(Default)]
struct Blocks {
    blocks: Vec<(Parts, Vec<UserAgent>)>,
    places: BTreeMap<Parts, usize>,
    /// What the lines so far name, in lower case.
    known: BTreeSet<[Option<String>; name::FORMS]>,
}

impl Blocks {
    /// Adds a line, unless there is one that names the same.
    fn add(&mut self, value: &str, parts: Parts) {
        let forms = name::forms(value).map(|form| form.map(str::to_ascii_lowercase));
        if !self.known.insert(forms) {
            return;
        }
        let place = *self.places.entry(parts).or_insert_with(|| {
            self.blocks.push((parts, Vec::new()));
            self.blocks.len() - 1
        });
        if let Some((_, user_agents)) = self.blocks.get_mut(place) {
            user_agents.push(UserAgent { name: value.to_owned(), line: 0 });
        }
    }

    /// The groups with their names alone.
    fn groups(&self) -> Vec<Group> {
        let group = |(_, user_agents): &(Parts, Vec<UserAgent>)| Group {
            user_agents: user_agents.clone(),
            ..Group::default()
        };
        self.blocks.iter().map(group).collect()
    }
}

/// How many octets there is room for; what takes them is counted low.
struct Room(usize);

impl Room {
    fn take(&mut self, octets: usize) -> Result<(), Diagnostic> {
        self.0 = self.0.checked_sub(octets).ok_or_else(|| {
            let limit = LEAST_BYTES / 1024;
            let message = format!("the merged file would have more than {limit} KiB");
            Diagnostic::error("robots.merged_too_long", message)
                .help("shorten one of the two: crawlers may stop reading there (RFC 9309 §2.5)")
        })?;
        Ok(())
    }
}

/// The name by which records are compared.
fn key(record: &Record) -> String {
    record.name.to_ascii_lowercase()
}
