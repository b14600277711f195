//! The value of a rule, in the types of a structured field (RFC 9651 §3.3).

use std::fmt;

use sfv::{BareItem, Parser, TokenRef};

/// The value of a rule, in the types of a structured field (RFC 9651 §3.3).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Value {
    /// An Integer of at most 15 digits: `max-snippet=20`.
    Integer(i64),
    /// A Token: `max-image-preview=large`.
    Token(Box<str>),
    /// A String, without its quotes: `unavailable_after="2030-01-01"`.
    Text(Box<str>),
    /// Any other type (Decimal, Date, Byte Sequence, Display String) in its serialised form.
    Other(Box<str>),
}

impl Value {
    /// The value of `text`: an Integer, a Token, or else a String, with or without its quotes.
    /// `None` for characters that none of them can contain.
    pub(super) fn of_text(text: &str) -> Option<Self> {
        if let Some(number) = integer(text) {
            return Some(Self::Integer(number));
        }
        if TokenRef::from_str(text).is_ok() {
            return Some(Self::Token(text.into()));
        }
        if let Ok(item) = Parser::new(text).parse::<sfv::Item>()
            && let BareItem::String(inner) = item.bare_item
        {
            return Some(Self::Text(inner.as_str().into()));
        }
        text.bytes().all(|b| matches!(b, b' '..=b'~')).then(|| Self::Text(text.into()))
    }
}

/// An sf-integer (RFC 9651 §3.3.1): at most 15 digits.
pub(super) fn integer(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let fits = (1..=15).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
    if fits { text.parse().ok() } else { None }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(number) => write!(f, "{number}"),
            Self::Token(text) | Self::Text(text) | Self::Other(text) => f.write_str(text),
        }
    }
}
