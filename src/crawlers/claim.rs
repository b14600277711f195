//! What a User-Agent says of its sender: a class, and the product tokens it carries.

use std::fmt;

use serde::{Serialize, Serializer, ser::SerializeSeq};

use crate::product_token::ProductToken;

use super::{
    crawler::Crawler,
    entry::Kind,
    recent::{Short, ShortName},
};

/// The claim of one request. Borrows from the catalogue, the site's names and the User-Agent; its
/// tokens are distinct and in order of appearance.
#[derive(Clone, Copy)]
pub struct Claim<'a> {
    names: [Option<Name<'a>>; Claim::MAX_TOKENS],
    length: usize,
    /// How many names stand in `names`, those among them that gave way behind the tokens.
    found: usize,
    crowded: bool,
    class: Class,
    truncated: bool,
}

/// One product token that a User-Agent carries.
#[derive(Clone, Copy)]
pub enum Name<'a> {
    /// A crawler of the catalogue.
    Known(&'a Crawler),
    /// A name that only the site's own groups use.
    Site(&'a ProductToken),
    /// What a bot unknown to both calls itself, as written in its User-Agent.
    Declared(&'a str),
}

/// What kind of client a User-Agent claims to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// A crawler of the catalogue.
    Crawler,
    /// A fetcher that acts because a person asked for this page.
    UserTriggered,
    /// A library, a tool, a driven browser, or a bot that names itself and is in no catalogue.
    Automation,
    /// A browser or an app in somebody's hands. It has no tokens.
    Browser,
    /// Nothing that can be read: absent, empty, `-`, or no known form.
    None,
}

impl<'a> Claim<'a> {
    /// The most tokens that are kept of one claim. The longest honest User-Agents carry three; of
    /// one with more, see [`Self::is_crowded`].
    pub const MAX_TOKENS: usize = 8;

    pub(super) const fn empty() -> Self {
        Self {
            names: [None; Self::MAX_TOKENS],
            length: 0,
            found: 0,
            crowded: false,
            class: Class::None,
            truncated: false,
        }
    }

    /// The claim without what it borrows; `None` where a name can't be shortened.
    pub(super) fn shorten(&self, shorten: impl Fn(Name<'a>) -> Option<ShortName>) -> Option<Short> {
        let mut names = [ShortName::Known(0); Self::MAX_TOKENS];
        for (place, name) in names.iter_mut().zip(self.names).take(self.found) {
            *place = shorten(name?)?;
        }
        let (length, found) = (u8::try_from(self.length).ok()?, u8::try_from(self.found).ok()?);
        (!self.truncated).then_some(Short {
            names,
            length,
            found,
            crowded: self.crowded,
            class: self.class,
        })
    }

    /// The claim that was shortened; `None` where a name can't be found again.
    #[inline]
    pub(super) fn expand(
        short: &Short,
        expand: impl Fn(ShortName) -> Option<Name<'a>>,
    ) -> Option<Self> {
        let mut names = [None; Self::MAX_TOKENS];
        for (place, name) in names.iter_mut().zip(short.names).take(short.found.into()) {
            *place = Some(expand(name)?);
        }
        Some(Self {
            names,
            length: short.length.into(),
            found: short.found.into(),
            crowded: short.crowded,
            class: short.class,
            truncated: false,
        })
    }

    /// The class of client.
    pub fn class(&self) -> Class {
        self.class
    }

    /// The tokens, the primary first.
    pub fn tokens(&self) -> impl Iterator<Item = Name<'a>> + Clone + '_ {
        self.names.iter().take(self.length).flatten().copied()
    }

    /// Names of libraries and tools that gave way to a crawler's: they say by which program it
    /// comes. A site that has rules for the program can hold the client to them all the same.
    pub fn programs(&self) -> impl Iterator<Item = Name<'a>> + '_ {
        self.names.iter().take(self.found).skip(self.length).flatten().copied()
    }

    /// Whether there were more names than are kept: no honest client's User-Agent has so many.
    pub fn is_crowded(&self) -> bool {
        self.crowded
    }

    /// How many tokens there are.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether there is no token.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The first token, by which the client is called in logs and metrics.
    pub fn primary(&self) -> Option<Name<'a>> {
        self.names[0]
    }

    /// The User-Agent was longer than what is looked at, see [`Catalogue::MAX_SCAN`].
    ///
    /// [`Catalogue::MAX_SCAN`]: super::Catalogue::MAX_SCAN
    pub fn truncated(&self) -> bool {
        self.truncated
    }

    /// Whether a crawler's name stands here because another one always sends it beside its own: that
    /// is no claim to be it.
    pub fn is_borrowed(&self, crawler: &Crawler) -> bool {
        let mut known = self.tokens().filter_map(Name::known);
        known.any(|other| other.borrows_from(crawler))
    }

    pub(super) fn add(&mut self, name: Name<'a>) {
        if self.tokens().any(|other| other.is_same(name)) {
            return;
        }
        match self.names.get_mut(self.length) {
            Some(place) => {
                *place = Some(name);
                self.length += 1;
                self.found = self.length;
            }
            None => self.crowded = true,
        }
    }

    pub(super) fn mark_truncated(&mut self) {
        self.truncated = true;
    }

    /// Settles what has been found: a library's name gives way to a crawler's, a borrowed name
    /// stands behind the borrower's, and the class follows. `fallback` is the class of a client
    /// without tokens.
    pub(super) fn settle(&mut self, fallback: Class) {
        if self.length == 0 {
            self.class = fallback;
            return;
        }
        if self.tokens().any(Name::is_somebody) {
            self.keep(Name::is_somebody);
        }
        let borrower = self.tokens().position(|name| name.known().is_some_and(Crawler::borrows));
        if let Some(at) = borrower.filter(|&at| at > 0)
            && self.borrows_the_first(at)
        {
            self.names[..=at].rotate_right(1);
        }
        self.class = self.class_of_tokens();
    }

    fn borrows_the_first(&self, at: usize) -> bool {
        let first = self.primary().and_then(Name::known);
        let borrower = self.names[at].and_then(Name::known);
        first.zip(borrower).is_some_and(|(first, own)| own.borrows_from(first))
    }

    fn class_of_tokens(&self) -> Class {
        let has = |kinds: &[Kind]| {
            self.tokens().any(|name| name.known().is_some_and(|c| kinds.contains(&c.kind())))
        };
        if has(&[Kind::Crawler, Kind::Control]) {
            Class::Crawler
        } else if has(&[Kind::UserTriggered]) {
            Class::UserTriggered
        } else {
            Class::Automation
        }
    }

    fn keep(&mut self, keep: impl Fn(Name<'a>) -> bool) {
        let mut kept = 0;
        for at in 0..self.length {
            if self.names[at].is_some_and(&keep) {
                self.names.swap(kept, at);
                kept += 1;
            }
        }
        self.length = kept;
    }
}

impl<'a> Name<'a> {
    /// The name: as the catalogue spells it, else as the site does, else as the client does.
    pub fn as_str(self) -> &'a str {
        match self {
            Self::Known(crawler) => crawler.product_token().as_str(),
            Self::Site(token) => token.as_str(),
            Self::Declared(text) => text,
        }
    }

    /// The catalogue's entry, if there is one.
    pub fn known(self) -> Option<&'a Crawler> {
        match self {
            Self::Known(crawler) => Some(crawler),
            Self::Site(_) | Self::Declared(_) => None,
        }
    }

    /// The name as a token of its own; allocates where the name is only declared.
    pub fn to_product_token(self) -> Option<ProductToken> {
        match self {
            Self::Known(crawler) => Some(crawler.product_token().clone()),
            Self::Site(token) => Some(token.clone()),
            Self::Declared(text) => ProductToken::new(text),
        }
    }

    /// Whether the name tells who is asking, and not only by which program.
    fn is_somebody(self) -> bool {
        self.known().is_none_or(|crawler| crawler.kind() != Kind::Automation)
    }

    fn is_same(self, other: Self) -> bool {
        match (self, other) {
            (Self::Known(a), Self::Known(b)) => std::ptr::eq(a, b),
            _ => self.as_str().eq_ignore_ascii_case(other.as_str()),
        }
    }
}

impl Class {
    /// The class as written in records and metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Crawler => "crawler",
            Self::UserTriggered => "user-triggered",
            Self::Automation => "automation",
            Self::Browser => "browser",
            Self::None => "none",
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl Serialize for Name<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl fmt::Debug for Claim<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.class)?;
        f.debug_list().entries(self.tokens()).finish()
    }
}

/// The list of tokens.
impl Serialize for Claim<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(self.length))?;
        for name in self.tokens() {
            list.serialize_element(&name)?;
        }
        list.end()
    }
}
