//! robots.txt as values: groups, rules and other records (RFC 9309).
//!
//! The way of a file through this room:
//!
//! 1. [`parse`] turns bytes into a [`RobotsTxt`] and a list of findings. It never fails: a crawler
//!    must follow the parseable rules (§2.3.1.1), so every line is either understood, kept as a
//!    record of another kind (§2.2.4), or reported.
//! 2. [`RobotsTxt`] is plain data with public fields. The policy builds one through
//!    [`Rule::new`], [`UserAgent::new`] and [`Record::new`], which refuse what a file can't hold;
//!    its `Display` writes the file, always the same bytes for the same value.
//! 3. [`Matcher`] is the file compiled for judging, [`Target`] a request's path in the forms that
//!    are judged, and [`Matcher::verdict`] the answer with the rule that gave it.
//!
//! Rule and request are brought to one normal form (§2.2.2, module `normal`) before their octets
//! are compared; `pattern` says what matches, `name` which group a crawler obeys.
//!
//! May use: `diagnostic`, `escape`. Must not know: clocks, sockets, policies, crawlers.

mod emit;
mod grams;
mod key;
mod matcher;
mod name;
mod normal;
mod parse;
pub mod path;
pub mod pattern;
mod record;
mod trie;

#[cfg(test)]
mod tests;

use crate::{diagnostic::Diagnostic, escape};

pub use matcher::{Access, Explanation, Form, Match, Matcher, Scope, Verdict};
pub use parse::{LEAST_BYTES, MAX_BYTES, MAX_FINDINGS, ReadOptions, parse, parse_with};
pub use path::{Forms, Target};
pub use pattern::Pattern;

/// A whole robots.txt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RobotsTxt {
    /// The comment at the head of the file, a line each, without the `#`.
    pub header: Vec<String>,
    /// The groups in the order of the file. Groups that name the same token are merged by
    /// [`Matcher`], not here.
    pub groups: Vec<Group>,
    /// Records that belong to no group: those before the first one, and those that speak of the
    /// whole site wherever they stand ([`Record::is_global`]).
    pub records: Vec<Record>,
}

/// One or more user-agent lines and what follows them, up to the next group (§2.1).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Group {
    /// The comment right above the group, a line each, without the `#`.
    pub comment: Vec<String>,
    /// Whom the group is for; a group that was read has at least one.
    pub user_agents: Vec<UserAgent>,
    /// The rules in the order of the file. A group without any allows everything.
    pub rules: Vec<Rule>,
    /// Other records inside the group, such as `Crawl-delay`.
    pub records: Vec<Record>,
}

/// A user-agent line (§2.2.1): the product token of a crawler, or `*`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserAgent {
    /// The value as written, trimmed. May be anything in a foreign file.
    pub name: String,
    /// Line in the file, from 1; 0 where it was not read from one.
    pub line: u32,
}

/// An allow or disallow line (§2.2.2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Which of the two.
    pub directive: Directive,
    /// The path pattern as written; octets that are not UTF-8 are percent-encoded, which doesn't
    /// change what it matches. Empty: the line has no effect (`empty-pattern`).
    pub pattern: String,
    /// Line in the file, from 1; 0 where it was not read from one.
    pub line: u32,
}

/// What a rule does with the paths that it matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Directive {
    /// They may be crawled.
    Allow,
    /// They must not be crawled.
    Disallow,
}

/// A line that is not of the protocol itself (§2.2.4), such as `Sitemap` or `Content-Signal`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// What stands before the colon, as written.
    pub name: String,
    /// What stands behind it, trimmed and without its comment.
    pub value: String,
    /// Line in the file, from 1; 0 where it was not read from one.
    pub line: u32,
}

impl UserAgent {
    /// The line for `name`: a product token, `*`, or a name outside the RFC's grammar as its
    /// operator documents it.
    ///
    /// # Errors
    /// An empty name, and one with control characters, `#` or anything outside ASCII.
    pub fn new(name: &str) -> Result<Self, Diagnostic> {
        let name = name.trim();
        if name.is_empty() || name.contains('#') || !name.bytes().all(|b| matches!(b, b' '..=b'~'))
        {
            let shown = escape::bounded(name.as_bytes(), 80);
            return Err(Diagnostic::error(
                "robots.user_agent",
                format!("'{shown}' can't stand in a user-agent line"),
            )
            .help("write the crawler's product token in printable ASCII, or '*'"));
        }
        Ok(Self { name: name.to_owned(), line: 0 })
    }
}

impl Rule {
    /// The rule for `pattern`, which is brought to printable ASCII: what lies outside it, and a
    /// space, is percent-encoded (§2.2.2). The empty pattern is accepted and has no effect.
    ///
    /// # Errors
    /// What [`Pattern::new`] refuses, save the empty pattern: a pattern that starts with neither
    /// `/` nor `*`, and one with control characters or `#`.
    pub fn new(directive: Directive, pattern: &str) -> Result<Self, Diagnostic> {
        if !pattern.is_empty() {
            Pattern::new(pattern)?;
        }
        Ok(Self { directive, pattern: normal::ascii(pattern.as_bytes()), line: 0 })
    }
}

impl Directive {
    /// The name of the line as files are written.
    pub const fn field_name(self) -> &'static str {
        match self {
            Self::Allow => "Allow",
            Self::Disallow => "Disallow",
        }
    }

    /// The name of the line in lower case, as the ABNF writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Disallow => "disallow",
        }
    }
}

impl Record {
    /// The record `name: value`.
    ///
    /// # Errors
    /// A name that is empty, holds `:`, `#` or anything but printable ASCII, or that some reader
    /// takes for a line of the protocol (`Disallow`, `Useragent`); a value with `#` or control
    /// characters.
    pub fn new(name: &str, value: &str) -> Result<Self, Diagnostic> {
        let (name, value) = (name.trim(), value.trim());
        let broken = name.is_empty()
            || !name.bytes().all(|b| matches!(b, b' '..=b'~') && !b"#:".contains(&b))
            || value.contains('#')
            || value.contains(|c| c == '\t' || key::is_break(c))
            || key::is_protocol_name(name.as_bytes());
        if broken {
            let shown = escape::bounded(format!("{name}: {value}").as_bytes(), 80);
            let message = format!("'{shown}' can't stand in robots.txt as a record of its own");
            return Err(Diagnostic::error("robots.record", message)
                .help("give a name without ':' and '#', and a value on one line without '#'"));
        }
        Ok(Self { name: name.to_owned(), value: value.to_owned(), line: 0 })
    }
}
