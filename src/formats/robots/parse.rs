//! The parser: bytes to [`RobotsTxt`] (§2.2), by the grammar in the doc of the room. It never fails.
//!
//! Of a longer file, the lines that end within [`MAX_BYTES`] are read, so no rule is read in part (§2.5).

use super::{
    findings::Findings,
    line_kind::{self, BYTE_ORDER_MARK, GOOGLE_LINE, LineKind, is_space},
    normal,
    other_record::{LIMIT, Record},
    robots_txt::{Group, LEAST_BYTES, MAX_BYTES, RobotsTxt, UserAgent, whole_lines},
    rule::{Directive, Rule},
};
use crate::base::{
    diagnostic::Diagnostic,
    text::{lines, trimmed},
};

/// How a file is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// Read as google/robotstxt does, where that differs from RFC 9309:
    ///
    /// - misspelt names count: `useragent`, `user agent`, `dissallow`, `dissalow`, `disalow`,
    ///   `diasllow`, `disallaw`; so does any name that begins with one (`disallow-old`);
    /// - a line of exactly two words needs no colon after such a name (`disallow /x`);
    /// - a user-agent value ends at the first octet that is no letter, `_` or `-`, so `MJ12bot`
    ///   names MJ and `1bot` no crawler; `*`, white space and any text is `*`;
    /// - `allow: /x/index.htm…` allows `/x/` as well, as `/x/$`;
    /// - a part of a byte order mark at the start is skipped;
    /// - a NUL ends its line, and a line is cut at 16,663 octets.
    pub lenient: bool,
}

/// The robots.txt in `bytes`, read by RFC 9309, and the findings about it.
///
/// The findings are warnings and notes, never errors. Each has its line; they stand in the order
/// of the file:
///
/// | code | meaning |
/// |---|---|
/// | `robots.too_long` | over 500 KiB (§2.5), or over [`MAX_BYTES`] and cut |
/// | `robots.html`, `robots.not_utf8`, `robots.byte_order_mark` | the file, or a line, has another format or encoding (§2.3) |
/// | `robots.no_colon` | a line that is no record (§2.3.1.5) |
/// | `robots.misspelt` | an other record that Google reads as a rule or a user-agent line |
/// | `robots.user_agent` | a name that is no product token (§2.2.1), with the crawlers that it names here and at Google |
/// | `robots.no_group` | a rule before the first group, ignored (§2.2.2) |
/// | `robots.pattern` | a path that matches nothing, or contains a space (§2.2) |
/// | `robots.regex_pattern`, `robots.list_pattern` | a path that looks like a regular expression, or like several paths ([`intent`](super::intent())) |
/// | `robots.control_character` | a dropped rule, or a name that matches no crawler (§3) |
/// | `robots.long_line`, `robots.index_page` | a line that Google reads in part, a rule that Google reads as two |
/// | `robots.record_value`, `robots.record_place`, `robots.record_unread` | see [`Record::check`] |
/// | `robots.more_findings` | the number of findings that are not listed |
pub fn parse(bytes: &[u8]) -> (RobotsTxt, Vec<Diagnostic>) {
    parse_with(bytes, ReadOptions::default())
}

/// The robots.txt in `bytes`, read with these options, and the findings of [`parse`]. The findings
/// compare RFC 9309 and Google, whatever the options are.
pub fn parse_with(bytes: &[u8], options: ReadOptions) -> (RobotsTxt, Vec<Diagnostic>) {
    let mut reader = Reader { lenient: options.lenient, ..Reader::default() };
    let kept = reader.cut(bytes);
    let text = reader.skip_mark(kept);
    reader.findings.kind(text);
    for line in lines(text) {
        reader.findings.line += 1;
        reader.read(line);
    }
    reader.read_empty();
    (reader.robots, reader.findings.into_vec())
}

/// The state of the parser between two lines.
#[derive(Default)]
struct Reader<'f> {
    lenient: bool,
    robots: RobotsTxt,
    comment: Vec<String>,
    /// Whether the next user-agent line joins the current group.
    in_list: bool,
    findings: Findings<'f>,
}

impl<'f> Reader<'f> {
    fn cut<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        if bytes.len() <= LEAST_BYTES {
            return bytes;
        }
        let kept = match bytes.len() > MAX_BYTES {
            true => whole_lines(bytes, MAX_BYTES),
            false => bytes,
        };
        self.findings.too_long(bytes.len(), kept.len());
        kept
    }

    fn skip_mark<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        if let Some(rest) = bytes.strip_prefix(BYTE_ORDER_MARK) {
            self.findings.line = 1;
            self.findings.mark();
            self.findings.line = 0;
            return rest;
        }
        let part = bytes.iter().zip(BYTE_ORDER_MARK).take_while(|(a, b)| a == b).count();
        if self.lenient { bytes.get(part..).unwrap_or_default() } else { bytes }
    }

    fn read(&mut self, line: &'f [u8]) {
        self.findings.text = line;
        let mut line = line;
        if line.len() > GOOGLE_LINE {
            self.findings.long_line(line.len());
            if self.lenient {
                line = line.get(..GOOGLE_LINE).unwrap_or(line);
            }
        }
        if self.lenient {
            line = line.split(|&b| b == 0).next().unwrap_or_default();
        }
        let content = match memchr::memchr(b'#', line) {
            Some(at) => {
                let (content, comment) = line.split_at(at);
                if trimmed(content).is_empty() {
                    let comment = comment.get(1..).unwrap_or_default();
                    let comment = comment.strip_prefix(b" ").unwrap_or(comment).trim_ascii_end();
                    return self.comment.push(String::from_utf8_lossy(comment).into_owned());
                }
                trimmed(content)
            }
            None => trimmed(line),
        };
        if content.is_empty() {
            return self.read_empty();
        }
        let Some((name, value)) = self.split(content) else { return self.end_comment() };
        let (strict, google) = (LineKind::of(name), LineKind::of_google(name));
        self.findings.spelling(name, strict, google);
        match if self.lenient { google } else { strict } {
            LineKind::UserAgent => self.read_user_agent(value),
            LineKind::Rule(directive) => self.read_rule(directive, value),
            LineKind::Other => self.read_other(name, value),
        }
    }

    /// An empty line: the comment above it belongs to the head of the file, or to nothing.
    fn read_empty(&mut self) {
        if self.robots.groups.is_empty() && self.robots.records.is_empty() {
            self.robots.header.append(&mut self.comment);
        }
        self.comment.clear();
    }

    /// Ends a comment that is followed by a line without a comment of its own.
    fn end_comment(&mut self) {
        if !self.comment.is_empty() {
            self.read_empty();
        }
    }

    /// The name and the value of a line, if it has both.
    fn split<'a>(&mut self, content: &'a [u8]) -> Option<(&'a [u8], &'a [u8])> {
        if let Some(at) = memchr::memchr(b':', content) {
            let (name, value) = content.split_at(at);
            return Some((trimmed(name), trimmed(value.get(1..).unwrap_or_default())));
        }
        let space = content.iter().position(|b| is_space(*b));
        let words =
            space.map(|at| content.split_at(at)).map(|(name, value)| (name, trimmed(value)));
        let two = words.filter(|(_, value)| !value.iter().copied().any(is_space));
        let Some((name, _)) = two.filter(|(name, _)| line_kind::is_protocol_name(name)) else {
            self.findings.no_record(content);
            return None;
        };
        self.findings.no_colon(content, name);
        if self.lenient { two } else { None }
    }

    fn read_user_agent(&mut self, value: &[u8]) {
        if !self.in_list {
            self.in_list = true;
            let comment = std::mem::take(&mut self.comment);
            self.robots.groups.push(Group { comment, ..Group::default() });
        }
        self.comment.clear();
        let google = line_kind::google_name(value);
        self.findings.name(value, google);
        let name = if self.lenient { google } else { value };
        let user_agent = UserAgent {
            name: String::from_utf8_lossy(name).into_owned(),
            line: self.findings.line,
        };
        if let Some(group) = self.robots.groups.last_mut() {
            group.user_agents.push(user_agent);
        }
    }

    fn read_rule(&mut self, directive: Directive, value: &[u8]) {
        self.end_comment();
        // A rule that is dropped below ends the list too.
        self.in_list = false;
        let line = self.findings.line;
        if self.robots.groups.is_empty() {
            return self.findings.no_group(directive, value);
        }
        if value.iter().any(u8::is_ascii_control) {
            return self.findings.dropped_rule(value);
        }
        self.findings.path(directive, value);
        self.findings.encoding(value);
        let directory = line_kind::google_index_directory(directive, value);
        if let Some(directory) = &directory {
            self.findings.index_page(value, directory);
        }
        let directory = directory.filter(|_| self.lenient);
        if let Some(group) = self.robots.groups.last_mut() {
            group.rules.push(Rule { directive, pattern: normal::text(value), line });
            group.rules.extend(directory.map(|pattern| Rule { directive, pattern, line }));
        }
    }

    fn read_other(&mut self, name: &[u8], value: &[u8]) {
        self.end_comment();
        let record = Record {
            name: String::from_utf8_lossy(name).into_owned(),
            value: String::from_utf8_lossy(value).into_owned(),
            line: self.findings.line,
            is_limit: self.findings.text.ends_with(LIMIT.as_bytes()),
        };
        self.findings.record(name, value, &record, !self.robots.groups.is_empty());
        match self.robots.groups.last_mut() {
            Some(group) if !record.is_global() => group.records.push(record),
            _ => self.robots.records.push(record),
        }
    }
}
