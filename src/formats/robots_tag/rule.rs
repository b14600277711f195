//! One rule of a robots tag.
//!
//! A rule is a key of a structured field (RFC 9651 §3.1.2) with or without a value. The draft
//! registers two (§3.1.3), and search engines document more. Unknown rules are kept: a crawler may
//! ignore them, a proxy must not.

use std::{borrow::Cow, fmt, ptr};

use derive_more::Display;
use sfv::{BareItem, BareItemFromInput, ItemSerializer, KeyRef, Parser, TokenRef};

use super::known_rules::{self, KnownRule, ValueKind};

/// A rule: its name in lower case, and its value if it has one. Ordered by name, then by value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rule {
    name: Cow<'static, str>,
    value: Option<Value>,
}

/// The value of a rule, in the types of a structured field (RFC 9651 §3.3).
#[derive(Clone, Debug, Display, PartialEq, Eq, PartialOrd, Ord, Hash)]
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
    fn of_text(text: &str) -> Option<Self> {
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

/// The reason why a text is no rule.
#[derive(Clone, Debug, Display, PartialEq, Eq)]
pub enum InvalidRule {
    /// Occurs when the name is no key of a structured field: it is empty, has other characters than
    /// `a`-`z`, `0`-`9`, `_ - . *`, or begins with one of `0`-`9 _ - .`.
    #[display(
        "a rule's name consists of letters, digits, '_', '-' and '.', and begins with a letter"
    )]
    Name,
    /// Occurs when the text contains control characters or anything outside ASCII.
    #[display("a rule is printable ASCII on one line")]
    NotPrintable,
    /// Occurs when a known rule without a value is given one.
    #[display("this rule takes no value")]
    ValueNotTaken,
    /// Occurs when a known rule that needs a value has none.
    #[display("this rule needs {_0}")]
    ValueMissing(ValueKind),
    /// Occurs when a known rule's value is not of its kind.
    #[display("this rule's value must be {_0}")]
    ValueKind(ValueKind),
}

impl Rule {
    /// The rule in an operator's text: `noindex`, `max-snippet=20`, `max-snippet:20`,
    /// `unavailable_after: 2030-01-01`. The name may be in any case. A known rule must have the
    /// right kind of value; an unknown rule may have any.
    ///
    /// # Errors
    /// [`InvalidRule`] has the reason. Text that could break a header line is always refused.
    pub fn new(text: &str) -> Result<Self, InvalidRule> {
        if !text.bytes().all(|b| matches!(b, b' '..=b'~')) {
            return Err(InvalidRule::NotPrintable);
        }
        let (name, value) = split(text);
        let rule = Self::of_text(name, value).ok_or(InvalidRule::Name)?;
        match (rule.kind(), &rule.value) {
            (None, _) | (Some(ValueKind::None), None) => Ok(rule),
            (Some(ValueKind::None), Some(_)) => Err(InvalidRule::ValueNotTaken),
            (Some(kind), None) => Err(InvalidRule::ValueMissing(kind)),
            (Some(_), Some(_)) if rule.fits_its_kind() => Ok(rule),
            (Some(kind), Some(_)) => Err(InvalidRule::ValueKind(kind)),
        }
    }

    /// The rule of a name in any case and the text of its value. `None` if the name is no key, or if
    /// the value has characters that no field can contain.
    pub(super) fn of_text(name: &str, value: Option<&str>) -> Option<Self> {
        let name = name.trim();
        let name = match known_rules::lookup_any_case(name) {
            Some(known) => Cow::Borrowed(known.name),
            None => {
                let name = name.to_ascii_lowercase();
                KeyRef::from_str(&name).ok()?;
                Cow::Owned(name)
            }
        };
        let value = match value.map(str::trim) {
            None | Some("") => None,
            Some(text) => Some(Value::of_text(text)?),
        };
        Some(Self { name, value }.in_its_kind())
    }

    /// The rule of a parameter (RFC 9651 §4.2.3.2). `?0` is no rule.
    pub(super) fn of_parameter(key: &str, item: BareItemFromInput<'_>) -> Option<Self> {
        let name = known_rules::lookup(key)
            .map_or_else(|| key.to_owned().into(), |known| known.name.into());
        let value = match item {
            BareItemFromInput::Boolean(true) => None,
            BareItemFromInput::Boolean(false) => return None,
            BareItemFromInput::Integer(number) => Some(Value::Integer(number.into())),
            BareItemFromInput::Token(token) => Some(Value::Token(token.as_str().into())),
            BareItemFromInput::String(text) => Some(Value::Text(text.as_str().into())),
            other => {
                let item = BareItem::from(other);
                Some(Value::Other(ItemSerializer::new().bare_item(&item).finish().into()))
            }
        };
        Some(Self { name, value }.in_its_kind())
    }

    /// The name, in lower case.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The value, if the rule has one.
    pub fn value(&self) -> Option<&Value> {
        self.value.as_ref()
    }

    /// The documentation of the rule, if its name is known.
    pub fn known(&self) -> Option<&'static KnownRule> {
        // A known name is borrowed from the table, so its address identifies the row.
        match &self.name {
            Cow::Borrowed(name) => {
                known_rules::known_rules().iter().find(|known| ptr::eq(known.name, *name))
            }
            Cow::Owned(_) => None,
        }
    }

    /// Whether the draft or a search engine documents the rule.
    pub fn is_known(&self) -> bool {
        self.known().is_some()
    }

    /// Whether crawlers follow the rule. If a known rule takes no value and has one that is not a
    /// Boolean, crawlers ignore it (the draft is silent). Beadle keeps it and sends it on.
    pub(crate) fn is_effective(&self) -> bool {
        self.value.is_none() || self.kind() != Some(ValueKind::None)
    }

    /// The rule in the syntax of `X-Robots-Tag`: `max-snippet:20`,
    /// `unavailable_after: 25 Jun 2030 15:00:00 PST`.
    pub fn legacy(&self) -> String {
        match &self.value {
            None => self.name.to_string(),
            Some(value) if self.kind() == Some(ValueKind::Date) => {
                format!("{}: {value}", self.name)
            }
            Some(value) => format!("{}:{value}", self.name),
        }
    }

    /// The restrictions that the rule stands for: `none` is two, and a rule that permits is none,
    /// because nothing lifts a restriction (§3.1.1, §3.1.2).
    pub(super) fn restrictions(self) -> impl Iterator<Item = Self> {
        let flag = |name| {
            known_rules::lookup(name).map(|known| Self { name: known.name.into(), value: None })
        };
        let (first, second) = match (&*self.name, &self.value) {
            ("none", None) => (flag("noindex"), flag("nofollow")),
            ("all" | "index" | "follow", None) => (None, None),
            _ => (Some(self), None),
        };
        first.into_iter().chain(second)
    }

    /// The place of the rule among those of its name, 0 for the strictest; `None` for a name without
    /// an order, whose rules all apply.
    pub(super) fn rank(&self) -> Option<u64> {
        match (self.kind()?, &self.value) {
            (ValueKind::None, None) => Some(0),
            (ValueKind::None, Some(_)) => Some(1),
            // -1 means no limit.
            (ValueKind::Number, Some(Value::Integer(n))) => {
                Some(u64::try_from(*n).unwrap_or(u64::MAX))
            }
            (ValueKind::Choice(words), Some(Value::Token(word))) => words
                .iter()
                .position(|known| **known == **word)
                .and_then(|at| u64::try_from(at).ok()),
            _ => None,
        }
    }

    /// Whether the value is of the rule's kind. True for unknown rules.
    pub(super) fn fits_its_kind(&self) -> bool {
        match (self.kind(), &self.value) {
            (None, _) | (Some(ValueKind::None), None) => true,
            (Some(ValueKind::Number), Some(Value::Integer(n))) => *n >= -1,
            (Some(ValueKind::Choice(words)), Some(Value::Token(word))) => words.contains(&&**word),
            (Some(ValueKind::Date), Some(Value::Text(text))) => {
                text.bytes().any(|b| b.is_ascii_digit())
            }
            (Some(ValueKind::Date), Some(Value::Other(_))) => true,
            _ => false,
        }
    }

    pub(super) fn kind(&self) -> Option<ValueKind> {
        self.known().map(|known| known.value)
    }

    /// The rule with its value in the type of its kind, so that two spellings are one rule:
    /// `max-snippet="20"`, `max-image-preview=LARGE` (§3.1.3: "the values are case insensitive").
    fn in_its_kind(mut self) -> Self {
        let kind = match &self.value {
            None | Some(Value::Other(_)) => return self,
            Some(_) => self.kind(),
        };
        self.value = self.value.map(|value| match (kind, value) {
            (Some(ValueKind::Number), Value::Token(text) | Value::Text(text)) => {
                integer(text.trim()).map_or(Value::Text(text), Value::Integer)
            }
            (Some(ValueKind::Choice(words)), Value::Token(text) | Value::Text(text)) => {
                words.iter().find(|word| word.eq_ignore_ascii_case(text.trim())).map_or_else(
                    || Value::of_text(&text).unwrap_or(Value::Text(text)),
                    |word| Value::Token((*word).into()),
                )
            }
            (Some(ValueKind::Date), Value::Token(text)) => Value::Text(text),
            (Some(ValueKind::Date), Value::Integer(year)) => Value::Text(year.to_string().into()),
            (_, value) => value,
        });
        self
    }
}

/// An sf-integer (RFC 9651 §3.3.1): at most 15 digits.
fn integer(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let fits = (1..=15).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
    if fits { text.parse().ok() } else { None }
}

/// `name=value`, `name:value` or `name`.
pub(super) fn split(text: &str) -> (&str, Option<&str>) {
    match text.split_once(['=', ':']) {
        Some((name, value)) => (name, Some(value)),
        None => (text, None),
    }
}

/// `name` or `name=value`, a String without its quotes.
impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        self.value.as_ref().map_or(Ok(()), |value| write!(f, "={value}"))
    }
}

impl std::error::Error for InvalidRule {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn none_stands_for_two_known_rules() {
        let none = Rule::new("none").expect("it is a rule");
        let names: Vec<_> =
            none.restrictions().map(|rule| (rule.is_known(), rule.name().to_owned())).collect();
        assert_eq!(names, [(true, "noindex".to_owned()), (true, "nofollow".to_owned())]);
    }

    #[test]
    fn an_operator_may_write_a_rule_in_either_syntax() {
        for (text, shown, legacy) in [
            ("noindex", "noindex", "noindex"),
            (" NoIndex ", "noindex", "noindex"),
            ("max-snippet=20", "max-snippet=20", "max-snippet:20"),
            ("max-snippet:20", "max-snippet=20", "max-snippet:20"),
            ("Max-Snippet: -1", "max-snippet=-1", "max-snippet:-1"),
            ("max-image-preview:LARGE", "max-image-preview=large", "max-image-preview:large"),
            (
                "unavailable_after: 2030-01-01",
                "unavailable_after=2030-01-01",
                "unavailable_after: 2030-01-01",
            ),
            (
                "unavailable_after: 25 Jun 2030 15:00:00 PST",
                "unavailable_after=25 Jun 2030 15:00:00 PST",
                "unavailable_after: 25 Jun 2030 15:00:00 PST",
            ),
            ("noodp", "noodp", "noodp"),
            ("x=\"a, b\"", "x=a, b", "x:a, b"),
        ] {
            let rule = Rule::new(text).expect(text);
            assert_eq!((rule.to_string(), rule.legacy()), (shown.into(), legacy.into()), "{text}");
        }
    }

    #[test]
    fn an_invalid_rule_is_refused_with_the_reason() {
        for (text, reason) in [
            ("", InvalidRule::Name),
            ("no index", InvalidRule::Name),
            ("1a", InvalidRule::Name),
            ("noindex\r\nSet-Cookie: a=b", InvalidRule::NotPrintable),
            ("noindex\u{e9}", InvalidRule::NotPrintable),
            ("noindex=yes", InvalidRule::ValueNotTaken),
            ("max-snippet", InvalidRule::ValueMissing(ValueKind::Number)),
            ("max-snippet=-2", InvalidRule::ValueKind(ValueKind::Number)),
            ("max-snippet=many", InvalidRule::ValueKind(ValueKind::Number)),
            ("unavailable_after: soon", InvalidRule::ValueKind(ValueKind::Date)),
        ] {
            assert_eq!(Rule::new(text), Err(reason), "{text:?}");
        }
        assert!(matches!(
            Rule::new("max-image-preview=huge"),
            Err(InvalidRule::ValueKind(ValueKind::Choice(_)))
        ));
    }
}
