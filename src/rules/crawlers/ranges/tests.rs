use std::fmt::Write;

use super::*;
use crate::base::diagnostic::Severity;

/// The prefixes of a list, separated by blanks, or the code of its refusal.
fn result(format: Option<Format>, text: impl AsRef<[u8]>) -> String {
    match read(format, text.as_ref()) {
        Ok(list) => list.prefixes().map(|prefix| prefix.to_string()).collect::<Vec<_>>().join(" "),
        Err(refusal) => {
            assert!(!refusal.message.is_empty());
            refusal.code.to_owned()
        }
    }
}

fn check(format: Option<Format>, cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        assert_eq!(result(format, text), *expected, "{text}");
    }
}

fn list(text: &str) -> List {
    read(None, text.as_bytes()).expect("a valid list")
}

#[test]
fn json_of_every_published_shape_is_read() {
    for format in [None, Some(Format::Json)] {
        check(
            format,
            &[
                // Google, Bing, Apple, OpenAI, Anthropic, Overlap Crawl, …
                (
                    r#"{"creationTime":"2026-08-11T22:00:43.000000","prefixes":[{"ipv6Prefix":"2001:4860:4801:10::/64"},{"ipv4Prefix":"66.249.64.0/27"}]}"#,
                    "66.249.64.0/27 2001:4860:4801:10::/64",
                ),
                (
                    r#"{"synctoken":"1","notes":["verify 8.8.8.8 by DNS"],"prefixes":[{"ipv4Prefix":"18.97.9.168/29","scope":"1.1.1.1"}]}"#,
                    "18.97.9.168/29",
                ),
                // Plain strings and addresses instead of objects and prefixes.
                (
                    r#"{"prefixes":["66.249.64.0/27","66.249.79.1"]}"#,
                    "66.249.64.0/27 66.249.79.1/32",
                ),
                (r#"["66.249.79.1","2001:4860::1"]"#, "66.249.79.1/32 2001:4860::1/128"),
                (r#"{"ips":["66.249.79.1"]}"#, "66.249.79.1/32"),
                // Both lists of Ahrefs.
                (
                    r#"{"ips":[{"ip_address":"5.39.1.224"},{"ip_address":"5.39.1.225"}]}"#,
                    "5.39.1.224/31",
                ),
                // Datadog: also by place, so that every prefix occurs twice.
                (
                    r#"{"version":4,"modified":"2026-10-01-00-00-00","synthetics":{"prefixes_ipv4":["13.114.211.96/32"],"prefixes_ipv4_by_location":{"aws:ap-northeast-1":["13.114.211.96/32"]},"prefixes_ipv6":[]}}"#,
                    "13.114.211.96/32",
                ),
                // StatusCake: objects by number.
                (
                    r#"{"1":{"servercode":"LON1","ip":"178.62.78.199","ipv6":"2a03:b0c0:1:d0::5e:f001","status":"Up"},"2":{"ip":"178.62.80.93","ipv6":""}}"#,
                    "178.62.78.199/32 178.62.80.93/32 2a03:b0c0:1:d0::5e:f001/128",
                ),
                // Stripe and New Relic: arrays by name.
                (r#"{"WEBHOOKS":["3.18.12.63"]}"#, "3.18.12.63/32"),
                (
                    r#"{"Dublin, IE":["3.250.28.0/22"],"Tokyo, JP":["18.178.0.1"]}"#,
                    "3.250.28.0/22 18.178.0.1/32",
                ),
                // Amazon Web Services: only the health checks.
                (
                    r#"{"syncToken":"1","prefixes":[{"ip_prefix":"15.177.0.0/18","region":"GLOBAL","service":"ROUTE53_HEALTHCHECKS"},{"service":"EC2","ip_prefix":"3.5.140.0/22"},{"ip_prefix":"15.177.0.0/16","service":"AMAZON"}],"ipv6_prefixes":[{"ipv6_prefix":"2600:1f14::/35","service":"EC2"}]}"#,
                    "15.177.0.0/18",
                ),
                // A key that only lists of prefixes use counts in every object, a generic one in arrays.
                (
                    r#"{"ranges":{"ipv4Prefix":"8.8.8.0/24","ip":"8.8.9.9"},"all":[{"of":{"cidr":"9.9.9.0/24"}}]}"#,
                    "8.8.8.0/24 9.9.9.0/24",
                ),
                (
                    r#"{"data":{"7":{"ip":"8.8.8.8"},"9":{"ip":"9.9.9.9"}}}"#,
                    "8.8.8.8/32 9.9.9.9/32",
                ),
                ("\u{feff} \r\n[\"66.249.79.1\"]\n", "66.249.79.1/32"),
                (
                    r#"{"prefixes":[{"ipv4Prefix":"66.249.64.9-66.249.64.10"}]}"#,
                    "66.249.64.9/32 66.249.64.10/32",
                ),
            ],
        );
    }
}

#[test]
fn json_without_a_list_is_refused() {
    check(
        Some(Format::Json),
        &[
            ("", "ranges.empty"),
            (" \n", "ranges.empty"),
            ("{}", "ranges.empty"),
            ("[]", "ranges.empty"),
            ("null", "ranges.empty"),
            (r#"{"prefixes":[]}"#, "ranges.empty"),
            (r#"{"prefixes":[1,null,true,1.5,{}]}"#, "ranges.empty"),
            // A service that returns the client's own address, or an error with it.
            (r#"{"ip":"8.8.8.8"}"#, "ranges.empty"),
            (r#"{"error":{"code":429,"client_ip":"8.8.8.8"}}"#, "ranges.empty"),
            (r#"{"error":{"code":403,"client":{"ip":"8.8.9.9"}}}"#, "ranges.empty"),
            (r#"{"error":{"network":"8.8.9.0/24","address":"8.8.9.9"}}"#, "ranges.empty"),
            // One number is the code of an error, not a list of one.
            (r#"{"429":{"ip":"8.8.9.9","message":"slow down"}}"#, "ranges.empty"),
            (r#"{"data":{"429":{"client":{"ip":"8.8.9.9"}}}}"#, "ranges.empty"),
            (r#"{"prefixes":[{"ipv4Prefix":"66.249.64.0/27"}"#, "ranges.not_json"),
            (r#"{"prefixes":["66.249.64.0/27"]} x"#, "ranges.not_json"),
            ("{\"prefixes\":[\"66.249.64.0/27\",\"\u{0}\"]}", "ranges.not_json"),
            ("too many requests", "ranges.not_json"),
            (r#"{"prefixes":[{"ipv4Prefix":"soon"}]}"#, "ranges.mostly_unread"),
            ("<!DOCTYPE html><title>404</title> 8.8.8.0/24", "ranges.error_page"),
            ("\n<html>", "ranges.error_page"),
        ],
    );
    assert_eq!(result(Some(Format::Json), b"[\"\xff\"]"), "ranges.not_json");
    assert_eq!(result(Some(Format::Json), "[".repeat(100_000)), "ranges.not_json");
    assert_eq!(result(None, b"\x1f\x8b\x08\x00"), "ranges.compressed");
    let Err(refusal) = read(None, b"{\n \"a\" }") else { panic!("the text is not JSON") };
    assert!(refusal.message.starts_with("not JSON at line 2, column 6 ("), "{refusal}");
}

#[test]
fn rows_have_comments_and_any_line_ends() {
    for format in [None, Some(Format::Rows)] {
        check(
            format,
            &[
                (
                    "# Telegram\r\n91.108.56.0/22\r\n\r\n2001:b28:f23d::/48 # one more\r\n",
                    "91.108.56.0/22 2001:b28:f23d::/48",
                ),
                ("; a\n// b\n8.8.8.8\r1.1.1.1", "1.1.1.1/32 8.8.8.8/32"),
                ("8.8.8.8-8.8.8.11\n9.9.9.0 - 9.9.9.1", "8.8.8.8/30 9.9.9.0/31"),
                ("8.8.8.8, 1.1.1.1;9.9.9.9 4.4.4.4", "1.1.1.1/32 4.4.4.4/32 8.8.8.8/32 9.9.9.9/32"),
                ("\"8.8.8.8\"\n\"1.1.1.1\",\"9.9.9.9\"", "1.1.1.1/32 8.8.8.8/32 9.9.9.9/32"),
                ("ip,place\n8.8.8.8,London\n", "8.8.8.8/32"),
                ("# ours\n\"IP_Prefix\";\"place\"\n8.8.8.0/24;London\n", "8.8.8.0/24"),
                ("8.8.8.8\tLondon\n", "8.8.8.8/32"),
                ("8.8.8.8", "8.8.8.8/32"),
                ("[\"8.8.8.8\"]", "8.8.8.8/32"),
                ("Rate limited, 8.8.8.8\nTry again", "ranges.mostly_unread"),
                ("your address is 8.8.8.8", "ranges.mostly_unread"),
                ("Access denied\n8.8.9.9", "ranges.mostly_unread"),
                ("Access denied\n8.8.9.9\n8.8.9.10\n8.8.9.11", "ranges.mostly_unread"),
                ("8.8.9.9\nip,place", "ranges.mostly_unread"),
                ("# nothing yet", "ranges.empty"),
                ("<html>8.8.8.0/24</html>", "ranges.error_page"),
            ],
        );
    }
}

#[test]
fn rfc8805_2_1_1_1_only_the_first_column_of_a_geofeed_counts() {
    check(
        Some(Format::Geofeed),
        &[
            (
                "# AS32934\n31.13.24.0/21,IE,IE-D,Dublin,\r\n2a03:2880:f000::/48,US,,,94025\n8.8.8.8,,,,\n",
                "8.8.8.8/32 31.13.24.0/21 2a03:2880:f000::/48",
            ),
            ("8.8.8.8,1.1.1.1,9.9.9.9", "8.8.8.8/32"),
            ("US,8.8.8.8\nIE,1.1.1.1", "ranges.mostly_unread"),
        ],
    );
}

#[test]
fn only_visible_whole_words_of_a_page_count() {
    check(
        Some(Format::Html),
        &[
            (
                "<ul><li>5.45.192.0/18</li><li>2a02:6b8::/29</li></ul>",
                "5.45.192.0/18 2a02:6b8::/29",
            ),
            (
                "<p>Our robots come from <b>5.45.192.0/18</b>, and 8.8.8.0/24.</p>",
                "5.45.192.0/18 8.8.8.0/24",
            ),
            ("<pre>8.8.8.8\n1.1.1.1\r\n9.9.9.9</pre>", "1.1.1.1/32 8.8.8.8/32 9.9.9.9/32"),
            ("<td>8.8.8.8<td>1.1.1.1<br/>9.9.9.9", "1.1.1.1/32 8.8.8.8/32 9.9.9.9/32"),
            (
                r#"<pre><code>{"creationTime": "2026-08-01", "prefixes": [{"ip_prefix": "3.80.0.1"}]}</code></pre>"#,
                "3.80.0.1/32",
            ),
            ("<p>{&quot;ip_prefix&quot;:&quot;3.80.0.1&#x2F;32&quot;}", "3.80.0.1/32"),
            ("8.8.8.0&#47;24 &amp; 1&period;1.1.0&sol;24", "1.1.1.0/24 8.8.8.0/24"),
            ("<span>8.8.8</span>.<span>0</span>/24", "8.8.8.0/24"),
            (
                r#"<script>x={\"ipv4Prefix\":\"3.80.0.1\",\"v\":\"1.1.1.1\"}</script>"#,
                "3.80.0.1/32",
            ),
            (r#"{"prefixes":[{"ipv4Prefix":"3.80.0.1"}]}"#, "3.80.0.1/32"),
            ("8.8.8.8\n1.1.1.1", "1.1.1.1/32 8.8.8.8/32"),
            // Punctuation behind an address, and the end of one.
            ("<pre>8.8.8.8.\n1.1.1.1:\n2001:4860::</pre>", "1.1.1.1/32 8.8.8.8/32 2001:4860::/128"),
        ],
    );
    for hidden in [
        "Mozilla/5.0 Chrome/119.0.0.0 Safari/537.36",
        "Mozilla 5.0 Chrome 119.0.0.0 compatible",
        "v8.8.8.8 and 8.8.8.8-beta",
        "Version 8.8.8.8",
        "Version: 8.8.8.8",
        "Your IP: 8.8.8.8",
        "<b>Your</b> address\n8.8.8.8",
        "see https://8.8.8.8/ or 8.8.8.0/24/x",
        "write to root@8.8.8.8",
        "for instance our server at 8.8.8.8",
        "<!-- 8.8.8.0/24 -->",
        "<!-- 8.8.8.0/24",
        "<style>8.8.8.0/24</style>",
        "<script>8.8.8.0/24; var build = \"8.8.8.8\"",
        "<a href='8.8.8.0/24' title=\"> 8.8.8.0/24\">x</a>",
        "<a title=\"8.8.8.0/24",
        "<NOSCRIPT>8.8.8.0/24</NOSCRIPT>",
        "8.8.8.0/33 8.8.8.256/32 8.8.8/24 08.8.8.8",
        "a &lt; b & c &#x110000; &bogus; &",
        "",
        "<html><title>Access denied</title>",
    ] {
        assert_eq!(result(Some(Format::Html), hidden), "ranges.empty", "{hidden}");
    }
}

#[test]
fn every_ip_format_of_the_catalogue_is_known() {
    for name in [
        "google-prefixes",
        "html",
        "html-embedded",
        "text-list",
        "text-cidr",
        "vendor-json",
        "ahrefs-json",
        "aws-ip-ranges",
        "geofeed-csv",
    ] {
        assert!(Format::named(name).is_some(), "{name}");
    }
    assert_eq!(Format::named("xml"), None);
}

#[test]
fn prefixes_are_merged_and_host_bits_cleared() {
    check(
        None,
        &[
            ("8.8.8.0/25\n8.8.8.128/25\n8.8.8.8\n8.8.8.0/25", "8.8.8.0/24"),
            ("8.8.8.8/24", "8.8.8.0/24"),
            ("2a02:6b8::1/29", "2a02:6b8::/29"),
            ("::ffff:8.8.8.8\n::ffff:1.1.1.0/120", "1.1.1.0/24 8.8.8.8/32"),
            ("::ffff:8.8.8.8-8.8.8.9", "8.8.8.8/31"),
        ],
    );
    let findings = list("8.8.8.8/24\n1.1.1.1/24\nwhat\n10.0.0.1\n10.0.0.2\n").findings.to_vec();
    let found: Vec<_> = findings.iter().map(|one| (one.code, one.severity)).collect();
    assert_eq!(
        found,
        [
            ("ranges.unread_entry", Severity::Warning),
            ("ranges.special_purpose", Severity::Warning),
            ("ranges.host_bits", Severity::Note),
        ]
    );
    assert_eq!(
        findings[1].message,
        "2 of the list's entries are special-purpose addresses and were ignored; the first is '10.0.0.1'"
    );
    assert_eq!(list("8.8.8.8\n# \n").findings, []);
}

#[test]
fn lists_with_the_same_addresses_are_equal() {
    let text = "8.8.8.0/24\n2001:4860::/32\n";
    for (other, is_equal) in [
        ("2001:4860::/32 8.8.8.128/25 8.8.8.0/25 # joined", true),
        ("8.8.8.0/24\n2001:4860::/33\n", false),
        ("8.8.8.0/25\n2001:4860::/32\n", false),
        ("8.8.8.0/24\n", false),
    ] {
        assert_eq!(list(text) == list(other), is_equal, "{other}");
    }
}

#[test]
fn rfc6890_special_purpose_addresses_are_ignored() {
    for special in [
        "0.0.0.0",
        "10.1.2.0/24",
        "100.64.0.0/10",
        "127.0.0.1",
        "169.254.169.254",
        "172.16.0.0/12",
        "192.0.2.1",
        "192.168.0.0/16",
        "198.18.0.0/15",
        "198.51.100.7",
        "203.0.113.0/25",
        "224.0.0.0/4",
        "240.0.0.0/4",
        "255.255.255.255",
        "192.0.0.0/8",
        "172.0.0.0/8",
        "::",
        "::1",
        "fe80::/10",
        "fc00::/7",
        "ff00::/8",
        "2001:db8::/32",
        "2002::/16",
        "2001::/32",
        "64:ff9b::/96",
        "::ffff:10.0.0.1",
        "::ffff:0:0/80",
        "3fff::1",
        "2001::/16",
    ] {
        assert_eq!(result(None, special), "ranges.empty", "{special}");
        assert_eq!(result(None, format!("8.8.8.8\n{special}")), "8.8.8.8/32", "{special}");
    }
}

#[test]
fn a_list_is_complete_if_each_of_its_entries_was_read() {
    for (text, is_complete) in [
        ("8.8.8.8", true),
        ("ip,place\n8.8.8.8,London", true),
        ("8.8.8.8/24\n10.0.0.1\nfe80::/10", true),
        ("8.8.8.8\n1.1.1.1\n9.9.9.9\n4.4.4.4\nand more", false),
        ("8.8.8.8\n1.1.1.1\n9.9.9.9\n4.4.4.4\n5.5.5.0/33", false),
        (r#"["8.8.8.8","1.1.1.1","9.9.9.9","4.4.4.4","5.5.5.0/33"]"#, false),
        // Most of it are addresses of clients.
        ("8.8.8.8\n192.0.0.0/8", false),
    ] {
        assert_eq!(list(text).is_complete, is_complete, "{text}");
    }
}

#[test]
fn a_list_of_one_or_two_addresses_is_slight() {
    for (text, is_slight) in [
        ("8.8.8.8", true),
        ("8.8.8.8\n8.8.8.9", true),
        ("8.8.8.8\n2a02:6b8::1", true),
        ("8.8.8.8\n1.1.1.1\n9.9.9.9", false),
        ("8.8.8.0/29", false),
        ("2a02::/16", false),
    ] {
        assert_eq!(list(text).is_slight(), is_slight, "{text}");
    }
}

#[test]
fn a_list_that_is_too_wide_or_too_long_is_refused() {
    check(
        None,
        &[
            ("17.0.0.0/8", "17.0.0.0/8"),
            ("8.8.8.8\n0.0.0.0/0", "ranges.too_wide"),
            ("::/0", "ranges.too_wide"),
            ("2000::/3", "ranges.too_wide"),
            ("16.0.0.0/7", "ranges.too_wide"),
            ("2a00::/15", "ranges.too_wide"),
            ("2a02::/16", "2a02::/16"),
            ("1.0.0.0-223.255.255.255", "ranges.too_wide"),
            ("[\"0.0.0.0/0\"]", "ranges.too_wide"),
            ("3.0.0.0/8\n4.0.0.0/8", "3.0.0.0/8 4.0.0.0/8"),
            ("3.0.0.0/8\n4.0.0.0/8\n6.0.0.0/32", "ranges.covers_too_much"),
            ("2a02::/16\n2a04::/16", "2a02::/16 2a04::/16"),
            ("2a02::/16\n2a04::/16\n2a06::1", "ranges.covers_too_much"),
            ("2a02::/16\n2a03::/16\n2a06::/16", "ranges.covers_too_much"),
            (
                "8.8.8.8/33\n8.8.8.8/-1\n8.8.8.8/+1\n8.8.8.8/\n8.8.8.8/024\nfe80::1%eth0",
                "ranges.mostly_unread",
            ),
        ],
    );
    assert_eq!(result(Some(Format::Html), "<p>0.0.0.0/0</p>"), "ranges.too_wide");
    assert_eq!(result(None, vec![b'\n'; MAX_OCTETS + 1]), "ranges.too_large");
    let lines = |count| "8.8.8.8\n".repeat(count);
    assert_eq!(result(None, lines(MAX_PREFIXES)), "8.8.8.8/32");
    assert_eq!(result(None, lines(MAX_PREFIXES + 1)), "ranges.too_many");
    let json = format!("[{}\"8.8.8.8\"]", "\"8.8.8.8\",".repeat(MAX_PREFIXES));
    assert_eq!(result(None, json), "ranges.too_many");
}

#[test]
fn foreign_text_in_a_refusal_is_escaped_and_bounded() {
    let text = format!("\u{1b}[2J{}", "x".repeat(1000));
    let Err(refusal) = read(None, text.as_bytes()) else { panic!("the text is not a list") };
    let said = refusal.message;
    assert!(said.contains("\\x1b[2J") && said.len() < 200, "{said}");
}

/// `count` addresses that cannot be joined.
fn addresses(count: u32) -> String {
    (0..count).fold(String::new(), |mut text, number| {
        let _ = writeln!(text, "8.{}.{}.1", number / 256, number % 256);
        text
    })
}

#[test]
fn a_fresh_copy_that_lost_too_much_is_refused() {
    let many = |count| list(&addresses(count));
    let whole = list("8.8.8.0/24");
    let split = list(&(0..128).fold(String::new(), |mut text, number| {
        let _ = writeln!(text, "8.8.8.{}", number * 2);
        text
    }));
    let both = list("8.8.8.8\n2a02:6b8::1\n2a02:6b8::3\n2a02:6b8::5\n");
    for (name, old, new, expected) in [
        ("the same", many(100), many(100), ""),
        ("grown", many(1), many(1000), ""),
        ("half", many(100), many(50), ""),
        ("less than half", many(100), many(49), "ranges.shrunk"),
        ("shrunk by 90 %", many(100), many(10), "ranges.shrunk"),
        ("three to one", many(3), many(1), "ranges.shrunk"),
        ("two to one", many(2), many(1), ""),
        ("joined", split.clone(), whole.clone(), ""),
        ("narrowed", whole, split, ""),
        ("moved", many(3), list("9.9.9.1\n9.9.9.3"), "ranges.unrelated"),
        (
            "one address instead of two",
            list("8.8.8.8\n9.9.9.9"),
            list("8.8.9.9"),
            "ranges.unrelated",
        ),
        ("another address", list("8.8.8.8"), list("8.8.9.9"), "ranges.unrelated"),
        ("all but one moved", many(3), list("8.0.0.0/24\n9.9.9.3"), ""),
        ("in another family", list("8.8.8.8"), list("8.8.8.8/31\n2a02::1"), ""),
        ("IPv6 gone", both.clone(), list("8.8.8.8\n8.8.8.10\n8.8.8.12"), "ranges.family_gone"),
        ("IPv4 gone", both.clone(), list("2a02:6b8::/32"), "ranges.family_gone"),
        ("IPv6 shrunk alone", both.clone(), list("8.8.8.8\n2a02:6b8::1"), "ranges.shrunk"),
        ("IPv6 new", list("8.8.8.8"), both, ""),
    ] {
        let said = sane_successor(&old, &new).err();
        assert_eq!(said.as_ref().map_or("", |refusal| refusal.code), expected, "{name}");
    }
}
