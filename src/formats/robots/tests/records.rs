//! The values of other records.

use super::*;

fn code(name: &str, value: &str, in_group: bool) -> Option<&'static str> {
    let record =
        Record { name: name.to_owned(), value: value.to_owned(), line: 0, ..Record::default() };
    record.check(in_group).map(|finding| finding.code)
}

#[test]
fn valid_values_are_no_finding() {
    for (name, values) in [
        ("Sitemap", &["https://e.com/s.xml", "http://[::1]/s?x=1", "HTTPS://E.com"][..]),
        ("License", &["https://e.com/license.xml"]),
        ("Clean-param", &["sid", "sid&sort /forum/", "s /forum*.php"]),
        ("Crawl-delay", &["0", "5", "0.5", "86400"]),
        ("Request-rate", &["10/1m", "1/5", "1/5s", "20/1h 1800-0600", "500/1d 0000-2400"]),
        ("Visit-time", &["0600-0845", "2200-0400"]),
        (
            "Content-Signal",
            &["search=yes, ai-input=no, ai-train=no", "ai-train=no,use=reference", "/a x=y"],
        ),
        (
            "Content-Usage",
            &["train-ai=n", "train-ai=n, search=y", "/a/ train-ai=n", "x;y=1, search=y;z"],
        ),
        ("Unicorns", &["", "anything"]),
    ] {
        for value in values {
            assert_eq!(code(name, value, true), None, "{name}: {value}");
            let global = ["Sitemap", "License", "Clean-param", "Unicorns"].contains(&name);
            let placed = (!global).then_some("robots.record_place");
            assert_eq!(code(&name.to_lowercase(), value, false), placed, "{name}: {value}");
        }
    }
}

#[test]
fn invalid_values_are_reported() {
    for (name, values) in [
        ("Sitemap", &["", "not a url", "/sitemap.xml", "https://", "https://e.com/ x"][..]),
        ("License", &["license.xml", "//e.com/l.xml"]),
        ("Clean-param", &["", "a&&b", "a /x /y", "a b"]),
        ("Crawl-delay", &["", "fast", "-1", "5s", "5.", ".5", "1,5"]),
        ("Request-rate", &["", "10", "0/5", "1/0", "1/5w", "1/5 noon", "1/5 0600"]),
        ("Visit-time", &["", "0600", "6-8", "0660-0700", "2500-2600", "\u{664}600-0700"]),
        ("Content-Signal", &["", "/a", "ai-train=maybe", "ai-train", "search=y", "=yes", "a=b,"]),
        (
            "Content-Usage",
            &["", "/a/", "train-ai=no", "search", "Train-AI=n", "train-ai=n,", "train-ai: n"],
        ),
    ] {
        for value in values {
            assert_eq!(code(name, value, true), Some("robots.record_value"), "{name}: {value}");
        }
    }
    for name in ["Host", "Noindex"] {
        assert_eq!(code(name, "e.com", true), Some("robots.record_unread"));
    }
}

#[test]
fn a_finding_quotes_the_record_escaped_and_has_a_repair() {
    let record =
        Record { name: "Crawl-delay".into(), value: "\u{1b}[2J".into(), ..Record::default() };
    let finding = record.check(true).expect("no number");
    assert_eq!(
        finding.message,
        "'Crawl-delay: \\x1b[2J' has an invalid value, so crawlers ignore it"
    );
    assert_eq!(finding.help.as_deref(), Some("write seconds, for example 5 or 0.5"));
}
