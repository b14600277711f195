//! From a word to the crawler whose name it is, by the rules of where each name counts.

use super::{
    entry::Match,
    names::Names,
    words::{Word, is_inner, is_word},
};

/// The number that a name at this word leads to, and where the name ends. `hash` is the word's.
#[inline]
pub(super) fn find(names: &Names, text: &[u8], word: &Word, hash: u64) -> Option<(u16, usize)> {
    if names.is_empty() {
        return None;
    }
    let bytes = word.bytes(text);
    if let Some(row) = names.find_hashed(bytes, hash) {
        let following = text.get(word.end..).unwrap_or_default();
        if let Some((target, length)) = row.phrase(following) {
            let phrase = Word { end: word.end + length, ..*word };
            if counts(target.matching, text, &phrase) {
                return Some((target.number, phrase.end));
            }
        }
        if let Some(target) = row.whole {
            return counts(target.matching, text, word).then_some((target.number, word.end));
        }
    }
    if let Some(target) = names.find_prefix(bytes) {
        return Some((target.number, word.end));
    }
    find_without_version(names, text, word)
}

/// Looks for the name in a word that a version is glued to: `trendictionbot0.5.0`, `Wordup-1`,
/// `feedly.com`.
#[inline]
fn find_without_version(names: &Names, text: &[u8], word: &Word) -> Option<(u16, usize)> {
    let bytes = word.bytes(text);
    if !word.may_have_version(text) || bytes.first().is_none_or(u8::is_ascii_digit) {
        return None;
    }
    let whole = |name: &[u8]| {
        let target = names.find(name)?.whole?;
        let fits = match target.matching {
            Match::Word | Match::Version => true,
            Match::Start | Match::Named => word.ordinal == 0,
            _ => false,
        };
        fits.then_some((target.number, word.end))
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
    // Four letters and a number make a phone (`Zao 8`), not a version.
    if name.len() < 5 { None } else { whole(name) }
}

/// The number that a word behind a `/` leads to: `agent/Nutch-1.7`.
#[inline]
pub(super) fn find_in_version(names: &Names, word: &[u8]) -> Option<u16> {
    let name = word.split(|b| matches!(b, b'-' | b'.')).next().unwrap_or_default();
    let target = names.find(name)?.whole?;
    (target.matching == Match::Version).then_some(target.number)
}

/// Whether a name counts at this place.
#[inline]
fn counts(matching: Match, text: &[u8], word: &Word) -> bool {
    let is_product = || word.after(text) == Some(b'/');
    match matching {
        Match::Word | Match::Version => true,
        Match::Product => is_product(),
        Match::Start => word.ordinal == 0,
        Match::Named => word.ordinal == 0 || is_product(),
        Match::Linked => is_followed_by_link(text, word),
        Match::Alone => word.ordinal == 0 && is_alone(text, word),
        Match::Prefix | Match::Never => false,
    }
}

/// `Name/0.2 (+https://…` or `(compatible; Name/1.0; +https://…`: a link right behind the version.
fn is_followed_by_link(text: &[u8], word: &Word) -> bool {
    let before = text.get(..word.start).unwrap_or_default().trim_ascii_end();
    let rest = text.get(word.end..).unwrap_or_default();
    let version = rest.iter().take_while(|&&b| matches!(b, b'/' | b'.') || is_word(b)).count();
    let rest = rest.get(version..).unwrap_or_default();
    let rest = if word.ordinal == 0 {
        rest.trim_ascii_start().strip_prefix(b"(")
    } else if before.ends_with(b"compatible;") {
        rest.strip_prefix(b";").map(<[u8]>::trim_ascii_start)
    } else {
        None
    };
    rest.is_some_and(|rest| rest.starts_with(b"+http") || rest.starts_with(b"http"))
}

/// `Name`, `Name/2.1`, `Name/2.1 A`: nothing else but a version of digits and perhaps the letter of
/// a platform.
fn is_alone(text: &[u8], word: &Word) -> bool {
    let rest = text.get(word.end..).unwrap_or_default();
    let version = match rest {
        [version @ .., b' ' | b'/', letter] if letter.is_ascii_alphabetic() => version,
        _ => rest,
    };
    version.iter().all(|b| b"/.0123456789 ".contains(b))
}
