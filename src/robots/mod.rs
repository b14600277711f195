//! robots.txt as values: groups, rules and other records (RFC 9309, "the RFC" below; § are its
//! sections).
//!
//! ```
//! use beadle::robots::{self, Access, Matcher, Target};
//!
//! let file = b"User-agent: ExampleBot # ours\nDisallow: /drafts/\nAllow: /drafts/*.html$\n";
//! let (robots_txt, findings) = robots::parse(file);
//! assert!(findings.is_empty());
//!
//! let matcher = Matcher::new(&robots_txt);
//! let scope = matcher.group("examplebot").or_else(|| matcher.star()).expect("it is named");
//! let verdict = matcher.verdict(scope, &Target::new(b"/drafts/a.txt?x=1"));
//! assert_eq!(verdict.access, Access::Disallow);
//! assert_eq!(verdict.rule.map(|rule| (rule.line, rule.pattern.as_str())), Some((2, "/drafts/")));
//!
//! assert_eq!(robots::parse(robots_txt.to_string().as_bytes()).0, robots_txt);
//! ```
//!
//! [`parse`] turns bytes into a [`RobotsTxt`] and a list of findings. It never fails, because a
//! crawler must follow the parseable rules (§2.3.1.1, §2.3.1.5): every line is understood, kept as a
//! record of another kind, or reported. [`RobotsTxt`] is plain data; [`Rule::new`],
//! [`UserAgent::new`] and [`Record::new`] refuse what a file can't hold, and `Display` writes it,
//! always the same bytes for the same value. [`Matcher`] is the file compiled for judging,
//! [`Target`] a request's path, and [`Matcher::verdict`] the answer with the rule that gave it.
//!
//! # Grammar (§2.2)
//!
//! ```text
//! file    = [ %xEF.BB.BF ] *( line NL )       NL is CR, LF or CRLF, and nothing else
//! line    = *WS [ record *WS ] [ "#" comment ]  WS is space and tab, and nothing else
//! record  = name *WS ":" *WS value            name is without regard to case:
//!           "user-agent"                      value is 1*( ALPHA / "-" / "_" ), or "*"
//!           "allow" / "disallow"              value is empty, or "/" and octets save WS and controls
//!           any other without ":" and "#"     value is any text
//! ```
//!
//! - A *group* is a run of user-agent lines and the rules behind them (§2.1). The run is ended by a
//!   rule and by nothing else: not by an empty line, a comment, another record, a line that can't be
//!   read. The first user-agent line behind a rule begins the next group. Rules before the first
//!   group are ignored (§2.2.2).
//! - *Other records* (§2.2.4) are kept with their place. Those that speak of the whole site
//!   ([`Record::is_global`]) are moved out of the group; [`Record::check`] knows their values.
//! - *Paths*: the RFC's grammar has them begin with `/`, its own example (§5.1) with `*`; both are
//!   read, and anything else is kept and matches nothing. A space, which the grammar has not,
//!   stands for `%20`. A path with a control octet, the tab and 0x7F among them, drops the line (§3;
//!   of 0x7F the ABNF's range and its comment say opposite things).
//!   Octets that are not UTF-8 (§2.3) are compared as octets.
//! - *Names* outside the grammar (`MJ12bot`, `FooBot/1.2`, `Sogou web spider`, `Brightbot 1.0`) name
//!   a crawler in one of three forms, the first that any line of the file has: the whole name up to
//!   a `/`; without a version behind a space; its leading letters, `-` and `_`, if up to a `(`, `[`,
//!   `;`, `*` or the end no letter or digit follows. So `MJ12bot` is not MJ, and a list names nobody.
//!   A name with control characters names nobody.
//!
//! # Which rule decides
//!
//! 1. `/robots.txt` is allowed, with any query (§2.2.2).
//! 2. The groups that name the crawler, without regard to case, are one (§2.2.1). If there are
//!    none, the groups for `*` are. If there are none either, everything is allowed.
//! 3. Rule and path are brought to one form (§2.2.2): `%XX` of `ALPHA DIGIT - . _ ~` is decoded,
//!    once; other `%XX` get upper-case digits; octets outside ASCII, controls, the space and
//!    ``" < > \ ^ ` { | }`` are encoded. Reserved characters stay as they are: `%2F` is not `/`, and
//!    the second row of figure 4 is not followed. A `%` without two hex digits stands for itself.
//! 4. A pattern matches from the first octet of the path on, query included, and need not reach its
//!    end. `*` is any number of octets, also none; `$` as the last octet is the end of the path
//!    (§2.2.3). `%2A` and `%24` are the characters themselves, and so is a `$` anywhere else.
//! 5. Of the rules that match, the one with the most octets decides (§2.2.2), counted in the form
//!    of step 3: `*` and `$` are one octet each, stars in a row one together, `%2A` and `%24` three.
//!    Of equally long ones an allow rule decides, of equal ones the first. The empty pattern matches
//!    nothing. Where no rule matches, the path is allowed.
//! 6. What is allowed so is judged again in the forms that an origin may make of the path
//!    ([`path`]), of which the RFC says nothing; [`Matcher::verdict_letter`] leaves this out.
//!
//! # Limits
//!
//! | what | limit | beyond it |
//! |---|---|---|
//! | file read | [`MAX_BYTES`], 512 KiB | ends at the last line that is whole; `robots.too_long` |
//! | file that every crawler reads | [`LEAST_BYTES`], 500 KiB (§2.5) | is read, `robots.too_long` |
//! | findings | [`MAX_FINDINGS`], 1,000 | are counted |
//! | file merged | [`LEAST_BYTES`] | is refused: `robots.merged_too_long` |
//! | differences | [`MAX_DIFFERENCES`], 1,000 | are counted |
//! | path judged | [`path::MAX_LENGTH`], 64 KiB | is not looked at |
//!
//! A line, a pattern and the number of groups, rules and stars have no limit of their own. Reading
//! takes time linear in the file, a pattern time linear in the path.
//!
//! # Where Google differs
//!
//! [`ReadOptions::lenient`] reads a file as google/robotstxt does: what that option lists is all. It
//! does not change the judging, in which Google's library differs too: it encodes patterns and not
//! paths, decodes nothing (so `%61` is not `a`, and `%2A` not a literal star), counts the octets of
//! a pattern as it stands with all its stars, takes the first segment of `//x/y` for a host, and
//! does not open `/robots.txt`. Without the option, what Google alone reads is reported
//! (`robots.misspelt`, `robots.no_colon`, `robots.user_agent`, `robots.index_page`,
//! `robots.long_line`, `robots.control_character`) with what either reader concludes.
//!
//! # Writing
//!
//! The comment at the head, records of no group, the groups with their comment, user-agent lines,
//! rules and records, then `Sitemap` and its like; an empty line between blocks. `License` comes
//! before the groups. Patterns are printable ASCII. Read again, the file is the same value, save
//! for line numbers, the empty `Disallow` that keeps a group without rules apart from the next, and
//! a record of the whole site that was put into a group.
//!
//! # Two files
//!
//! [`merge`] makes one file of the origin's and the operator's own, by what crawlers read in them;
//! [`differences`] tells what two files say otherwise, by crawler and path.
//!
//! May use: `diagnostic`, `escape`, `sfv`. Must not know: clocks, sockets, policies, crawlers.

mod common;
mod difference;
mod emit;
mod filed;
mod key;
mod lint;
mod matcher;
mod merge;
mod name;
mod naming;
mod normal;
mod origin_file;
mod pace;
mod parse;
pub mod path;
pub mod pattern;
mod record;
mod trie;
mod windows;

#[cfg(test)]
mod tests;

use crate::{diagnostic::Diagnostic, escape};

pub use common::{Common, Files};
pub use difference::{Difference, Differences, Judged, MAX_DIFFERENCES, differences};
pub use matcher::{Access, Explanation, Form, Match, Matcher, Scope, Verdict, closes_everything};
pub use merge::{Merged, Side, Source, merge};
pub use origin_file::OriginFile;
pub use pace::{Pace, PaceRecord, Span};
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
