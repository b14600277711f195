//! One file made of two: the origin's (the base), and the policy's (the own file).
//!
//! The merge joins the rules for each crawler (§2.2.1), not the texts:
//!
//! - A crawler named in both files gets the groups of both.
//! - A crawler named in only one of the files follows only that group. It doesn't follow the other
//!   file's `*`.
//! - `*` is joined like a name.
//! - If a group of the own file that names the crawler overrides, the groups of the base are left
//!   out for that crawler. [`name`] defines which lines name a crawler.
//!
//! §2.2.1 asks crawlers to merge groups with the same token, so the two texts one after the other
//! would mean the same. Some crawlers don't merge them, so each crawler gets one group:
//!
//! - Names with the same groups share one. The order is that of the own file, then of the base.
//! - Rules of the own file come first, each rule once. An own record replaces those of its name.
//! - Records of the whole site are those of both files, each once.
//! - A comment above a group tells how many of its crawlers the merged group has.
//! - The own file's header stays, with a line about the merge. A line that names no crawler is left
//!   out.
//!
//! A group for many names is repeated for each name with further groups of its own, so the result
//! can be longer than both files together. A result longer than crawlers have to read
//! ([`LEAST_BYTES`]) is refused, and never built. [`merge_beginning`] leaves out the end of the base.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::{
    emit::closes,
    name::{self, GroupIndex, GroupList},
    normal,
    other_record::Record,
    parse::parse,
    robots_txt::{Group, LEAST_BYTES, RobotsTxt, UserAgent, whole_lines},
    rule::Directive,
};
use crate::base::{diagnostic::Diagnostic, text::lines};

const HEADER: &str = "Merged with the origin's own robots.txt.";
/// How exactly [`merge_beginning`] searches, in octets.
const PRECISION: usize = 1024;

/// A merged file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Merged {
    /// The file. Its rules have the lines of the files they come from.
    pub file: RobotsTxt,
    /// The source of each rule of each group of `file`. A rule in both files comes from the own
    /// file.
    pub sources: Vec<Vec<Source>>,
}

/// The place that a rule comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Source {
    /// Which of the two files.
    pub side: Side,
    /// The place of the group in that file, from 0.
    pub group: usize,
    /// The place of the rule in the group, from 0.
    pub rule: usize,
}

/// One of the two files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// The origin's file.
    Base,
    /// The policy's file, which may override.
    Own,
}

/// The merge of `base` and `own`. `overriding` says for each group of `own` whether it overrides;
/// groups past its end don't.
///
/// The same input gives the same file, byte for byte.
///
/// # Errors
/// `robots.merged_too_long`: the file would be longer than [`LEAST_BYTES`] (§2.5).
pub fn merge(base: &RobotsTxt, own: &RobotsTxt, overriding: &[bool]) -> Result<Merged, Diagnostic> {
    let sides = Sides::new(base, own, overriding);
    sides.merged(sides.frame())
}

/// The merge of as many lines of `base` as have room beside `own`, for a file that [`merge`] refuses.
/// Returns it with these lines, parsed, and with the number of the lines that are left out.
///
/// # Errors
/// `robots.merged_too_long`: no line has room.
pub fn merge_beginning(
    base: &[u8],
    own: &RobotsTxt,
    overriding: &[bool],
) -> Result<(Merged, RobotsTxt, usize), Diagnostic> {
    let up_to = |end: usize| {
        let (file, _) = parse(whole_lines(base, end));
        Ok((merge(&file, own, overriding)?, file))
    };
    let (mut best, mut fits, mut exceeds) = (up_to(0)?, 0, base.len());
    while exceeds - fits > PRECISION {
        let middle = fits.midpoint(exceeds);
        match up_to(middle) {
            Ok(longer) => (best, fits) = (longer, middle),
            Err(_) => exceeds = middle,
        }
    }
    let rest = base.get(whole_lines(base, fits).len()..).unwrap_or_default();
    let (merged, file) = best;
    Ok((merged, file, lines(rest).count()))
}

/// `file` with one group for each crawler.
pub(super) fn joined(file: &RobotsTxt) -> Result<Merged, Diagnostic> {
    let (header, records) = (file.header.clone(), file.records.clone());
    let frame = RobotsTxt { header, records, groups: Vec::new() };
    Sides::new(&RobotsTxt::default(), file, &[]).merged(frame)
}

/// The groups that a crawler obeys in both files.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Parts {
    own: Option<GroupList>,
    base: Option<GroupList>,
}

/// A group of the merged file: the groups that it joins, and the names that it gets.
struct Block {
    parts: Parts,
    user_agents: Vec<UserAgent>,
}

struct Sides<'a> {
    base: &'a RobotsTxt,
    own: &'a RobotsTxt,
    overriding: &'a [bool],
    base_index: GroupIndex,
    own_index: GroupIndex,
}

impl<'a> Sides<'a> {
    fn new(base: &'a RobotsTxt, own: &'a RobotsTxt, overriding: &'a [bool]) -> Self {
        let index = |file: &RobotsTxt| GroupIndex::new(&file.groups);
        Self { base, own, overriding, base_index: index(base), own_index: index(own) }
    }

    /// The merged file with this frame.
    fn merged(&self, file: RobotsTxt) -> Result<Merged, Diagnostic> {
        let mut room = Room(LEAST_BYTES);
        let mut merged = Merged { file, sources: Vec::new() };
        for Block { parts, user_agents } in self.blocks() {
            let (group, sources) = self.group(parts, user_agents, &mut room)?;
            merged.file.groups.push(group);
            merged.sources.push(sources);
        }
        // The sum so far was a lower bound. The exact length is cheap now that the file is bounded.
        Room(LEAST_BYTES).take(merged.file.to_string().len())?;
        Ok(merged)
    }

    fn star(&self) -> Parts {
        self.join(self.own_index.star(), self.base_index.star())
    }

    /// The groups that the crawler `name` obeys.
    fn parts(&self, name: &str) -> Parts {
        match (self.own_index.named(name), self.base_index.named(name)) {
            (None, None) => self.star(),
            (own, base) => self.join(own, base),
        }
    }

    fn join(&self, own: Option<GroupList>, base: Option<GroupList>) -> Parts {
        let overrides = |group: &usize| self.overriding.get(*group) == Some(&true);
        let is_overridden = own.is_some_and(|own| self.own_index.groups(own).iter().any(overrides));
        Parts { own, base: base.filter(|_| !is_overridden) }
    }

    /// The numbers of the groups, the own file's first.
    fn members(&self, Parts { own, base }: Parts) -> impl Iterator<Item = (Side, usize)> {
        let own = own.map(|list| self.own_index.groups(list)).unwrap_or_default();
        let base = base.map(|list| self.base_index.groups(list)).unwrap_or_default();
        let of = |side| move |group: &usize| (side, *group);
        own.iter().map(of(Side::Own)).chain(base.iter().map(of(Side::Base)))
    }

    /// The groups of the merged file, in their order.
    fn blocks(&self) -> Vec<Block> {
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
        // If no line has a crawler's whole name, the crawler obeys all lines that name it in
        // another form. These may now disagree: "A 1.0" overrides and "A 2.0" doesn't. The crawler
        // then gets a line of its own, which is shorter than theirs, so the loop ends.
        loop {
            let index = GroupIndex::new(&blocks.groups());
            let wrong: Vec<_> = index
                .spellings()
                .map(|name| (name, self.parts(name)))
                .filter(|(name, parts)| !self.joins(&blocks, &index, name, *parts))
                .collect();
            if wrong.is_empty() {
                return blocks.blocks;
            }
            for (name, parts) in wrong {
                blocks.add(name, parts);
            }
        }
    }

    /// Whether the blocks that name the crawler `name` join exactly `parts`.
    fn joins(&self, blocks: &Blocks, index: &GroupIndex, name: &str, parts: Parts) -> bool {
        let found = index.named(name).map(|list| index.groups(list)).unwrap_or_default();
        let found = || found.iter().filter_map(|&block| blocks.blocks.get(block));
        found().all(|block| block.parts == parts)
            || found().flat_map(|block| self.members(block.parts)).collect::<BTreeSet<_>>()
                == self.members(parts).collect()
    }

    /// The merged file without its groups.
    fn frame(&self) -> RobotsTxt {
        let mut header = self.own.header.clone();
        if !header.iter().any(|line| line == HEADER) {
            header.push(HEADER.to_owned());
        }
        let mut known = HashSet::new();
        let records = self.own.records.iter().chain(&self.base.records);
        let records = records.filter(|record| known.insert((key(record), &record.value)));
        // Closing records are written at the end only if no other record follows them.
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
        let mut comments: HashSet<String> = HashSet::new();
        let mut own_records = HashSet::new();
        let mut records = HashSet::new();
        for user_agent in &group.user_agents {
            room.take("User-agent: ".len() + user_agent.name.len())?;
        }
        for (side, number) in self.members(parts) {
            let groups = if side == Side::Own { &self.own.groups } else { &self.base.groups };
            let Some(part) = groups.get(number) else { continue };
            for line in heading(part, side, &group.user_agents, parts) {
                if comments.insert(line.clone()) {
                    room.take(line.len())?;
                    group.comment.push(line);
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

/// The comment of a part above a group with these names. A part that gives the group some of its
/// names says so. An origin's comment on more names may say what is not true of these, and is left
/// out.
fn heading(part: &Group, side: Side, names: &[UserAgent], parts: Parts) -> Vec<String> {
    let lower = |names: &[UserAgent]| -> BTreeSet<String> {
        let values = names.iter().map(|one| one.name.trim_matches(name::SPACE));
        values.map(str::to_ascii_lowercase).collect()
    };
    let (all, own) = (lower(&part.user_agents), lower(names));
    let shared = all.intersection(&own).count();
    let is_whole = shared == all.len() && shared == own.len();
    let with = match parts.base {
        Some(_) if side == Side::Own => "; with the origin's rules",
        _ => "",
    };
    let written = |line: &String| match (is_whole, side) {
        (true, _) => Some(format!("{line}{with}")),
        (false, Side::Own) => Some(format!("{shared} of: {line}{with}")),
        (false, Side::Base) => None,
    };
    part.comment.iter().filter_map(written).collect()
}

/// The groups of the merged file so far, in their order.
#[derive(Default)]
struct Blocks {
    blocks: Vec<Block>,
    places: BTreeMap<Parts, usize>,
    /// The forms of the names so far, in lower case.
    known: BTreeSet<[Option<String>; name::FORMS]>,
}

impl Blocks {
    /// Adds a line, unless another one names the same crawler.
    fn add(&mut self, value: &str, parts: Parts) {
        let forms = name::forms(value).map(|form| form.map(str::to_ascii_lowercase));
        if !self.known.insert(forms) {
            return;
        }
        let place = *self.places.entry(parts).or_insert_with(|| {
            self.blocks.push(Block { parts, user_agents: Vec::new() });
            self.blocks.len() - 1
        });
        if let Some(block) = self.blocks.get_mut(place) {
            block.user_agents.push(UserAgent { name: value.to_owned(), line: 0 });
        }
    }

    /// The groups, with names and nothing else.
    fn groups(&self) -> Vec<Group> {
        let group =
            |block: &Block| Group { user_agents: block.user_agents.clone(), ..Group::default() };
        self.blocks.iter().map(group).collect()
    }
}

/// The octets that are left of the limit. Lines are counted low, as at least their length.
struct Room(usize);

impl Room {
    fn take(&mut self, octets: usize) -> Result<(), Diagnostic> {
        self.0 = self.0.checked_sub(octets).ok_or_else(|| {
            let limit = LEAST_BYTES / 1024;
            let message = format!("the merged file would be longer than {limit} KiB");
            Diagnostic::error("robots.merged_too_long", message).help(
                "shorten one of the two files: crawlers may stop reading there (RFC 9309 §2.5)",
            )
        })?;
        Ok(())
    }
}

fn key(record: &Record) -> String {
    record.name.to_ascii_lowercase()
}
