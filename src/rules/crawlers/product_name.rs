//! The name of a product in a User-Agent, of one word or several: `Some Crawler/1.0`.

use crate::base::product_token::ProductToken;

use super::{
    site_names::is_findable,
    words::{Word, extent, is_inner, is_word},
};

/// The most words of a name; more are a sentence.
const MAX_WORDS: usize = 4;
const KINDS_OF_BOTS: [&[u8]; 3] = [b"bot", b"crawler", b"spider"];

/// The name that begins with a word. If the words behind it are no name, it is that word alone.
pub(super) fn beginning_at<'a>(first: &Word, text: &'a [u8]) -> Option<&'a [u8]> {
    let end = end_of_words(first, text);
    let whole = Word { end, ..*first };
    let name = if ends_product(text.get(end..).unwrap_or_default()) { whole } else { *first };
    named(&name, text)
}

/// The last word of the product that a link at this place belongs to: only a version and separators
/// stand between them.
pub(super) fn linked_at(link: usize, text: &[u8]) -> Option<Word> {
    let part = |text: &[u8]| text.iter().rev().take_while(|&b| !b" ;,()".contains(b)).count();
    let before = text.get(..link)?;
    let before = before.strip_suffix(b"+").unwrap_or(before);
    let separators = before.iter().rev().take_while(|&b| b" ;,(".contains(b)).count();
    let mut before = before.get(..before.len() - separators).filter(|_| separators > 0)?;
    let mut product = before.get(before.len() - part(before)..)?;
    if is_version(product) {
        before = before.get(..before.len() - product.len())?.strip_suffix(b" ")?;
        product = before.get(before.len() - part(before)..)?;
    }
    let start = before.len() - product.len();
    let length = extent(product).length;
    let is_product = matches!(product.get(length), None | Some(b'/'))
        && product.get(..length).is_some_and(is_part_of_name);
    is_product.then_some(Word { start, end: start + length, dotted: false, ordinal: 0 })
}

/// The name that ends with a word. The words before it belong to it as far as they can.
pub(super) fn ending_at(last: Word, text: &[u8]) -> Option<&[u8]> {
    let mut name = last;
    for _ in 1..MAX_WORDS {
        let before = text.get(..name.start).unwrap_or_default();
        let Some(before) = before.strip_suffix(b" ") else { break };
        let part = |b: &&u8| is_word(**b) || is_inner(**b);
        let length = before.iter().rev().take_while(part).count();
        let (rest, word) = before.split_at(before.len() - length);
        if !matches!(rest.last(), None | Some(b' ' | b';' | b'(')) || !is_part_of_name(word) {
            break;
        }
        name.start = rest.len();
    }
    named(&name, text)
}

/// Whether a link stands right behind the product that begins with a word: `Name/1.0; http://…`.
pub(super) fn has_link(first: &Word, text: &[u8]) -> bool {
    let rest = text.get(end_of_words(first, text)..).unwrap_or_default();
    let rest = rest.get(length_of_version(rest)..).unwrap_or_default();
    let separators = rest.iter().take_while(|&b| b" ;,(-+".contains(b)).count();
    let link = rest.get(separators..).unwrap_or_default();
    separators > 0
        && [&b"http://"[..], b"https://", b"www."].iter().any(|one| link.starts_with(one))
}

/// The host of the link that begins here, without `www.`.
pub(super) fn host_at(link: usize, text: &[u8]) -> Option<&str> {
    let link = text.get(link..)?;
    let scheme = extent(link).length;
    let rest = link.get(scheme..).and_then(|rest| rest.strip_prefix(b"://")).unwrap_or(link);
    let host = str::from_utf8(rest.get(..extent(rest).length)?).ok()?;
    match host.split_at_checked(4) {
        Some((www, host)) if www.eq_ignore_ascii_case("www.") => Some(host),
        _ => Some(host),
    }
}

/// Whether the last of several words says that this is a bot.
pub(super) fn says_bot(name: &[u8]) -> bool {
    let last = name.rsplit(|&b| b == b' ').next().unwrap_or_default();
    last.len() < name.len() && KINDS_OF_BOTS.iter().any(|kind| last.eq_ignore_ascii_case(kind))
}

/// The end of the words that follow each other with one space between.
fn end_of_words(first: &Word, text: &[u8]) -> usize {
    let mut end = first.end;
    for _ in 1..MAX_WORDS {
        let Some(next) = text.get(end..).and_then(|rest| rest.strip_prefix(b" ")) else { break };
        let length = extent(next).length;
        let word = next.get(..length).unwrap_or_default();
        let is_link = next.get(length..).is_some_and(|rest| rest.starts_with(b"://"));
        if !is_part_of_name(word) || is_link {
            break;
        }
        end += 1 + length;
    }
    end
}

/// Whether a word behind or before another one belongs to the same name. Versions, links, languages
/// and the words of browsers do not.
fn is_part_of_name(word: &[u8]) -> bool {
    let is_link = word.get(..4).is_some_and(|start| start.eq_ignore_ascii_case(b"www."));
    let is_language = matches!(word, [b'a'..=b'z', b'a'..=b'z', b'-', _, _]);
    word.first().is_some_and(u8::is_ascii_alphabetic)
        && !is_language
        && !is_version(word)
        && !is_link
        && str::from_utf8(word).is_ok_and(is_findable)
}

fn ends_product(rest: &[u8]) -> bool {
    match rest.trim_ascii_start() {
        [] | [b'/' | b';' | b')' | b'(' | b',', ..] => true,
        version => rest.starts_with(b" ") && is_version(version),
    }
}

/// Whether a text begins with a version: `4.1`, `v2`.
fn is_version(text: &[u8]) -> bool {
    matches!(text, [b'0'..=b'9', ..] | [b'v' | b'V', b'0'..=b'9', ..])
}

/// The length of a version behind a name: `/1.0-beta`, ` 1.0`, ` v2`.
fn length_of_version(rest: &[u8]) -> usize {
    let has_version = match rest {
        [b'/', ..] => true,
        [b' ', version @ ..] => is_version(version),
        _ => false,
    };
    let part = |b: &&u8| !b" ;,()".contains(b);
    if has_version { 1 + rest.iter().skip(1).take_while(part).count() } else { 0 }
}

/// A name cut to the length that a group's name can have. It is still that of a bot.
pub(super) fn bounded(name: &[u8]) -> &[u8] {
    name.get(..ProductToken::MAX_LENGTH).unwrap_or(name)
}

fn named<'a>(name: &Word, text: &'a [u8]) -> Option<&'a [u8]> {
    let bytes = name.bytes(text);
    let is_name = bytes.len() >= 3
        && bytes.iter().any(u8::is_ascii_alphabetic)
        && bytes.is_ascii()
        && !name.is_part(text);
    is_name.then_some(bytes)
}
