//! The claim of a User-Agent: a class, and the product tokens in it.

use std::fmt;

use derive_more::Display;
use serde::Serialize;

use crate::base::{product_token::ProductToken, text::words};

use super::{
    crawler::Crawler,
    entry::{Kind, Purpose},
};

words! {
    /// The kind of client that a User-Agent claims to be.
    #[derive(Clone, Copy, Debug, Display, PartialEq, Eq, Hash, Serialize)]
    #[display("{}", self.as_str())]
    #[serde(rename_all = "kebab-case")]
    pub enum Class {
        /// A crawler of the catalogue.
        Crawler = "crawler",
        /// A fetcher that acts because a person requested this page.
        UserTriggered = "user-triggered",
        /// A tool made to crawl or to fetch pages in number, a driven browser, or a bot that names itself
        /// and is in no catalogue.
        Automation = "automation",
        /// An app, a client of an API, or the HTTP stack of apps. A token is the stack's or the app's.
        App = "app",
        /// A browser. It has no tokens.
        Browser = "browser",
        /// A User-Agent that is absent, empty, `-`, or of no known form.
        None = "none",
    }
}

const MAX_TOKENS: usize = 8;

/// The claim of one request. Borrows from the catalogue, the site's names and the User-Agent; its
/// tokens are distinct and in order of appearance.
pub type Claim<'a> = ClaimOf<Name<'a>>;

/// A claim with names of this kind.
#[derive(Clone, Copy)]
pub struct ClaimOf<N> {
    names: [Option<N>; MAX_TOKENS],
    /// How many of `names` are tokens.
    pub(super) length: usize,
    /// How many names `names` holds: the tokens first, then the programs.
    found: usize,
    pub(super) crowded: bool,
    class: Class,
    pub(super) truncated: bool,
}

impl<N: Copy> ClaimOf<N> {
    pub(super) const fn empty() -> Self {
        Self {
            names: [None; MAX_TOKENS],
            length: 0,
            found: 0,
            crowded: false,
            class: Class::None,
            truncated: false,
        }
    }

    /// The claim with another form of each name. `None` if a name has none.
    #[inline]
    pub(super) fn map<M: Copy>(&self, form: impl Fn(N) -> Option<M>) -> Option<ClaimOf<M>> {
        let Self { length, found, crowded, class, truncated, .. } = *self;
        let mut names = [None; MAX_TOKENS];
        for (place, name) in names.iter_mut().zip(self.names).take(found) {
            *place = Some(form(name?)?);
        }
        Some(ClaimOf { names, length, found, crowded, class, truncated })
    }
}

impl<'a> Claim<'a> {
    /// The most tokens that a claim keeps. The longest honest User-Agents carry three;
    /// [`Self::is_crowded`] marks a User-Agent with more.
    pub const MAX_TOKENS: usize = MAX_TOKENS;

    /// The class of client.
    pub fn class(&self) -> Class {
        self.class
    }

    /// The tokens, the primary first.
    pub fn tokens(&self) -> impl Iterator<Item = Name<'a>> + Clone + '_ {
        self.names.iter().take(self.length).flatten().copied()
    }

    /// Names of libraries and tools beside a crawler's name: the programs that the crawler runs. A
    /// site with rules for such a program can still apply them.
    pub(crate) fn programs(&self) -> impl Iterator<Item = Name<'a>> + '_ {
        self.names.iter().take(self.found).skip(self.length).flatten().copied()
    }

    /// Whether the User-Agent carries more names than a claim keeps. No honest client sends so many.
    pub fn is_crowded(&self) -> bool {
        self.crowded
    }

    /// Whether there is no token.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The first token: the client's name in logs and metrics.
    pub fn primary(&self) -> Option<Name<'a>> {
        self.names[0]
    }

    /// Whether the User-Agent may carry names that the claim has not. No honest client sends one.
    pub(crate) fn may_hide_names(&self) -> bool {
        self.crowded || self.truncated
    }

    /// Whether another crawler of this claim always sends this crawler's name beside its own. Then
    /// the name is no claim to be this crawler.
    pub(crate) fn is_borrowed(&self, crawler: &Crawler) -> bool {
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

    /// Whether all tokens so far, if any, are names of apps and their HTTP stacks.
    pub(super) fn has_apps_only(&self) -> bool {
        self.tokens().all(|name| name.known().is_some_and(|known| known.kind() == Kind::App))
    }

    /// Drops the tokens of crawlers whose operators publish apps under the same name.
    pub(super) fn drop_names_of_apps(&mut self) {
        self.keep(|name| {
            let purpose = name.known().map(Crawler::purpose);
            !matches!(purpose, Some(Purpose::Feed | Purpose::Preview))
        });
        self.found = self.length;
        self.names.iter_mut().skip(self.length).for_each(|name| *name = None);
    }

    /// Orders the names that were found and sets the class. A crawler's name displaces a library's,
    /// so does an app's, and a borrower's name comes before the borrowed one. `fallback` is the class
    /// of a client without tokens.
    pub(super) fn settle(&mut self, fallback: Class) {
        if self.length == 0 {
            self.class = fallback;
            return;
        }
        if self.tokens().any(Name::is_crawler) {
            self.keep(Name::is_crawler);
        } else if self.tokens().any(Name::is_app) {
            self.keep(Name::is_app);
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
        } else if self.has_apps_only() {
            Class::App
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

impl<N: fmt::Debug> fmt::Debug for ClaimOf<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.class)?;
        f.debug_list().entries(self.names.iter().take(self.length).flatten()).finish()
    }
}

/// One product token that a User-Agent carries.
#[derive(Clone, Copy, Display)]
#[display("{}", self.as_str())]
pub enum Name<'a> {
    /// A crawler of the catalogue.
    Known(&'a Crawler),
    /// A name that only the site's own groups use.
    Site(&'a ProductToken),
    /// The name that an unlisted bot gives itself, as written in its User-Agent.
    Declared(&'a str),
}

impl<'a> Name<'a> {
    /// The name, spelled as in the catalogue, else as in the site's group, else as in the request.
    pub fn as_str(self) -> &'a str {
        match self {
            Self::Known(crawler) => crawler.product_token().as_str(),
            Self::Site(token) => token.as_str(),
            Self::Declared(text) => text,
        }
    }

    pub(crate) fn known(self) -> Option<&'a Crawler> {
        match self {
            Self::Known(crawler) => Some(crawler),
            Self::Site(_) | Self::Declared(_) => None,
        }
    }

    pub(crate) fn is_pending(self) -> bool {
        self.known().is_some_and(Crawler::is_pending)
    }

    pub(super) fn is_crawler(self) -> bool {
        !self.known().is_some_and(Crawler::is_program)
    }

    /// Whether the name is an app's own, and not only that of the HTTP stack in it.
    pub(super) fn is_app(self) -> bool {
        self.known().is_some_and(|known| {
            known.kind() == Kind::App && known.purpose() != Purpose::HttpLibrary
        })
    }

    pub(super) fn is_same(self, other: Self) -> bool {
        match (self, other) {
            (Self::Known(a), Self::Known(b)) => std::ptr::eq(a, b),
            _ => self.as_str().eq_ignore_ascii_case(other.as_str()),
        }
    }
}

impl fmt::Debug for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}
