//! The names that a site's own groups use and no catalogue knows.
//!
//! A group binds whoever carries its name, known or not: `User-agent: FooBot` is enforceable
//! without an entry for FooBot.

use crate::product_token::ProductToken;

use super::{
    catalogue::Catalogue,
    entry::Match,
    names::{Names, Target},
    unique::Id,
};

/// Names to look for besides those of the catalogue. Made once for a site, not for a request.
#[derive(Clone, Debug, Default)]
pub struct SiteNames {
    id: Id,
    tokens: Vec<ProductToken>,
    pub(super) names: Names,
}

impl SiteNames {
    /// The names of a site's groups, without those that the catalogue knows, `*`, and those that
    /// can't be looked for: shorter than three bytes, or words that browsers say of themselves
    /// (`Mozilla`, `Android`, …). A version (`FooBot/1.2`) is no part of the name.
    pub fn new<'a>(catalogue: &Catalogue, groups: impl IntoIterator<Item = &'a str>) -> Self {
        let mut tokens: Vec<ProductToken> = Vec::new();
        for group in groups {
            let name = group.split('/').next().unwrap_or_default();
            let Some(token) = ProductToken::new(name) else { continue };
            let known = catalogue.find(token.as_str()).is_some() || tokens.contains(&token);
            // A number of two bytes leads to each name.
            if !known && can_be_looked_for(token.key()) && tokens.len() < usize::from(u16::MAX) {
                tokens.push(token);
            }
        }
        let targets = tokens
            .iter()
            .zip(0u16..)
            .map(|(token, number)| (token.key().into(), Target::new(number, Match::Word)));
        Self { id: Id::new(), names: Names::new(targets), tokens }
    }

    /// The names that are looked for, as written.
    pub fn iter(&self) -> impl Iterator<Item = &ProductToken> {
        self.tokens.iter()
    }

    /// The number by which [`Self::token`] finds one of these names.
    pub(super) fn number(&self, token: &ProductToken) -> Option<u16> {
        u16::try_from(self.tokens.element_offset(token)?).ok()
    }

    pub(super) const fn id(&self) -> Id {
        self.id
    }

    pub(super) fn token(&self, number: u16) -> Option<&ProductToken> {
        self.tokens.get(usize::from(number))
    }
}

/// Whether a name that no catalogue has can be found in a User-Agent at all, see
/// [`SiteNames::new`].
pub fn is_findable(name: &str) -> bool {
    let name = name.split('/').next().unwrap_or_default().trim();
    can_be_looked_for(&name.to_ascii_lowercase())
}

/// Whether a name in lower case tells a crawler from everybody's browser.
fn can_be_looked_for(key: &str) -> bool {
    key.len() >= 3
        && key.bytes().any(|b| b.is_ascii_alphabetic())
        && key.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
        && BROWSER_WORDS.binary_search(&key).is_err()
}

/// What browsers say of themselves, their engines, systems and devices. Sorted.
const BROWSER_WORDS: &[&str] = &[
    "android",
    "applewebkit",
    "arm",
    "arm64",
    "build",
    "cfnetwork",
    "chrome",
    "chromium",
    "compatible",
    "cpu",
    "crios",
    "cros",
    "dalvik",
    "darwin",
    "desktop",
    "edg",
    "edga",
    "edge",
    "edgios",
    "firefox",
    "fxios",
    "gecko",
    "huawei",
    "intel",
    "ios",
    "ipad",
    "iphone",
    "ipod",
    "khtml",
    "like",
    "linux",
    "mac",
    "macintosh",
    "mobile",
    "mozilla",
    "msie",
    "net",
    "nokia",
    "opera",
    "opr",
    "pixel",
    "presto",
    "safari",
    "samsung",
    "samsungbrowser",
    "tablet",
    "touch",
    "trident",
    "ubuntu",
    "version",
    "vivaldi",
    "webkit",
    "webview",
    "win64",
    "windows",
    "wow64",
    "x11",
    "x64",
    "x86_64",
    "yabrowser",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browser_words_are_sorted_for_the_search() {
        assert!(BROWSER_WORDS.is_sorted());
    }
}
