//! The product token: the name a crawler looks for in robots.txt (RFC 9309 §2.2.1).
//!
//! The RFC allows letters, `_` and `-`. A tenth of the real crawlers have digits, dots or spaces in
//! their tokens (`MJ12bot`, `Mail.RU_Bot`, `Sogou web spider`). So a token may be any printable
//! text; [`ProductToken::is_rfc9309`] tests for the RFC's form. Tokens compare without ASCII case.

use std::{
    fmt,
    hash::{Hash, Hasher},
    sync::Arc,
};

use derive_more::Display;
use serde::{Serialize, Serializer};

/// A crawler's name. Cheap to clone; displayed as written, compared in lower case.
#[derive(Clone, Display)]
#[display("{text}")]
pub struct ProductToken {
    text: Arc<str>,
    key: Arc<str>,
}

impl ProductToken {
    /// The longest name accepted, in bytes.
    pub const MAX_LENGTH: usize = 128;

    /// The token of `text` without surrounding spaces. `None` if it is empty, longer than
    /// [`Self::MAX_LENGTH`], or has other characters than printable ASCII without `#`, `:`, `,`,
    /// `*`.
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        let fits = !text.is_empty() && text.len() <= Self::MAX_LENGTH;
        (fits && text.bytes().all(|b| matches!(b, b' '..=b'~') && !b"#:,*".contains(&b)))
            .then(|| Self { text: text.into(), key: text.to_ascii_lowercase().into() })
    }

    /// The token as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The token in lower case, as comparisons use it.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Whether it has the form of RFC 9309: `1*( "-" / ALPHA / "_" )`.
    pub fn is_rfc9309(&self) -> bool {
        self.text.bytes().all(|b| b.is_ascii_alphabetic() || b == b'-' || b == b'_')
    }
}

impl PartialEq for ProductToken {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for ProductToken {}

impl PartialOrd for ProductToken {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for ProductToken {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key.cmp(&other.key)
    }
}

impl Hash for ProductToken {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key.hash(state);
    }
}

impl fmt::Debug for ProductToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.text, f)
    }
}

impl Serialize for ProductToken {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rfc9309_2_2_1_tokens_compare_without_case() {
        let token = |text| ProductToken::new(text).expect("a valid name");
        assert_eq!(token("Googlebot"), token("gOOGLEBOT"));
        assert_ne!(token("Googlebot"), token("Googlebot-Image"));
        assert_eq!(token(" GPTBot ").as_str(), "GPTBot");
        assert!(token("foo_bot-x").is_rfc9309());
        assert!(!token("MJ12bot").is_rfc9309());
    }

    #[test]
    fn names_that_could_break_a_file_or_a_field_are_no_tokens() {
        for text in ["", "  ", "*", "a#b", "a:b", "a,b", "a\nb", "caf\u{e9}", &"a".repeat(129)] {
            assert!(ProductToken::new(text).is_none(), "{text:?}");
        }
    }
}
