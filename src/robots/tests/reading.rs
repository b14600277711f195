//! Foreign files read, and what was read written and read again.

use proptest::prelude::*;

use super::*;
use crate::diagnostic::Severity;

fn codes(bytes: &[u8]) -> Vec<&'static str> {
    parse(bytes).1.iter().map(|finding| finding.code).collect()
}

fn lenient(bytes: &[u8]) -> RobotsTxt {
    parse_with(bytes, ReadOptions { lenient: true }).0
}

/// Each group as `names: rules`.
fn outline(robots: &RobotsTxt) -> Vec<String> {
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
    let exotic = "user-agent: a\ndisallow: /x\u{85}disallow: /y\u{2028}disallow: /z\n";
    assert_eq!(parse(exotic.as_bytes()).0.groups[0].rules.len(), 1);
}

#[test]
fn rfc9309_2_2_white_space_comments_and_case() {
    let text = "  USER-AGENT\t: foo # who\n\tDisAllow :  /x y \t#z\n allow:/#\ndisallow: #\n";
    let (robots, _) = parse(text.as_bytes());
    assert_eq!(outline(&robots), ["foo: d/x y a/ d"]);
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
    for rule in ["/a\0b", "/a\u{7f}", "/\u{1b}[2J", "/a\tb"] {
        let text = format!("user-agent: a\ndisallow: {rule}\nuser-agent: b\ndisallow: /x\n");
        assert_eq!(outline(&parse(text.as_bytes()).0), ["a:", "b: d/x"]);
        assert_eq!(codes(text.as_bytes()), ["robots.control_character"]);
    }
    assert_eq!(outline(&lenient(b"user-agent: a\ndisallow: /a\0b")), ["a: d/a"]);
}

#[test]
fn rfc9309_2_2_4_records_are_kept_at_their_place() {
    let text = "Content-Signal: search=yes\nuser-agent: a\nCrawl-delay: 5\ndisallow: /x\n\
                Sitemap: https://e.com/s.xml\nUnicorns: a:b\n";
    let (robots, findings) = parse(text.as_bytes());
    let shown = |records: &[Record]| {
        records.iter().map(|r| format!("{}={} {}", r.name, r.value, r.line)).collect::<Vec<_>>()
    };
    assert_eq!(
        shown(&robots.records),
        ["Content-Signal=search=yes 1", "Sitemap=https://e.com/s.xml 5"]
    );
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
fn ours_what_google_alone_reads_is_reported_and_read_if_asked_for() {
    for (text, strict, google, code) in [
        ("user-agent: a\ndissallow: /x", "a:", "a: d/x", "robots.misspelt"),
        ("user-agent: a\ndisallow-old: /x", "a:", "a: d/x", "robots.misspelt"),
        ("user-agent: a\ndisallow /x", "a:", "a: d/x", "robots.no_colon"),
        ("user-agent: a\ndisallow /x y", "a:", "a:", "robots.no_colon"),
        ("user-agent: a b\ndisallow: /", "a b: d/", "a: d/", "robots.user_agent"),
        ("user-agent: a, b\ndisallow: /", "a, b: d/", "a: d/", "robots.user_agent"),
        ("user-agent: 1a\ndisallow: /", "1a: d/", ": d/", "robots.user_agent"),
        ("user-agent: a\ndisallow: x", "a: dx", "a: dx", "robots.pattern"),
    ] {
        assert_eq!(outline(&parse(text.as_bytes()).0), [strict], "{text}");
        assert_eq!(outline(&lenient(text.as_bytes())), [google], "{text}");
        assert_eq!(codes(text.as_bytes()), [code], "{text}");
    }
    let index = b"user-agent: a\nallow: /x/index.html\ndisallow: /";
    assert_eq!(outline(&lenient(index)), ["a: a/x/index.html a/x/$ d/"]);
    let groups = b"user-agent: a\nuser agent: b\nuseragent: c\ndisallow: /";
    assert_eq!(outline(&lenient(groups)), ["a,b,c: d/"]);
    assert_eq!(outline(&parse(groups).0), ["a: d/"]);
}

#[test]
fn ours_html_and_other_encodings_are_read_without_harm() {
    let html = b"<!doctype html>\n<p>User-agent: *\nuser-agent: a\ndisallow: /x\n</p>\n";
    assert_eq!(outline(&parse(html).0), ["a: d/x"]);
    assert_eq!(codes(html), ["robots.html", "robots.no_colon", "robots.no_colon"]);
    let text = "user-agent: *\ndisallow: /";
    let utf16: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(outline(&parse(&utf16).0), [""; 0]);
}

#[test]
fn ours_findings_are_bounded_and_escaped() {
    let (_, findings) = parse(&b"\x1b[2J\n".repeat(5000));
    assert_eq!(findings.len(), MAX_FINDINGS + 1);
    assert_eq!(findings[MAX_FINDINGS].message, "4000 more findings are not listed");
    assert!(findings.iter().all(|finding| !finding.message.contains('\x1b')));
    assert_eq!(findings[7].place.line, Some(8));
    assert!(findings.iter().all(|finding| finding.severity < Severity::Error));
}

#[test]
fn ours_a_file_is_written_in_one_way() {
    let rule = |directive, pattern| Rule::new(directive, pattern).expect("a good pattern");
    let robots = RobotsTxt {
        header: vec!["Published by example.com".into(), "Ask\nus".into()],
        groups: vec![
            Group {
                comment: vec!["everybody".into()],
                user_agents: vec![UserAgent::new("*").expect("a name")],
                rules: vec![
                    rule(Directive::Disallow, "/caf\u{e9} x/"),
                    rule(Directive::Allow, "/*?ok$"),
                ],
                records: vec![Record::new("Crawl-delay", "5").expect("a record")],
            },
            Group { user_agents: vec![UserAgent::new("a").expect("a name")], ..Group::default() },
            Group { user_agents: vec![UserAgent::new("b").expect("a name")], ..Group::default() },
        ],
        records: vec![
            Record::new("License", "https://e.com/l.xml").expect("a record"),
            Record::new("Sitemap", "https://e.com/s.xml").expect("a record"),
        ],
    };
    assert_eq!(
        robots.to_string(),
        "# Published by example.com\n# Ask\n# us\n\nLicense: https://e.com/l.xml\n\n# everybody\n\
         User-agent: *\nDisallow: /caf%C3%A9%20x/\nAllow: /*?ok$\nCrawl-delay: 5\n\n\
         User-agent: a\nDisallow:\n\nUser-agent: b\n\nSitemap: https://e.com/s.xml\n"
    );
}

#[test]
fn ours_nothing_that_is_written_can_start_a_line() {
    for name in ["", " ", "a\nb", "a#b", "\u{e9}"] {
        assert_eq!(UserAgent::new(name).expect_err("refused").code, "robots.user_agent");
    }
    for (name, value) in
        [("", "x"), ("a:b", "x"), ("Disallow", "/"), ("useragent", "x"), ("a", "b\nc"), ("a", "#b")]
    {
        assert_eq!(Record::new(name, value).expect_err("refused").code, "robots.record");
    }
    assert!(Rule::new(Directive::Allow, "/a\r\nDisallow: /").is_err());
    let hostile = "x\nDisallow: /\r#\u{2028}Disallow: /";
    let robots = RobotsTxt {
        header: vec![hostile.into()],
        groups: vec![Group {
            comment: vec![hostile.into()],
            user_agents: vec![UserAgent { name: hostile.into(), line: 0 }],
            rules: vec![Rule { directive: Directive::Allow, pattern: hostile.into(), line: 0 }],
            records: vec![Record { name: hostile.into(), value: hostile.into(), line: 0 }],
        }],
        records: vec![],
    };
    let (read, _) = parse(robots.to_string().as_bytes());
    assert_eq!((read.groups.len(), read.groups[0].rules.len()), (1, 1));
    assert_eq!(read.groups[0].records.len(), 1);
}

/// The same file without its line numbers.
fn without_lines(mut robots: RobotsTxt) -> RobotsTxt {
    robots.records.iter_mut().for_each(|record| record.line = 0);
    for group in &mut robots.groups {
        group.user_agents.iter_mut().for_each(|user_agent| user_agent.line = 0);
        group.rules.iter_mut().for_each(|rule| rule.line = 0);
        group.records.iter_mut().for_each(|record| record.line = 0);
    }
    robots
}

fn robots_txt() -> impl Strategy<Value = RobotsTxt> {
    let comment = || prop::collection::vec("([!-~\u{e9}]{1,5}( [!-~]{1,5})?)?", 0..3);
    let record = |names: &'static str| {
        (names, "[!-\"$-~\u{e9}]{0,9}").prop_map(|(name, value)| {
            Record::new(&name, &value).expect("the strategy makes good ones")
        })
    };
    let user_agent = "[!-\"$-~]([ -\"$-~]{0,8}[!-\"$-~])?"
        .prop_map(|name| UserAgent::new(&name).expect("the strategy makes good ones"));
    let rule = (any::<bool>(), "([/*][ -\"$-~\u{30c4}]{0,8})?").prop_map(|(allow, pattern)| {
        let directive = if allow { Directive::Allow } else { Directive::Disallow };
        Rule::new(directive, &pattern).expect("the strategy makes good ones")
    });
    let group = (
        comment(),
        prop::collection::vec(user_agent, 1..3),
        prop::collection::vec(rule, 1..5),
        prop::collection::vec(record("(Crawl-delay|Content-Signal|Unicorn[a-z])"), 0..3),
    );
    let group = group.prop_map(|(comment, user_agents, rules, records)| Group {
        comment,
        user_agents,
        rules,
        records,
    });
    let records = prop::collection::vec(record("(Sitemap|License|Host|Crawl-delay)"), 0..4);
    (comment(), prop::collection::vec(group, 0..4), records)
        .prop_map(|(header, groups, records)| RobotsTxt { header, groups, records })
}

proptest! {
    #[test]
    fn ours_what_is_written_is_read_again(robots in robots_txt()) {
        let written = robots.to_string();
        let (read, _) = parse(written.as_bytes());
        prop_assert_eq!(without_lines(read), robots, "{}", written);
    }

    #[test]
    fn ours_no_bytes_stop_the_reader_and_writing_settles_at_once(
        lines in prop::collection::vec(foreign_line(), 0..12),
        lenient: bool,
    ) {
        let (robots, _) = parse_with(&lines.concat(), ReadOptions { lenient });
        let _ = Matcher::new(&robots);
        let written = robots.to_string();
        let again = parse(written.as_bytes()).0.to_string();
        prop_assert_eq!(parse(again.as_bytes()).0.to_string(), again);
    }
}

/// Something like a line, and something unlike any.
fn foreign_line() -> impl Strategy<Value = Vec<u8>> {
    let name = "((user-agent|allow|disallow|Sitemap|x)(:|: | )|#)?";
    let value = prop::collection::vec(any::<u8>(), 0..6);
    let line = (name, "[/*$a# ]{0,6}", value, "(\n|\r|\r\n)");
    line.prop_map(|(name, pattern, value, end)| {
        [name.as_bytes(), pattern.as_bytes(), &value, end.as_bytes()].concat()
    })
}
