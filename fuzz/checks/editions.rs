//! Two files with a NUL octet between them: their reported difference is complete and correct, and
//! joining them a second time changes nothing.

use beadle::{
    advice::comparison,
    formats::robots::{self, Access, Matcher, Overlap, RobotsTxt, Target},
};

pub(crate) fn holds_for(octets: &[u8]) {
    let end = octets.iter().position(|&octet| octet == 0).unwrap_or(octets.len() / 2);
    let (before, after) = octets.split_at(end);
    let (before, after) = (robots::parse(before).0, robots::parse(after).0);
    let (older, newer) = (Matcher::new(&before), Matcher::new(&after));

    for row in comparison::differences(&before, &after).rows.iter().take(50) {
        assert_ne!(row.before.access, row.after.access, "{row:?}");
        let target = Target::new(row.path.as_bytes());
        for token in row.tokens.iter().take(5) {
            assert_eq!(letter(&older, token, &target), row.before.access, "{token} {row:?}");
            assert_eq!(letter(&newer, token, &target), row.after.access, "{token} {row:?}");
        }
    }
    follows(&newer, &older, octets);
    if let Ok(merged) = robots::merge(&before, &after, &[]) {
        let written = read_back(&merged.file);
        if let Ok(again) = robots::merge(&written, &after, &[]) {
            let differences = comparison::differences(&written, &read_back(&again.file));
            assert_eq!(differences.rows, [], "{}\n---\n{}", merged.file, again.file);
        }
    }
}

/// Checks that the older file disallows every path that an undisputed rule of the newer one
/// disallows.
fn follows(newer: &Matcher, older: &Matcher, octets: &[u8]) {
    let common = Overlap::new(newer, &[older]);
    let target = Target::new(octets.get(..200).unwrap_or(octets));
    for scope in newer.scopes().take(20) {
        for token in newer.tokens(scope).into_iter().take(5) {
            let verdict = newer.verdict(scope, &target);
            let Some(rule) = verdict.rule.filter(|_| verdict.access == Access::Disallow) else {
                continue;
            };
            if !common.in_doubt(scope, rule).contains(0) && bound(newer, token) == Some(scope) {
                let in_older = bound(older, token).expect("it has the rule");
                let access = older.verdict(in_older, &target).access;
                assert_eq!(access, Access::Disallow, "{token} {rule:?}");
            }
        }
    }
}

fn letter(matcher: &Matcher, token: &str, target: &Target<'_>) -> Access {
    let scope = bound(matcher, token);
    scope.map_or(Access::Allow, |scope| matcher.verdict_letter(scope, target).access)
}

fn bound(matcher: &Matcher, token: &str) -> Option<robots::Scope> {
    matcher.group(token).or_else(|| matcher.star())
}

fn read_back(file: &RobotsTxt) -> RobotsTxt {
    robots::parse(file.to_string().as_bytes()).0
}
