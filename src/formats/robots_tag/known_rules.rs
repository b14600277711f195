//! The documented rules: their meaning, the kind of their value, and the crawlers that honour them.
//!
//! Data from the draft and from the documentation of search engines as of 2026, not from tests.

use std::fmt;

/// A rule that the draft registers or a search engine documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownRule {
    /// Its name in lower case.
    pub name: &'static str,
    /// The kind of its value.
    pub value: ValueKind,
    /// What it asks crawlers to do, in one clause.
    pub meaning: &'static str,
    /// The operators whose documentation says that they honour it.
    pub(crate) honoured_by: &'static [&'static str],
    /// Whether it is in the draft's registry.
    pub(crate) registered: bool,
}

/// The kind of value that a known rule takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// No value.
    None,
    /// A whole number from 0, or -1 for "no limit". The smaller number is the stricter.
    Number,
    /// One of these words, the strictest first.
    Choice(&'static [&'static str]),
    /// A date in the form of RFC 822, RFC 850 or ISO 8601.
    Date,
}

const GOOGLE: &str = "Google";
const BING: &str = "Bing";
const YANDEX: &str = "Yandex";

const fn known(name: &'static str, value: ValueKind, meaning: &'static str) -> KnownRule {
    KnownRule { name, value, meaning, honoured_by: &[], registered: false }
}

impl KnownRule {
    const fn honoured_by(self, honoured_by: &'static [&'static str]) -> Self {
        Self { honoured_by, ..self }
    }

    const fn registered(self) -> Self {
        Self { registered: true, ..self }
    }
}

/// Sorted by name, so that a look-up is a binary search.
static KNOWN: [KnownRule; 20] = [
    known("all", ValueKind::None, "no restriction; lifts none either")
        .honoured_by(&[GOOGLE, YANDEX]),
    known("follow", ValueKind::None, "no restriction on links; lifts none either"),
    known("index", ValueKind::None, "no restriction on indexing; lifts none either"),
    known(
        "indexifembedded",
        ValueKind::None,
        "beside noindex: index it where another page embeds it",
    )
    .honoured_by(&[GOOGLE]),
    known(
        "max-image-preview",
        ValueKind::Choice(&["none", "standard", "large"]),
        "the largest image preview",
    )
    .honoured_by(&[GOOGLE, BING]),
    known("max-snippet", ValueKind::Number, "the longest text snippet, in characters")
        .honoured_by(&[GOOGLE, BING]),
    known("max-video-preview", ValueKind::Number, "the longest video preview, in seconds")
        .honoured_by(&[GOOGLE, BING]),
    known("noai", ValueKind::None, "no use for AI training; declared only"),
    known("noarchive", ValueKind::None, "no cached copy; at Bing also no use in chat and training")
        .honoured_by(&[BING, YANDEX]),
    known("nocache", ValueKind::None, "in chat and training only the address, title and snippet")
        .honoured_by(&[BING]),
    known("nofollow", ValueKind::None, "don't follow the links")
        .honoured_by(&[GOOGLE, BING, YANDEX]),
    known("noimageai", ValueKind::None, "no use of the images for AI training; declared only"),
    known("noimageindex", ValueKind::None, "don't index the images").honoured_by(&[GOOGLE]),
    known("noindex", ValueKind::None, "don't show it in search results")
        .honoured_by(&[GOOGLE, BING, YANDEX])
        .registered(),
    known("noml", ValueKind::None, "no use for machine learning; declared only"),
    known("none", ValueKind::None, "noindex and nofollow").honoured_by(&[GOOGLE, YANDEX]),
    known("nositelinkssearchbox", ValueKind::None, "no search box beside the result"),
    known("nosnippet", ValueKind::None, "no text snippet and no video preview")
        .honoured_by(&[GOOGLE, BING])
        .registered(),
    known("notranslate", ValueKind::None, "offer no translation in search results")
        .honoured_by(&[GOOGLE]),
    known("unavailable_after", ValueKind::Date, "don't show it in search results after this date")
        .honoured_by(&[GOOGLE]),
];

/// The rules that the draft registers (§3.1.3) or that search engines document, sorted by name.
/// The crawlers that honour them come from documentation as of 2026, not from tests.
pub fn known_rules() -> &'static [KnownRule] {
    &KNOWN
}

/// The known rule of a name in lower case.
pub(super) fn lookup(name: &str) -> Option<&'static KnownRule> {
    KNOWN.binary_search_by(|known| known.name.cmp(name)).ok().and_then(|at| KNOWN.get(at))
}

pub(super) fn lookup_any_case(name: &str) -> Option<&'static KnownRule> {
    KNOWN.iter().find(|known| known.name.eq_ignore_ascii_case(name))
}

/// Whether a name in any case is that of a rule with a value, and so no crawler's.
pub(super) fn takes_value(name: &str) -> bool {
    lookup_any_case(name).is_some_and(|known| known.value != ValueKind::None)
}

/// Whether a text is in the syntax of the first draft (draft-illyes-repext-00 §2.1.1): groups between semicolons, with `token=`
/// before their rules. In the present syntax no `=` stands before the first semicolon.
pub(super) fn is_first_draft(text: &str) -> bool {
    let token_of = |group: &str| {
        let (token, _) = group.split_once('=')?;
        let token = token.trim();
        let is_token = !token.contains(['"', ',', ':']) && !takes_value(token);
        is_token.then_some(())
    };
    let mut groups = text.split(';');
    let first = groups.next().unwrap_or_default();
    let only_rules = || first.split(',').all(|part| lookup_any_case(part.trim()).is_some());
    token_of(first).is_some() || (only_rules() && groups.any(|group| token_of(group).is_some()))
}

impl fmt::Display for ValueKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("no value"),
            Self::Number => f.write_str("a whole number, or -1 for no limit"),
            Self::Choice(words) => write!(f, "one of {}", words.join(", ")),
            Self::Date => f.write_str("a date such as 2030-12-31T23:59:59Z"),
        }
    }
}

#[cfg(test)]
mod tests {
    use sfv::KeyRef;

    use super::*;

    #[test]
    fn the_known_rules_are_sorted_and_are_keys() {
        assert!(KNOWN.is_sorted_by(|a, b| a.name < b.name));
        assert!(KNOWN.iter().all(|known| KeyRef::from_str(known.name).is_ok()));
    }
}
