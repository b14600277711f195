//! What a line is, by its name: to RFC 9309, and to Google's parser.
//!
//! The RFC has three names, compared whole and without case (§2.2); every other line is a record of
//! its own (§2.2.4). google/robotstxt takes what merely begins with a name for it, knows frequent
//! misspellings, cuts a crawler's name at its first octet that is no letter, `_` or `-`, and adds the
//! directory to an allow rule for its index page.

use super::{Directive, normal};

/// What Google's parser reads of a line, in octets.
pub(super) const GOOGLE_LINE: usize = 8 * 2083 - 1;

pub(super) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// What a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    UserAgent,
    Rule(Directive),
    Other,
}

impl Key {
    /// By the letter.
    pub(super) fn of(name: &[u8]) -> Self {
        let is = |key: &str| name.eq_ignore_ascii_case(key.as_bytes());
        match name.len() {
            10 if is("user-agent") => Self::UserAgent,
            5 if is("allow") => Self::Rule(Directive::Allow),
            8 if is("disallow") => Self::Rule(Directive::Disallow),
            _ => Self::Other,
        }
    }

    /// As google/robotstxt has it.
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

    /// How the RFC spells the line; `None` for a record of its own.
    pub(super) fn name(self) -> Option<&'static str> {
        match self {
            Self::UserAgent => Some("user-agent"),
            Self::Rule(directive) => Some(directive.as_str()),
            Self::Other => None,
        }
    }
}

/// Whether some reader takes a line of this name for one of the protocol.
pub(super) fn is_protocol_name(name: &[u8]) -> bool {
    Key::of_google(name) != Key::Other || Key::of(name) != Key::Other
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

/// The second pattern that Google makes of an allow rule for an index page: the directory itself.
pub(super) fn google_index_directory(directive: Directive, value: &[u8]) -> Option<String> {
    let slash = memchr::memrchr(b'/', value).filter(|_| directive == Directive::Allow)?;
    let (directory, page) = value.split_at(slash);
    page.starts_with(b"/index.htm").then(|| normal::text(directory) + "/$")
}

/// The white space of the grammar, `WS`.
pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// `bytes` without the white space around them.
pub(super) fn trim(bytes: &[u8]) -> &[u8] {
    let start = bytes.iter().position(|b| !is_space(*b)).unwrap_or(bytes.len());
    let end = bytes.iter().rposition(|b| !is_space(*b)).map_or(start, |at| at + 1);
    bytes.get(start..end).unwrap_or_default()
}

/// What could end a line: control characters save the tab, which is white space, and the two that
/// some readers split lines at.
pub(super) fn is_break(c: char) -> bool {
    (c.is_control() && c != '\t') || matches!(c, '\u{2028}' | '\u{2029}')
}
