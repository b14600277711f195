//! A path and rules: the matcher's verdict equals the definition, for every search strategy. The
//! first line of the input is the path. Every other line is a rule, an allow rule if it starts with
//! `+`.

use std::cmp::Reverse;

use beadle::formats::robots::{
    Access, Directive, Group, Matcher, Pattern, RobotsTxt, Rule, Target, UserAgent,
};

pub(crate) fn holds_for(octets: &[u8]) {
    let mut lines = octets.split(|&octet| octet == b'\n');
    let path = spelled(lines.next().unwrap_or_default(), b"abc/?");
    let path = format!("/{}", path.get(..200).unwrap_or(&path));
    let rules: Vec<Rule> = (1..).zip(lines.take(60)).map(rule).collect();
    let expected =
        rules.iter().filter(|rule| is_match(rule.pattern.as_bytes(), path.as_bytes())).min_by_key(
            |rule| (Reverse(specificity(rule)), rule.directive == Directive::Disallow, rule.line),
        );

    check(rules.clone(), &path, expected);
    // Many rules use another search than few rules.
    let others = (100..140).map(|line| Rule {
        directive: Directive::Allow,
        pattern: format!("/z{line}{}", if line % 2 == 0 { "*z" } else { "" }),
        line,
    });
    check(rules.iter().cloned().chain(others).collect(), &path, expected);
}

fn check(rules: Vec<Rule>, path: &str, expected: Option<&Rule>) {
    let user_agents = vec![UserAgent { name: "*".to_owned(), line: 0 }];
    let group = Group { user_agents, rules, ..Group::default() };
    let matcher = Matcher::new(&RobotsTxt { groups: vec![group], ..RobotsTxt::default() });
    let scope = matcher.star().expect("there is a group for all");
    let verdict = matcher.verdict_letter(scope, &Target::new(path.as_bytes()));
    assert_eq!(verdict.rule, expected, "{path}");
    let disallowed = expected.is_some_and(|rule| rule.directive == Directive::Disallow);
    assert_eq!(verdict.access == Access::Disallow, disallowed);
}

fn rule((line, text): (u32, &[u8])) -> Rule {
    let (directive, text) = match text.strip_prefix(b"+") {
        Some(text) => (Directive::Allow, text),
        None => (Directive::Disallow, text),
    };
    let pattern = spelled(text.get(..100).unwrap_or(text), b"abc/?*$");
    let starts_well = pattern.starts_with(['/', '*']);
    let pattern = if starts_well { pattern } else { format!("/{pattern}") };
    Rule { directive, pattern, line }
}

/// The octets, with every octet outside `alphabet` replaced by a letter of it.
fn spelled(octets: &[u8], alphabet: &[u8]) -> String {
    let letter = |octet: &u8| match alphabet.contains(octet) {
        true => char::from(*octet),
        false => char::from(alphabet[usize::from(*octet) % alphabet.len()]),
    };
    octets.iter().map(letter).collect()
}

fn specificity(rule: &Rule) -> u32 {
    Pattern::new(&rule.pattern).expect("it starts with '/' or '*'").specificity()
}

/// RFC 9309 §2.2.3, octet by octet: `reach` has every position of the path at which a match of the
/// pattern so far may end. Path and pattern are in normal form.
fn is_match(pattern: &[u8], path: &[u8]) -> bool {
    let (body, anchored) = match pattern.strip_suffix(b"$") {
        Some(body) => (body, true),
        None => (pattern, false),
    };
    let mut reach = vec![false; path.len() + 1];
    reach[0] = true;
    for &octet in body {
        if octet == b'*' {
            let first = reach.iter().position(|reached| *reached).unwrap_or(reach.len());
            reach[first..].fill(true);
            continue;
        }
        let mut next = vec![false; path.len() + 1];
        for at in 0..path.len() {
            next[at + 1] = reach[at] && path[at] == octet;
        }
        reach = next;
    }
    if anchored { reach[path.len()] } else { reach.contains(&true) }
}
