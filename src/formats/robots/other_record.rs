//! Other records (§2.2.4): the lines outside the protocol, where they belong and their values.
//!
//! | record | stands | value | defined by |
//! |---|---|---|---|
//! | `Sitemap` | anywhere | absolute URL | sitemaps.org |
//! | `License` | anywhere, written first | absolute URL | RSL 1.0 |
//! | `Clean-param` | anywhere | `sid&ref /forum/`: parameters, at most one path prefix | Yandex |
//! | `Crawl-delay` | in a group | seconds, `5` or `0.5` | no standard |
//! | `Request-rate` | in a group | `1/5`, `10/1m`, `20/1h 1800-0600`: requests in a time, span of the day | no standard |
//! | `Visit-time` | in a group | `0600-0845`, UTC | no standard |
//! | `Content-Signal` | in a group | `search=yes, ai-train=no`, after an optional path | draft-romm-aipref-contentsignals-00 |
//! | `Content-Usage` | in a group | a Dictionary (RFC 9651) such as `train-ai=n, search=y`, after an optional path | draft-ietf-aipref-attach-05 |
//! | `Host`, `Noindex` | | no longer read | Yandex until 2018, Google until 2019 |
//!
//! A check changes nothing: a record that fails it is kept as it stands. A record outside this table
//! is never reported.

use super::{
    line_kind,
    pace::{self, Span},
};
use crate::{
    base::{
        diagnostic::Diagnostic,
        escape,
        text::{lines, trimmed},
    },
    formats::usage::{Carrier, split_path},
};

/// A line outside the protocol itself (§2.2.4), such as `Sitemap` or `Content-Signal`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// The text before the colon, as written.
    pub name: String,
    /// The text after the colon, trimmed, without its comment.
    pub value: String,
    /// Line in the file, from 1; 0 if the record comes from no file.
    pub line: u32,
    /// Whether the line says a limit of the operator, by the comment `LIMIT`. Crawlers read it as any
    /// other, and it sets no pace.
    pub(crate) is_limit: bool,
}

/// The comment behind a record that says a limit.
pub(super) const LIMIT: &str = " # limit";

struct Known {
    /// In lower case.
    name: &'static str,
    reach: Reach,
    is_valid: fn(&str) -> bool,
    /// The form of a valid value, as the repair says it.
    form: &'static str,
}

/// Where a record applies.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// For the whole site, wherever the record stands.
    Site,
    /// For the crawlers of its group.
    Group,
    /// Nowhere: crawlers no longer read it.
    Nothing,
}

const SITEMAP: &str = "an absolute URL such as https://www.example.com/sitemap.xml";

const KNOWN: [Known; 11] = [
    known("clean-param", Reach::Site, is_clean_param, "parameters and a path, 'sid&ref /forum/'"),
    known("content-signal", Reach::Group, is_signal, "for example 'search=yes, ai-train=no'"),
    known("content-usage", Reach::Group, is_usage, "for example 'train-ai=n, search=y'"),
    known("crawl-delay", Reach::Group, is_seconds, "seconds, for example 5 or 0.5"),
    known("host", Reach::Nothing, any, "redirect the other hosts instead"),
    known("license", Reach::Site, is_url, "an absolute URL such as https://e.com/license.xml"),
    known("noindex", Reach::Nothing, any, "send 'Robots-Tag: *;noindex' with the pages instead"),
    known("request-rate", Reach::Group, is_rate, "for example 1/5, 10/1m or '20/1h 1800-0600'"),
    known("site-map", Reach::Site, is_url, SITEMAP),
    known("sitemap", Reach::Site, is_url, SITEMAP),
    known("visit-time", Reach::Group, is_span, "a span of the day in UTC, 0600-0845"),
];

const fn known(
    name: &'static str,
    reach: Reach,
    is_valid: fn(&str) -> bool,
    form: &'static str,
) -> Known {
    Known { name, reach, is_valid, form }
}

impl Record {
    /// The record `name: value`.
    ///
    /// # Errors
    /// An empty name, one with `:`, `#` or anything but printable ASCII, and one that some reader
    /// reads as a line of the protocol (`Disallow`, `Useragent`). A value with `#` or control
    /// characters.
    pub fn new(name: &str, value: &str) -> Result<Self, Diagnostic> {
        let (name, value) = (name.trim(), value.trim());
        let broken = name.is_empty()
            || !name.bytes().all(|b| matches!(b, b' '..=b'~') && !b"#:".contains(&b))
            || value.contains('#')
            || value.contains(|c| c == '\t' || line_kind::is_break(c))
            || line_kind::is_protocol_name(name.as_bytes());
        if broken {
            let shown = escape::shown(format!("{name}: {value}"));
            let message = format!("'{shown}' is not valid as a record of robots.txt");
            return Err(Diagnostic::error("robots.record", message)
                .help("give a name without ':' and '#', and a value on one line without '#'"));
        }
        Ok(Self { name: name.to_owned(), value: value.to_owned(), ..Self::default() })
    }

    /// Whether the record applies to the whole site wherever it stands. The definitions of
    /// `Sitemap`, `Host`, `License` (RSL) and `Clean-param` tie them to no group.
    pub fn is_global(&self) -> bool {
        self.name.eq_ignore_ascii_case("host")
            || self.known().is_some_and(|known| known.reach == Reach::Site)
    }

    /// The reason why crawlers ignore the record, if there is one: a warning without a position.
    /// `in_group` says whether it stands in a group.
    ///
    /// - `robots.record_value`: the value does not have the form that the record's definition
    ///   requires.
    /// - `robots.record_place`: the record is outside groups, but applies only inside one.
    /// - `robots.record_unread`: crawlers no longer read this record.
    pub fn check(&self, in_group: bool) -> Option<Diagnostic> {
        let known = self.known()?;
        let shown = escape::shown(format!("{}: {}", self.name, self.value));
        let (code, message, help) = if known.reach == Reach::Nothing {
            (
                "robots.record_unread",
                "is obsolete: crawlers no longer read it",
                known.form.to_owned(),
            )
        } else if !(known.is_valid)(&self.value) {
            (
                "robots.record_value",
                "has an invalid value, so crawlers ignore it",
                format!("write {}", known.form),
            )
        } else if known.reach == Reach::Group && !in_group {
            let help = "move it below a user-agent line".to_owned();
            ("robots.record_place", "is outside all groups, so crawlers ignore it", help)
        } else {
            return None;
        };
        Some(Diagnostic::warning(code, format!("'{shown}' {message}")).help(help))
    }

    fn known(&self) -> Option<&'static Known> {
        known_as(self.name.as_bytes())
    }
}

fn known_as(name: &[u8]) -> Option<&'static Known> {
    KNOWN.iter().find(|known| name.eq_ignore_ascii_case(known.name.as_bytes()))
}

/// Whether any line of a text has a name that some crawler knows: of the protocol or of a record.
pub fn has_known_line(text: &[u8]) -> bool {
    let has_known_name = |line: &[u8]| {
        let colon = memchr::memchr(b':', line);
        let name = trimmed(colon.and_then(|at| line.get(..at)).unwrap_or_default());
        line_kind::is_protocol_name(name) || known_as(name).is_some()
    };
    lines(text).any(has_known_name)
}

/// Whether the colon after a known name is missing, so that a later one ends the name:
/// `Sitemap https` of `Sitemap https://…`.
pub(super) fn lacks_colon(name: &[u8]) -> bool {
    let mut words = name.split(|octet| line_kind::is_space(*octet));
    let first = words.next().unwrap_or_default();
    words.next().is_some() && known_as(first).is_some()
}

fn any(_: &str) -> bool {
    true
}

/// `scheme://host`, followed by anything but white space.
fn is_url(value: &str) -> bool {
    value.split_once("://").is_some_and(|(scheme, rest)| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b))
            && rest.starts_with(|c| !matches!(c, '/' | '?' | '#'))
            && !rest.contains(char::is_whitespace)
    })
}

fn is_seconds(value: &str) -> bool {
    pace::read_delay(value).is_some()
}

fn is_rate(value: &str) -> bool {
    pace::read_rate(value).is_some()
}

fn is_span(value: &str) -> bool {
    Span::parse(value).is_some()
}

/// `p0[&p1…] [path]`.
fn is_clean_param(value: &str) -> bool {
    let mut words = value.split_ascii_whitespace();
    let parameters = words.next().unwrap_or_default();
    parameters.split('&').all(|name| !name.is_empty())
        && words.next().is_none_or(|path| path.starts_with(['/', '*']))
        && words.next().is_none()
}

fn is_signal(value: &str) -> bool {
    Carrier::ContentSignal.is_valid(split_path(value).1)
}

fn is_usage(value: &str) -> bool {
    Carrier::ContentUsage.is_valid(split_path(value).1)
}
