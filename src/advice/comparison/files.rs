//! Two robots.txt files.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use crate::formats::robots::{Matcher, RobotsTxt};

use super::{
    other_records,
    row::{Comparison, Row, State, word},
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
    let mut classes: BTreeMap<(usize, Vec<String>), Vec<Row>> = BTreeMap::new();
    let mut number = 0;
    let mut last: Option<Arc<[String]>> = None;
    for row in found.rows {
        number += usize::from(last.as_ref() != Some(&row.tokens));
        last = Some(Arc::clone(&row.tokens));
        let change = Row {
            site: site.clone(),
            product_tokens: Arc::default(),
            except: Arc::default(),
            path: Some(row.pattern),
            what: word(row.after.access),
            before: State::verdict(row.before.access, row.before.rule.as_ref(), None),
            after: State::verdict(row.after.access, row.after.rule.as_ref(), None),
            example: Some(row.path),
        };
        classes.entry((number, row.tokens.to_vec())).or_default().push(change);
    }
    // Classes that change alike are one, whatever the lines of their rules.
    let mut alike: Vec<(Vec<String>, Vec<Row>)> = Vec::new();
    for ((_, tokens), rows) in classes {
        let without_lines = |rows: &[Row]| rows.iter().map(without_lines).collect::<Vec<_>>();
        let same = alike.iter_mut().find(|(_, other)| without_lines(other) == without_lines(&rows));
        match same {
            Some((all, _)) => all.extend(tokens),
            None => alike.push((tokens, rows)),
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

/// The row without the lines of its rules.
pub(super) fn without_lines(row: &Row) -> Row {
    let without = |state: &State| match state {
        State::Verdict(verdict) => {
            State::Verdict(super::row::Verdict { line: None, ..verdict.clone() })
        }
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
        scope
            .map(|scope| other_records::of_scope(file, matcher, scope, |_| true))
            .unwrap_or_default()
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
    let (before, after) = (other_records::of_file(before), other_records::of_file(after));
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
