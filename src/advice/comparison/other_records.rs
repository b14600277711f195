//! The records of a group that are no rules: `Crawl-delay`, `Content-Signal` and others.

use std::collections::BTreeSet;

use crate::formats::robots::{Matcher, Record, RobotsTxt, Scope};

/// The records of the groups in a scope, as lines, each once.
pub(super) fn of_scope(
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

/// The records of the whole file, as lines.
pub(super) fn of_file(file: &RobotsTxt) -> Vec<String> {
    lines(file.records.iter())
}

/// Whether a record sets a pace.
pub(super) fn is_pace(record: &Record) -> bool {
    ["crawl-delay", "request-rate"].iter().any(|name| record.name.eq_ignore_ascii_case(name))
}

fn lines<'r>(records: impl Iterator<Item = &'r Record>) -> Vec<String> {
    let line = |record: &Record| format!("{}: {}", record.name, record.value);
    let all: BTreeSet<String> = records.map(line).collect();
    all.into_iter().collect()
}
