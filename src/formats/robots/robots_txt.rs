//! A robots.txt as data: groups, the crawlers that they name, and records outside groups (§2.1); how
//! much of one is read.

use bytes::Bytes;

use super::{
    other_record::Record,
    rule::{Directive, Rule},
};
use crate::base::{diagnostic::Diagnostic, escape};

/// A whole robots.txt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RobotsTxt {
    /// The comment at the head of the file, one entry for each line, without the `#`.
    pub header: Vec<String>,
    /// The groups in the order of the file. [`Matcher`](super::Matcher) merges groups that name
    /// the same token; they stay apart here.
    pub groups: Vec<Group>,
    /// Records outside groups: those before the first group, and those that apply to the whole
    /// site wherever they stand ([`Record::is_global`]).
    pub records: Vec<Record>,
}

impl RobotsTxt {
    pub(crate) fn rule_count(&self) -> usize {
        self.groups.iter().map(|group| group.rules.len()).sum()
    }

    /// Whether a group disallows a path, or asks for more than that in a record.
    pub(crate) fn is_restrictive(&self) -> bool {
        let disallows =
            |rule: &Rule| rule.directive == Directive::Disallow && !rule.pattern.is_empty();
        let is_open =
            |group: &Group| group.records.is_empty() && !group.rules.iter().any(disallows);
        !self.groups.iter().all(is_open)
    }
}

/// One or more user-agent lines and the lines after them, up to the next group (§2.1).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Group {
    /// The comment right above the group, one entry for each line, without the `#`.
    pub comment: Vec<String>,
    /// The crawlers that the group names. A group read from a file has at least one.
    pub user_agents: Vec<UserAgent>,
    /// The rules in the order of the file. A group without rules allows everything.
    pub rules: Vec<Rule>,
    /// Other records inside the group, such as `Crawl-delay`.
    pub records: Vec<Record>,
}

/// A user-agent line (§2.2.1): the product token of a crawler, or `*`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserAgent {
    /// The value as written, trimmed. A foreign file can contain any text here.
    pub name: String,
    /// Line in the file, from 1; 0 if the value comes from no file.
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
            let shown = escape::shown(name);
            return Err(Diagnostic::error(
                "robots.user_agent",
                format!("'{shown}' is not valid in a user-agent line"),
            )
            .help("write the crawler's product token in printable ASCII, or '*'"));
        }
        Ok(Self { name: name.to_owned(), line: 0 })
    }
}

/// The robots.txt of an origin. Clones share the bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum OriginFile {
    /// No fetch has succeeded yet (§2.3.1.4), so no rule of the origin can be enforced.
    #[default]
    Unknown,
    /// The origin has no file (§2.3.1.3): everything is allowed.
    Absent,
    /// The file as received (§2.3.1.1).
    Present(Bytes),
}

impl OriginFile {
    /// The bytes of the file, if there is one.
    pub const fn bytes(&self) -> Option<&Bytes> {
        match self {
            Self::Present(bytes) => Some(bytes),
            Self::Unknown | Self::Absent => None,
        }
    }
}

/// How much of a file is read, in octets. §2.5 requires at least [`LEAST_BYTES`].
pub const MAX_BYTES: usize = 512 * 1024;

/// How much of a file every crawler has to read, in octets (§2.5). Only some crawlers read more.
pub const LEAST_BYTES: usize = 500 * 1024;

/// How many findings are kept. One more counts the others (`robots.more_findings`).
pub const MAX_FINDINGS: usize = 1000;

/// The whole lines within the first `most` octets of a longer file. A part of a line is another line:
/// `Allow: /private` cut off after the slash allows everything.
pub fn whole_lines(bytes: &[u8], most: usize) -> &[u8] {
    let read = bytes.get(..most).unwrap_or(bytes);
    let end = memchr::memrchr2(b'\n', b'\r', read).map_or(0, |at| at + 1);
    read.get(..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::whole_lines;

    #[test]
    fn rfc9309_2_5_a_longer_file_is_cut_between_two_lines() {
        for (text, most, expected) in [
            ("Allow: /a\nAllow: /private", 18, "Allow: /a\n"),
            ("a\r\nb", 2, "a\r"),
            ("a\nb", 2, "a\n"),
            ("a\nb", 9, "a\n"),
            ("abc", 2, ""),
        ] {
            assert_eq!(whole_lines(text.as_bytes(), most), expected.as_bytes(), "{text:?} {most}");
        }
    }
}
