//! Each step and each way of decoding, by tables.

use super::{super::decoding::*, *};

/// Checks a step, which is taken only where the path contains what these steps change.
fn check(kinds: Steps, step: Step, cases: &[(&str, Option<&str>)]) {
    for (path, made) in cases {
        let mut out = Vec::new();
        let is_due = due(path.as_bytes()).has(kinds);
        let is_changed = is_due && step(path.as_bytes(), &mut out, Decoded::Plain);
        let found = is_changed.then(|| out.escape_ascii().to_string());
        assert_eq!(found.as_deref(), *made, "{path}");
    }
}

#[test]
fn each_step_changes_what_it_names_and_nothing_else() {
    check(
        Steps::DECODE_SLASH,
        decode_slashes,
        &[("/a%2Fb%5Cc", Some("/a/b%5Cc")), ("/a%252Fb", None), ("/%2", None), ("/%", None)],
    );
    check(
        Steps::DECODE_BACKSLASH,
        decode_backslashes,
        &[("/a%5C%2Fb", Some("/a/%2Fb")), ("/a%2Fb", None)],
    );
    for (path, made) in [
        ("/%40a%2B%3B%2F%3F", "/@a+;%2F%3F"),
        ("/%25%20%C3%A4%23%3F", ""),
        ("/%3A%5B%5D%21%26%27%28%29%2C%3D", "/:[]!&'(),="),
    ] {
        let mut out = Vec::new();
        let is_changed = decode_reserved(path.as_bytes(), &mut out, Decoded::Plain);
        assert_eq!(out, made.as_bytes(), "{path}");
        assert_eq!(is_changed, !made.is_empty(), "{path}");
    }
    check(Steps::DECODE_RESERVED, decode_semicolons, &[("/a%3Bb%40", Some("/a;b%40"))]);
    check(
        Steps::DROP_PARAMETERS,
        drop_parameters,
        &[
            ("/a;b/c;d;e/f;", Some("/a/c/f")),
            ("/;a", Some("/")),
            ("/..;/a", Some("/../a")),
            ("/a%3Bb", None),
        ],
    );
    check(
        Steps::DROP_PARAMETERS,
        drop_last_parameter,
        &[("/a;b;c", Some("/a;b")), ("/a;b/c", None), ("/a/b;", Some("/a/b"))],
    );
    check(
        Steps::MERGE_SLASHES,
        merge_slashes,
        &[("//", Some("/")), ("/a///b//", Some("/a/b/")), ("/a/b/", None), ("///a", Some("/a"))],
    );
    check(
        Steps::RESOLVE_DOTS,
        resolve_dots,
        &[
            ("/a/../b", Some("/b")),
            ("/a//../b", Some("/a/b")),
            ("/..", Some("/")),
            ("/a/./b/.", Some("/a/b/")),
            ("/a/b/..", Some("/a/")),
            ("/.well-known/..a/b..", None),
            ("/a.", None),
            ("/a/.x/..y/...", None),
            ("/../a", Some("/a")),
            ("/a/../../b/..", Some("/")),
        ],
    );
    check(
        Steps::LEAVE_ROOT,
        climb,
        &[
            ("/../www/a", Some("/a")),
            ("/../../srv/www/a/b", Some("/a/b")),
            ("/a/../../www/../www/b/.", Some("/b/")),
            ("/../www", Some("/")),
            ("/a/../b", None),
            ("/..a", None),
        ],
    );
    check(
        Steps::DECODE_UNICODE,
        decode_units,
        &[
            ("/%u0070%u002fx%u00e9", Some("/p/x%C3%A9")),
            ("/%ud800%u12", None),
            ("/%ud83d%ude00", Some("/%F0%9F%98%80")),
            ("/%u+070", None),
        ],
    );
}

#[test]
fn a_path_that_is_not_utf_8_is_read_as_latin_1() {
    for (path, expected) in [
        ("/%E9", Some("/%C3%A9")),
        ("/%E9/%C3%A9", Some("/%C3%A9/%C3%83%C2%A9")),
        ("/%C3%A9", None),
        ("/%2F", None),
    ] {
        let mut made = Vec::new();
        let has_changed = read_latin_1(path.as_bytes(), &mut made);
        let made = String::from_utf8_lossy(&made);
        assert_eq!(has_changed.then_some(&*made), expected, "{path}");
    }
}

#[test]
fn careless_digits_are_decoded_as_they_are_counted() {
    for (target, made) in [
        ("/pr%6@vate", Some("/private")),
        ("/a%2;b", Some("/a+b")),
        ("/a%6?/../b", Some("/ao/../b")),
        ("/a%3?b", Some("/a%3Fb")),
        ("/a%2F%41", None),
        ("/pr%u006@vate", Some("/private")),
        ("/%u006?/../private", Some("/o/../private")),
        ("/sale-50%?fbclid=%2Fa", None),
        ("/a%zz%", None),
    ] {
        let found = decode_loosely(target.as_bytes());
        assert_eq!(found.as_deref(), made.map(str::as_bytes), "{target}");
    }
}

#[test]
fn a_line_feed_and_slashes_end_a_path() {
    for (path, kept, without_slashes) in [
        ("/a", None, None),
        ("/a%0A", Some("/a"), None),
        ("/a%0Ab", None, None),
        ("/a//", None, Some("/a")),
        ("/a/%0A", Some("/a/"), None),
        ("%0A", None, None),
        ("/", None, None),
        ("//", None, None),
    ] {
        for (step, kept) in [(trim_line_feed as Step, kept), (trim_slashes, without_slashes)] {
            let mut made = Vec::new();
            let is_changed = step(path.as_bytes(), &mut made, Decoded::Plain);
            assert_eq!(is_changed.then_some(made), kept.map(Vec::from), "{path}");
        }
    }
    check(
        Steps::MERGE_SLASHES,
        drop_authority,
        &[
            ("//q/a", Some("/a")),
            ("///q//a", Some("//a")),
            ("//q", Some("/")),
            ("////", Some("/")),
            ("/q//a", None),
        ],
    );
}

#[test]
fn a_second_decoding_is_one_level_of_percent_signs() {
    let made = |path: &str| {
        let made = decode_again(path.as_bytes()).into_iter();
        made.map(|path| String::from_utf8_lossy(&path).into_owned()).collect::<Vec<_>>()
    };
    for (path, forms) in [
        ("/%2570rivate", &["/private"][..]),
        ("/%252Fx%2525", &["/%2Fx%25"]),
        ("/%252570", &["/%2570"]),
        ("/a%25", &[]),
        ("/a%25zz", &[]),
        ("/a%3Fb%2Fc", &["/a", "/a?b%2Fc"]),
        ("/a%23b%3F", &["/a"]),
        ("/a%20b%3F", &["/a"]),
        ("/a%0D%0Ab", &["/a"]),
        ("/a%2579%20", &["/ay%20", "/ay", "/a%2579"]),
        ("/a%2520", &["/a%20"]),
        ("/a", &[]),
    ] {
        let made: Vec<_> = made(path).into_iter().filter(|made| made != path).collect();
        assert_eq!(made, forms, "{path}");
    }
}
