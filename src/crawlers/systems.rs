//! Words of devices, of systems, of the HTTP stacks of apps, and of the engines of browsers.

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

/// What a word says about the client.
#[derive(Clone, Copy, Debug)]
pub(super) struct Meaning {
    pub(super) device: Device,
    /// It names a system of browsers and apps, or an engine.
    pub(super) engine: bool,
    /// It names the engine of browsers, or a browser of text.
    pub(super) renderer: bool,
    /// It names an HTTP stack that apps send behind their own name.
    pub(super) app_stack: bool,
}

/// What a word says about the client. Every word of a User-Agent passes here, so its length leaves few
/// to compare with.
#[inline]
pub(super) fn meaning(word: &[u8]) -> Meaning {
    const NOTHING: Meaning =
        Meaning { device: Device::Unnamed, engine: false, renderer: false, app_stack: false };
    const SYSTEM: Meaning = Meaning { engine: true, ..NOTHING };
    const RENDERER: Meaning = Meaning { renderer: true, ..SYSTEM };
    const OF_APPS: Meaning = Meaning { device: Device::OfApps, ..SYSTEM };
    const APP_STACK: Meaning = Meaning { app_stack: true, ..OF_APPS };
    const IN_APP: Meaning = Meaning { engine: false, ..OF_APPS };
    match (word.len(), word) {
        // `wv` is Android's browser inside an app.
        (2, b"wv") => IN_APP,
        (3, b"X11") => SYSTEM,
        (3, b"iOS") => OF_APPS,
        (3, b"w3m") => RENDERER,
        (4, b"iPad") => OF_APPS,
        (4, b"iPod") => IN_APP,
        (4, b"MSIE" | b"Lynx") => RENDERER,
        (5, b"Linux") => SYSTEM,
        (5, b"KHTML" | b"Gecko" | b"Opera" | b"UCWEB") => RENDERER,
        (6, b"iPhone") => OF_APPS,
        (6, b"Darwin" | b"Dalvik") => APP_STACK,
        (6, b"Presto" | b"WebKit" | b"ELinks") => RENDERER,
        // Servers run it, too, so it names no device of a person.
        (6, b"okhttp") => Meaning { app_stack: true, ..NOTHING },
        (7, b"Android") => Meaning { device: Device::Android, ..SYSTEM },
        (7, b"Windows") => SYSTEM,
        (7, b"Profile" | b"Symbian" | b"Trident") => RENDERER,
        (8, b"MIDP-1.0" | b"MIDP-2.0" | b"NetFront") => RENDERER,
        (9, b"CFNetwork") => APP_STACK,
        (9, b"Macintosh") => SYSTEM,
        (10, b"BlackBerry") => RENDERER,
        (11, b"AppleWebKit") => RENDERER,
        _ => NOTHING,
    }
}
