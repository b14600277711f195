//! The lookup of a word in a name table, with the rules for the places where each name counts.

use super::{
    entry::Match,
    name_table::NameTable,
    words::{MIN_VERSIONED, Word, is_inner, is_word},
};

#[derive(Clone, Copy, Debug)]
pub(super) struct Hit {
    /// The name's number in the table.
    pub(super) number: u16,
    pub(super) end: usize,
}

/// The name that begins at this word. `hash` is the word's.
#[inline]
pub(super) fn find(names: &NameTable, text: &[u8], word: &Word, hash: u64) -> Option<Hit> {
    if names.is_empty() {
        return None;
    }
    let bytes = word.bytes(text);
    if let Some(row) = names.find_hashed(bytes, hash) {
        let following = text.get(word.end..).unwrap_or_default();
        if let Some(phrase) = row.phrase(following) {
            let whole = Word { end: word.end + phrase.rest.len(), ..*word };
            if counts(phrase.target.matching, text, &whole) {
                return Some(Hit { number: phrase.target.number, end: whole.end });
            }
        }
        if let Some(target) = row.whole {
            let hit = Hit { number: target.number, end: word.end };
            return counts(target.matching, text, word).then_some(hit);
        }
    }
    if let Some(target) = names.find_prefix(bytes) {
        return Some(Hit { number: target.number, end: word.end });
    }
    find_without_version(names, text, word)
}

/// The name in a word with a version attached: `trendictionbot0.5.0`, `Wordup-1`, `feedly.com`.
#[inline]
fn find_without_version(names: &NameTable, text: &[u8], word: &Word) -> Option<Hit> {
    let bytes = word.bytes(text);
    if !word.may_have_version(text) {
        return None;
    }
    let whole = |name: &[u8]| {
        let target = names.find(name)?.whole?;
        let fits = match target.matching {
            Match::Word | Match::Version => true,
            Match::Start | Match::Named => word.ordinal == 0,
            _ => false,
        };
        fits.then_some(Hit { number: target.number, end: word.end })
    };
    let dot = bytes.iter().position(|&b| is_inner(b));
    let before_dot = &bytes[..dot.unwrap_or(bytes.len())];
    if dot.is_some()
        && let Some(found) = whole(before_dot)
    {
        return Some(found);
    }
    let ends_in_version = before_dot.last().is_some_and(u8::is_ascii_digit);
    if !ends_in_version {
        return None;
    }
    let digits = before_dot.iter().rev().take_while(|b| b.is_ascii_digit()).count();
    let name = &before_dot[..before_dot.len() - digits];
    let name = name
        .strip_suffix(b"-v")
        .or_else(|| name.strip_suffix(b"-"))
        .or_else(|| name.strip_suffix(b"_"))
        .unwrap_or(name);
    if name.len() < MIN_VERSIONED { None } else { whole(name) }
}

/// The number of the name behind a `/`: `agent/Nutch-1.7`.
#[inline]
pub(super) fn find_in_version(names: &NameTable, word: &[u8]) -> Option<u16> {
    let name = word.split(|b| matches!(b, b'-' | b'.')).next().unwrap_or_default();
    let target = names.find(name)?.whole?;
    (target.matching == Match::Version).then_some(target.number)
}

/// Whether a name counts at this place.
#[inline]
fn counts(matching: Match, text: &[u8], word: &Word) -> bool {
    match matching {
        Match::Word | Match::Version => true,
        Match::Product => is_product(text, word) || word.is_whole(text),
        Match::Start => word.is_first(text),
        Match::Named => word.is_first(text) || is_product(text, word),
        Match::Linked => is_followed_by_link(text, word) || word.is_whole(text),
        Match::Alone => word.ordinal == 0 && is_alone(text, word),
        Match::Prefix | Match::Never => false,
    }
}

/// Whether a version stands behind the name: `Name/1`, or `) Name 4.1` at the end of the text.
fn is_product(text: &[u8], word: &Word) -> bool {
    let rest = text.get(word.end..).unwrap_or_default();
    match rest {
        [b'/', ..] => true,
        [b' ', b'0'..=b'9', version @ ..] => {
            let before = text.get(..word.start).unwrap_or_default();
            before.ends_with(b") ")
                && version.contains(&b'.')
                && version.iter().all(|&b| b.is_ascii_digit() || b == b'.')
        }
        _ => false,
    }
}

/// Whether a link stands right behind the version: `Name/0.2 (+https://…`, `(compatible; Name/1.0;
/// +https://…` or `(compatible; Name/1.0 https://…`.
fn is_followed_by_link(text: &[u8], word: &Word) -> bool {
    let before = text.get(..word.start).unwrap_or_default().trim_ascii_end();
    let rest = text.get(word.end..).unwrap_or_default();
    let version = rest.iter().take_while(|&&b| matches!(b, b'/' | b'.') || is_word(b)).count();
    let rest = rest.get(version..).unwrap_or_default();
    let rest = if word.ordinal == 0 {
        rest.trim_ascii_start().strip_prefix(b"(")
    } else if before.ends_with(b"compatible;") {
        let separators = rest.iter().take_while(|&&b| matches!(b, b';' | b' ' | b'(')).count();
        rest.get(separators..).filter(|_| separators > 0)
    } else {
        None
    };
    rest.is_some_and(|rest| rest.starts_with(b"+http") || rest.starts_with(b"http"))
}

/// Whether the name is the whole User-Agent but for a version of digits and the letter of a platform:
/// `Name`, `Name/2.1`, `Name/2.1 A`.
fn is_alone(text: &[u8], word: &Word) -> bool {
    let rest = text.get(word.end..).unwrap_or_default();
    let version = match rest {
        [version @ .., b' ' | b'/', letter] if letter.is_ascii_alphabetic() => version,
        _ => rest,
    };
    version.iter().all(|b| b"/.0123456789 ".contains(b))
}
