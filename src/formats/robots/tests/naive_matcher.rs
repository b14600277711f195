//! The matcher against a naive one, at every size.

use proptest::prelude::*;

use super::*;

/// Whether `pattern` matches, by the definition. `reach` marks every place of the path at which the
/// part of the pattern so far may end.
fn glob(pattern: &str, path: &[u8]) -> bool {
    let (body, anchored) = match pattern.strip_suffix('$') {
        Some(body) => (body, true),
        None => (pattern, false),
    };
    let mut reach = vec![false; path.len() + 1];
    reach[0] = true;
    for (number, piece) in body.split('*').enumerate() {
        if number > 0 {
            let first = reach.iter().position(|reached| *reached).unwrap_or(reach.len());
            reach[first..].fill(true);
        }
        for &octet in &*normal::normalise(piece.as_bytes()) {
            let mut next = vec![false; path.len() + 1];
            for at in 0..path.len() {
                next[at + 1] = reach[at] && path[at] == octet;
            }
            reach = next;
        }
    }
    if anchored { reach[path.len()] } else { reach.contains(&true) }
}

/// The octets of `pattern` as the RFC counts them, stars in a row being one.
fn octets(pattern: &str) -> usize {
    let mut pattern = pattern.to_owned();
    while pattern.contains("**") {
        pattern = pattern.replace("**", "*");
    }
    let (body, anchored) = match pattern.strip_suffix('$') {
        Some(body) => (body, 1),
        None => (&*pattern, 0),
    };
    let literal = |piece: &str| -> usize {
        let normal = normal::normalise(piece.as_bytes()).into_owned();
        normal.iter().map(|octet| if b"*$".contains(octet) { 3 } else { 1 }).sum()
    };
    anchored + body.matches('*').count() + body.split('*').map(literal).sum::<usize>()
}

/// The place of the rule that decides.
fn naive(rules: &[Rule], path: &[u8]) -> Option<usize> {
    (0..rules.len())
        .filter(|&at| !rules[at].pattern.is_empty() && glob(&rules[at].pattern, path))
        .min_by_key(|&at| {
            let rule = &rules[at];
            let disallow = rule.directive == Directive::Disallow;
            (std::cmp::Reverse(octets(&rule.pattern)), disallow, at)
        })
}

fn check(rules: Vec<Rule>, paths: &[String]) -> Result<(), TestCaseError> {
    let user_agents = vec![UserAgent { name: "*".into(), line: 1 }];
    let group = Group { user_agents, rules, ..Group::default() };
    let robots = RobotsTxt { groups: vec![group], ..RobotsTxt::default() };
    let matcher = Matcher::new(&robots);
    let scope = matcher.star().expect("there is a group for all");
    let rules = &robots.groups[0].rules;
    for path in paths {
        let target = Target::new(path.as_bytes());
        let expected = naive(rules, target.letter()).map(|at| &rules[at]);
        let verdict = matcher.verdict_letter(scope, &target);
        prop_assert_eq!(verdict.rule, expected, "{}", path);
        let expected = expected.is_some_and(|rule| rule.directive == Directive::Disallow);
        prop_assert_eq!(verdict.access == Access::Disallow, expected);
        let explained = matcher.explain(scope, &target);
        if explained.verdict.form == Form::Letter {
            prop_assert_eq!(explained.matches.first().map(|found| found.rule), verdict.rule);
        }
    }
    Ok(())
}

fn rules(pattern: &'static str, count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<Rule>> {
    prop::collection::vec((any::<bool>(), pattern), count).prop_map(|rules| {
        let rule = |(line, (allow, pattern))| Rule {
            directive: if allow { Directive::Allow } else { Directive::Disallow },
            pattern,
            line,
        };
        (2..).zip(rules).map(rule).collect()
    })
}

const DENSE: &str = "[/*]?[ab/*%$]{0,4}(%2A|%24|%61|%2f|\\*|abc)?[ab/]{0,5}[*$]{0,2}";
const LONG: &str = "/([a-c]{1,3}/){0,3}(\\*|longliteral|\\*/?[a-c]{2,3})?[a-c]{0,3}[*$]?";

proptest! {
    #[test]
    fn one_pattern_matches_by_the_definition(pattern in DENSE, path in "/[ab/*$]{0,12}") {
        let path = path.as_bytes();
        let compiled = Pattern::compile(pattern.as_bytes());
        prop_assert_eq!(compiled.matches(path), glob(&pattern, path));
        prop_assert_eq!(compiled.specificity() as usize, octets(&pattern));
    }

    #[test]
    fn few_rules_decide_by_the_definition(
        rules in rules(DENSE, 0..20),
        paths in prop::collection::vec("/[ab/*$%]{0,12}", 4),
    ) {
        check(rules, &paths)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 4))]

    #[test]
    fn many_rules_decide_by_the_definition(
        rules in rules(LONG, 25..200),
        paths in prop::collection::vec("/([a-c]{1,3}/){0,4}(longliteral)?[a-c]{0,6}", 8),
    ) {
        check(rules, &paths)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3))]

    #[test]
    fn thousands_of_rules_decide_by_the_definition(
        wild in rules(LONG, 2000..3000),
        dense in rules(DENSE, 500..1000),
        paths in prop::collection::vec("/([a-c]{1,3}/){0,4}(longliteral)?[a-c*$]{0,6}", 20),
    ) {
        let mut rules = [wild, dense].concat();
        for (rule, number) in rules.iter_mut().zip(2..) {
            rule.line = number;
        }
        check(rules, &paths)?;
    }
}

#[test]
fn hostile_patterns_take_linear_time() {
    // The test would not end if the matcher tried anything twice.
    let stars = |literal: &str, end: &str| format!("/{}{end}", format!("{literal}*").repeat(400));
    let patterns = [stars("a", "b"), stars("a", "b$"), stars("aab", "c"), stars("aaaaaaaaab", "c")];
    let mut text = String::from("user-agent: *\n");
    for pattern in patterns.iter().cycle().take(100) {
        text.push_str(&format!("disallow: {pattern}\n"));
    }
    let matcher = matcher(&text);
    let long = format!("/{}", "a".repeat(path::MAX_LENGTH));
    let target = Target::new(long.as_bytes());
    assert_eq!(matcher.verdict(scope(&matcher, "a"), &target).access, Access::Allow);
}
