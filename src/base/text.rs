//! Text for a record: bounded, on one line, without control characters.
//!
//! There is no other way into a record, so the bytes of a client cannot reach a log line, a screen
//! or the database unescaped or unbounded.

use std::{borrow::Cow, fmt};

use derive_more::{AsRef, Deref, Display};
use serde::{Deserialize, Deserializer, Serialize};

use crate::base::escape;

/// A bounded text with foreign bytes escaped as in [`escape::bounded`]. The end of a cut text
/// counts the missing bytes: `…(+1000 bytes)`. A constant word costs no allocation
/// ([`Self::word`]).
#[derive(
    AsRef, Clone, Default, Deref, Display, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize,
)]
#[deref(forward)]
#[as_ref(str)]
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

    /// A word of Beadle's own vocabulary, taken as it is.
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
        Self(Cow::Owned(escape::bounded(bytes, limit)))
    }

    /// A list of fields: the first [`Self::LIST_LIMIT`] of them, then the number of the others.
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

    /// Text that was escaped before it was written. Another program may have changed the file, so
    /// harmful characters are escaped again; existing escapes stay as they are.
    pub fn read_back(text: String) -> Self {
        let is_safe = |part: &str| escape::text(part.as_bytes()) == part;
        if text.bytes().all(escape::is_printable) || text.split('\\').all(is_safe) {
            Self(Cow::Owned(text))
        } else {
            Self(Cow::Owned(escape::text(text.as_bytes())))
        }
    }

    /// The octets of a path that [`Self::path`] made the text of. `None` if the text is cut.
    pub fn path_octets(&self) -> Option<Vec<u8>> {
        // A limit splits no character, so up to three octets less are kept.
        const LEAST_KEPT: usize = Text::PATH_LIMIT - 3;
        let tail = self.strip_suffix(" bytes)").and_then(|text| text.rsplit_once("…(+"));
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let kept = tail.filter(|(_, missing)| is_number(missing)).map(|(kept, _)| kept);
        let is_cut = kept.is_some_and(|kept| {
            escape::original(kept).is_none_or(|octets| octets.len() >= LEAST_KEPT)
        });
        if is_cut { None } else { escape::original(self) }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
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

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::read_back)
    }
}

/// The lines of a file: they end in CR, LF or CRLF and nothing else. The end of the last one starts
/// no other.
pub fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
        let (line, ending) = rest.split_at(end);
        rest = ending.strip_prefix(b"\r\n").or_else(|| ending.get(1..)).unwrap_or_default();
        Some(line)
    })
}

/// A value without the spaces and tabs around it (RFC 9110 §5.6.3).
pub fn trimmed(mut value: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] | [rest @ .., b' ' | b'\t'] = value {
        value = rest;
    }
    value
}

/// An enum of `words!`.
pub trait Word: Sized {
    /// The variant with this word.
    fn named(word: &str) -> Option<Self>;
}

/// Declares an enum whose variants are words in policies, records and metrics, with all of its variants and
/// the word of each.
macro_rules! words {
    (
        $(#[$of_all:meta])*
        $vis:vis enum $name:ident { $($(#[$of_one:meta])* $variant:ident = $word:literal,)+ }
    ) => {
        $(#[$of_all])*
        $vis enum $name { $($(#[$of_one])* $variant),+ }

        impl $name {
            /// All of them, in the order of their declaration.
            $vis const ALL: [Self; [$($word),+].len()] = [$(Self::$variant),+];

            /// The word in policies, records and metrics.
            $vis const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word),+
                }
            }

            /// The variant with this word.
            #[allow(dead_code, reason = "not every enum of words is read")]
            $vis fn from_word(word: &str) -> Option<Self> {
                <Self as $crate::base::text::Word>::named(word)
            }
        }

        impl $crate::base::text::Word for $name {
            fn named(word: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|one| one.as_str() == word)
            }
        }
    };
}
pub(crate) use words;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_field_is_bounded_and_its_length_kept() {
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
    fn text_that_others_wrote_into_a_log_is_escaped_when_read() {
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
    fn a_cut_path_has_no_octets() {
        let end = "/x…(+1 bytes)";
        assert_eq!(Text::path(end.as_bytes()).path_octets(), Some(end.as_bytes().to_vec()));
        for long in ["a".repeat(2049), "é".repeat(1025), "\u{1f600}".repeat(600)] {
            assert_eq!(Text::path(long.as_bytes()).path_octets(), None);
        }
    }

    #[test]
    fn lines_end_in_cr_lf_or_both() {
        for (text, expected) in [
            ("", &[][..]),
            ("a", &["a"]),
            ("a\n", &["a"]),
            ("a\r\nb\rc\n\nd", &["a", "b", "c", "", "d"]),
            ("\r\r\n\u{85}\u{2028}", &["", "", "\u{85}\u{2028}"]),
        ] {
            let expected: Vec<&[u8]> = expected.iter().map(|line| line.as_bytes()).collect();
            assert_eq!(lines(text.as_bytes()).collect::<Vec<_>>(), expected, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn the_octets_of_a_path_are_restored(bytes: Vec<u8>) {
            prop_assert_eq!(Text::path(&bytes).path_octets(), Some(bytes));
        }

        #[test]
        fn any_bytes_become_the_same_text_again_when_read(bytes: Vec<u8>, limit in 0_usize..80) {
            let text = Text::bounded(&bytes, limit);
            prop_assert_eq!(text.as_str(), escape::bounded(&bytes, limit));
            prop_assert_eq!(Text::read_back(text.to_string()), text);
        }
    }
}
