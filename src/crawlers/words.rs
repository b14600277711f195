//! Words of a User-Agent: what a byte can be, where a word ends, what stands around it.
//!
//! A word is made of letters, digits, `_` and `-`, and of `.` and `!` inside it. Any byte beyond
//! ASCII ends it.

/// What a byte can be; one look into the table tells all of it.
const WORD: u8 = 1;
/// A word may begin with it.
const START: u8 = 2;
/// Part of a word only between two that are.
const INNER: u8 = 4;
/// The sign of an escape, `%2F`.
const PERCENT: u8 = 8;

const KINDS: [u8; 256] = {
    let mut kinds = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        kinds[byte] = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' => WORD | START,
            b'-' => WORD,
            b'.' | b'!' => INNER,
            b'%' => PERCENT,
            _ => 0,
        };
        byte += 1;
    }
    kinds
};

/// The length of the word that a text begins with, as the scan cuts it.
pub(super) fn word_length(text: &[u8]) -> usize {
    extent(text).0
}

/// The same, and whether there is a `.` or `!` in it.
#[inline]
pub(super) fn extent(text: &[u8]) -> (usize, bool) {
    let mut length = 0;
    let mut dotted = false;
    loop {
        let rest = text.get(length..).unwrap_or_default();
        length += rest.iter().position(|&b| !is_word(b)).unwrap_or(rest.len());
        // `Mail.RU_Bot` goes on behind its dot, `Name.` doesn't.
        let inner = text.get(length).is_some_and(|&b| is_inner(b));
        if !inner || length == 0 || !text.get(length + 1).is_some_and(|&b| is_word(b)) {
            return (length, dotted);
        }
        dotted = true;
        length += 1;
    }
}

/// Whether a byte is part of a word wherever it stands.
#[inline]
pub(super) fn is_word(byte: u8) -> bool {
    KINDS[usize::from(byte)] & WORD != 0
}

/// Whether a byte is part of a word between two that are.
#[inline]
pub(super) fn is_inner(byte: u8) -> bool {
    KINDS[usize::from(byte)] & INNER != 0
}

/// Where the next word begins, at or behind a place in the text.
#[inline]
pub(super) fn next_start(text: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        let rest = text.get(at..)?;
        let found = rest.iter().position(|&b| KINDS[usize::from(b)] & (START | PERCENT) != 0)?;
        at += found;
        match rest.get(found..)? {
            // `%2F` is one separator, not the beginning of the word `2F`.
            [b'%', high, low, ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => at += 3,
            [b'%', ..] => at += 1,
            _ => return Some(at),
        }
    }
}

/// A word, by its place in the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word {
    pub(super) start: usize,
    pub(super) end: usize,
    /// Whether there is a `.` or `!` in it.
    pub(super) dotted: bool,
    /// How many words stand before it, links and what stands behind `/` among them.
    pub(super) ordinal: u32,
}

impl Word {
    pub(super) fn bytes<'a>(&self, text: &'a [u8]) -> &'a [u8] {
        text.get(self.start..self.end).unwrap_or_default()
    }

    /// Whether it holds a dot or ends in a digit: a version may be glued to a name.
    #[inline]
    pub(super) fn may_have_version(&self, text: &[u8]) -> bool {
        self.dotted || self.bytes(text).last().is_some_and(u8::is_ascii_digit)
    }

    pub(super) fn before(&self, text: &[u8]) -> Option<u8> {
        self.start.checked_sub(1).and_then(|at| text.get(at).copied())
    }

    pub(super) fn after(&self, text: &[u8]) -> Option<u8> {
        text.get(self.end).copied()
    }
}
