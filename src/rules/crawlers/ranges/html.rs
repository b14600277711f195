//! Addresses on an HTML page for people.
//!
//! Only visible text counts: text outside tags, comments, scripts and styles. A line is the text
//! between two block elements or, in `pre`, two line ends. A word counts only as a whole, so
//! `Chrome/119.0.0.0`, `v1.2.3.4` and `https://192.0.2.1/` never count.
//!
//! - A prefix with its length counts everywhere.
//! - A single address may be a version number or the reader's own address. It counts after a key of
//!   the common JSON (unlike `ip`, such a key is no word of a sentence), and on a line that is not a
//!   sentence: at most two other words for each address, none of them in [`NOT_A_LIST`].
//! - In scripts, only the values of such keys count.

use super::{entries::Entries, member_names, prefix, refusal::Refusal};

/// Words that mark a line as no list.
const NOT_A_LIST: [&str; 7] = ["version", "release", "build", "your", "you", "client", "example"];
/// Elements that do not end a line.
const INLINE: [&str; 21] = [
    "a", "abbr", "b", "bdi", "bdo", "cite", "code", "em", "font", "i", "kbd", "mark", "q", "s",
    "samp", "small", "span", "strong", "tt", "u", "wbr",
];
/// Elements without visible text.
const INVISIBLE: [&str; 3] = ["style", "template", "noscript"];

/// A tag of a page.
struct Tag<'a> {
    /// In lower case.
    name: String,
    is_end: bool,
    /// The text behind the tag.
    after: &'a str,
}

/// Reads a page.
pub(super) fn read(page: &str, entries: &mut Entries) -> Result<(), Refusal> {
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
                add_line(&mut line, entries)?;
            }
        } else if rest.starts_with('&') {
            let (character, after) = reference(rest);
            line.push(character);
            rest = after;
        } else if let Some(comment) = rest.strip_prefix("<!--") {
            rest = comment.split_once("-->").map_or("", |(_, after)| after);
        } else if let Some(tag) = Tag::read(rest) {
            rest = tag.after;
            if !INLINE.contains(&tag.name.as_str()) {
                add_line(&mut line, entries)?;
            }
            match tag.name.as_str() {
                "pre" | "textarea" => is_preformatted = !tag.is_end,
                "script" if !tag.is_end => {
                    let (script, after) = until_end(rest, "script");
                    add_values(script, entries)?;
                    rest = after;
                }
                name if !tag.is_end && INVISIBLE.contains(&name) => rest = until_end(rest, name).1,
                _ => {}
            }
        } else {
            line.push('<');
            rest = &rest[1..];
        }
    }
    line.push_str(rest);
    add_line(&mut line, entries)
}

/// Adds the entries of a line, and empties the line.
fn add_line(line: &mut String, entries: &mut Entries) -> Result<(), Refusal> {
    let (mut single, mut other_words, mut is_other, mut after_key) = (Vec::new(), 0, false, false);
    for word in words(line) {
        if prefix::parse(word).is_none() {
            other_words += usize::from(word.contains(|c: char| c.is_alphabetic()));
            is_other |= NOT_A_LIST.iter().any(|one| word.eq_ignore_ascii_case(one));
            after_key = member_names::is_of_prefixes(word);
            continue;
        }
        if after_key || word.contains('/') {
            entries.add(word)?;
        } else {
            single.push(word);
        }
        after_key = false;
    }
    if !is_other && other_words <= 2 * single.len() {
        for word in single {
            entries.add(word)?;
        }
    }
    line.clear();
    Ok(())
}

/// Adds the values of a script's prefix keys.
fn add_values(script: &str, entries: &mut Entries) -> Result<(), Refusal> {
    let mut after_key = false;
    for word in words(script) {
        if after_key {
            entries.add(word)?;
        }
        after_key = member_names::is_of_prefixes(word);
    }
    Ok(())
}

/// The words of a text. An address, a name or a URL is one word.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_inside = |c: char| c.is_alphanumeric() || "./:-_@%=+~".contains(c);
    let words = text.split(move |c| !is_inside(c));
    words.map(trimmed).filter(|word| !word.is_empty())
}

/// A word without the punctuation of a sentence. `::` at its end belongs to an address.
fn trimmed(word: &str) -> &str {
    let word = word.trim_end_matches('.');
    match word.strip_suffix(':') {
        Some(shorter) if !shorter.ends_with(':') => shorter,
        _ => word,
    }
}

impl<'a> Tag<'a> {
    /// The tag at the beginning of a text; `None` if there is none. An unterminated tag extends to
    /// the end of the text.
    fn read(text: &'a str) -> Option<Self> {
        let inner = text.strip_prefix('<')?;
        let (is_end, inner) = match inner.strip_prefix('/') {
            Some(inner) => (true, inner),
            None => (false, inner),
        };
        if !inner.starts_with(|c: char| c.is_ascii_alphabetic() || c == '!' || c == '?') {
            return None;
        }
        let name = inner.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
        let name = name.to_ascii_lowercase();
        let mut quote = None;
        for (at, byte) in inner.bytes().enumerate() {
            match (quote, byte) {
                (None, b'>') => return Some(Self { name, is_end, after: &inner[at + 1..] }),
                (None, b'"' | b'\'') => quote = Some(byte),
                (Some(open), _) if open == byte => quote = None,
                _ => {}
            }
        }
        Some(Self { name, is_end, after: "" })
    }
}

/// The text before the end tag of an element, and the text from that tag on.
fn until_end<'a>(text: &'a str, name: &str) -> (&'a str, &'a str) {
    for (at, _) in text.match_indices("</") {
        let rest = &text.as_bytes()[at + 2..];
        if rest.get(..name.len()).is_some_and(|found| found.eq_ignore_ascii_case(name.as_bytes())) {
            return text.split_at(at);
        }
    }
    (text, "")
}

/// The character of a reference such as `&#47;`, and the text behind it. References that cannot occur
/// in an address become a space.
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
