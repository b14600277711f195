//! The words of settings of a site: the source of its rules, and the treatment of requests.

use crate::base::text::words;

words! {
    /// The treatment of a violation.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Mode {
        /// The request is not judged.
        Off = "off",
        /// The violation is recorded and passes.
        Log = "log",
        /// The violation is recorded and passes; a request before its `Crawl-delay` is over gets 429.
        Throttle = "throttle",
        /// The violation is recorded and refused.
        Block = "block",
    }
}

words! {
    /// The treatment of a request whose path the rules allow, but not another form of it.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum OtherForms {
        /// It passes, and nothing is recorded.
        Pass = "pass",
        /// It passes and is recorded.
        Log = "log",
        /// It is recorded and refused.
        Refuse = "refuse",
    }
}

words! {
    /// The treatment of a request that comes too soon.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum PaceMode {
        /// It is counted.
        Log = "log",
        /// It is answered with 429.
        Throttle = "throttle",
    }
}

words! {
    /// The treatment of a request that only the newest robots.txt disallows, while the crawler may
    /// still use an older one.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Grace {
        /// It passes and is counted.
        Count = "count",
        /// It is a violation like any other.
        Enforce = "enforce",
    }
}

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
