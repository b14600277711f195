//! The parser on foreign files.

use super::*;
use crate::base::diagnostic::Severity;

fn codes(bytes: &[u8]) -> Vec<&'static str> {
    parse(bytes).1.iter().map(|finding| finding.code).collect()
}

fn lenient(bytes: &[u8]) -> RobotsTxt {
    parse_with(bytes, ReadOptions { lenient: true }).0
}

/// Each group as `names: rules`.
pub(super) fn outline(robots: &RobotsTxt) -> Vec<String> {
    let names = |group: &Group| {
        group.user_agents.iter().map(|ua| ua.name.clone()).collect::<Vec<_>>().join(",")
    };
    let rules = |group: &Group| {
        let rule = |rule: &Rule| format!(" {}{}", &rule.directive.as_str()[..1], rule.pattern);
        group.rules.iter().map(rule).collect::<String>()
    };
    robots.groups.iter().map(|group| format!("{}:{}", names(group), rules(group))).collect()
}

#[test]
fn rfc9309_2_2_lines_end_in_cr_lf_or_both_and_are_counted() {
    let unix = "User-Agent: foo\nAllow: /some/path\nUser-Agent: bar\n\n\nDisallow: /\n";
    for text in [
        unix.to_owned(),
        unix.replace('\n', "\r\n"),
        unix.replace('\n', "\r"),
        unix.trim_end().to_owned(),
        "User-Agent: foo\nAllow: /some/path\r\nUser-Agent: bar\n\r\n\nDisallow: /".to_owned(),
    ] {
        let (robots, findings) = parse(text.as_bytes());
        assert_eq!(outline(&robots), ["foo: a/some/path", "bar: d/"]);
        assert_eq!(robots.groups[1].rules[0].line, 6, "{text:?}");
        assert_eq!(findings, []);
    }
    let exotic = "user-agent: a\ndisallow: /x\u{85}disallow:/y\u{2028}disallow:/z\u{2029}\n";
    assert_eq!(parse(exotic.as_bytes()).0.groups[0].rules.len(), 1);
    // The line ends of other languages are none here, and no rule may contain them.
    for octet in ["\u{b}", "\u{c}", "\u{1c}", "\u{1d}", "\u{1e}"] {
        let text = format!("user-agent: a\ndisallow: /x{octet}allow: /\ndisallow: /y");
        assert_eq!(outline(&parse(text.as_bytes()).0), ["a: d/y"]);
    }
    let (robots, _) = parse(b"\n\r\n\r\r\nuser-agent: a\n\rdisallow: /");
    assert_eq!((robots.groups[0].user_agents[0].line, robots.groups[0].rules[0].line), (5, 7));
}

#[test]
fn rfc9309_2_2_white_space_comments_and_case() {
    let text = "  USER-AGENT\t: foo # who\n\tDisAllow :  /x y \t#z\n allow:/#\ndisallow: #\n";
    let (robots, _) = parse(text.as_bytes());
    assert_eq!(outline(&robots), ["foo: d/x y a/ d"]);
}

#[test]
fn rfc9309_2_2_other_white_space_is_text() {
    for (line, expected) in [
        ("user-agent:\u{a0}foo\ndisallow: /", "\u{a0}foo: d/"),
        ("user-agent: foo\ndisallow: /x\u{a0}", "foo: d/x\u{a0}"),
        ("user-agent: foo\ndisallow:\u{a0}/x", "foo: d\u{a0}/x"),
        ("user-agent: foo\ndisallow\u{a0}: /x", "foo:"),
        ("user-agent: foo\n\u{a0}disallow: /x", "foo:"),
    ] {
        let (robots, _) = parse(line.as_bytes());
        assert_eq!(outline(&robots), [expected]);
        let names_foo = name::forms(&robots.groups[0].user_agents[0].name)[0] == Some("foo");
        assert_eq!(names_foo, !expected.starts_with('\u{a0}'), "{line}");
    }
}

#[test]
fn rfc9309_2_2_other_lines_do_not_separate_user_agent_lines() {
    for between in [
        "",
        "\n",
        "# a remark\n",
        "Crawl-delay: 5\n",
        "Sitemap: https://e.com/s.xml\n",
        "unknown\n",
        ": \n",
        "dissallow: /x\n",
        "disallow\n",
        "\u{feff}disallow: /x\n",
    ] {
        let text = format!("user-agent: a\n{between}user-agent: b\ndisallow: /\n");
        assert_eq!(outline(&parse(text.as_bytes()).0), ["a,b: d/"], "{between:?}");
    }
    // A rule ends the list even if it is empty or unreadable.
    for between in ["disallow:\n", "allow: \0\n"] {
        let text = format!("user-agent: a\n{between}user-agent: b\ndisallow: /\n");
        assert_eq!(parse(text.as_bytes()).0.groups.len(), 2, "{between:?}");
    }
}

#[test]
fn rfc9309_2_2_comments_stand_anywhere() {
    let text = "#\n##x\nuser-agent#: no\nuser-agent:#nobody\nuser-agent: a#b\ndisallow: /#/x\n\
                disallow: /%23 # y # z\n#disallow: /z";
    assert_eq!(outline(&parse(text.as_bytes()).0), [",a: d/ d/%23"]);
    assert_eq!(codes(text.as_bytes()), ["robots.no_colon", "robots.user_agent"]);
}

#[test]
fn rfc9309_2_2_a_byte_order_mark_is_skipped_at_the_start_only() {
    assert_eq!(outline(&parse(b"\xef\xbb\xbfuser-agent: a\ndisallow: /").0), ["a: d/"]);
    let inside = b"user-agent: a\n\xef\xbb\xbfdisallow: /\n";
    assert_eq!(outline(&parse(inside).0), ["a:"]);
    assert_eq!(codes(inside), ["robots.byte_order_mark"]);
    assert_eq!(outline(&parse(b"\xef\xbbuser-agent: a\ndisallow: /").0), [""; 0]);
    assert_eq!(outline(&lenient(b"\xef\xbbuser-agent: a\ndisallow: /")), ["a: d/"]);
}

#[test]
fn rfc9309_2_2_2_rules_before_any_group_are_ignored() {
    let text = b"disallow: /x\nallow: /y\nuser-agent: a\ndisallow: /z\n";
    assert_eq!(outline(&parse(text).0), ["a: d/z"]);
    assert_eq!(codes(text), ["robots.no_group", "robots.no_group"]);
}

#[test]
fn rfc9309_2_2_2_octets_that_are_not_utf8_stay_octets() {
    let (robots, _) = parse(b"user-agent: *\ndisallow: /priv\xe4te\n");
    assert_eq!(robots.groups[0].rules[0].pattern, "/priv%E4te");
    let matcher = Matcher::new(&robots);
    for (target, access) in [
        (&b"/priv\xe4te"[..], Access::Disallow),
        (b"/priv%e4te", Access::Disallow),
        ("/priv\u{e4}te".as_bytes(), Access::Allow),
    ] {
        let scope = scope(&matcher, "a");
        assert_eq!(matcher.verdict(scope, &Target::new(target)).access, access);
    }
}

#[test]
fn rfc9309_2_2_control_octets_drop_the_rule_and_not_the_group() {
    for rule in ["/a\0b", "/\u{b}", "/a\u{7f}", "/\u{1b}[2J", "/a\tb"] {
        let text = format!("user-agent: a\ndisallow: {rule}\nuser-agent: b\ndisallow: /x\n");
        assert_eq!(outline(&parse(text.as_bytes()).0), ["a:", "b: d/x"]);
        assert_eq!(codes(text.as_bytes()), ["robots.control_character"]);
    }
    assert_eq!(outline(&lenient(b"user-agent: a\ndisallow: /a\0b")), ["a: d/a"]);
    // A name with a control character names no crawler, and still opens its group.
    let text = b"user-agent: a\ndisallow: /x\nuser-agent: b\0\ndisallow: /y\nFoo\x01: bar\n";
    let (robots, _) = parse(text);
    assert_eq!(outline(&robots), ["a: d/x", "b\0: d/y"]);
    assert_eq!(codes(text), ["robots.control_character"; 2]);
    let matcher = Matcher::new(&robots);
    assert!(matcher.group("a").is_some() && matcher.group("b").is_none());
}

#[test]
fn rfc9309_2_3_octets_that_are_not_utf_8_are_reported() {
    for text in [
        &b"user-agent: *\ndisallow: /priv\xe4te\n"[..],
        b"user-agent: *\nsitemap: https://e.com/\xff.xml",
        b"\xff\xfeu\0",
        b"\xef\xbbuser-agent: *\n",
    ] {
        assert!(codes(text).contains(&"robots.not_utf8"), "{text:?}");
    }
    assert_eq!(codes(b"# na\xefve\nuser-agent: *\n"), [""; 0], "a comment is no rule");
}

#[test]
fn rfc9309_2_2_4_records_are_kept_at_their_place() {
    let text = "Unicorns:\nuser-agent: a\nCrawl-delay: 5\ndisallow: /x\n\
                Sitemap: https://e.com/s.xml\nUnicorns: a:b\n";
    let (robots, findings) = parse(text.as_bytes());
    let shown = |records: &[Record]| {
        records.iter().map(|r| format!("{}={} {}", r.name, r.value, r.line)).collect::<Vec<_>>()
    };
    assert_eq!(shown(&robots.records), ["Unicorns= 1", "Sitemap=https://e.com/s.xml 5"]);
    assert_eq!(shown(&robots.groups[0].records), ["Crawl-delay=5 3", "Unicorns=a:b 6"]);
    assert_eq!(findings, []);
}

#[test]
fn rfc9309_2_5_at_least_500_kib_are_read_and_no_line_in_part() {
    let mut text = b"user-agent: *\n".to_vec();
    while text.len() < MAX_BYTES - 9 {
        text.extend_from_slice(b"#\n");
    }
    text.truncate(MAX_BYTES - 9);
    let at = text.len() - 1;
    text[at] = b'\n';
    text.extend_from_slice(b"allow: /private\ndisallow: /\n");
    let (robots, findings) = parse(&text);
    assert_eq!(outline(&robots), ["*:"]);
    assert_eq!(findings[0].code, "robots.too_long");
    const { assert!(MAX_BYTES >= 500 * 1024) };
    assert_eq!(outline(&parse(&vec![b'a'; MAX_BYTES + 1]).0), [""; 0]);
}

#[test]
fn rfc9309_2_5_a_file_that_only_some_crawlers_read_whole_is_reported() {
    let file = |length: usize| {
        let mut text = b"user-agent: *\n".to_vec();
        text.resize(length - 11, b'\n');
        text.extend_from_slice(b"disallow: /");
        text
    };
    const { assert!(LEAST_BYTES == 500 * 1024) };
    for (length, read, found) in [
        (LEAST_BYTES, "*: d/", &[][..]),
        (LEAST_BYTES + 1, "*: d/", &["robots.too_long"]),
        (MAX_BYTES, "*: d/", &["robots.too_long"]),
        (MAX_BYTES + 1, "*:", &["robots.too_long"]),
    ] {
        assert_eq!(outline(&parse(&file(length)).0), [read], "{length}");
        assert_eq!(codes(&file(length)), found, "{length}");
    }
    // A line of its whole length is read; Google stops at 16,663 octets of it.
    let long = format!("user-agent: a\ndisallow: /{}", "x".repeat(MAX_BYTES - 30));
    let (robots, findings) = parse(long.as_bytes());
    assert_eq!(robots.groups[0].rules[0].pattern.len(), MAX_BYTES - 29);
    assert!(findings.iter().any(|finding| finding.code == "robots.long_line"));
    assert_eq!(lenient(long.as_bytes()).groups[0].rules[0].pattern.len(), 16_663 - 10);
    for (length, found) in [(16_663, &[][..]), (16_664, &["robots.long_line"])] {
        let text = format!("user-agent: a\ndisallow: /{}\n", "x".repeat(length - 11));
        assert_eq!(codes(text.as_bytes()), found, "{length}");
    }
}

#[test]
fn lines_that_google_alone_reads_are_reported_and_read_if_lenient() {
    for (text, strict, google, code) in [
        ("user-agent: a\ndissallow: /x", "a:", "a: d/x", "robots.misspelt"),
        ("user-agent: a\ndisallow-old: /x", "a:", "a: d/x", "robots.misspelt"),
        ("user-agent: a\ndisallow /x", "a:", "a: d/x", "robots.no_colon"),
        ("user-agent: a\ndisallow /x y", "a:", "a:", "robots.no_colon"),
        ("user-agent: a b\ndisallow: /", "a b: d/", "a: d/", "robots.user_agent"),
        ("user-agent: a, b\ndisallow: /", "a, b: d/", "a: d/", "robots.user_agent"),
        ("user-agent: 1a\ndisallow: /", "1a: d/", ": d/", "robots.user_agent"),
        ("user-agent: a\ndisallow: x", "a: dx", "a: dx", "robots.pattern"),
        ("user-agent: a\ndisallow: /x y", "a: d/x y", "a: d/x y", "robots.pattern"),
        ("user-agent:\ndisallow: /", ": d/", ": d/", "robots.user_agent"),
        ("user-agent: * all\ndisallow: /", "* all: d/", "*: d/", "robots.user_agent"),
        (
            "user-agent: a\nallow: /x/index.html",
            "a: a/x/index.html",
            "a: a/x/index.html a/x/$",
            "robots.index_page",
        ),
        ("user-agent: a\ndisallow: /x\0y", "a:", "a: d/x", "robots.control_character"),
        ("user-agent: a\n: /x", "a:", "a:", "robots.no_colon"),
        ("user-agent: a\nSitemap https://e.com/s", "a:", "a:", "robots.no_colon"),
        ("user-agent: a\nCrawl-delay: fast", "a:", "a:", "robots.record_value"),
        ("Crawl-delay: 5\nuser-agent: a", "a:", "a:", "robots.record_place"),
        ("user-agent: a\nNoindex: /x", "a:", "a:", "robots.record_unread"),
    ] {
        assert_eq!(outline(&parse(text.as_bytes()).0), [strict], "{text}");
        assert_eq!(outline(&lenient(text.as_bytes())), [google], "{text}");
        assert_eq!(codes(text.as_bytes()), [code], "{text}");
        let finding = &parse(text.as_bytes()).1[0];
        assert!(finding.help.is_some() || finding.severity == Severity::Note, "{finding}");
        assert!(finding.place.line.is_some(), "{finding}");
    }
    for (name, readings) in [
        ("MJ12bot", "Beadle applies it to 'MJ12bot', Google to 'MJ'"),
        ("FooBot/1.2", "Beadle applies it to 'FooBot', Google to 'FooBot'"),
        ("Bright 1.0", "Beadle applies it to 'Bright 1.0' or 'Bright', Google to 'Bright'"),
        ("008", "Beadle applies it to '008', Google to no crawler"),
        ("* all", "Beadle applies it to '*', Google to '*'"),
        ("One, Two", "Beadle applies it to no crawler, Google to 'One'"),
        ("a\u{1}", "Beadle applies it to no crawler, Google to 'a'"),
    ] {
        let message = parse(format!("user-agent: {name}").as_bytes()).1[0].message.clone();
        assert!(message.ends_with(readings), "{message}");
    }
    let groups = b"user-agent: a\nuser agent: b\nuseragent: c\ndisallow: /";
    assert_eq!(outline(&lenient(groups)), ["a,b,c: d/"]);
    assert_eq!(outline(&parse(groups).0), ["a: d/"]);
}

#[test]
fn html_and_other_encodings_are_read_without_harm() {
    let html = b"<!doctype html>\n<p>User-agent: *\nuser-agent: a\ndisallow: /x\n</p>\n";
    assert_eq!(outline(&parse(html).0), ["a: d/x"]);
    assert_eq!(codes(html), ["robots.html", "robots.no_colon", "robots.no_colon"]);
    let text = "user-agent: *\ndisallow: /";
    let utf16: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(outline(&parse(&utf16).0), [""; 0]);
}

#[test]
fn findings_are_bounded_and_escaped() {
    let (_, findings) = parse(&b"\x1b[2J\n".repeat(5000));
    assert_eq!(findings.len(), MAX_FINDINGS + 1);
    assert_eq!(findings[MAX_FINDINGS].message, "4000 more findings are not listed");
    assert!(findings.iter().all(|finding| !finding.message.contains('\x1b')));
    assert_eq!(findings[7].place.line, Some(8));
    assert!(findings.iter().all(|finding| finding.severity < Severity::Error));
}
