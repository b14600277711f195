//! Words of devices, of systems, of the HTTP stacks of apps, and of the engines of browsers.

use super::words::words;

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
