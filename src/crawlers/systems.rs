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

/// What a word says about the client. One match, because every word of a User-Agent passes here.
#[inline]
pub(super) fn meaning(word: &[u8]) -> Meaning {
    const NOTHING: Meaning =
        Meaning { device: Device::Unnamed, engine: false, renderer: false, app_stack: false };
    const SYSTEM: Meaning = Meaning { engine: true, ..NOTHING };
    match word {
        b"Android" => Meaning { device: Device::Android, ..SYSTEM },
        b"iPhone" | b"iPad" | b"iOS" => Meaning { device: Device::OfApps, ..SYSTEM },
        // `wv` is Android's browser inside an app.
        b"iPod" | b"wv" => Meaning { device: Device::OfApps, ..NOTHING },
        b"CFNetwork" | b"Darwin" | b"Dalvik" => {
            Meaning { device: Device::OfApps, app_stack: true, ..SYSTEM }
        }
        // Servers run it, too, so it names no device of a person.
        b"okhttp" => Meaning { app_stack: true, ..NOTHING },
        b"X11" | b"Linux" | b"Windows" | b"Macintosh" => SYSTEM,
        b"MSIE" | b"KHTML" | b"Gecko" | b"Opera" | b"UCWEB" | b"Presto" | b"WebKit"
        | b"Profile" | b"Symbian" | b"Trident" | b"MIDP-1.0" | b"MIDP-2.0" | b"NetFront"
        | b"BlackBerry" | b"AppleWebKit" | b"ELinks" | b"Lynx" | b"w3m" => {
            Meaning { renderer: true, ..SYSTEM }
        }
        _ => NOTHING,
    }
}
