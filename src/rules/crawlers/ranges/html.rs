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

use html5gum::{Token, Tokenizer, emitters::default::DefaultEmitter};

use crate::base::diagnostic::Diagnostic;

use super::{
    entries::{Entries, is_of_prefixes},
    prefix,
};

const NOT_A_LIST: [&str; 7] = ["version", "release", "build", "your", "you", "client", "example"];
/// Elements that do not end a line.
const INLINE: [&[u8]; 21] = [
    b"a", b"abbr", b"b", b"bdi", b"bdo", b"cite", b"code", b"em", b"font", b"i", b"kbd", b"mark",
    b"q", b"s", b"samp", b"small", b"span", b"strong", b"tt", b"u", b"wbr",
];
/// Elements in which a line end ends a line.
const PREFORMATTED: [&[u8]; 2] = [b"pre", b"textarea"];
const INVISIBLE: [&[u8]; 4] = [SCRIPT, b"style", b"template", b"noscript"];
const SCRIPT: &[u8] = b"script";

pub(super) fn read(page: &str, entries: &mut Entries) -> Result<(), Diagnostic> {
    let mut emitter = DefaultEmitter::default();
    emitter.naively_switch_states(true);
    let (mut line, mut is_preformatted) = (String::new(), false);
    // The element with no visible text that is open.
    let mut invisible: Option<Vec<u8>> = None;
    let mut tokenizer = Tokenizer::new_with_emitter(page, emitter);
    while let Some(Ok(token)) = tokenizer.next() {
        match (token, invisible.as_deref()) {
            (Token::String(text), None) => {
                for (number, part) in String::from_utf8_lossy(&text).split('\n').enumerate() {
                    if number > 0 && is_preformatted {
                        add_line(&mut line, entries)?;
                    }
                    line.push_str(if number > 0 { " " } else { "" });
                    line.push_str(part);
                }
            }
            (Token::String(text), Some(SCRIPT)) => line.push_str(&String::from_utf8_lossy(&text)),
            (Token::StartTag(tag), None) => {
                if !INLINE.contains(&tag.name.as_slice()) {
                    add_line(&mut line, entries)?;
                }
                is_preformatted |= PREFORMATTED.contains(&tag.name.as_slice());
                invisible = Some(tag.name.0).filter(|name| INVISIBLE.contains(&name.as_slice()));
            }
            (Token::EndTag(tag), None) => {
                if !INLINE.contains(&tag.name.as_slice()) {
                    add_line(&mut line, entries)?;
                }
                is_preformatted &= !PREFORMATTED.contains(&tag.name.as_slice());
            }
            (Token::EndTag(tag), Some(name)) if tag.name.as_slice() == name => {
                add_values(&std::mem::take(&mut line), entries)?;
                invisible = None;
            }
            _ => {}
        }
    }
    match invisible {
        Some(_) => add_values(&line, entries),
        None => add_line(&mut line, entries),
    }
}

fn add_line(line: &mut String, entries: &mut Entries) -> Result<(), Diagnostic> {
    let (mut single, mut other_words, mut is_other, mut after_key) = (Vec::new(), 0, false, false);
    for word in words(line) {
        if prefix::parse(word).is_none() {
            other_words += usize::from(word.contains(|c: char| c.is_alphabetic()));
            is_other |= NOT_A_LIST.iter().any(|one| word.eq_ignore_ascii_case(one));
            after_key = is_of_prefixes(word);
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
fn add_values(script: &str, entries: &mut Entries) -> Result<(), Diagnostic> {
    let mut after_key = false;
    for word in words(script) {
        if after_key {
            entries.add(word)?;
        }
        after_key = is_of_prefixes(word);
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
