//! The hits of the lines of a robots.txt, from the counts by edition and line.
//!
//! A count of the edition on the page belongs to its line. A count of an older edition belongs to
//! the line with the same directive and the same path. If several lines have both, it is the one in
//! the group for the same crawlers, else the first.

use std::collections::{BTreeSet, HashMap};

use crate::{
    base::text::Text,
    formats::robots::RobotsTxt,
    records::{
        counts::{Counted, Dimension},
        record::rule_line,
    },
    rules::enforce::Reason,
};

/// The reason of a fetch of robots.txt.
pub(super) const FETCH: &str = Reason::RobotsTxt.as_str();

/// By what the counts of a [`Hits`] are told apart.
pub(super) const BY: [Dimension; 4] =
    [Dimension::Edition, Dimension::Line, Dimension::Directive, Dimension::Pattern];

/// The requests that a line decided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Count {
    pub(super) violations: u64,
    /// The others: for an allow line, those that it allowed.
    pub(super) passed: u64,
}

#[derive(Debug, Default)]
pub(super) struct Hits {
    by_line: HashMap<u32, Count>,
    /// The rules of older editions that the file does not have, the most violated first.
    pub(super) gone: Vec<(String, Count)>,
}

/// A line that decides requests: a rule or a pace.
struct Deciding<'f> {
    group: usize,
    directive: String,
    pattern: &'f str,
    line: u32,
}

impl Hits {
    /// The hits of `file`, the edition `id`, from counts [`BY`] edition and line. `older` has the
    /// older editions that are known.
    pub(super) fn of(
        id: &str,
        file: &RobotsTxt,
        counted: &[Counted],
        older: &HashMap<Text, RobotsTxt>,
    ) -> Self {
        let mut lines: HashMap<(String, Text), Vec<Deciding<'_>>> = HashMap::new();
        let mut by_line = HashMap::new();
        for one in deciding(file) {
            by_line.insert(one.line, Count::default());
            let key = (one.directive.clone(), Text::path(one.pattern.as_bytes()));
            lines.entry(key).or_default().push(one);
        }
        let mut gone: HashMap<String, Count> = HashMap::new();
        for one in counted {
            let [edition, line, directive, pattern] = one.key.as_slice() else { continue };
            let Some(rule) = rule_line(directive, pattern) else { continue };
            let line: u32 = line.parse().unwrap_or_default();
            let found = if *edition == id && by_line.contains_key(&line) {
                Some(line)
            } else {
                let same = lines.get(&(directive.to_string(), pattern.clone()));
                same.and_then(|same| same_line(same, file, line, older.get(edition)))
            };
            let count = match found {
                Some(line) => by_line.entry(line).or_default(),
                None => gone.entry(rule).or_default(),
            };
            count.violations += one.violations;
            count.passed += one.requests.saturating_sub(one.violations);
        }
        let mut gone: Vec<_> = gone.into_iter().collect();
        gone.sort_by(|(a, one), (b, other)| {
            (other.violations, other.passed, a).cmp(&(one.violations, one.passed, b))
        });
        Self { by_line, gone }
    }

    /// The count of a line; `None` if the line decides nothing.
    pub(super) fn of_line(&self, line: u32) -> Option<Count> {
        self.by_line.get(&line).copied()
    }
}

/// The rule of each line, without rules that stand in several groups. A record names its rule and not
/// the line, so violations of such a rule belong to no line.
pub(super) fn told_apart(file: &RobotsTxt) -> HashMap<u32, String> {
    let mut lines: HashMap<String, Vec<u32>> = HashMap::new();
    for one in deciding(file) {
        let rule = rule_line(&one.directive, &Text::path(one.pattern.as_bytes()));
        lines.entry(rule.unwrap_or_default()).or_default().push(one.line);
    }
    let alone = lines.into_iter().filter_map(|(rule, lines)| match lines[..] {
        [line] => Some((line, rule)),
        _ => None,
    });
    alone.collect()
}

/// The line among those with the same directive and path that a line of an older edition became.
fn same_line(
    same: &[Deciding<'_>],
    file: &RobotsTxt,
    line: u32,
    older: Option<&RobotsTxt>,
) -> Option<u32> {
    let [first, _, ..] = same else { return same.first().map(|one| one.line) };
    let group = older.and_then(|older| {
        let found = deciding(older).find(|one| one.line == line)?;
        Some(names(older, found.group))
    });
    let of_group = same.iter().find(|one| group.as_ref() == Some(&names(file, one.group)));
    Some(of_group.unwrap_or(first).line)
}

fn names(file: &RobotsTxt, group: usize) -> BTreeSet<String> {
    let group = file.groups.get(group);
    let names = group.iter().flat_map(|group| &group.user_agents);
    names.map(|user_agent| user_agent.name.to_ascii_lowercase()).collect()
}

fn deciding(file: &RobotsTxt) -> impl Iterator<Item = Deciding<'_>> {
    file.groups.iter().enumerate().flat_map(|(group, content)| {
        let rules = content.rules.iter().map(move |rule| Deciding {
            group,
            directive: rule.directive.as_str().to_owned(),
            pattern: &rule.pattern,
            line: rule.line,
        });
        let paces = content.records.iter().map(move |record| Deciding {
            group,
            directive: record.name.to_ascii_lowercase(),
            pattern: &record.value,
            line: record.line,
        });
        rules.chain(paces.filter(|one| ["crawl-delay", "request-rate"].contains(&&*one.directive)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::robots;

    fn counted(edition: &str, line: u32, rule: (&str, &str), counts: (u64, u64)) -> Counted {
        let (directive, pattern) = rule;
        let line = line.to_string();
        let key = [edition, &line, directive, pattern].map(Text::from).to_vec();
        let (violations, passed) = counts;
        Counted { key, requests: violations + passed, violations, ..Counted::default() }
    }

    #[test]
    fn a_rule_counts_where_it_stands_now() {
        let file = "User-agent: *\nDisallow: /a\nAllow: /a/b\nCrawl-delay: 5\n\n\
                    User-agent: GPTBot\nDisallow: /a\n";
        let older = "User-agent: gptbot\nDisallow: /a\nDisallow: /gone\n";
        let (file, older) = (robots::parse(file.as_bytes()).0, robots::parse(older.as_bytes()).0);
        let older = HashMap::from([(Text::from("old"), older)]);
        let rows = [
            counted("now", 2, ("disallow", "/a"), (3, 1)),
            counted("now", 3, ("allow", "/a/b"), (0, 7)),
            counted("now", 4, ("crawl-delay", "5"), (2, 0)),
            counted("old", 2, ("disallow", "/a"), (10, 0)),
            counted("old", 3, ("disallow", "/gone"), (1, 0)),
            counted("unknown", 9, ("disallow", "/a"), (100, 0)),
            counted("unknown", 9, ("allow", "/a/b"), (0, 2)),
            // An edition that is summed up has no lines.
            counted("sum", 0, ("disallow", "/other"), (4, 0)),
            counted("", 0, ("", ""), (50, 50)),
        ];
        let hits = Hits::of("now", &file, &rows, &older);
        for (line, expected) in [
            (1, None),
            (2, Some((103, 1))),
            (3, Some((0, 9))),
            (4, Some((2, 0))),
            (5, None),
            (7, Some((10, 0))),
        ] {
            let count = expected.map(|(violations, passed)| Count { violations, passed });
            assert_eq!(hits.of_line(line), count, "line {line}");
        }
        let gone: Vec<_> =
            hits.gone.iter().map(|(rule, count)| (&**rule, count.violations)).collect();
        assert_eq!(gone, [("Disallow: /other", 4), ("Disallow: /gone", 1)]);
    }

    #[test]
    fn a_line_that_is_cut_in_the_counts_is_found() {
        let long = format!("/{}\\", "x".repeat(5000));
        let file = robots::parse(format!("User-agent: *\nDisallow: {long}\n").as_bytes()).0;
        let key = vec![
            Text::from("old"),
            Text::from("7"),
            Text::from("disallow"),
            Text::path(long.as_bytes()),
        ];
        let row = Counted { key, requests: 2, violations: 2, ..Counted::default() };
        let hits = Hits::of("now", &file, &[row], &HashMap::new());
        assert_eq!(hits.of_line(2), Some(Count { violations: 2, passed: 0 }));
    }
}
