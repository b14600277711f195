//! Words of a User-Agent: their bytes, their ends, their neighbours.
//!
//! A word consists of letters, digits, `_` and `-`, and of `.` and `!` inside it. Any byte beyond
//! ASCII ends it.

/// A word, by its place in the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word {
    pub(super) start: usize,
    pub(super) end: usize,
    /// Whether it contains a `.` or `!`.
    pub(super) dotted: bool,
    /// The number of words before it. Links and versions behind `/` count.
    pub(super) ordinal: u32,
}

/// The extent of a word.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    /// The number of bytes.
    pub(super) length: usize,
    /// Whether it contains a `.` or `!`.
    pub(super) dotted: bool,
}

/// The flag of a byte that is part of a word.
const WORD: u8 = 1;
/// The flag of a byte that can begin a word.
const START: u8 = 2;
/// The flag of a byte that is part of a word only between two [`WORD`] bytes.
const INNER: u8 = 4;
/// The flag of the byte that begins an escape, `%2F`.
const PERCENT: u8 = 8;

/// The flags of every byte.
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

/// The extent of the word at the beginning of a text.
#[inline]
pub(super) fn extent(text: &[u8]) -> Extent {
    let mut length = 0;
    let mut dotted = false;
    loop {
        let rest = text.get(length..).unwrap_or_default();
        length += rest.iter().position(|&b| !is_word(b)).unwrap_or(rest.len());
        // `Mail.RU_Bot` continues behind its dot, `Name.` ends before it.
        let inner = text.get(length).is_some_and(|&b| is_inner(b));
        if !inner || length == 0 || !text.get(length + 1).is_some_and(|&b| is_word(b)) {
            return Extent { length, dotted };
        }
        dotted = true;
        length += 1;
    }
}

/// Whether a byte is part of a word at any place.
#[inline]
pub(super) fn is_word(byte: u8) -> bool {
    KINDS[usize::from(byte)] & WORD != 0
}

/// Whether a byte is part of a word between two word bytes.
#[inline]
pub(super) fn is_inner(byte: u8) -> bool {
    KINDS[usize::from(byte)] & INNER != 0
}

/// The start of the next word at or behind a place in the text.
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

impl Word {
    pub(super) fn bytes<'a>(&self, text: &'a [u8]) -> &'a [u8] {
        text.get(self.start..self.end).unwrap_or_default()
    }

    /// Whether it contains a dot or ends in a digit, so that it may be a name with a version.
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
