//! A product token as a User-Agent carries it.

use std::fmt;

use crate::base::product_token::ProductToken;

use super::{crawler::Crawler, entry::Kind, purpose::Purpose};

/// One product token that a User-Agent carries.
#[derive(Clone, Copy)]
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

    /// The catalogue's entry, if there is one.
    pub(crate) fn known(self) -> Option<&'a Crawler> {
        match self {
            Self::Known(crawler) => Some(crawler),
            Self::Site(_) | Self::Declared(_) => None,
        }
    }

    pub(crate) fn is_pending(self) -> bool {
        self.known().is_some_and(Crawler::is_pending)
    }

    /// Whether the name identifies a crawler, and not only the program that it runs.
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
