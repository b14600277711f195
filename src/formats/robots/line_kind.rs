//! The kind of a line, by its name: in RFC 9309, which compares it whole (§2.2), and in Google's parser, for
//! which the beginning of a name is enough, and frequent misspellings count.

use super::{normal, rule::Directive};

/// How much of a line Google's parser reads, in octets.
pub(super) const GOOGLE_LINE: usize = 8 * 2083 - 1;

pub(super) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineKind {
    UserAgent,
    /// An allow or disallow line.
    Rule(Directive),
    Other,
}

impl LineKind {
    /// The kind in RFC 9309.
    pub(super) fn of(name: &[u8]) -> Self {
        let is = |key: &str| name.eq_ignore_ascii_case(key.as_bytes());
        match name.len() {
            10 if is("user-agent") => Self::UserAgent,
            5 if is("allow") => Self::Rule(Directive::Allow),
            8 if is("disallow") => Self::Rule(Directive::Disallow),
            _ => Self::Other,
        }
    }

    pub(super) fn of_google(name: &[u8]) -> Self {
        let begins = |keys: &[&str]| {
            keys.iter().any(|key| {
                name.get(..key.len())
                    .is_some_and(|start| start.eq_ignore_ascii_case(key.as_bytes()))
            })
        };
        if begins(&["user-agent", "useragent", "user agent"]) {
            Self::UserAgent
        } else if begins(&["allow"]) {
            Self::Rule(Directive::Allow)
        } else if begins(&["disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw"])
        {
            Self::Rule(Directive::Disallow)
        } else {
            Self::Other
        }
    }

    /// The RFC's name for the line; `None` for an other record.
    pub(super) const fn name(self) -> Option<&'static str> {
        match self {
            Self::UserAgent => Some("user-agent"),
            Self::Rule(directive) => Some(directive.as_str()),
            Self::Other => None,
        }
    }
}

/// Whether the RFC or Google's parser reads a line of this name as a rule or a user-agent line.
pub(super) fn is_protocol_name(name: &[u8]) -> bool {
    LineKind::of_google(name) != LineKind::Other || LineKind::of(name) != LineKind::Other
}

/// The part of a user-agent value that Google compares.
pub(super) fn google_name(value: &[u8]) -> &[u8] {
    if let [b'*', rest @ ..] = value
        && rest.first().is_none_or(|b| is_space(*b))
    {
        return value.get(..1).unwrap_or_default();
    }
    let end = value.iter().position(|b| !(b.is_ascii_alphabetic() || matches!(b, b'-' | b'_')));
    value.get(..end.unwrap_or(value.len())).unwrap_or_default()
}

/// The second pattern that Google derives from an allow rule for an index page: the directory.
pub(super) fn google_index_directory(directive: Directive, value: &[u8]) -> Option<String> {
    let slash = memchr::memrchr(b'/', value).filter(|_| directive == Directive::Allow)?;
    let (directory, page) = value.split_at(slash);
    page.starts_with(b"/index.htm").then(|| normal::text(directory) + "/$")
}

pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// Whether some reader may end a line at this character: a control character other than the tab,
/// or one of the two separators of Unicode.
pub(super) fn is_break(c: char) -> bool {
    (c.is_control() && c != '\t') || matches!(c, '\u{2028}' | '\u{2029}')
}
