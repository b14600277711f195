//! Two robots.txt files.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use crate::formats::robots::{Matcher, Record, RobotsTxt, Scope};

use super::row::{Comparison, Row, State, Verdict};

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
    let mut changes: BTreeMap<(Vec<String>, Vec<String>), Vec<String>> = BTreeMap::new();
    for name in names.into_iter().chain(["*"]) {
        let pair = (of(before, &matchers.0, name), of(after, &matchers.1, name));
        let tokens = changes.entry(pair).or_default();
        if !tokens.iter().any(|token| token.eq_ignore_ascii_case(name)) {
            tokens.push(name.to_owned());
        }
    }
    for ((before, after), tokens) in changes {
        let row = Row::setting(site, "records", list(&before, &after), list(&after, &before));
        if before != after {
            comparison.add(Row { product_tokens: tokens.into(), ..row });
        }
    }
    let (before, after) = (records_of_file(before), records_of_file(after));
    if before != after {
        let (lost, gained) = (list(&before, &after), list(&after, &before));
        comparison.add(Row::setting(site, "records", lost, gained));
    }
}

/// The lines that the other side lacks.
pub(super) fn list(lines: &[String], other: &[String]) -> State {
    let own: Vec<&str> =
        lines.iter().filter(|line| !other.contains(line)).map(String::as_str).collect();
    State::of(own.join("; "))
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
