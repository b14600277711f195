//! Two robots.txt files, and the rules of an origin's file that a policy replaces.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use derive_more::Display;

use super::{
    difference::differences_within,
    row::{Comparison, Row, State, Verdict},
};
use crate::{
    base::escape,
    formats::robots::{self, Access, Group, GroupIndex, Matcher, Record, RobotsTxt, Rule, Scope},
};

/// What changes from one file to the other, for the crawlers that either names and for `*`, every
/// other crawler.
pub fn files(site: Option<&str>, before: &RobotsTxt, after: &RobotsTxt) -> Comparison {
    let site: Option<Arc<str>> = site.map(Arc::from);
    let found = super::difference::differences(before, after);
    let mut comparison = Comparison {
        omitted: found.omitted,
        is_by_sample: !found.is_exact,
        ..Comparison::default()
    };
    // The rows of a class follow each other.
    let mut classes: Vec<(Arc<[String]>, Vec<Row>)> = Vec::new();
    for row in found.rows {
        let (site, product_tokens) = (site.clone(), Arc::default());
        let change = Row { site, product_tokens, ..Row::from(&row) };
        match classes.last_mut().filter(|(tokens, _)| *tokens == row.tokens) {
            Some((_, rows)) => rows.push(change),
            None => classes.push((row.tokens, vec![change])),
        }
    }
    // Classes that change alike are one, whatever the lines of their rules.
    let mut alike: Vec<(Vec<String>, Vec<Row>)> = Vec::new();
    for (tokens, rows) in classes {
        let without_lines = |rows: &[Row]| rows.iter().map(without_lines).collect::<Vec<_>>();
        let same = alike.iter_mut().find(|(_, other)| without_lines(other) == without_lines(&rows));
        match same {
            Some((all, _)) => all.extend(tokens.iter().cloned()),
            None => alike.push((tokens.to_vec(), rows)),
        }
    }
    for (mut tokens, rows) in alike {
        tokens.sort();
        let tokens: Arc<[String]> = tokens.into();
        for row in rows {
            comparison.add(Row { product_tokens: Arc::clone(&tokens), ..row });
        }
    }
    compare_records(site.as_ref(), before, after, &mut comparison);
    comparison
}

pub(super) fn without_lines(row: &Row) -> Row {
    let without = |state: &State| match state {
        State::Verdict(verdict) => State::Verdict(Verdict { line: None, ..verdict.clone() }),
        other => other.clone(),
    };
    Row { before: without(&row.before), after: without(&row.after), ..row.clone() }
}

fn compare_records(
    site: Option<&Arc<str>>,
    before: &RobotsTxt,
    after: &RobotsTxt,
    comparison: &mut Comparison,
) {
    let matchers = (Matcher::new(before), Matcher::new(after));
    let of = |file: &RobotsTxt, matcher: &Matcher, name: &str| {
        let scope = matcher.group(name).or_else(|| matcher.star());
        scope.map(|scope| records_of_scope(file, matcher, scope, |_| true)).unwrap_or_default()
    };
    let groups = before.groups.iter().chain(&after.groups);
    let names: BTreeSet<&str> =
        groups.flat_map(|group| &group.user_agents).map(|ua| ua.name.as_str()).collect();
    let mut changes: BTreeMap<[Vec<String>; 2], Vec<String>> = BTreeMap::new();
    for name in names.into_iter().chain(["*"]) {
        let pair = [of(before, &matchers.0, name), of(after, &matchers.1, name)];
        let tokens = changes.entry(pair).or_default();
        if !tokens.iter().any(|token| token.eq_ignore_ascii_case(name)) {
            tokens.push(name.to_owned());
        }
    }
    for (pair, tokens) in changes {
        let row = records(site, &pair);
        row.into_iter()
            .for_each(|row| comparison.add(Row { product_tokens: tokens.clone().into(), ..row }));
    }
    let of_files = [before, after].map(records_of_file);
    records(site, &of_files).into_iter().for_each(|row| comparison.add(row));
}

/// The change of some lines, if there is one: on each side those that the other side lacks.
pub(super) fn records(site: Option<&Arc<str>>, [before, after]: &[Vec<String>; 2]) -> Option<Row> {
    let list = |lines: &[String], other: &[String]| {
        let own = lines.iter().filter(|line| !other.contains(line)).map(String::as_str);
        State::of(own.collect::<Vec<_>>().join("; "))
    };
    let row = || Row::setting(site, "records", list(before, after), list(after, before));
    (before != after).then(row)
}

/// The records of the groups in a scope, as lines, each once.
pub(super) fn records_of_scope(
    file: &RobotsTxt,
    matcher: &Matcher,
    scope: Scope,
    counts: impl Fn(&Record) -> bool,
) -> Vec<String> {
    let is_in = |name: &str| match matcher.group(name) {
        Some(named) => named == scope,
        None => matcher.star() == Some(scope),
    };
    let groups =
        file.groups.iter().filter(|group| group.user_agents.iter().any(|ua| is_in(&ua.name)));
    lines(groups.flat_map(|group| &group.records).filter(|record| counts(record)))
}

pub(super) fn records_of_file(file: &RobotsTxt) -> Vec<String> {
    lines(file.records.iter())
}

pub(super) fn is_pace(record: &Record) -> bool {
    ["crawl-delay", "request-rate"].iter().any(|name| record.name.eq_ignore_ascii_case(name))
}

fn lines<'r>(records: impl Iterator<Item = &'r Record>) -> Vec<String> {
    let line = |record: &Record| format!("{}: {}", record.name, record.value);
    let all: BTreeSet<String> = records.map(line).collect();
    all.into_iter().collect()
}

/// The most samples that are compared: well under a second.
const MOST_SAMPLES: usize = 100_000;
/// The most lines that are named, and the most crawlers of a line.
const SHOWN: (usize, usize) = (10, 3);

/// Crawlers, and the rule that decides for them.
type Decided = (Arc<[String]>, Option<Rule>);

/// The lines of an origin's file that a policy replaces and `source: merge` would keep.
#[derive(Clone, Debug, Default, Display, PartialEq, Eq)]
#[display("{}: {}", self.summary(), self.lines().join("; "))]
pub struct Replaced {
    /// Each line with its number and its crawlers.
    lines: Vec<String>,
}

/// The repair.
pub const KEEP_RULES: &str =
    "write 'source: merge' in robots_txt to keep them, or add them to robots_txt.groups";

impl Replaced {
    /// The rules of `origin` that decide about a path if both files are merged, and otherwise than
    /// the file `own` alone; and its records of a pace that only the merged file has.
    pub fn of(origin: &RobotsTxt, own: &RobotsTxt) -> Self {
        let (rows, paced): (Vec<Decided>, Vec<Group>) = match robots::merge(origin, own, &[]) {
            // Where the answers differ, the rule of the merged file is the origin's.
            Ok(merged) => {
                let rows = differences_within(own, &merged.file, MOST_SAMPLES).rows.into_iter();
                (rows.map(|row| (row.tokens, row.after.rule)).collect(), merged.file.groups)
            }
            // Without a merged file, a line counts that closes what is open without it.
            Err(_) => {
                let rows = differences_within(origin, own, MOST_SAMPLES).rows.into_iter();
                let closed = rows.filter(|row| row.before.access == Access::Disallow);
                let closed = closed.map(|row| (row.tokens, row.before.rule));
                (closed.collect(), origin.groups.clone())
            }
        };
        let mut rules: BTreeMap<u32, (String, BTreeSet<String>)> = BTreeMap::new();
        for (tokens, rule) in rows {
            let Some(rule) = rule else { continue };
            let text = format!("{}: {}", rule.directive.field_name(), rule.pattern);
            let (_, crawlers) = rules.entry(rule.line).or_insert((text, BTreeSet::new()));
            crawlers.extend(tokens.iter().cloned());
        }
        for (crawler, record) in lost_paces(&paced, own) {
            let text = format!("{}: {}", record.name, record.value);
            let (_, crawlers) = rules.entry(record.line).or_insert((text, BTreeSet::new()));
            crawlers.insert(crawler.to_owned());
        }
        let line = |(line, (text, crawlers)): (u32, (String, BTreeSet<String>))| {
            let text = escape::bounded(text.as_bytes(), 120);
            let crawlers = crawlers.iter().map(|one| escape::bounded(one.as_bytes(), 80));
            format!("line {line} '{text}' for {}", escape::first_of(crawlers, SHOWN.1))
        };
        Self { lines: rules.into_iter().map(line).collect() }
    }

    /// Whether no rule is replaced.
    pub const fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// How many rules are replaced, as a part of a sentence.
    pub fn summary(&self) -> String {
        let (count, s) = (self.lines.len(), if self.lines.len() == 1 { "" } else { "s" });
        format!("the policy replaces {count} rule{s} of the origin's own robots.txt")
    }

    /// The first lines, and a last one that counts the others.
    pub fn lines(&self) -> Vec<String> {
        let more = self.lines.len().saturating_sub(SHOWN.0);
        let more = (more > 0).then(|| format!("and {more} more"));
        self.lines.iter().take(SHOWN.0).cloned().chain(more).collect()
    }
}

/// The crawlers of these groups, each with a record of a pace that `own` does not have for it.
fn lost_paces<'g>(groups: &'g [Group], own: &RobotsTxt) -> Vec<(&'g str, &'g Record)> {
    let index = GroupIndex::new(&own.groups);
    let is_own = |crawler: &str, record: &Record| {
        let obeyed = index.obeyed(crawler).map(|list| index.groups(list)).unwrap_or_default();
        let obeyed = obeyed.iter().filter_map(|number| own.groups.get(*number));
        obeyed
            .flat_map(|group| &group.records)
            .any(|one| one.name.eq_ignore_ascii_case(&record.name) && one.value == record.value)
    };
    let all = groups.iter().flat_map(|group| {
        let records = || group.records.iter().filter(|record| is_pace(record));
        let crawlers = group.user_agents.iter().map(|one| one.name.as_str());
        crawlers.flat_map(move |crawler| records().map(move |record| (crawler, record)))
    });
    all.filter(|(crawler, record)| !is_own(crawler, record)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replaced(origin: &str, own: &str) -> Vec<String> {
        let file = |text: &str| robots::parse(text.as_bytes()).0;
        Replaced::of(&file(origin), &file(own)).lines()
    }

    #[test]
    fn a_rule_is_lost_if_a_path_is_judged_differently_without_it() {
        let star = |rules: &str| format!("User-agent: *\n{rules}");
        for (origin, own, lost) in [
            // The same meaning: other bytes, another order, a wider rule.
            ("", "Disallow: /a/", &[][..]),
            ("Disallow: /a/\nDisallow: /b/", "Disallow: /b/\nDisallow: /a/", &[]),
            ("Disallow: /%7Ea\nDisallow: /b*", "Disallow: /~a\nDisallow: /b", &[]),
            ("Disallow: /a/b", "Disallow: /a/", &[]),
            ("Disallow:\nAllow: /", "Disallow: /a/", &[]),
            ("# a comment\nSitemap: https://a.example/s.xml", "", &[]),
            ("Crawl-delay: 5", "", &["line 2 'Crawl-delay: 5' for *"]),
            ("Crawl-delay: 5", "crawl-delay: 5", &[]),
            // `source: merge` keeps the policy's own.
            ("Crawl-delay: 5", "Crawl-delay: 9", &[]),
            (
                "Request-rate: 1/9\nContent-Signal: search=yes",
                "Crawl-delay: 9",
                &["line 2 'Request-rate: 1/9' for *"],
            ),
            // What the origin closes or opens, and the policy does not.
            (
                "Disallow: /a/\nDisallow: /b/",
                "Disallow: /b/\nDisallow: /c/",
                &["line 2 'Disallow: /a/' for *"],
            ),
            (
                "Disallow: /wp-admin/\nAllow: /wp-admin/admin-ajax.php",
                "Disallow: /wp-admin/",
                &["line 3 'Allow: /wp-admin/admin-ajax.php' for *"],
            ),
            ("Disallow: /\n", "", &["line 2 'Disallow: /' for *"]),
        ] {
            assert_eq!(replaced(&star(origin), &star(own)), lost, "{origin:?} {own:?}");
        }
    }

    #[test]
    fn a_line_names_its_crawlers_and_many_lines_are_counted() {
        let own = "User-agent: *\nDisallow: /a/\n";
        let origin = "User-agent: GPTBot\nUser-agent: CCBot\nDisallow: /\n\nUser-agent: *\n\
                      Disallow: /a/\n";
        assert_eq!(replaced(origin, own), ["line 3 'Disallow: /' for CCBot, GPTBot"]);
        // `source: merge` leaves a crawler that only the policy names its group alone.
        let named = "User-agent: GPTBot\nDisallow: /b/\n\nUser-agent: *\nDisallow: /a/\n";
        assert_eq!(replaced("User-agent: *\nDisallow: /a/\n", named), [""; 0]);
        let many: String = (0..30).map(|number| format!("Disallow: /{number}/\n")).collect();
        let lines = replaced(&format!("User-agent: *\n{many}"), own);
        assert_eq!((lines.len(), lines[10].as_str()), (11, "and 20 more"));
    }

    #[test]
    fn files_that_are_too_long_to_merge_are_compared_as_they_are() {
        let rules = |word: &str| -> String {
            (0..9_000)
                .map(|number| format!("Disallow: /{word}/{number}/of/some/length/\n"))
                .collect()
        };
        let origin = format!("User-agent: *\n{}", rules("a"));
        let own = format!("User-agent: *\n{}Disallow: /a/\n", rules("b"));
        assert_eq!(replaced(&origin, &own), [""; 0]);
        let own = format!("User-agent: *\n{}", rules("b"));
        assert_eq!(replaced(&origin, &own).len(), 11);
    }
}
