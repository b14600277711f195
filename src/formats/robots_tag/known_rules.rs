//! The documented rules: their meaning, the kind of their value, and the crawlers that honour them.
//!
//! Data from the draft and from the documentation of search engines as of 2026, not from tests.

use derive_more::Display;

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
    pub(crate) registered: bool,
}

/// The kind of value that a known rule takes.
#[derive(Clone, Copy, Debug, Display, PartialEq, Eq)]
pub enum ValueKind {
    /// No value.
    #[display("no value")]
    None,
    /// A whole number from 0, or -1 for "no limit". The smaller number is the stricter.
    #[display("a whole number, or -1 for no limit")]
    Number,
    /// One of these words, the strictest first.
    #[display("one of {}", _0.join(", "))]
    Choice(&'static [&'static str]),
    /// A date in the form of RFC 822, RFC 850 or ISO 8601.
    #[display("a date such as 2030-12-31T23:59:59Z")]
    Date,
}

const GOOGLE: &str = "Google";
const BING: &str = "Bing";
const YANDEX: &str = "Yandex";

const FLAG: ValueKind = ValueKind::None;
const SIZES: ValueKind = ValueKind::Choice(&["none", "standard", "large"]);

const fn known(
    name: &'static str,
    value: ValueKind,
    honoured_by: &'static [&'static str],
    meaning: &'static str,
) -> KnownRule {
    KnownRule { name, value, meaning, honoured_by, registered: false }
}

impl KnownRule {
    const fn registered(self) -> Self {
        Self { registered: true, ..self }
    }
}

/// Sorted by name, so that a look-up is a binary search.
static KNOWN: [KnownRule; 20] = [
    known("all", FLAG, &[GOOGLE, YANDEX], "no restriction; lifts none either"),
    known("follow", FLAG, &[], "no restriction on links; lifts none either"),
    known("index", FLAG, &[], "no restriction on indexing; lifts none either"),
    known(
        "indexifembedded",
        FLAG,
        &[GOOGLE],
        "beside noindex: index it where another page embeds it",
    ),
    known("max-image-preview", SIZES, &[GOOGLE, BING], "the largest image preview"),
    known(
        "max-snippet",
        ValueKind::Number,
        &[GOOGLE, BING],
        "the longest text snippet, in characters",
    ),
    known(
        "max-video-preview",
        ValueKind::Number,
        &[GOOGLE, BING],
        "the longest video preview, in seconds",
    ),
    known("noai", FLAG, &[], "no use for AI training; declared only"),
    known(
        "noarchive",
        FLAG,
        &[BING, YANDEX],
        "no cached copy; at Bing also no use in chat and training",
    ),
    known("nocache", FLAG, &[BING], "in chat and training only the address, title and snippet"),
    known("nofollow", FLAG, &[GOOGLE, BING, YANDEX], "don't follow the links"),
    known("noimageai", FLAG, &[], "no use of the images for AI training; declared only"),
    known("noimageindex", FLAG, &[GOOGLE], "don't index the images"),
    known("noindex", FLAG, &[GOOGLE, BING, YANDEX], "don't show it in search results").registered(),
    known("noml", FLAG, &[], "no use for machine learning; declared only"),
    known("none", FLAG, &[GOOGLE, YANDEX], "noindex and nofollow"),
    known("nositelinkssearchbox", FLAG, &[], "no search box beside the result"),
    known("nosnippet", FLAG, &[GOOGLE, BING], "no text snippet and no video preview").registered(),
    known("notranslate", FLAG, &[GOOGLE], "offer no translation in search results"),
    known(
        "unavailable_after",
        ValueKind::Date,
        &[GOOGLE],
        "don't show it in search results after this date",
    ),
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
