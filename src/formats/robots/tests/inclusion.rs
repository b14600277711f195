//! All of the paths of a pattern, or some of them, within another pattern.

use proptest::prelude::*;

use crate::formats::robots::pattern::Pattern;

fn pattern(text: &str) -> Pattern {
    Pattern::compile(text.as_bytes())
}

#[test]
fn a_pattern_includes_what_it_matches_in_any_case() {
    for (wide, narrow, includes) in [
        ("/", "/a", true),
        ("/a", "/", false),
        ("/a", "/a", true),
        ("/a$", "/a", false),
        ("/a", "/a$", true),
        ("/*", "/", true),
        ("/", "/*", true),
        ("/", "*", true),
        ("*", "/", true),
        ("/*.php", "/x/*.php$", true),
        ("/*.php$", "/x/*.php", false),
        ("/*.php$", "/x.php$", true),
        ("/*.php$", "/x.php", false),
        ("/a*c", "/ab*c", true),
        ("/ab*c", "/a*c", false),
        ("/*a", "*a", true),
        ("/*/a", "*/a", false),
        ("*/a", "/*/a", true),
        ("*/a", "/a", true),
        ("*/a", "*/a$", true),
        ("/x*", "/x$", true),
        ("/a*", "/a**", true),
        ("/%61", "/a", true),
    ] {
        assert_eq!(pattern(wide).includes(&pattern(narrow).sample()), includes, "{wide} {narrow}");
    }
}

#[test]
fn patterns_overlap_if_some_path_matches_both() {
    for (one, two, overlaps) in [
        ("/", "/a", true),
        ("/a", "/b", false),
        ("/a$", "/ab", false),
        ("/a$", "/a", true),
        ("/a*", "/*b", true),
        ("/a*b$", "/*c$", false),
        ("/a*b$", "/*bb$", true),
        ("*.gif$", "/x/*.gif$", true),
        ("*.gif$", "/x/*.png$", false),
        ("/*?id=", "/shop/", true),
        ("/a$", "/a$", true),
        ("/ab*ba", "/aba$", false),
    ] {
        assert_eq!(pattern(one).overlaps(&pattern(two)), overlaps, "{one} {two}");
        assert_eq!(pattern(two).overlaps(&pattern(one)), overlaps, "{two} {one}");
    }
}

proptest! {
    #[test]
    fn both_relations_hold_for_every_path(
        one in "/[ab*/]{0,4}[$]?", two in "[/*][ab*/]{0,4}[$]?", path in "/[ab/]{0,6}",
    ) {
        let (first, second) = (pattern(&one), pattern(&two));
        let matches = |pattern: &Pattern| pattern.matches(path.as_bytes());
        if first.includes(&second.sample()) && matches(&second) {
            prop_assert!(matches(&first), "{one} includes {two}, but not {path}");
        }
        if second.includes(&first.sample()) && matches(&first) {
            prop_assert!(matches(&second), "{two} includes {one}, but not {path}");
        }
        if matches(&first) && matches(&second) {
            prop_assert!(first.overlaps(&second), "{one} {two} {path}");
        }
    }
}
