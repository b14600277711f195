//! Text that is fit for a record: bounded, on one line, with nothing in it that drives a terminal.
//!
//! There is no other way into a record, so what a client sends cannot reach a log line, a screen
//! or the database unescaped or unbounded.

use std::{borrow::Cow, fmt, ops::Deref};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::escape;

/// A bounded text with foreign bytes escaped as [`escape::bounded`] does it; what was cut is
/// counted at its end, `…(+1000 bytes)`. A word of our own costs no allocation ([`Self::word`]).
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Text(Cow<'static, str>);

impl Text {
    /// The bytes kept of a path with its query, and of a path pattern.
    pub const PATH_LIMIT: usize = 2048;
    /// The bytes kept of a `User-Agent` field.
    pub const USER_AGENT_LIMIT: usize = 1024;
    /// The bytes kept of any other field.
    pub const FIELD_LIMIT: usize = 256;
    /// The entries kept of a list.
    pub const LIST_LIMIT: usize = 32;

    /// A word of our own vocabulary, taken as it is.
    pub const fn word(word: &'static str) -> Self {
        Self(Cow::Borrowed(word))
    }

    /// A request's path and query, or a path pattern: up to [`Self::PATH_LIMIT`] bytes.
    pub fn path(bytes: &[u8]) -> Self {
        Self::bounded(bytes, Self::PATH_LIMIT)
    }

    /// A `User-Agent` field: up to [`Self::USER_AGENT_LIMIT`] bytes.
    pub fn user_agent(bytes: &[u8]) -> Self {
        Self::bounded(bytes, Self::USER_AGENT_LIMIT)
    }

    /// Any other field: up to [`Self::FIELD_LIMIT`] bytes.
    pub fn field(bytes: &[u8]) -> Self {
        Self::bounded(bytes, Self::FIELD_LIMIT)
    }

    /// The first `limit` bytes at most, escaped.
    pub fn bounded(bytes: &[u8], limit: usize) -> Self {
        // Nearly every field is plain: then it is copied whole, not character by character.
        let is_plain = bytes.len() <= limit && bytes.iter().all(|&b| is_plain(b) && b != b'\\');
        match str::from_utf8(bytes) {
            Ok(text) if is_plain => Self(Cow::Owned(text.to_owned())),
            _ => Self(Cow::Owned(escape::bounded(bytes, limit))),
        }
    }

    /// A list of fields: the first [`Self::LIST_LIMIT`] of them, then how many more there were.
    pub fn list<T: AsRef<str>>(fields: impl IntoIterator<Item = T>) -> Vec<Self> {
        let mut fields = fields.into_iter();
        let kept = fields.by_ref().take(Self::LIST_LIMIT);
        let mut list: Vec<_> = kept.map(|field| Self::from(field.as_ref())).collect();
        match fields.count() {
            0 => {}
            more => list.push(Self(Cow::Owned(format!("…(+{more})")))),
        }
        list
    }

    /// Text that was escaped when it was written. Somebody else may have written there since, so
    /// whatever could do harm is escaped now; escapes themselves stay as they are.
    pub(super) fn read_back(text: String) -> Self {
        let is_safe = |part: &str| escape::text(part.as_bytes()) == part;
        if text.bytes().all(is_plain) || text.split('\\').all(is_safe) {
            Self(Cow::Owned(text))
        } else {
            Self(Cow::Owned(escape::text(text.as_bytes())))
        }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The target with the values of the query parameters `names` (in any case) replaced, for the
/// operator who does not want them kept. A name is compared as a server would read it, decoded.
///
/// Call it before [`Text::path`]. Borrowed where there is nothing to replace.
pub fn redact_query<'a, T: AsRef<str>>(target: &'a [u8], names: &[T]) -> Cow<'a, [u8]> {
    let Some(mark) = target.iter().position(|&b| b == b'?') else { return target.into() };
    let (path, query) = target.split_at(mark + 1);
    let is_secret = |name: &[u8]| {
        let name = decode(name);
        names.iter().any(|secret| name.eq_ignore_ascii_case(secret.as_ref().as_bytes()))
    };
    let name_of = |pair: &[u8]| pair.iter().position(|&b| b == b'=');
    let hides = |pair: &[u8]| name_of(pair).is_some_and(|at| is_secret(&pair[..at]));
    if names.is_empty() || !query.split(|&b| b == b'&').any(hides) {
        return target.into();
    }
    let mut out = path.to_vec();
    for (index, pair) in query.split(|&b| b == b'&').enumerate() {
        if index > 0 {
            out.push(b'&');
        }
        match name_of(pair) {
            Some(at) if is_secret(&pair[..at]) => {
                out.extend_from_slice(&pair[..=at]);
                out.extend_from_slice(b"[redacted]");
            }
            _ => out.extend_from_slice(pair),
        }
    }
    out.into()
}

/// A parameter's name with its percent-encoded octets decoded, once.
fn decode(name: &[u8]) -> Vec<u8> {
    let digit = |b: Option<&u8>| b.and_then(|&b| char::from(b).to_digit(16));
    let mut out = Vec::with_capacity(name.len());
    let mut at = 0;
    while let Some(&byte) = name.get(at) {
        match (byte, digit(name.get(at + 1)), digit(name.get(at + 2))) {
            (b'%', Some(high), Some(low)) => {
                out.push((high * 16 + low) as u8);
                at += 3;
            }
            _ => {
                out.push(byte);
                at += 1;
            }
        }
    }
    out
}

/// Printable ASCII.
fn is_plain(byte: u8) -> bool {
    matches!(byte, b' '..=b'~')
}

// === impl Text ===

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self::field(text.as_bytes())
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self::field(text.as_bytes())
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for Text {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl PartialEq<str> for Text {
    fn eq(&self, other: &str) -> bool {
        self.0 == other
    }
}

impl PartialEq<&str> for Text {
    fn eq(&self, other: &&str) -> bool {
        self.0 == *other
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl Serialize for Text {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::read_back)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn l135_a_field_is_bounded_and_its_length_kept() {
        let long = vec![b'a'; 1 << 20];
        for (text, limit) in [
            (Text::path(&long), Text::PATH_LIMIT),
            (Text::user_agent(&long), Text::USER_AGENT_LIMIT),
            (Text::field(&long), Text::FIELD_LIMIT),
        ] {
            let tail = format!("…(+{} bytes)", (1 << 20) - limit);
            assert!(text.ends_with(&tail) && text.len() == limit + tail.len());
        }
        let list = Text::list((0..40).map(|n| n.to_string()));
        assert_eq!((list.len(), list[32].as_str()), (33, "…(+8)"));
        assert_eq!(Text::list(["a"]), [Text::word("a")]);
    }

    #[test]
    fn l127_what_others_wrote_into_a_log_is_escaped_when_read() {
        for (written, read) in [
            ("plain", "plain"),
            ("caf\u{e9} \\x1b", "caf\u{e9} \\x1b"),
            ("\x1b[2J", "\\x1b[2J"),
            ("a\\\u{202e}", "a\\\\\\u{202e}"),
        ] {
            assert_eq!(Text::read_back(written.to_owned()), read);
        }
    }

    #[test]
    fn l136_secrets_in_a_query_are_replaced() {
        for (target, kept) in [
            ("/a?token=x&b=1", "/a?token=[redacted]&b=1"),
            ("/a?b=1&TOKEN=x=y", "/a?b=1&TOKEN=[redacted]"),
            ("/a?tok%65n=x", "/a?tok%65n=[redacted]"),
            ("/a?token", "/a?token"),
            ("/a?tokens=1&x", "/a?tokens=1&x"),
            ("/token=1", "/token=1"),
            ("/a?%", "/a?%"),
            ("/a?&&sid=&", "/a?&&sid=[redacted]&"),
        ] {
            assert_eq!(redact_query(target.as_bytes(), &["token", "sid"]), kept.as_bytes());
            assert_eq!(redact_query::<&str>(target.as_bytes(), &[]), target.as_bytes());
        }
    }

    proptest! {
        #[test]
        fn any_bytes_become_the_same_text_again_when_read(bytes: Vec<u8>, limit in 0_usize..80) {
            let text = Text::bounded(&bytes, limit);
            prop_assert_eq!(text.as_str(), escape::bounded(&bytes, limit));
            prop_assert_eq!(Text::read_back(text.to_string()), text);
        }
    }
}
