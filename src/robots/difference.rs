//! The differences in meaning between two files: crawler, path, answer before and after.
//!
//! Both files judge sample paths as sent ([`Matcher`]). Each pattern in the groups that a crawler
//! obeys on either side gives a sample: its stars are filled in, and it ends with the pattern. If
//! both answers are equal, a longer path is tried, unless `$` ends the pattern: `/a` and `/a$`
//! differ in `/ax`. Two rules with the same answer are no difference, and neither is a rule that a
//! more specific one overrules on both sides.
//!
//! Samples are no proof: two patterns that differ only in their overlap with a third may show
//! nothing. Records such as `Crawl-delay` are not compared.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::{
    group_index::{GroupIndex, GroupList},
    matcher::Matcher,
    normal,
    path::Target,
    robots_txt::RobotsTxt,
    rule::Rule,
    verdict::Access,
};

/// How many differences are listed. The others are counted.
pub const MAX_DIFFERENCES: usize = 1000;

/// The octet in place of a star: no hex digit, which could complete a `%` before it.
const FILL: char = 'x';

/// The differences between two files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Differences {
    /// The differences by the first of their tokens, then by path; [`MAX_DIFFERENCES`] at most.
    pub rows: Vec<Difference>,
    /// How many differences are not listed.
    pub omitted: usize,
    /// Whether some crawlers are left out, because comparing all would take too long.
    pub is_partial: bool,
}

/// A path that some crawlers may fetch under one file and not under the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The crawlers that obey the same groups on both sides, as the files name them, in
    /// alphabetical order. `*` is every crawler that neither file names, and comes first.
    pub tokens: Arc<[String]>,
    /// A path, with its query, in printable ASCII.
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
    for Class { obeyed, tokens } in classes(&before, &after) {
        let rules = before.rules(obeyed.before).saturating_add(after.rules(obeyed.after));
        let Some(rest) = left.checked_sub(rules) else {
            found.is_partial = true;
            continue;
        };
        left = rest;
        let changes = changes(&before, &after, obeyed, &tokens);
        let tokens: Arc<[String]> = tokens.into();
        for (path, Change { before, after }) in changes {
            if found.rows.len() < MAX_DIFFERENCES {
                found.rows.push(Difference { tokens: Arc::clone(&tokens), path, before, after });
            } else {
                found.omitted += 1;
            }
        }
    }
    found
}

/// The groups that a crawler obeys in the two files.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Obeyed {
    before: Option<GroupList>,
    after: Option<GroupList>,
}

/// Crawlers that obey the same groups in both files.
struct Class {
    obeyed: Obeyed,
    tokens: Vec<String>,
}

/// The two answers for a path.
struct Change {
    before: Judged,
    after: Judged,
}

/// A file with its groups by name, compiled.
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

    fn judge(&self, token: &str, path: &str) -> Judged {
        let scope = self.matcher.group(token).or_else(|| self.matcher.star());
        let target = Target::letter_of(path.as_bytes());
        let verdict = scope.map(|scope| self.matcher.verdict_letter(scope, &target));
        Judged {
            access: verdict.map_or(Access::Allow, |verdict| verdict.access),
            rule: verdict.and_then(|verdict| verdict.rule).cloned(),
        }
    }

    /// The number of rules in these groups.
    fn rules(&self, list: Option<GroupList>) -> usize {
        let groups = list.map(|list| self.index.groups(list)).unwrap_or_default();
        let groups = groups.iter().filter_map(|&group| self.robots.groups.get(group));
        groups.map(|group| group.rules.len()).sum()
    }

    fn patterns(&self, list: Option<GroupList>) -> impl Iterator<Item = &'a str> {
        let groups = list.map(|list| self.index.groups(list)).unwrap_or_default();
        let groups = groups.iter().filter_map(|&group| self.robots.groups.get(group));
        groups.flat_map(|group| &group.rules).map(|rule| rule.pattern.as_str())
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
        let obeyed = Obeyed { before: before.index.obeyed(name), after: after.index.obeyed(name) };
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

/// The sample paths with different answers, in order.
fn changes(
    before: &File<'_>,
    after: &File<'_>,
    obeyed: Obeyed,
    tokens: &[String],
) -> BTreeMap<String, Change> {
    let mut found = BTreeMap::new();
    let Some(token) = tokens.first() else { return found };
    let patterns: BTreeSet<&str> =
        before.patterns(obeyed.before).chain(after.patterns(obeyed.after)).collect();
    for sample in patterns.into_iter().filter_map(sample) {
        let change = sample.into_iter().find_map(|path| {
            let change =
                Change { before: before.judge(token, &path), after: after.judge(token, &path) };
            (change.before.access != change.after.access).then_some((path, change))
        });
        found.extend(change);
    }
    found
}

/// Paths that `pattern` matches: the shortest, and a longer one if the pattern allows it. `None` for
/// a pattern that matches nothing.
pub(super) fn sample(pattern: &str) -> Option<Vec<String>> {
    let pattern = normal::ascii(pattern.as_bytes());
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
