//! Addresses on a page for people.
//!
//! Only what a reader sees counts, line by line: text outside tags, comments, scripts and styles,
//! a line being what stands between two block elements or, in `pre`, two line ends. A word counts
//! only as a whole, so `Chrome/119.0.0.0`, `v1.2.3.4` and `https://192.0.2.1/` never do.
//!
//! - A prefix with its length counts wherever it stands.
//! - A single address has the form of a version number, or may be the reader's own, shown to him.
//!   It counts after a key of the common JSON ([`PREFIX_KEYS`]), and on a line that is no sentence:
//!   at most two other words for each address, none of them in [`NOT_A_LIST`].
//! - Of scripts, in which pages carry what they will show, only values of such keys count.

use super::{prefix, read::Found, refusal::Refusal};

/// Keys of lists in JSON that are no words of a sentence, as `ip` would be.
const PREFIX_KEYS: [&str; 4] = ["ipv4Prefix", "ipv6Prefix", "ip_prefix", "ipv6_prefix"];
/// Words on whose line a single address belongs to something else.
const NOT_A_LIST: [&str; 7] = ["version", "release", "build", "your", "you", "client", "example"];
/// Elements that do not end a line.
const INLINE: [&str; 21] = [
    "a", "abbr", "b", "bdi", "bdo", "cite", "code", "em", "font", "i", "kbd", "mark", "q", "s",
    "samp", "small", "span", "strong", "tt", "u", "wbr",
];
/// Elements of which nothing is seen.
const UNSEEN: [&str; 3] = ["style", "template", "noscript"];

/// Reads a page.
pub(super) fn read(page: &str, found: &mut Found) -> Result<(), Refusal> {
    let mut line = String::new();
    let mut is_preformatted = false;
    let mut rest = page;
    while let Some(at) = rest.find(['<', '&', '\n']) {
        line.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some(after) = rest.strip_prefix('\n') {
            rest = after;
            line.push(' ');
            if is_preformatted {
                take_line(&mut line, found)?;
            }
        } else if rest.starts_with('&') {
            let (character, after) = reference(rest);
            line.push(character);
            rest = after;
        } else if let Some(comment) = rest.strip_prefix("<!--") {
            rest = comment.split_once("-->").map_or("", |(_, after)| after);
        } else if let Some((name, is_end, after)) = tag(rest) {
            rest = after;
            if !INLINE.contains(&name.as_str()) {
                take_line(&mut line, found)?;
            }
            match name.as_str() {
                "pre" | "textarea" => is_preformatted = !is_end,
                "script" if !is_end => {
                    let (script, after) = until_end(rest, "script");
                    take_values(script, found)?;
                    rest = after;
                }
                unseen if !is_end && UNSEEN.contains(&unseen) => rest = until_end(rest, unseen).1,
                _ => {}
            }
        } else {
            line.push('<');
            rest = &rest[1..];
        }
    }
    line.push_str(rest);
    take_line(&mut line, found)
}

/// Takes what counts of a line, and empties it.
fn take_line(line: &mut String, found: &mut Found) -> Result<(), Refusal> {
    let (mut single, mut other_words, mut is_other, mut after_key) = (Vec::new(), 0, false, false);
    for word in words(line) {
        if prefix::parse(word).is_none() {
            other_words += usize::from(word.contains(|c: char| c.is_alphabetic()));
            is_other |= NOT_A_LIST.iter().any(|one| word.eq_ignore_ascii_case(one));
            after_key = is_prefix_key(word);
            continue;
        }
        if after_key || word.contains('/') {
            found.take(word)?;
        } else {
            single.push(word);
        }
        after_key = false;
    }
    if !is_other && other_words <= 2 * single.len() {
        for word in single {
            found.take(word)?;
        }
    }
    line.clear();
    Ok(())
}

/// Takes the values of a script's keys.
fn take_values(script: &str, found: &mut Found) -> Result<(), Refusal> {
    let mut after_key = false;
    for word in words(script) {
        if after_key {
            found.take(word)?;
        }
        after_key = is_prefix_key(word);
    }
    Ok(())
}

fn is_prefix_key(word: &str) -> bool {
    PREFIX_KEYS.iter().any(|key| word.eq_ignore_ascii_case(key))
}

/// Words in the widest sense: what belongs to an address, a name or a URL is not cut.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_inside = |c: char| c.is_alphanumeric() || "./:-_@%=+~".contains(c);
    let words = text.split(move |c| !is_inside(c));
    words.map(trimmed).filter(|word| !word.is_empty())
}

/// Without the punctuation of a sentence around it; `::` at an end belongs to an address.
fn trimmed(word: &str) -> &str {
    let word = word.trim_end_matches('.');
    match word.strip_suffix(':') {
        Some(shorter) if !shorter.ends_with(':') => shorter,
        _ => word,
    }
}

/// The name of the tag that begins here in lower case, whether it is an end tag, and what follows;
/// `None` if this is no tag. A tag that never ends takes all the rest with it.
fn tag(text: &str) -> Option<(String, bool, &str)> {
    let inner = text.strip_prefix('<')?;
    let (is_end, inner) = match inner.strip_prefix('/') {
        Some(inner) => (true, inner),
        None => (false, inner),
    };
    if !inner.starts_with(|c: char| c.is_ascii_alphabetic() || c == '!' || c == '?') {
        return None;
    }
    let name = inner.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
    let mut quote = None;
    for (at, byte) in inner.bytes().enumerate() {
        match (quote, byte) {
            (None, b'>') => return Some((name.to_ascii_lowercase(), is_end, &inner[at + 1..])),
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), _) if open == byte => quote = None,
            _ => {}
        }
    }
    Some((name.to_ascii_lowercase(), is_end, ""))
}

/// What stands before the end tag of an element, and what follows from that tag on.
fn until_end<'a>(text: &'a str, name: &str) -> (&'a str, &'a str) {
    for (at, _) in text.match_indices("</") {
        let rest = &text.as_bytes()[at + 2..];
        if rest.get(..name.len()).is_some_and(|found| found.eq_ignore_ascii_case(name.as_bytes())) {
            return text.split_at(at);
        }
    }
    (text, "")
}

/// The character that a reference stands for, and what follows: those that can stand in a list;
/// others separate.
fn reference(text: &str) -> (char, &str) {
    const LONGEST: usize = 10;
    let inner = text.strip_prefix('&').unwrap_or(text);
    let end = inner.bytes().take(LONGEST).position(|b| b == b';');
    let Some((name, after)) = end.and_then(|end| Some((inner.get(..end)?, inner.get(end + 1..)?)))
    else {
        return ('&', inner);
    };
    let number = match name.strip_prefix('#') {
        Some(number) => match number.strip_prefix(['x', 'X']) {
            Some(digits) => u32::from_str_radix(digits, 16).ok(),
            None => number.parse().ok(),
        },
        None => None,
    };
    let named = match name {
        "sol" => Some('/'),
        "period" => Some('.'),
        "colon" => Some(':'),
        "lowbar" => Some('_'),
        _ => None,
    };
    (named.or_else(|| number.and_then(char::from_u32)).unwrap_or(' '), after)
}
