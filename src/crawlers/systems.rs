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

/// The device of a person that a word names.
#[inline]
pub(super) fn device(word: &[u8]) -> Device {
    match word {
        b"Android" => Device::Android,
        // `wv` is Android's browser inside an app.
        b"iPhone" | b"iPad" | b"iPod" | b"iOS" | b"wv" => Device::OfApps,
        _ if is_app_stack(word) => Device::OfApps,
        _ => Device::Unnamed,
    }
}

/// Whether a word names the HTTP stack of apps on people's devices.
#[inline]
pub(super) fn is_app_stack(word: &[u8]) -> bool {
    matches!(word, b"CFNetwork" | b"Darwin" | b"Dalvik")
}

/// Whether a word names an HTTP stack that apps send behind their own name. Servers run okhttp, too, so
/// it names no device of a person.
#[inline]
pub(super) fn is_stack_of_apps(word: &[u8]) -> bool {
    is_app_stack(word) || word == b"okhttp"
}

/// Whether a word names a system of browsers and apps.
#[inline]
pub(super) fn is_system(word: &[u8]) -> bool {
    matches!(
        word,
        b"X11" | b"iOS" | b"iPad" | b"Linux" | b"iPhone" | b"Android" | b"Windows" | b"Macintosh"
    ) || is_app_stack(word)
}

/// Whether a word names the engine of browsers, or a browser of text.
#[inline]
pub(super) fn is_renderer(word: &[u8]) -> bool {
    matches!(
        word,
        b"MSIE"
            | b"KHTML"
            | b"Gecko"
            | b"Opera"
            | b"UCWEB"
            | b"Presto"
            | b"WebKit"
            | b"Profile"
            | b"Symbian"
            | b"Trident"
            | b"MIDP-1.0"
            | b"MIDP-2.0"
            | b"NetFront"
            | b"BlackBerry"
            | b"AppleWebKit"
            | b"ELinks"
            | b"Lynx"
            | b"w3m"
    )
}
