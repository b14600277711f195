//! Names in a site's own groups that the catalogue does not contain.
//!
//! A group binds every client with its name: `User-agent: FooBot` is enforceable without an entry
//! for FooBot.

use crate::base::product_token::ProductToken;

use super::{
    catalogue::Catalogue,
    entry::Match,
    name_table::{NameTable, TableId, Target},
};

/// Names to find beside those of the catalogue. Built once for a site, not for a request.
#[derive(Clone, Debug, Default)]
pub struct SiteNames {
    pub(super) id: TableId,
    tokens: Vec<ProductToken>,
    pub(super) names: NameTable,
}

impl SiteNames {
    /// The names of a site's groups, without `*`, the names in the catalogue, and the names that
    /// cannot be found: shorter than three bytes, or words of browsers (`Mozilla`, `Android`, …). A
    /// version (`FooBot/1.2`) is not part of the name.
    pub fn new<'a>(catalogue: &Catalogue, groups: impl IntoIterator<Item = &'a str>) -> Self {
        let mut tokens: Vec<ProductToken> = Vec::new();
        for group in groups {
            let name = group.split('/').next().unwrap_or_default();
            let Some(token) = ProductToken::new(name) else { continue };
            let known = catalogue.find(token.as_str()).is_some() || tokens.contains(&token);
            // Each name has a number of two bytes.
            if !known && is_distinctive(token.key()) && tokens.len() < usize::from(u16::MAX) {
                tokens.push(token);
            }
        }
        let targets = tokens
            .iter()
            .zip(0u16..)
            .map(|(token, number)| (token.key().into(), Target::new(number, Match::Word)));
        Self { id: TableId::new(), names: NameTable::new(targets), tokens }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &ProductToken> {
        self.tokens.iter()
    }

    /// The number by which [`Self::token`] finds one of these names.
    pub(super) fn number(&self, token: &ProductToken) -> Option<u16> {
        u16::try_from(self.tokens.element_offset(token)?).ok()
    }

    pub(super) fn token(&self, number: u16) -> Option<&ProductToken> {
        self.tokens.get(usize::from(number))
    }
}

/// Whether a name outside the catalogue can be found in a User-Agent, see [`SiteNames::new`].
pub fn is_findable(name: &str) -> bool {
    let name = name.split('/').next().unwrap_or_default().trim();
    is_distinctive(name)
}

/// Whether a name in any case distinguishes a crawler from browsers.
fn is_distinctive(name: &str) -> bool {
    let key = || name.bytes().map(|b| b.to_ascii_lowercase());
    name.len() >= 3
        && name.bytes().any(|b| b.is_ascii_alphabetic())
        && name.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
        && BROWSER_WORDS.binary_search_by(|word| word.bytes().cmp(key())).is_err()
}

/// Words of browsers about their engines, systems and devices. Sorted.
#[rustfmt::skip]
const BROWSER_WORDS: &[&str] = &[
    "android", "applewebkit", "arm", "arm64", "build", "cfnetwork", "chrome", "chromium",
    "compatible", "cpu", "crios", "cros", "dalvik", "darwin", "desktop", "edg", "edga", "edge",
    "edgios", "firefox", "fxios", "gecko", "huawei", "intel", "ios", "ipad", "iphone", "ipod",
    "khtml", "like", "linux", "mac", "macintosh", "mobile", "mozilla", "msie", "net", "nokia",
    "opera", "opr", "pixel", "presto", "safari", "samsung", "samsungbrowser", "tablet", "touch",
    "trident", "ubuntu", "version", "vivaldi", "webkit", "webview", "win64", "windows", "wow64",
    "x11", "x64", "x86_64", "yabrowser",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browser_words_are_sorted() {
        assert!(BROWSER_WORDS.is_sorted());
    }
}
