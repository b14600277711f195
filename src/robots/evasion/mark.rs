//! Octets that stand for others while forms are made: what was decoded, and what is held back.
//!
//! A text in normal form is ASCII, so the octets above it are free. No step but those on slashes and
//! parameters looks at them.

use super::decoding;

/// How a decoded character is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decoded {
    /// As itself; a backslash as a slash.
    Plain,
    /// So that it differs from one that was sent.
    Marked,
}

const MARK: u8 = 0x80;
pub(super) const MARKED_SLASH: u8 = b'/' | MARK;
pub(super) const MARKED_BACKSLASH: u8 = b'\\' | MARK;
pub(super) const MARKED_SEMICOLON: u8 = b';' | MARK;
/// A `;` and a `/` that no step may change.
const HELD_SEMICOLON: u8 = MARK;
const HELD_SLASH: u8 = MARK | 1;

impl Decoded {
    /// The octet for a decoded `character`.
    pub(super) const fn octet(self, character: u8) -> u8 {
        match (self, character) {
            (Self::Plain, b'\\') => b'/',
            (Self::Plain, character) => character,
            (Self::Marked, character) => character | MARK,
        }
    }
}

/// Whether it ends a segment: a slash, or what was decoded to one.
pub(super) const fn is_slash(octet: u8) -> bool {
    (octet | MARK == MARKED_SLASH) | (octet == MARKED_BACKSLASH)
}

/// Whether it begins a parameter.
pub(super) const fn is_semicolon(octet: u8) -> bool {
    octet | MARK == MARKED_SEMICOLON
}

/// `letter` with its `;` and doubled slashes in the places that `is_held` names held back, and how
/// many are.
pub(super) fn hold(letter: &[u8], is_held: impl Fn(usize, usize) -> bool) -> (Vec<u8>, usize) {
    let mut held = letter.to_vec();
    let mut before = 0;
    let mut count = 0;
    for (at, octet) in held.iter_mut().enumerate() {
        let stands_for = match *octet {
            b';' if is_held(at, at + 1) => Some(HELD_SEMICOLON),
            b'/' if before == b'/' && is_held(at - 1, at + 1) => Some(HELD_SLASH),
            _ => None,
        };
        before = *octet;
        count += usize::from(stands_for.is_some());
        *octet = stands_for.unwrap_or(*octet);
    }
    (held, count)
}

/// How many octets of `text` are held back.
pub(super) fn count_held(text: &[u8]) -> usize {
    text.iter().filter(|octet| matches!(**octet, HELD_SEMICOLON | HELD_SLASH)).count()
}

/// `text` as an origin sees it.
pub(in crate::robots) fn release(text: &[u8]) -> Vec<u8> {
    let plain = |octet: &u8| match *octet {
        HELD_SEMICOLON => b';',
        HELD_SLASH | MARKED_BACKSLASH => b'/',
        octet => octet & !MARK,
    };
    text.iter().map(plain).collect()
}

/// `text` with all that can be decoded marked, whether a step decoded it or not.
pub(in crate::robots) fn mark_all(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let is_marked = |octet: u8| decoding::is_reserved(octet) || b"/\\".contains(&octet);
    let mark = |octet| is_marked(octet).then(|| Decoded::Marked.octet(octet));
    if !decoding::replace_escapes(text, &mut out, mark) {
        out.extend_from_slice(text);
    }
    for octet in &mut out {
        match *octet {
            HELD_SEMICOLON => *octet = b';',
            HELD_SLASH => *octet = b'/',
            _ => {}
        }
    }
    out
}
