//! The classes of clients, as User-Agents claim them.

use std::fmt;

use serde::Serialize;

/// The kind of client that a User-Agent claims to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// A crawler of the catalogue.
    Crawler,
    /// A fetcher that acts because a person requested this page.
    UserTriggered,
    /// A tool made to crawl or to fetch pages in number, a driven browser, or a bot that names itself
    /// and is in no catalogue.
    Automation,
    /// An app, a client of an API, or the HTTP stack of apps. A token is the stack's or the app's.
    App,
    /// A browser. It has no tokens.
    Browser,
    /// A User-Agent that is absent, empty, `-`, or of no known form.
    None,
}

impl Class {
    /// Every class.
    pub const ALL: [Self; 6] = [
        Self::Crawler,
        Self::UserTriggered,
        Self::Automation,
        Self::App,
        Self::Browser,
        Self::None,
    ];

    /// The class as written in records and metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Crawler => "crawler",
            Self::UserTriggered => "user-triggered",
            Self::Automation => "automation",
            Self::App => "app",
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
