//! The overlap of a file with older ones, checked against their matchers.

use proptest::prelude::*;

use super::*;

/// The groups of a crawler that goes by these names, one after the other.
fn bound(matcher: &Matcher, names: &[&str]) -> Option<Scope> {
    names.iter().find_map(|name| matcher.group(name)).or_else(|| matcher.star())
}

#[test]
fn a_rule_is_not_in_doubt_if_the_older_file_must_disallow_too() {
    let newer = matcher("User-agent: a\nDisallow: /x\nDisallow: /y\nAllow: /x/open\n");
    let newer_scope = newer.group("a").expect("a group");
    let cases = [
        ("User-agent: a\nDisallow: /x\nDisallow: /y\nAllow: /x/open\n", [true, true]),
        ("User-agent: a\nDisallow: /x\n", [true, false]),
        ("User-agent: a\nDisallow: /x\nAllow: /x/1\n", [false, false]),
        ("User-agent: a\n", [false, false]),
        ("User-agent: *\nDisallow: /x\n", [false, false]),
        ("User-agent: a\nDisallow: /x\n\nUser-agent: b\n", [true, false]),
    ];
    let older = cases.map(|(text, _)| matcher(text));
    let overlap = Overlap::new(&newer, &older.each_ref());
    for ((place, path), column) in
        (0..cases.len()).flat_map(|place| [(place, "/x"), (place, "/y")]).zip([0, 1].iter().cycle())
    {
        let verdict = newer.verdict(newer_scope, &Target::new(path.as_bytes()));
        let rule = verdict.rule.expect("a rule");
        let (text, kept) = cases[place];
        let in_doubt = overlap.in_doubt(newer_scope, rule);
        assert_eq!(!in_doubt.contains(place), kept[*column], "{text}{path}");
        assert!(in_doubt.places().all(|place| in_doubt.contains(place)));
        assert!(!in_doubt.contains(Overlap::MAX_OLDER), "there is no such place");
    }
    // Another name may bind a crawler that falls back from one to the other.
    let places =
        |names: &[&str]| overlap.renamed(names.iter().copied()).places().collect::<Vec<_>>();
    assert_eq!(places(&["b", "a"]), [5]);
    assert_eq!(places(&["B 1.0"]), [5]);
    assert!(places(&["a", "c"]).is_empty());
    // Crawlers that read lists may be bound by other groups in a file with one.
    let lists = [matcher("User-agent: a\n"), matcher("User-agent: a, b\nAllow: /\n")];
    let overlap = Overlap::new(&newer, &lists.each_ref());
    assert_eq!(overlap.renamed(["c"].into_iter()).places().collect::<Vec<_>>(), [1]);
}

fn file() -> impl Strategy<Value = String> {
    let rule = ("(Allow|Disallow)", "/[ab]{0,2}(/[ab*]{0,2})?[$]?");
    let names = "(a|b|a 1\\.0|b\\*|\\*)";
    let group = (names, prop::collection::vec(rule, 0..5)).prop_map(|(name, rules)| {
        let rules = rules.into_iter().map(|(word, path)| format!("{word}: {path}\n"));
        format!("User-agent: {name}\n{}\n", rules.collect::<String>())
    });
    prop::collection::vec(group, 0..4).prop_map(|groups| groups.concat())
}

proptest! {
    #[test]
    fn an_older_file_that_is_not_in_doubt_disallows_too(
        newer in file(), older in prop::collection::vec(file(), 0..4), path in "/[ab/]{0,6}",
    ) {
        let newer = matcher(&newer);
        let older: Vec<_> = older.iter().map(|text| matcher(text)).collect();
        let overlap = Overlap::new(&newer, &older.iter().collect::<Vec<_>>());
        let target = Target::new(path.as_bytes());
        let crawlers: [&[&str]; 7] =
            [&["a"], &["b"], &["c"], &["a", "b"], &["b", "a"], &["c", "b"], &["a 1.0"]];
        for names in crawlers {
            let Some(scope) = bound(&newer, names) else { continue };
            let renamed = overlap.renamed(names.iter().copied());
            let verdict = newer.verdict(scope, &target);
            for (place, older) in older.iter().enumerate() {
                if renamed.contains(place) {
                    continue;
                }
                let in_older = overlap.scope(scope, place);
                if in_older.is_some() {
                    prop_assert_eq!(in_older, bound(older, names));
                }
                let doubt = |rule| overlap.in_doubt(scope, rule).contains(place);
                let kept = verdict.rule.is_some_and(|rule| !doubt(rule));
                if verdict.access == Access::Disallow && kept {
                    let before = in_older.expect("a group that has the rule");
                    prop_assert_eq!(older.verdict(before, &target).access, Access::Disallow);
                }
            }
        }
    }

    #[test]
    fn a_rule_of_all_files_is_never_in_doubt(older in prop::collection::vec(file(), 1..4)) {
        let newest = older.last().map(|text| matcher(text)).expect("one at least");
        let older: Vec<_> = older.iter().map(|text| matcher(text)).collect();
        let overlap = Overlap::new(&newest, &older.iter().collect::<Vec<_>>());
        let same = older.len() - 1;
        for scope in newest.scopes() {
            prop_assert!(newest.rules(scope).all(|rule| !overlap.in_doubt(scope, rule).contains(same)));
        }
    }
}
