//! What is known of other records (§2.2.4): where they belong, and what their values look like.
//!
//! | record | stands | value | defined by |
//! |---|---|---|---|
//! | `Sitemap` | anywhere | absolute URL | sitemaps.org |
//! | `License` | anywhere, once written first | absolute URL | RSL 1.0 |
//! | `Clean-param` | anywhere | `sid&ref /forum/`: parameters, at most one path prefix | Yandex |
//! | `Crawl-delay` | in a group | seconds, `5` or `0.5` | no standard |
//! | `Request-rate` | in a group | `1/5`, `10/1m`, `20/1h 1800-0600`: requests in a time, span of the day | no standard |
//! | `Visit-time` | in a group | `0600-0845`, UTC | no standard |
//! | `Content-Signal` | in a group | `search=yes, ai-train=no`, behind an optional path | draft-romm-aipref-contentsignals-00 |
//! | `Content-Usage` | in a group | a Dictionary (RFC 9651) such as `train-ai=n, search=y`, behind an optional path | draft-ietf-aipref-attach-05 |
//! | `Host`, `Noindex` | | nobody reads them any more | Yandex until 2018, Google until 2019 |
//!
//! A check never changes what is read or written: a record that fails it is kept as it stands, and
//! one that isn't listed here is never reported.

use sfv::{BareItem, Dictionary, ListEntry, Parser};

use super::{Record, key};
use crate::{diagnostic::Diagnostic, escape};

/// A record that somebody defines.
struct Known {
    /// In lower case.
    name: &'static str,
    place: Place,
    is_valid: fn(&str) -> bool,
    /// What the value has to be, as the repair says it.
    form: &'static str,
}

/// Where a record counts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Wherever it stands, for the whole site.
    Anywhere,
    /// For the crawlers of the group that it stands in.
    Group,
    /// Nowhere.
    Nowhere,
}

const SITEMAP: &str = "an absolute URL such as https://www.example.com/sitemap.xml";

const KNOWN: [Known; 11] = [
    known(
        "clean-param",
        Place::Anywhere,
        is_clean_param,
        "parameters and a path, 'sid&ref /forum/'",
    ),
    known("content-signal", Place::Group, is_signal, "for example 'search=yes, ai-train=no'"),
    known("content-usage", Place::Group, is_usage, "for example 'train-ai=n, search=y'"),
    known("crawl-delay", Place::Group, is_seconds, "seconds, for example 5 or 0.5"),
    known("host", Place::Nowhere, any, "redirect the other hosts instead"),
    known("license", Place::Anywhere, is_url, "an absolute URL such as https://e.com/license.xml"),
    known("noindex", Place::Nowhere, any, "send 'Robots-Tag: *;noindex' with the pages instead"),
    known("request-rate", Place::Group, is_rate, "for example 1/5, 10/1m or '20/1h 1800-0600'"),
    known("site-map", Place::Anywhere, is_url, SITEMAP),
    known("sitemap", Place::Anywhere, is_url, SITEMAP),
    known("visit-time", Place::Group, is_span, "a span of the day in UTC, 0600-0845"),
];

const fn known(
    name: &'static str,
    place: Place,
    is_valid: fn(&str) -> bool,
    form: &'static str,
) -> Known {
    Known { name, place, is_valid, form }
}

impl Record {
    /// Whether the record speaks of the whole site wherever it stands: `Sitemap`, `Host`,
    /// `License` (RSL) and `Clean-param` are tied to no group by those who define them.
    pub fn is_global(&self) -> bool {
        self.name.eq_ignore_ascii_case("host")
            || self.known().is_some_and(|known| known.place == Place::Anywhere)
    }

    /// What those who read such a record would object to, if anything; a warning without a
    /// position. `in_group` tells whether it stands in a group.
    ///
    /// - `robots.record_value`: the value is not of the form that the record's definition asks for,
    ///   so it is ignored.
    /// - `robots.record_place`: it stands in no group, though it counts for a group only.
    /// - `robots.record_unread`: nobody reads it any more.
    pub fn check(&self, in_group: bool) -> Option<Diagnostic> {
        let known = self.known()?;
        let shown = escape::bounded(format!("{}: {}", self.name, self.value).as_bytes(), 80);
        let (code, message, help) = if known.place == Place::Nowhere {
            ("robots.record_unread", "is no longer read by anybody", known.form.to_owned())
        } else if !(known.is_valid)(&self.value) {
            ("robots.record_value", "has a value that is ignored", format!("write {}", known.form))
        } else if known.place == Place::Group && !in_group {
            let help = "write it below a user-agent line".to_owned();
            ("robots.record_place", "stands in no group, so it is for nobody", help)
        } else {
            return None;
        };
        Some(Diagnostic::warning(code, format!("'{shown}' {message}")).help(help))
    }

    fn known(&self) -> Option<&'static Known> {
        KNOWN.iter().find(|known| self.name.eq_ignore_ascii_case(known.name))
    }
}

/// Whether the name of a line without a colon of its own, such as `Sitemap https` of
/// `Sitemap https://…`, begins with the name of a known record.
pub(super) fn lacks_colon(name: &[u8]) -> bool {
    let mut words = name.split(|octet| key::is_space(*octet));
    let first = words.next().unwrap_or_default();
    words.next().is_some()
        && KNOWN.iter().any(|known| first.eq_ignore_ascii_case(known.name.as_bytes()))
}

fn any(_: &str) -> bool {
    true
}

/// `scheme://host` and anything but white space behind it.
fn is_url(value: &str) -> bool {
    value.split_once("://").is_some_and(|(scheme, rest)| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b))
            && rest.starts_with(|c| !matches!(c, '/' | '?' | '#'))
            && !rest.contains(char::is_whitespace)
    })
}

/// `1*DIGIT ["." 1*DIGIT]`.
fn is_seconds(value: &str) -> bool {
    let (whole, part) = value.split_once('.').unwrap_or((value, "0"));
    is_digits(whole) && is_digits(part)
}

/// `requests/time`, the time in seconds or with `s`, `m`, `h` or `d`, and a span of the day.
fn is_rate(value: &str) -> bool {
    let (rate, span) = match value.split_once([' ', '\t']) {
        Some((rate, span)) => (rate, Some(span.trim())),
        None => (value, None),
    };
    let is_rate = rate.split_once('/').is_some_and(|(requests, time)| {
        let unit = |c: char| matches!(c.to_ascii_lowercase(), 's' | 'm' | 'h' | 'd');
        is_positive(requests) && is_positive(time.strip_suffix(unit).unwrap_or(time))
    });
    is_rate && span.is_none_or(is_span)
}

/// `hhmm-hhmm`; it may go past midnight.
fn is_span(value: &str) -> bool {
    let is_time = |text: &str| {
        let fits = |part: Option<&str>, most: u8| {
            part.and_then(|part| part.parse::<u8>().ok()).is_some_and(|number| number <= most)
        };
        text.len() == 4 && is_digits(text) && fits(text.get(..2), 24) && fits(text.get(2..), 59)
    };
    value.split_once('-').is_some_and(|(from, to)| is_time(from.trim()) && is_time(to.trim()))
}

/// `p0[&p1…] [path]`.
fn is_clean_param(value: &str) -> bool {
    let mut words = value.split_ascii_whitespace();
    let parameters = words.next().unwrap_or_default();
    parameters.split('&').all(|name| !name.is_empty())
        && words.next().is_none_or(|path| path.starts_with(['/', '*']))
        && words.next().is_none()
}

/// `signal=yes` or `signal=no`, one or more; what the draft doesn't name is left alone.
fn is_signal(value: &str) -> bool {
    behind_path(value).split(',').all(|signal| {
        let Some((name, says)) = signal.split_once('=') else { return false };
        let (name, says) = (name.trim().to_ascii_lowercase(), says.trim());
        match name.as_str() {
            "search" | "ai-input" | "ai-train" => matches!(says, "yes" | "no"),
            "use" => matches!(says, "immediate" | "reference" | "full"),
            _ => !name.is_empty() && !says.is_empty(),
        }
    })
}

/// A Dictionary with a member at least; the two keys of the vocabulary say `y` or `n`.
fn is_usage(value: &str) -> bool {
    let Ok(usage) = Parser::new(behind_path(value)).parse::<Dictionary>() else { return false };
    let says = |entry: &ListEntry| match entry {
        ListEntry::Item(item) => {
            matches!(&item.bare_item, BareItem::Token(word) if matches!(word.as_str(), "y" | "n"))
        }
        ListEntry::InnerList(_) => false,
    };
    !usage.is_empty()
        && usage
            .iter()
            .all(|(key, entry)| !matches!(key.as_str(), "train-ai" | "search") || says(entry))
}

/// What stands behind the path that a preference may begin with.
fn behind_path(value: &str) -> &str {
    if !value.starts_with('/') {
        return value;
    }
    value.split_once([' ', '\t']).map_or("", |(_, rest)| rest.trim_start())
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

fn is_positive(text: &str) -> bool {
    is_digits(text) && text.bytes().any(|b| b != b'0')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(name: &str, value: &str, in_group: bool) -> Option<&'static str> {
        let record = Record { name: name.to_owned(), value: value.to_owned(), line: 0 };
        record.check(in_group).map(|finding| finding.code)
    }

    #[test]
    fn ours_values_that_their_definition_has_are_no_finding() {
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
    fn ours_values_that_their_readers_ignore_are_reported() {
        for (name, values) in [
            ("Sitemap", &["", "not a url", "/sitemap.xml", "https://", "https://e.com/ x"][..]),
            ("License", &["license.xml", "//e.com/l.xml"]),
            ("Clean-param", &["", "a&&b", "a /x /y", "a b"]),
            ("Crawl-delay", &["", "fast", "-1", "5s", "5.", ".5", "1,5"]),
            ("Request-rate", &["", "10", "0/5", "1/0", "1/5w", "1/5 noon", "1/5 0600"]),
            ("Visit-time", &["", "0600", "6-8", "0660-0700", "2500-2600", "\u{664}600-0700"]),
            (
                "Content-Signal",
                &["", "/a", "ai-train=maybe", "ai-train", "search=y", "=yes", "a=b,"],
            ),
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
    fn ours_a_finding_shows_the_record_escaped_and_the_repair() {
        let record = Record { name: "Crawl-delay".into(), value: "\u{1b}[2J".into(), line: 0 };
        let finding = record.check(true).expect("no number");
        assert_eq!(finding.message, "'Crawl-delay: \\x1b[2J' has a value that is ignored");
        assert_eq!(finding.help.as_deref(), Some("write seconds, for example 5 or 0.5"));
    }
}
