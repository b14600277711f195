//! The source of a site's rules.

use crate::base::text::words;

use super::setting::by_word;

words! {
    /// The source of the rules that a site publishes.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Source {
        /// The policy. The origin's own file is not fetched.
        #[default]
        Policy = "policy",
        /// The origin's file, as it is.
        Origin = "origin",
        /// Both, merged by crawler.
        Merge = "merge",
    }
}

by_word!(Source);
