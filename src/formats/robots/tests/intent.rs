//! Regular expressions and lists in the place of a path pattern.

use crate::formats::robots::{
    Access, Intent, Matcher, Target, corrected, intent, parse, pattern::Pattern,
};

fn regex(patterns: &[&str]) -> Option<Intent> {
    Some(Intent::Regex(patterns.iter().map(|one| (*one).to_owned()).collect()))
}

#[test]
fn a_regular_expression_is_recognised_and_translated_exactly_or_not_at_all() {
    for (text, patterns) in [
        (r"^/private/.*\.php$", &["/private/*.php$"][..]),
        (r"/private/.*\.php$", &["/private/*.php$"]),
        ("^/private/", &["/private/"]),
        ("/^/private/", &["/private/"]),
        (r"/^\/private\/.*/", &["/private/"]),
        (".*/admin/", &["*/admin/"]),
        (r"\.php$", &["/*.php$"]),
        (r".*\.php$", &["/*.php$"]),
        ("/(a|b)/", &["/a/", "/b/"]),
        ("^/(?:a|b/c)$", &["/a$", "/b/c$"]),
        ("/a/|/b/", &["/a/", "/b/"]),
        ("/private/.*", &["/private/"]),
        ("^/private/.*$", &["/private/"]),
        ("/private/.*/edit", &["/private/*/edit"]),
        (r"/search\?q=", &["/search?q="]),
        (r"/cost\$", &["/cost%24"]),
        ("(a|b)", &[]),
        (r"^/page/\d+$", &[]),
        (r"^/page/[0-9]+", &[]),
        ("/[a-z]{2}/", &[]),
        ("/[^/]+/edit", &[]),
        ("/private/.+", &[]),
        ("/(a|b)?/", &[]),
        ("/((a|b)|c)/", &[]),
        (r"^/ab*\.php", &[]),
        ("/(a|b)(c|d)(e|f)(g|h)", &[]),
    ] {
        assert_eq!(intent(text), regex(patterns), "{text}");
        for pattern in patterns {
            assert!(Pattern::new(pattern).is_ok(), "{pattern}");
            assert_eq!(intent(pattern), None, "the repair of {text}");
        }
    }
}

#[test]
fn several_paths_in_one_text_are_a_list() {
    for (text, paths) in [
        ("/a, /b", &["/a", "/b"][..]),
        ("/a,/b", &["/a", "/b"]),
        ("/a /b", &["/a", "/b"]),
        ("/a\n/b\n", &["/a", "/b"]),
        ("[/a, '/b']", &["/a", "/b"]),
        ("/a, */b, *.gif$", &["/a", "*/b", "*.gif$"]),
    ] {
        let paths = paths.iter().map(|one| (*one).to_owned()).collect();
        assert_eq!(intent(text), Some(Intent::List(paths)), "{text}");
    }
}

#[test]
fn paths_with_odd_characters_are_meant_as_they_are() {
    for text in [
        "/",
        "/*",
        "*",
        "/*.php$",
        "*.gif$",
        "/index.*",
        "/a.b",
        "/.well-known/",
        "/.git",
        "/wiki/Foo_(bar)",
        "/wiki/Foo_(bar)|x",
        "/c++/",
        "/a+b",
        "/a^b",
        "/~user",
        "/*?filter[price]=",
        "/*[color]=",
        "/a[1]",
        "/x[a-]",
        "/Washington, D.C.",
        "/a b",
        "/a,b",
        "/0,,1,00.html",
        "/*?a=1,/b",
        "/a|b",
        "/{id}/",
        "/a$b",
        "/dir\\sub",
        "/data\\dump",
        "/search?q=*&page=",
        "/*?*",
        "/file.+1",
        "/p(?)",
        "/a/%5Ea",
        "/price-[low-high]/",
    ] {
        assert_eq!(intent(text), None, "{text}");
    }
}

#[test]
fn a_correction_is_right_or_absent() {
    for (text, expected) in [
        ("private", Some("/private")),
        ("https://e.example/private/", Some("/private/")),
        ("https://e.example", Some("/")),
        ("www.e.example/private/", Some("/private/")),
        ("e.example/private/", None),
        ("index.php", Some("/index.php")),
        ("?s=", Some("/*?s=")),
        ("^/private/", Some("/private/")),
        (r"\.php$", Some("/*.php$")),
        ("^/page/[0-9]+", None),
        ("(a|b)", None),
        ("/a", None),
    ] {
        assert_eq!(corrected(text).as_deref(), expected, "{text}");
    }
}

#[test]
fn the_repair_of_a_regular_expression_matches_what_it_matched() {
    let (file, _) = parse(b"user-agent: *\ndisallow: /private/*.php$\n");
    let matcher = Matcher::new(&file);
    let star = matcher.star().expect("a group");
    for (path, access) in [
        ("/private/a.php", Access::Disallow),
        ("/private/a.php5", Access::Allow),
        ("/a.php", Access::Allow),
    ] {
        let verdict = matcher.verdict_letter(star, &Target::new(path.as_bytes()));
        assert_eq!(verdict.access, access, "{path}");
    }
}
