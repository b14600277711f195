//! The classes of clients, as User-Agents claim them.

use std::fmt;

use serde::Serialize;

use crate::base::text::words;

words! {
    /// The kind of client that a User-Agent claims to be.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
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

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
