//! The differences in meaning between two files: crawler, pattern, answer before and after.
//!
//! Crawlers that obey the same groups on both sides are one class. For each class, [`regions`] finds
//! every pair of deciding rules with different answers, so the result is exact: a path is judged
//! differently if and only if one row has the two rules that decide about it. A path is judged as sent.
//!
//! Where that search takes too long, sample paths are judged. Each pattern gives a sample: its stars
//! are filled in, and it ends with the pattern. If both answers are equal, a longer path is tried,
//! unless `$` ends the pattern: `/a` and `/a$` differ in `/ax`. Samples are no proof: two patterns that
//! differ only in their overlap with a third may show nothing. [`Differences::is_exact`] says which.
//!
//! Records such as `Crawl-delay` are not compared.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::regions::{Region, access, regions};
use crate::formats::robots::{
    Access, GroupIndex, GroupList, Matcher, RobotsTxt, Rule, Target, ascii,
};

/// How many differences are listed. The others are counted.
pub const MAX_DIFFERENCES: usize = 1000;

/// How many steps of the exact search are taken: about a second.
const MOST_STEPS: usize = 50_000_000;
/// How many steps of the exact search a sample stands for.
const STEPS_OF_SAMPLE: usize = 200;

/// The octet in place of a star: no hex digit, which could complete a `%` before it.
const FILL: char = 'x';

/// The differences between two files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Differences {
    /// The differences by the first of their tokens, then by pattern; [`MAX_DIFFERENCES`] at most.
    pub rows: Vec<Difference>,
    /// How many differences are not listed.
    pub(crate) omitted: usize,
    /// Whether some crawlers are left out, because comparing all would take too long.
    pub(crate) is_partial: bool,
    /// Whether every difference is found. Otherwise some crawlers are compared by samples.
    pub(crate) is_exact: bool,
}

impl Default for Differences {
    fn default() -> Self {
        Self { rows: Vec::new(), omitted: 0, is_partial: false, is_exact: true }
    }
}

/// Paths that some crawlers may fetch under one file and not under the other: those for which the
/// two rules decide.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The crawlers that obey the same groups on both sides, as the files name them, in
    /// alphabetical order. `*` is every crawler that neither file names, and comes first.
    pub tokens: Arc<[String]>,
    /// The pattern of the more specific of the two rules.
    pub pattern: String,
    /// One of these paths, with its query, in printable ASCII.
    pub path: String,
    /// The answer of the first file.
    pub before: Judged,
    /// The answer of the second file.
    pub after: Judged,
}

/// A file's answer for a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged {
    /// The answer.
    pub access: Access,
    /// The rule that decides, with its line in that file; `None` if no rule matches.
    pub rule: Option<Rule>,
}

/// The differences from `before` to `after`. A crawler that only one file names follows `*` in the
/// other.
pub fn differences(before: &RobotsTxt, after: &RobotsTxt) -> Differences {
    differences_within(before, after, usize::MAX)
}

/// The differences from `before` to `after`, with no more samples than this. Two foreign files may
/// need billions: a sample for each rule of the one and each group of the other.
pub fn differences_within(before: &RobotsTxt, after: &RobotsTxt, samples: usize) -> Differences {
    let (before, after) = (File::new(before), File::new(after));
    let (mut found, mut left) = (Differences::default(), samples);
    let mut work = samples.saturating_mul(STEPS_OF_SAMPLE).min(MOST_STEPS);
    for Class { obeyed, tokens } in classes(&before, &after) {
        let files = [&before, &after];
        let sets = [0, 1].map(|side| files[side].rules(obeyed[side]).collect::<Vec<_>>());
        let Some(rest) = left.checked_sub(sets[0].len() + sets[1].len()) else {
            found.is_partial = true;
            found.is_exact = false;
            continue;
        };
        left = rest;
        let regions = regions(sets.clone(), &mut work).unwrap_or_else(|| {
            found.is_exact = false;
            let token = tokens.first().map_or("*", String::as_str);
            self::samples(&sets, |side, target| files.get(side)?.judge(token, target))
        });
        let tokens: Arc<[String]> = tokens.into();
        let mut rows: Vec<Difference> =
            regions.into_iter().map(|region| Difference::new(&tokens, region)).collect();
        rows.sort_by(|a, b| (&a.pattern, &a.path).cmp(&(&b.pattern, &b.path)));
        for row in rows {
            if found.rows.len() < MAX_DIFFERENCES {
                found.rows.push(row);
            } else {
                found.omitted += 1;
            }
        }
    }
    found
}

impl Difference {
    fn new(tokens: &Arc<[String]>, region: Region<'_>) -> Self {
        let judged = |rule: Option<&Rule>| Judged { access: access(rule), rule: rule.cloned() };
        Self {
            tokens: Arc::clone(tokens),
            pattern: region.pattern().to_owned(),
            before: judged(region.before),
            after: judged(region.after),
            path: region.path,
        }
    }
}

/// The groups that a crawler obeys in the two files.
type Obeyed = [Option<GroupList>; 2];

struct Class {
    obeyed: Obeyed,
    tokens: Vec<String>,
}

struct File<'a> {
    robots: &'a RobotsTxt,
    index: GroupIndex,
    matcher: Matcher,
}

impl<'a> File<'a> {
    fn new(robots: &'a RobotsTxt) -> Self {
        let index = GroupIndex::new(&robots.groups);
        let matcher = Matcher::with_index(robots, &index);
        Self { robots, index, matcher }
    }

    fn judge(&self, token: &str, target: &Target<'_>) -> Option<&Rule> {
        let scope = self.matcher.group(token).or_else(|| self.matcher.star());
        self.matcher.verdict_letter(scope?, target).rule
    }

    fn rules(&self, list: Option<GroupList>) -> impl Iterator<Item = &Rule> {
        let groups = list.map(|list| self.index.groups(list)).unwrap_or_default();
        let groups = groups.iter().filter_map(|&group| self.robots.groups.get(group));
        groups.flat_map(|group| &group.rules)
    }
}

/// The crawlers that either file names, and `*`, by the groups that they obey; in alphabetical
/// order.
fn classes(before: &File<'_>, after: &File<'_>) -> Vec<Class> {
    let mut named: BTreeMap<String, &str> = BTreeMap::new();
    for name in before.index.spellings().chain(after.index.spellings()) {
        named.entry(name.to_ascii_lowercase()).or_insert(name);
    }
    let mut classes: Vec<Class> = Vec::new();
    let mut places: BTreeMap<Obeyed, usize> = BTreeMap::new();
    for name in std::iter::once("*").chain(named.into_values()) {
        let obeyed = [before, after].map(|file| file.index.obeyed(name));
        let place = *places.entry(obeyed).or_insert_with(|| {
            classes.push(Class { obeyed, tokens: Vec::new() });
            classes.len() - 1
        });
        if let Some(class) = classes.get_mut(place) {
            class.tokens.push(name.to_owned());
        }
    }
    classes
}

/// The regions of sample paths with different answers, each once: a sample of what [`regions`] finds.
/// `judge` gives the rule of the first or the second set that decides.
pub(super) fn samples<'r>(
    sets: &[Vec<&'r Rule>; 2],
    judge: impl Fn(usize, &Target<'_>) -> Option<&'r Rule>,
) -> Vec<Region<'r>> {
    let rules = sets.iter().flatten();
    let patterns: BTreeSet<&str> = rules.map(|rule| rule.pattern.as_str()).collect();
    let mut found: BTreeMap<_, Region<'r>> = BTreeMap::new();
    for sample in patterns.into_iter().filter_map(sample) {
        let region = sample.into_iter().find_map(|path| {
            let target = Target::letter_of(path.as_bytes());
            let (before, after) = (judge(0, &target), judge(1, &target));
            drop(target);
            (access(before) != access(after)).then_some(Region { before, after, path })
        });
        let Some(region) = region else { continue };
        let key = |rule: Option<&'r Rule>| rule.map(|rule| (rule.line, &rule.pattern));
        found.entry((key(region.before), key(region.after))).or_insert(region);
    }
    found.into_values().collect()
}

/// Paths that `pattern` matches: the shortest, and a longer one if the pattern allows it. `None` for
/// a pattern that matches nothing.
pub(super) fn sample(pattern: &str) -> Option<Vec<String>> {
    let pattern = ascii(pattern.as_bytes());
    if !pattern.starts_with(['/', '*']) {
        return None;
    }
    let (text, is_anchored) =
        pattern.strip_suffix('$').map_or((pattern.as_str(), false), |text| (text, true));
    let fixed = text.trim_end_matches('*');
    let mut path = String::with_capacity(fixed.len() + 2);
    let mut last = None;
    for octet in fixed.chars() {
        match octet {
            '*' if path.is_empty() => path.extend(['/', FILL]),
            '*' if last == Some('*') => {}
            '*' => path.push(FILL),
            _ => path.push(octet),
        }
        last = Some(octet);
    }
    if path.is_empty() {
        path.push('/');
    }
    let ends = is_anchored && fixed.len() == text.len();
    let longer = (!ends).then(|| format!("{path}{FILL}"));
    Some(std::iter::once(path).chain(longer).collect())
}
