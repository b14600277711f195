//! What changes between two files, in what they mean: which crawler, which path, before and after.
//!
//! Compared is the judgement of sample paths by both files, by the letter ([`Matcher`]). Each
//! pattern in the groups that a crawler obeys on either side makes a sample: its stars filled, its
//! end where the pattern's is. Where that is judged the same, a longer path is tried, unless `$`
//! ends the pattern: `/a` and `/a$` differ in `/ax`. What a more specific rule decides the same on
//! both sides is no difference, and neither is another rule that gives the same answer.
//!
//! It is a comparison of samples, not a proof: two patterns that differ only in how they overlap
//! with a third may show nothing. Records such as `Crawl-delay` are not compared.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::{
    Access, Forms, Matcher, RobotsTxt, Rule, Target,
    naming::{List, Naming},
    normal,
};

/// How many differences are listed; the others are counted.
pub const MAX_DIFFERENCES: usize = 1000;

/// What an octet in the place of a star is: no hex digit, which could end a `%` before it.
const FILL: char = 'x';

/// The differences between two files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Differences {
    /// By the first of the tokens, then by path; [`MAX_DIFFERENCES`] at most.
    pub rows: Vec<Difference>,
    /// How many more there are.
    pub omitted: usize,
}

/// A path that some crawlers may fetch by one file and not by the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The crawlers, as the files name them, in alphabetical order: those that obey the same groups
    /// on both sides. `*` is every crawler that neither file names, and comes first.
    pub tokens: Arc<[String]>,
    /// A path, with its query, in printable ASCII.
    pub path: String,
    /// By the first file.
    pub before: Judged,
    /// By the second.
    pub after: Judged,
}

/// What a file says about a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged {
    /// The answer.
    pub access: Access,
    /// The rule that decides, with its line there; `None` where no rule matches.
    pub rule: Option<Rule>,
}

/// What `after` says otherwise than `before`. A crawler that only one of them names goes by `*` in
/// the other.
pub fn differences(before: &RobotsTxt, after: &RobotsTxt) -> Differences {
    let (before, after) = (File::new(before), File::new(after));
    let mut found = Differences::default();
    for (lists, tokens) in by_groups(&before, &after) {
        let rows = changed_paths(&before, &after, lists, &tokens);
        let tokens: Arc<[String]> = tokens.into();
        for (path, (before, after)) in rows {
            if found.rows.len() < MAX_DIFFERENCES {
                found.rows.push(Difference { tokens: Arc::clone(&tokens), path, before, after });
            } else {
                found.omitted += 1;
            }
        }
    }
    found
}

/// The groups obeyed in the two files.
type Lists = (Option<List>, Option<List>);

struct File<'a> {
    robots: &'a RobotsTxt,
    naming: Naming,
    matcher: Matcher,
}

impl<'a> File<'a> {
    fn new(robots: &'a RobotsTxt) -> Self {
        let naming = Naming::of(&robots.groups);
        Self { robots, naming, matcher: Matcher::new(robots) }
    }

    fn judge(&self, token: &str, path: &str) -> Judged {
        let scope = self.matcher.group(token).or_else(|| self.matcher.star());
        let target = Target::with_forms(path.as_bytes(), Forms::NONE);
        let verdict = scope.map(|scope| self.matcher.verdict_letter(scope, &target));
        Judged {
            access: verdict.map_or(Access::Allow, |verdict| verdict.access),
            rule: verdict.and_then(|verdict| verdict.rule).cloned(),
        }
    }

    fn patterns(&self, list: Option<List>) -> impl Iterator<Item = &'a str> {
        let groups = list.map(|list| self.naming.groups(list)).unwrap_or_default();
        let groups = groups.iter().filter_map(|&group| self.robots.groups.get(group));
        groups.flat_map(|group| &group.rules).map(|rule| rule.pattern.as_str())
    }
}

/// The crawlers that either file names, and `*`, together where they obey the same groups; in
/// alphabetical order.
fn by_groups(before: &File<'_>, after: &File<'_>) -> Vec<(Lists, Vec<String>)> {
    let mut named: BTreeMap<String, &str> = BTreeMap::new();
    for name in before.naming.names().chain(after.naming.names()) {
        named.entry(name.to_ascii_lowercase()).or_insert(name);
    }
    let mut classes: Vec<(Lists, Vec<String>)> = Vec::new();
    let mut places: BTreeMap<Lists, usize> = BTreeMap::new();
    for name in std::iter::once("*").chain(named.into_values()) {
        let lists = (before.naming.obeyed(name), after.naming.obeyed(name));
        let place = *places.entry(lists).or_insert_with(|| {
            classes.push((lists, Vec::new()));
            classes.len() - 1
        });
        if let Some((_, tokens)) = classes.get_mut(place) {
            tokens.push(name.to_owned());
        }
    }
    classes
}

/// The samples that are judged differently, in order.
fn changed_paths(
    before: &File<'_>,
    after: &File<'_>,
    (list_before, list_after): Lists,
    tokens: &[String],
) -> BTreeMap<String, (Judged, Judged)> {
    let mut found = BTreeMap::new();
    let Some(token) = tokens.first() else { return found };
    let patterns: BTreeSet<&str> =
        before.patterns(list_before).chain(after.patterns(list_after)).collect();
    for sample in patterns.into_iter().filter_map(sample) {
        let change = sample.into_iter().find_map(|path| {
            let judged = (before.judge(token, &path), after.judge(token, &path));
            (judged.0.access != judged.1.access).then_some((path, judged))
        });
        found.extend(change);
    }
    found
}

/// Paths that `pattern` matches: the shortest that tells something, and one that goes on where the
/// pattern lets it. `None` for a pattern that matches nothing.
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
