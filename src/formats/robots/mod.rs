//! robots.txt as values: groups, rules and other records (RFC 9309, "the RFC" below; § are its
//! sections).
//!
//! ```
//! use beadle::formats::robots::{self, Access, Matcher, Target};
//!
//! let file = b"User-agent: ExampleBot # example\nDisallow: /drafts/\nAllow: /drafts/*.html$\n";
//! let (robots_txt, findings) = robots::parse(file);
//! assert!(findings.is_empty());
//!
//! let matcher = Matcher::new(&robots_txt);
//! let scope = matcher.group("examplebot").or_else(|| matcher.star()).expect("the file names it");
//! let verdict = matcher.verdict(scope, &Target::new(b"/drafts/a.txt?x=1"));
//! assert_eq!(verdict.access, Access::Disallow);
//! assert_eq!(verdict.rule.map(|rule| (rule.line, rule.pattern.as_str())), Some((2, "/drafts/")));
//!
//! assert_eq!(robots::parse(robots_txt.to_string().as_bytes()).0, robots_txt);
//! ```
//!
//! [`parse`] turns bytes into a [`RobotsTxt`] and a list of findings. It never fails, because a
//! crawler must follow the parseable rules (§2.3.1.1, §2.3.1.5). Each line becomes a rule, a name or
//! a record, or it is reported. [`RobotsTxt`] is plain data. [`Rule::new`], [`UserAgent::new`] and
//! [`Record::new`] refuse values that no file can contain. `Display` writes the file, with the same
//! bytes for the same value. [`Matcher`] is the file compiled for judging, [`Target`] the path of a
//! request. [`Matcher::verdict`] gives the answer and the rule that decided.
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
//! - A *group* is a run of user-agent lines and the rules after it (§2.1). Only a rule ends the run:
//!   an empty line, a comment, another record or an unreadable line doesn't. The first user-agent
//!   line after a rule begins the next group. Rules before the first group are ignored (§2.2.2).
//! - *Other records* (§2.2.4) keep their place. Those that apply to the whole site
//!   ([`Record::is_global`]) are moved out of the group. [`Record::check`] validates their values.
//! - *Paths* begin with `/` in the RFC's grammar, and with `*` in its own example (§5.1). Both are
//!   read; any other path is kept and matches nothing. The grammar has no space; a space is read as
//!   `%20`. A path with a control octet, such as the tab or 0x7F, drops the line (§3; on 0x7F the
//!   ABNF's range and its comment disagree). Octets that are not UTF-8 (§2.3) are compared as octets.
//! - *Names* outside the grammar (`MJ12bot`, `FooBot/1.2`, `Sogou web spider`, `Brightbot 1.0`) have
//!   up to three forms. The first form that any line of the file has counts: the whole name up to a
//!   `/`; the name without a version after a space; its leading letters, `-` and `_`, if no letter or
//!   digit follows before a `(`, `[`, `;`, `*` or the end. So `MJ12bot` is not MJ, and a list names
//!   no crawler. A name with control characters names no crawler.
//!
//! # Which rule decides
//!
//! 1. `/robots.txt` is allowed, with any query (§2.2.2).
//! 2. The groups that name the crawler, without regard to case, count as one (§2.2.1). If there are
//!    none, the groups for `*` count. Without those, everything is allowed.
//! 3. Rule and path are compared in one form (§2.2.2): `%XX` of `ALPHA DIGIT - . _ ~` is decoded,
//!    once; other `%XX` get upper-case digits; octets outside ASCII, controls, the space and
//!    ``" < > \ ^ ` { | }`` are encoded. Reserved characters stay as they are: `%2F` is not `/`, and
//!    the second row of figure 4 is not followed. A `%` without two hex digits stands for itself.
//! 4. A pattern matches from the first octet of the path, query included, and need not reach its
//!    end. `*` matches any number of octets, also none. `$` as the last octet is the end of the path
//!    (§2.2.3). `%2A` and `%24` are the characters themselves, and so is a `$` anywhere else.
//! 5. Of the rules that match, the one with the most octets decides (§2.2.2), counted in the form
//!    of step 3: `*` and `$` are one octet each, stars in a row one together, `%2A` and `%24` three.
//!    Of equally long ones an allow rule decides, of equal ones the first. The empty pattern matches
//!    nothing. A path that no rule matches is allowed.
//! 6. An allowed path is judged again in the forms that an origin may make of it ([`Reading`]), on
//!    which the RFC is silent. [`Matcher::verdict_letter`] leaves this step out.
//!
//! # Limits
//!
//! | what | limit | beyond it |
//! |---|---|---|
//! | file read | [`MAX_BYTES`], 512 KiB | cut after the last whole line; `robots.too_long` |
//! | file that every crawler reads | [`LEAST_BYTES`], 500 KiB (§2.5) | read; `robots.too_long` |
//! | findings | [`MAX_FINDINGS`], 1,000 | counted |
//! | file merged | [`LEAST_BYTES`] | refused: `robots.merged_too_long`; [`merge_beginning`] fits |
//! | path judged | [`path::MAX_LENGTH`], 64 KiB | ignored |
//!
//! A line, a pattern and the number of groups, rules and stars have no limit of their own. Parsing
//! takes time linear in the file, a pattern time linear in the path.
//!
//! # Where Google differs
//!
//! [`ReadOptions::lenient`] reads a file as google/robotstxt does, and lists all differences in
//! reading. It doesn't change the judgement, in which Google's library also differs: it encodes
//! patterns and not paths, and decodes nothing (so `%61` is not `a`, and `%2A` not a literal star).
//! It counts the octets of a pattern as written, with all stars. It reads the first segment of
//! `//x/y` as a host, and does not allow `/robots.txt` by itself. Without the option, lines that
//! Google reads differently are reported with both readings (`robots.misspelt`, `robots.no_colon`,
//! `robots.user_agent`, `robots.index_page`, `robots.long_line`, `robots.control_character`).
//!
//! # Writing
//!
//! The order is: the comment at the head, records outside groups, the groups with their comment,
//! user-agent lines, rules and records, then `Sitemap` and similar records. An empty line separates
//! blocks. `License` comes before the groups. Patterns are printable ASCII. The written file reads
//! back as the same value, with three exceptions: line numbers, the empty `Disallow` of a group
//! without rules, and a record of the whole site inside a group.
//!
//! [`arrange`] brings groups and rules into the order that most parsers read as the RFC does.
//!
//! # Two files
//!
//! [`merge`] makes one file of the origin's and the operator's own, by their meaning for crawlers.
//! [`Overlap`] compares a file with older editions, so that one verdict answers for most of them.
//!
//! May use: `usage`, `diagnostic`, `escape`, `text`, `bytes`, `memchr`. Must not know: clocks,
//! sockets, policies, crawlers.

// The values.
mod inclusion; // All or some of the paths of a pattern within another.
mod intent; // A regular expression or a list in the place of a pattern.
mod other_record; // An other record, and the forms of its value.
pub mod pattern; // A path pattern.
mod robots_txt; // The file, its groups and user-agent lines; how much is read.
mod rule; // An allow or disallow line; the answer and the rule that decided.

// Reading and writing.
mod emit; // The file as text.
mod findings; // The findings about a file.
mod line_kind; // The kind of a line, by its name.
mod normal; // The normal form of octets.
mod parse; // Bytes to a file.

// Judging.
mod evasion; // The forms that an origin may make of a path.
mod matcher; // The file compiled: scopes and verdicts.
mod name; // The forms of a name in a user-agent line, and the groups that name each crawler.
mod pace; // The values of Crawl-delay and Request-rate.
mod pace_record; // The records that set a group's pace, or state preferences about use.
pub mod path; // The path of a request, and whether it stays in a folder.
mod rule_set; // The rules of groups with the same names, compiled.
mod trie; // The rules without wildcards, as a tree.
mod windows; // The rules with wildcards, as an index.

// Two files and more.
mod arrange; // A file in the arrangement that most parsers read.
mod merge; // One file made of two.
mod overlap; // The rules that a file shares with older ones.

#[cfg(test)]
mod tests;

pub use arrange::{arrange, normal_text};
pub use evasion::{MAX_FORMS, MAX_OCTETS, Reading, Steps};
pub use inclusion::Sample;
pub use intent::{BEGIN, Intent, NO_REGEX, corrected, intent};
pub use matcher::{Matcher, Scope, closes_everything};
pub use merge::{Merged, Side, Source, merge, merge_beginning};
#[cfg(test)]
pub(crate) use name::forms as name_forms;
pub use name::{GroupIndex, GroupList};
pub use normal::{ascii, is_decoded};
pub use other_record::{Record, has_known_line};
pub use overlap::{Files, Overlap};
pub use pace::{Pace, Span};
pub use pace_record::{PaceRecord, Usage, UsageRecord};
pub use parse::{ReadOptions, parse, parse_with};
pub use path::{Target, origin_form, stays_in};
pub use pattern::{Pattern, Symbol};
pub use robots_txt::{
    Group, LEAST_BYTES, MAX_BYTES, MAX_FINDINGS, OriginFile, RobotsTxt, UserAgent, whole_lines,
};
pub use rule::{Access, Directive, Explanation, Form, Match, Rule, Verdict};
