//! A robots.txt: parsing, compiling and judging do not panic. The written file has the same
//! meaning, and writing it a second time changes nothing.

use beadle::formats::robots::{self, Form, Matcher, ReadOptions, Target};

pub(crate) fn holds_for(octets: &[u8]) {
    for lenient in [false, true] {
        let (robots, findings) = robots::parse_with(octets, ReadOptions { lenient });
        assert!(findings.len() <= robots::MAX_FINDINGS + 1);

        let matcher = Matcher::new(&robots);
        let target = Target::new(octets.get(..200).unwrap_or(octets));
        for scope in matcher.scopes().take(20) {
            let explanation = matcher.explain(scope, &target);
            assert_eq!(explanation.verdict, matcher.verdict(scope, &target));
            if explanation.verdict.form == Form::Letter {
                let first = explanation.matches.first().map(|found| found.rule);
                assert_eq!(first, explanation.verdict.rule);
            }
        }

        let written = robots.to_string();
        // The parser cuts a line that is too long.
        if written.len() <= robots::MAX_BYTES {
            let read = robots::parse(written.as_bytes()).0;
            let again = Matcher::new(&read);
            let access = |matcher: &Matcher, name: Option<&str>| {
                let scope = name.map_or_else(|| matcher.star(), |name| matcher.group(name));
                scope.map(|scope| matcher.verdict(scope, &target).access)
            };
            assert_eq!(access(&again, None), access(&matcher, None), "{written}");
            let names = matcher.scopes().take(20).flat_map(|scope| matcher.tokens(scope));
            // The writer percent-encodes octets outside ASCII, which gives another name.
            for name in names.filter(|name| name.bytes().all(|b| b.is_ascii_graphic())) {
                assert_eq!(access(&again, Some(name)), access(&matcher, Some(name)), "{written}");
            }
            let settled = read.to_string();
            assert_eq!(robots::parse(settled.as_bytes()).0.to_string(), settled);
        }
    }
}
