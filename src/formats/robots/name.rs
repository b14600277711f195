//! The crawler that a user-agent line names (§2.2.1).
//!
//! In the RFC the value equals the product token, without regard to case, or it is `*`. A quarter of
//! the lines in live files have other values: versions (`FooBot/1.2`, `Brightbot 1.0`), digits and
//! dots (`MJ12bot`, `Mail.RU_Bot`), words (`Sogou web spider`), stars (`Googlebot*`). They are
//! compared in up to three forms. A crawler obeys the lines that name it in the first form that any
//! line has:
//!
//! 1. the whole value, cut at `/`;
//! 2. the value without a version after a space (`Brightbot 1.0` names Brightbot);
//! 3. its leading letters, `_` and `-`, unless the rest may be a part of the name: a letter or digit
//!    before any `(`, `[`, `;` or `*`. `FooBot (news)` names FooBot. `MJ12bot` does not name MJ,
//!    `foo bar` not foo, `panscient.com` not panscient, and a list `One, Two` names no crawler.
//!
//! An empty form names no crawler. A value with control characters names no crawler in any form
//! (§3). A URL has one form, itself.

use std::cmp::Ordering;

use super::line_kind::is_break;

/// The white space of the grammar; any other, such as U+00A0, is a part of the name.
pub(super) const SPACE: [char; 2] = [' ', '\t'];

/// How many forms a name has.
pub(super) const FORMS: usize = 3;

/// Whether the value is `*`, or `*` and a space and anything but control characters.
pub(super) fn is_star(value: &str) -> bool {
    value.strip_prefix('*').is_some_and(|rest| rest.is_empty() || rest.starts_with(SPACE))
        && !value.contains(is_break)
}

/// The forms of a name, the most faithful first. A form equal to an earlier one is `None`.
pub(crate) fn forms(value: &str) -> [Option<&str>; FORMS] {
    let value = value.trim_matches(SPACE);
    // A product token is one form, without a look at anything below.
    let is_word = |octet: u8| octet.is_ascii_alphanumeric() || octet == b'-' || octet == b'_';
    if !value.is_empty() && value.bytes().all(is_word) {
        return [Some(value), None, None];
    }
    if value.contains(is_break) {
        return [None; FORMS];
    }
    if value.contains("://") {
        return [Some(value), None, None];
    }
    let whole = value.split('/').next().unwrap_or_default().trim_end_matches(SPACE);
    if whole.is_empty() || is_star(whole) {
        return [None; FORMS];
    }
    let rfc_length = whole
        .bytes()
        .position(|b| !(b.is_ascii_alphabetic() || b == b'-' || b == b'_'))
        .unwrap_or(whole.len());
    let (prefix, rest) = whole.split_at(rfc_length);
    let prefix =
        (!prefix.is_empty() && !rest.is_empty() && !continues_name(rest)).then_some(prefix);
    [Some(whole), without_version(whole), prefix]
}

/// The names in a list such as `One, Two`. Each names a crawler for the parsers that read lists: Google
/// reads the first, others read all.
pub(super) fn listed(value: &str) -> impl Iterator<Item = &str> {
    let is_list = value.contains(',') && !value.contains(is_break);
    let parts = value.split(',').filter(move |_| is_list);
    parts.filter_map(|part| forms(part).into_iter().next().flatten())
}

/// Compares `key`, which is in lower case, with `name` in any case.
pub(super) fn compare(key: &str, name: &str) -> Ordering {
    key.bytes().cmp(name.bytes().map(|b| b.to_ascii_lowercase()))
}

/// The name before a version such as ` 1.0` or ` v2`.
fn without_version(whole: &str) -> Option<&str> {
    let (name, version) = whole.rsplit_once(SPACE)?;
    let digits = version.strip_prefix(['v', 'V']).unwrap_or(version);
    let is_version = digits.starts_with(|c: char| c.is_ascii_digit())
        && digits.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let name = name.trim_end_matches(SPACE);
    (is_version && !name.is_empty()).then_some(name)
}

/// Whether the text after the leading letters may belong to the name.
fn continues_name(rest: &str) -> bool {
    let glued = rest.split(['(', '[', ';', '*']).next().unwrap_or_default();
    glued.bytes().any(|b| b.is_ascii_alphanumeric() || !b.is_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_outside_the_grammar_have_up_to_three_forms() {
        for (value, expected) in [
            ("Googlebot", [Some("Googlebot"), None, None]),
            ("FooBot/1.2 (x)", [Some("FooBot"), None, None]),
            ("Brightbot 1.0", [Some("Brightbot 1.0"), Some("Brightbot"), None]),
            ("Sogou web spider", [Some("Sogou web spider"), None, None]),
            ("Sogou web spider v4", [Some("Sogou web spider v4"), Some("Sogou web spider"), None]),
            ("Googlebot*", [Some("Googlebot*"), None, Some("Googlebot")]),
            ("FooBot *", [Some("FooBot *"), None, Some("FooBot")]),
            ("FooBot (news)", [Some("FooBot (news)"), None, Some("FooBot")]),
            ("MJ12bot", [Some("MJ12bot"), None, None]),
            ("W3C_Validator", [Some("W3C_Validator"), None, None]),
            ("foo bar", [Some("foo bar"), None, None]),
            ("One, Two", [Some("One, Two"), None, None]),
            ("Mail.RU_Bot", [Some("Mail.RU_Bot"), None, None]),
            ("Yahoo! Slurp", [Some("Yahoo! Slurp"), None, None]),
            ("360Spider", [Some("360Spider"), None, None]),
            ("008", [Some("008"), None, None]),
            ("http://h/bot", [Some("http://h/bot"), None, None]),
            ("foo\u{e9}", [Some("foo\u{e9}"), None, None]),
            ("/1.0", [None, None, None]),
            ("", [None, None, None]),
            ("*", [None, None, None]),
            ("* x", [None, None, None]),
            (" \tFooBot\t", [Some("FooBot"), None, None]),
            ("\u{a0}FooBot", [Some("\u{a0}FooBot"), None, None]),
            ("FooBot\u{a0}", [Some("FooBot\u{a0}"), None, None]),
            ("FooBot\0", [None, None, None]),
            ("FooBot\u{b}", [None, None, None]),
            ("FooBot (\u{2028}", [None, None, None]),
        ] {
            assert_eq!(forms(value), expected, "{value}");
        }
    }

    #[test]
    fn a_list_has_the_names_between_its_commas() {
        for (value, expected) in [
            ("One, Two/1.0 ,,MJ12bot", &["One", "Two", "MJ12bot"][..]),
            ("*, One", &["One"]),
            ("One Two", &[]),
            ("One", &[]),
            ("One,\u{b}Two", &[]),
            (",", &[]),
        ] {
            assert_eq!(listed(value).collect::<Vec<_>>(), expected, "{value}");
        }
    }

    #[test]
    fn the_star_may_be_followed_by_a_remark() {
        assert!(is_star("*") && is_star("* all") && is_star("*\tall"));
        assert!(
            !is_star("* \0") && !is_star("* x\u{b}"),
            "a name with control characters names no crawler"
        );
        assert!(!is_star("*bot") && !is_star("**") && !is_star("") && !is_star("bot*"));
    }
}
