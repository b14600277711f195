//! Words of a User-Agent: their bytes, their ends, their neighbours, and what some of them mean.
//!
//! A word consists of letters, digits, `_` and `-`, and of `.` and `!` inside it. A `-` or `_` at its
//! end is punctuation. Any byte beyond ASCII ends a word. But a word that touches a letter beyond
//! ASCII is only a part of a longer one.

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

#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    pub(super) length: usize,
    /// Whether it contains a `.` or `!`.
    pub(super) dotted: bool,
}

/// The shortest name before a version without a dot, in bytes: four letters and a number are a phone
/// (`Zao 8`).
pub(super) const MIN_VERSIONED: usize = 5;

/// The flag of a byte that is part of a word.
const WORD: u8 = 1;
/// The flag of a byte that can begin a word.
const START: u8 = 2;
/// The flag of a byte that is part of a word only between two [`WORD`] bytes.
const INNER: u8 = 4;
/// The flag of the byte that begins an escape, `%2F`.
const PERCENT: u8 = 8;
/// The flag of a byte that ends a link.
const LINK_END: u8 = 16;

const KINDS: [u8; 256] = {
    let mut kinds = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        kinds[byte] = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' => WORD | START,
            b'-' => WORD,
            b'.' | b'!' => INNER,
            b'%' => PERCENT,
            b' ' | b'\t' | b';' | b',' | b')' | b']' | b'>' | b'"' | b'\'' => LINK_END,
            _ => 0,
        };
        byte += 1;
    }
    kinds
};

#[inline]
pub(super) fn extent(text: &[u8]) -> Extent {
    let mut length = 0;
    let mut dotted = false;
    loop {
        while text.get(length).is_some_and(|&b| is_word(b)) {
            length += 1;
        }
        // `Mail.RU_Bot` continues behind its dot, `Name.` ends before it.
        let inner = text.get(length).is_some_and(|&b| is_inner(b));
        if !inner || length == 0 || !text.get(length + 1).is_some_and(|&b| is_word(b)) {
            return Extent { length: without_punctuation(text, length), dotted };
        }
        dotted = true;
        length += 1;
    }
}

/// The length of a word without the punctuation at its end. A word of punctuation keeps all of it:
/// else a scan would read a long one again for each of its octets.
#[inline]
fn without_punctuation(text: &[u8], length: usize) -> usize {
    let word = text.get(..length).unwrap_or_default();
    if word.last().is_none_or(u8::is_ascii_alphanumeric) {
        return length;
    }
    let last = word.iter().rposition(|b| !matches!(b, b'-' | b'_' | b'.' | b'!'));
    last.map_or(length, |last| last + 1)
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
        let octet = *text.get(at)?;
        at += 1;
        if KINDS[usize::from(octet)] & (START | PERCENT) == 0 {
            continue;
        }
        match text.get(at..)? {
            _ if octet != b'%' => return Some(at - 1),
            // `%2F` is one separator, not the beginning of the word `2F`.
            [high, low, ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => at += 2,
            _ => {}
        }
    }
}

/// The end of a link, looked for from a place inside it.
#[inline]
pub(super) fn end_of_link(text: &[u8], from: usize) -> usize {
    let rest = text.get(from..).unwrap_or_default();
    let is_end = |b: &u8| KINDS[usize::from(*b)] & LINK_END != 0;
    rest.iter().position(is_end).map_or(text.len(), |length| from + length)
}

/// All words of a text, those of links among them.
pub(super) fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = next_start(text, at)?;
        at = start + extent(text.get(start..)?).length;
        text.get(start..at)
    })
}

impl Word {
    pub(super) fn bytes<'a>(&self, text: &'a [u8]) -> &'a [u8] {
        text.get(self.start..self.end).unwrap_or_default()
    }

    /// Whether it may be a name with a version: it contains a dot, or ends in a digit behind a name of
    /// [`MIN_VERSIONED`] bytes. `Win64`, `x64` and `10.0` are none.
    #[inline]
    pub(super) fn may_have_version(&self, text: &[u8]) -> bool {
        match self.bytes(text) {
            [b'0'..=b'9', ..] => false,
            [.., b'0'..=b'9'] if self.end - self.start > MIN_VERSIONED => true,
            _ => self.dotted,
        }
    }

    pub(super) fn before(&self, text: &[u8]) -> Option<u8> {
        self.start.checked_sub(1).and_then(|at| text.get(at).copied())
    }

    /// Whether the text only compares with it: `like Googlebot`.
    pub(super) fn is_compared(&self, text: &[u8]) -> bool {
        // `compatible with Googlebot` compares; `compatible; Googlebot` names.
        const COMPARISONS: [&[u8]; 3] = [b"like", b"with", b"following"];
        let before = text.get(..self.start).unwrap_or_default();
        let end = before.iter().rposition(u8::is_ascii_alphanumeric).map_or(0, |last| last + 1);
        let previous = before.get(..end).unwrap_or_default();
        COMPARISONS.iter().any(|word| {
            let Some(start) = previous.len().checked_sub(word.len()) else { return false };
            let (rest, last) = previous.split_at(start);
            // `/like` is the end of a link.
            let is_whole =
                |&b: &u8| !is_word(b) && !matches!(b, b'.' | b'/' | b':' | b'=' | b'?' | b'@');
            last.eq_ignore_ascii_case(word) && rest.last().is_none_or(is_whole)
        })
    }

    /// Whether it stands behind something, with one octet between: `a/word`, but not `/word`.
    pub(super) fn is_joined(&self, text: &[u8]) -> bool {
        self.start.checked_sub(2).and_then(|at| text.get(at)).is_some_and(|&octet| octet != b' ')
    }

    pub(super) fn after(&self, text: &[u8]) -> Option<u8> {
        text.get(self.end).copied()
    }

    /// Whether it stands in the first place: as the first word, or as the first product of a client
    /// that begins with `Mozilla/5.0 (compatible;`.
    pub(super) fn is_first(&self, text: &[u8]) -> bool {
        const OPENING: &[u8] = b"(compatible;";
        let before = || text.get(..self.start).unwrap_or_default().trim_ascii_end();
        // `Mozilla`, `5.0` and `compatible` are three words.
        self.ordinal == 0
            || (self.ordinal == 3
                && before()
                    .last_chunk::<{ OPENING.len() }>()
                    .is_some_and(|end| end.eq_ignore_ascii_case(OPENING)))
    }

    /// Whether it is the whole text, but for white space and quotes.
    pub(super) fn is_whole(&self, text: &[u8]) -> bool {
        let is_blank = |part: Option<&[u8]>| {
            part.unwrap_or_default().iter().all(|b| matches!(b, b' ' | b'\t' | b'"' | b'\'' | b'-'))
        };
        is_blank(text.get(..self.start)) && is_blank(text.get(self.end..))
    }

    /// Whether a letter beyond ASCII touches it, so that it is a part of a longer word: the end of a
    /// name with foreign letters that look like Latin ones. Octets that are not UTF-8 are no letters.
    pub(super) fn is_part(&self, text: &[u8]) -> bool {
        // Nearly always its neighbours are signs of ASCII.
        let ends = |octet: Option<u8>| octet.is_none_or(|octet| octet.is_ascii() && octet != b'-');
        if ends(self.before(text)) && ends(self.after(text)) {
            return false;
        }
        let mut before = text.get(..self.start).unwrap_or_default();
        let mut after = text.get(self.end..).unwrap_or_default();
        let last = move || {
            let character = last_character(before)?;
            before = before.get(..before.len() - character.len_utf8())?;
            Some(character)
        };
        let first = move || {
            let character = first_character(after)?;
            after = after.get(character.len_utf8()..)?;
            Some(character)
        };
        goes_on(std::iter::from_fn(last)) || goes_on(std::iter::from_fn(first))
    }
}

/// Whether a word goes on in the characters beside it, the nearest first. One that is not seen joins
/// what stands on both sides of it, and is nothing at the end of a word.
fn goes_on(mut characters: impl Iterator<Item = char>) -> bool {
    let mut is_joined = false;
    let next = characters.find(|&character| {
        is_joined |= is_unseen(character);
        character != '-' && !is_unseen(character)
    });
    next.is_some_and(|next| joins(next) && (is_joined || !next.is_ascii()))
}

const MAX_CHARACTER: usize = 4;

fn first_character(text: &[u8]) -> Option<char> {
    match text {
        [octet, ..] if octet.is_ascii() => Some(char::from(*octet)),
        _ => text.get(..MAX_CHARACTER).unwrap_or(text).utf8_chunks().next()?.valid().chars().next(),
    }
}

fn last_character(text: &[u8]) -> Option<char> {
    let start = text.iter().rev().take(MAX_CHARACTER).position(|&b| b & 0xc0 != 0x80)?;
    let text = text.get(text.len() - 1 - start..)?;
    str::from_utf8(text).ok()?.chars().next()
}

/// Whether a character joins its neighbours to one word: a letter or digit of any script, or a mark
/// over the letter before.
fn joins(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '\u{300}'..='\u{36f}')
}

fn is_unseen(character: char) -> bool {
    matches!(character, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}' | '\u{feff}')
}

/// A device of a person. The last one decides more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Device {
    /// None is named.
    Unnamed,
    /// Android. Crawlers imitate it, too.
    Android,
    /// A device of Apple, the HTTP stack of apps, or a browser inside an app.
    OfApps,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Meaning {
    /// It names a system of browsers and apps, or an engine.
    pub(super) engine: bool,
    /// It names the engine of browsers, or a browser of text.
    pub(super) renderer: bool,
    /// It names an HTTP stack that apps send behind their own name.
    pub(super) app_stack: bool,
}

/// The words of the engine that nearly all browsers name: `AppleWebKit/537.36 (KHTML, like Gecko)`.
pub(super) const ENGINE: [&[u8]; 4] = [b"AppleWebKit", b"KHTML", b"like", b"Gecko"];

/// The end of the engine's words that begin at `start`, with the space behind them.
#[inline]
pub(super) fn end_of_engine(text: &[u8], start: usize) -> Option<usize> {
    // Most words begin with another letter, so they are not compared.
    let rest = text.get(start..).filter(|rest| rest.first() == Some(&b'A'))?;
    let version = rest.strip_prefix(b"AppleWebKit/")?;
    let length = version.iter().position(|b| !matches!(b, b'0'..=b'9' | b'.'))?;
    let behind = version.get(length..)?.strip_prefix(b" (KHTML, like Gecko) ")?;
    version.first().filter(|b| b.is_ascii_digit()).map(|_| text.len() - behind.len())
}

/// What a word says about the program of a client. Most words of a User-Agent pass here, so its length
/// leaves few to compare with.
#[inline]
pub(super) fn meaning(word: &[u8]) -> Meaning {
    const NOTHING: Meaning = Meaning { engine: false, renderer: false, app_stack: false };
    const SYSTEM: Meaning = Meaning { engine: true, ..NOTHING };
    const RENDERER: Meaning = Meaning { renderer: true, ..SYSTEM };
    const APP_STACK: Meaning = Meaning { app_stack: true, ..SYSTEM };
    match (word.len(), word) {
        (3, b"X11" | b"iOS") => SYSTEM,
        (3, b"w3m") => RENDERER,
        (4, b"iPad") => SYSTEM,
        (4, b"MSIE" | b"Lynx") => RENDERER,
        (5, b"Linux") => SYSTEM,
        (5, b"KHTML" | b"Gecko" | b"Opera" | b"UCWEB") => RENDERER,
        (6, b"iPhone") => SYSTEM,
        (6, b"Darwin" | b"Dalvik") => APP_STACK,
        (6, b"Presto" | b"WebKit" | b"ELinks") => RENDERER,
        // Servers run it, too, so it names no system of a person.
        (6, b"okhttp") => Meaning { app_stack: true, ..NOTHING },
        (7, b"Android" | b"Windows") => SYSTEM,
        (7, b"Profile" | b"Symbian" | b"Trident") => RENDERER,
        (8, b"MIDP-1.0" | b"MIDP-2.0" | b"NetFront") => RENDERER,
        (9, b"CFNetwork") => APP_STACK,
        (9, b"Macintosh") => SYSTEM,
        (10, b"BlackBerry") => RENDERER,
        (11, b"AppleWebKit") => RENDERER,
        _ => NOTHING,
    }
}

impl Device {
    /// The device that a text names. This reads the text again, so it is for clients with a bot's name.
    pub(super) fn of(text: &[u8]) -> Self {
        let of_word = |word: &[u8]| match word {
            // `wv` is Android's browser inside an app.
            b"wv" | b"iOS" | b"iPad" | b"iPod" | b"iPhone" => Self::OfApps,
            b"Darwin" | b"Dalvik" | b"CFNetwork" => Self::OfApps,
            b"Android" => Self::Android,
            _ => Self::Unnamed,
        };
        words(text).map(of_word).max().unwrap_or(Self::Unnamed)
    }
}
