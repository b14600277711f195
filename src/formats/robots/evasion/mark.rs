//! Octets that stand for others while forms are made: what was decoded, and what is held back.
//!
//! A text in normal form is ASCII, so the octets above it are free. No step but those on slashes and
//! parameters looks at them.

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
/// A `;`, a `/` and a `%3B` that no step may change.
const HELD_SEMICOLON: u8 = MARK;
const HELD_SLASH: u8 = MARK | 1;
const HELD_ESCAPE: u8 = MARK | 2;

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

/// `letter` with its `;`, `%3B` and doubled slashes in the places that `is_held` names held back, and
/// how many are.
pub(super) fn hold(letter: &[u8], is_held: impl Fn(usize, usize) -> bool) -> (Vec<u8>, usize) {
    let mut held = Vec::with_capacity(letter.len());
    let (mut before, mut count, mut at) = (0, 0, 0);
    while let Some(&octet) = letter.get(at) {
        let is_escape = letter.get(at..at + 3) == Some(b"%3B");
        let (stands_for, length) = match octet {
            b';' if is_held(at, at + 1) => (HELD_SEMICOLON, 1),
            b'/' if before == b'/' && is_held(at - 1, at + 1) => (HELD_SLASH, 1),
            b'%' if is_escape && is_held(at, at + 3) => (HELD_ESCAPE, 3),
            octet => (octet, 1),
        };
        before = octet;
        count += usize::from(stands_for != octet);
        held.push(stands_for);
        at += length;
    }
    (held, count)
}

/// How many octets of `text` are held back.
pub(super) fn count_held(text: &[u8]) -> usize {
    text.iter().filter(|octet| unhold(**octet) != **octet).count()
}

/// `text` as an origin sees it, its escapes perhaps in lower case.
pub(in crate::formats::robots) fn release(text: &[u8], is_folded: bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + 16);
    for &octet in text {
        match octet {
            HELD_ESCAPE => out.extend_from_slice(if is_folded { b"%3b" } else { b"%3B" }),
            MARKED_BACKSLASH => out.push(b'/'),
            octet => out.push(unhold(octet) & !MARK),
        }
    }
    out
}

/// The octet that a held one stands for when all is decoded and marked.
pub(super) const fn unhold(octet: u8) -> u8 {
    match octet {
        HELD_SEMICOLON => b';',
        HELD_SLASH => b'/',
        HELD_ESCAPE => MARKED_SEMICOLON,
        octet => octet,
    }
}
