//! Bytes to [`RobotsTxt`] (§2.2); never fails.
//!
//! - **Lines** end in CR, LF or CRLF and nothing else: NEL and U+2028 are text. `#` starts a
//!   comment. A byte order mark at the start is skipped.
//! - **A line** is `name *WS ":" *WS value`, white space around it (space and tab) ignored, names
//!   without regard to case. `user-agent`, `allow` and `disallow` are the protocol; any other name
//!   is a record of its own, which never ends a group or a list of user-agent lines (§2.2.4).
//! - **Groups**: user-agent lines that follow each other, empty lines and other records aside,
//!   open one group; the first one behind a rule opens the next (§2.1). Rules before the first
//!   group are ignored (§2.2.2).
//! - **Octets**: a rule with control octets is dropped (`UTF8-char-noctl`). Octets that are not
//!   UTF-8 are compared as octets.
//! - **Limits**: [`MAX_BYTES`] are read, up to the last line that ends within them, so that a rule
//!   is read whole or not at all (§2.5); [`MAX_FINDINGS`] findings are kept.
//!
//! [`ReadOptions::lenient`] reads as Google's parser does instead where the two differ: see there.

use super::{
    Directive, Group, Record, RobotsTxt, Rule, UserAgent,
    key::{self, Key, is_space, trim},
    name, normal, record,
};
use crate::{diagnostic::Diagnostic, escape};

/// How much of a file is read, in octets; §2.5 wants at least [`LEAST_BYTES`].
pub const MAX_BYTES: usize = 512 * 1024;

/// How much of a file every crawler has to read, in octets (§2.5). What stands behind is read by
/// some only.
pub const LEAST_BYTES: usize = 500 * 1024;

/// How many findings are kept; one more counts the others (`robots.more_findings`).
pub const MAX_FINDINGS: usize = 1000;

/// What Google's parser reads of a line, in octets.
const GOOGLE_LINE: usize = 8 * 2083 - 1;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// How a file is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// Read as google/robotstxt does, where that differs from RFC 9309:
    ///
    /// - misspelt names count: `useragent`, `user agent`, `dissallow`, `dissalow`, `disalow`,
    ///   `diasllow`, `disallaw`; and so does what merely begins with a name (`disallow-old`);
    /// - a line of exactly two words needs no colon behind such a name (`disallow /x`);
    /// - a user-agent value ends at the first octet that is no letter, `_` or `-`, so that
    ///   `MJ12bot` names MJ and `1bot` nobody; `*`, white space and anything is `*`;
    /// - `allow: /x/index.htm…` allows `/x/` as well, as `/x/$`;
    /// - a part of a byte order mark at the start is skipped;
    /// - a NUL ends its line, and a line is cut at 16,663 octets.
    pub lenient: bool,
}

/// The robots.txt in `bytes`, read as RFC 9309 has it, and what is worth saying about it.
///
/// The findings are warnings and notes, never errors, each with its line and in the order of the
/// file:
///
/// | code | says |
/// |---|---|
/// | `robots.too_long` | over 500 KiB (§2.5), or over [`MAX_BYTES`] and cut |
/// | `robots.html`, `robots.not_utf8`, `robots.byte_order_mark` | the file, or a line, is of another kind (§2.3) |
/// | `robots.no_colon` | a line that is no record (§2.3.1.5) |
/// | `robots.misspelt` | a record of its own that Google reads as a rule or a user-agent line |
/// | `robots.user_agent` | a name that is no product token (§2.2.1): whom it names here, and to Google |
/// | `robots.no_group` | a rule before the first group, ignored (§2.2.2) |
/// | `robots.pattern` | a path that matches nothing, or holds a space (§2.2) |
/// | `robots.control_character` | a rule dropped, or a name that names nobody (§3) |
/// | `robots.long_line` | a line that Google reads in part |
/// | `robots.record_value`, `robots.record_place`, `robots.record_unread` | see [`Record::check`] |
/// | `robots.more_findings` | how many are not listed |
pub fn parse(bytes: &[u8]) -> (RobotsTxt, Vec<Diagnostic>) {
    parse_with(bytes, ReadOptions::default())
}

/// Like [`parse`], with options. The findings tell how the two readers differ, whichever reads.
pub fn parse_with(bytes: &[u8], options: ReadOptions) -> (RobotsTxt, Vec<Diagnostic>) {
    let mut reader = Reader::new(options);
    let mut rest = reader.cut(bytes);
    rest = reader.skip_mark(rest);
    if rest.starts_with(b"\xff\xfe") || rest.starts_with(b"\xfe\xff") {
        reader.find(
            Diagnostic::warning("robots.not_utf8", "the file begins with the mark of UTF-16")
                .help("save it as UTF-8 (RFC 9309 §2.3); no reader finds a rule in it as it is"),
        );
    }
    if rest.trim_ascii_start().starts_with(b"<") {
        reader.find(
            Diagnostic::warning("robots.html", "the file looks like HTML, not like a robots.txt")
                .help("serve it as text/plain; crawlers look for rules in it all the same"),
        );
    }
    while !rest.is_empty() {
        let end = memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
        let (line, ending) = rest.split_at(end);
        rest = ending.strip_prefix(b"\r\n").or_else(|| ending.get(1..)).unwrap_or_default();
        reader.line += 1;
        reader.read(line);
    }
    reader.finish()
}

struct Reader {
    lenient: bool,
    line: u32,
    robots: RobotsTxt,
    /// Comment lines that nothing has followed yet.
    comment: Vec<String>,
    /// Whether the next user-agent line joins the open group.
    in_list: bool,
    findings: Vec<Diagnostic>,
    dropped_findings: usize,
}

impl Reader {
    fn new(options: ReadOptions) -> Self {
        Self {
            lenient: options.lenient,
            line: 0,
            robots: RobotsTxt::default(),
            comment: Vec::new(),
            in_list: false,
            findings: Vec::new(),
            dropped_findings: 0,
        }
    }

    /// The part of the file that is read.
    fn cut<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        if bytes.len() <= LEAST_BYTES {
            return bytes;
        }
        let kept = match bytes.get(..MAX_BYTES).filter(|read| read.len() < bytes.len()) {
            None => bytes,
            Some(read) => {
                let end = memchr::memrchr2(b'\n', b'\r', read).map_or(0, |at| at + 1);
                read.get(..end).unwrap_or_default()
            }
        };
        let message = format!(
            "the file has {} bytes; {} of them are read here, and some crawlers stop at {LEAST_BYTES}",
            bytes.len(),
            kept.len()
        );
        self.find(
            Diagnostic::warning("robots.too_long", message)
                .help("shorten the file: crawlers need not read more than 500 KiB (RFC 9309 §2.5)"),
        );
        kept
    }

    fn skip_mark<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        if let Some(rest) = bytes.strip_prefix(BYTE_ORDER_MARK) {
            self.line = 1;
            self.find(Diagnostic::note("robots.byte_order_mark", "a byte order mark is skipped"));
            self.line = 0;
            return rest;
        }
        let part = bytes.iter().zip(BYTE_ORDER_MARK).take_while(|(a, b)| a == b).count();
        if self.lenient { bytes.get(part..).unwrap_or_default() } else { bytes }
    }

    fn read(&mut self, line: &[u8]) {
        let mut line = line;
        if line.len() > GOOGLE_LINE {
            self.find(Diagnostic::warning(
                "robots.long_line",
                format!("a line of {} bytes; Google reads the first {GOOGLE_LINE}", line.len()),
            ));
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
                if trim(content).is_empty() {
                    return self.read_comment(comment.get(1..).unwrap_or_default());
                }
                trim(content)
            }
            None => trim(line),
        };
        if content.is_empty() {
            return self.read_empty();
        }
        match self.split(content) {
            Some((name, value)) => self.read_record(name, value),
            None => self.end_comment(),
        }
    }

    fn read_comment(&mut self, comment: &[u8]) {
        let comment = comment.strip_prefix(b" ").unwrap_or(comment);
        self.comment.push(String::from_utf8_lossy(comment.trim_ascii_end()).into_owned());
    }

    /// An empty line: what was said above it belongs to the file, or to nothing.
    fn read_empty(&mut self) {
        if self.robots.groups.is_empty() && self.robots.records.is_empty() {
            self.robots.header.append(&mut self.comment);
        }
        self.comment.clear();
    }

    /// A line that a comment doesn't belong to has followed it.
    fn end_comment(&mut self) {
        if !self.comment.is_empty() {
            self.read_empty();
        }
    }

    /// Name and value of a line, if it has them.
    fn split<'a>(&mut self, content: &'a [u8]) -> Option<(&'a [u8], &'a [u8])> {
        if let Some(at) = memchr::memchr(b':', content) {
            let (name, value) = content.split_at(at);
            return Some((trim(name), trim(value.get(1..).unwrap_or_default())));
        }
        let space = content.iter().position(|b| is_space(*b));
        let words = space.map(|at| content.split_at(at)).map(|(name, value)| (name, trim(value)));
        let two = words.filter(|(_, value)| !value.iter().copied().any(is_space));
        let shown = escape::bounded(content, 80);
        let Some((name, _)) = two.filter(|(name, _)| key::is_protocol_name(name)) else {
            self.find_no_record(&shown);
            return None;
        };
        let name = escape::bounded(name, 40);
        let message =
            format!("'{shown}' has no colon; RFC 9309 ignores it, Google reads '{name}:'");
        self.find(Diagnostic::warning("robots.no_colon", message).help("write the colon"));
        if self.lenient { two } else { None }
    }

    fn read_record(&mut self, name: &[u8], value: &[u8]) {
        let (strict, google) = (Key::of(name), Key::of_google(name));
        if strict != google
            && let Some(key) = google.name()
        {
            let message = format!(
                "'{}' is a record of its own to RFC 9309, and '{key}' to Google",
                escape::bounded(name, 40)
            );
            self.find(
                Diagnostic::warning("robots.misspelt", message)
                    .help("spell it as RFC 9309 does: user-agent, allow, disallow"),
            );
        }
        match if self.lenient { google } else { strict } {
            Key::UserAgent => self.read_user_agent(value),
            Key::Rule(directive) => self.read_rule(directive, value),
            Key::Other => self.read_other(name, value),
        }
    }

    fn read_user_agent(&mut self, value: &[u8]) {
        if !self.in_list {
            self.in_list = true;
            let comment = std::mem::take(&mut self.comment);
            self.robots.groups.push(Group { comment, ..Group::default() });
        }
        self.comment.clear();
        let google = key::google_name(value);
        if value.is_empty() || google.len() != value.len() {
            self.find_name(value, google);
        }
        let name = if self.lenient { google } else { value };
        let user_agent =
            UserAgent { name: String::from_utf8_lossy(name).into_owned(), line: self.line };
        if let Some(group) = self.robots.groups.last_mut() {
            group.user_agents.push(user_agent);
        }
    }

    /// What is to be said of a name outside the grammar: whom it names here, and to Google.
    fn find_name(&mut self, value: &[u8], google: &[u8]) {
        let text = String::from_utf8_lossy(value);
        let here: Vec<&str> = match name::forms(&text) {
            _ if name::is_star(&text) => vec!["*"],
            forms => forms.into_iter().flatten().collect(),
        };
        let here = names(&here.iter().map(|name| name.as_bytes()).collect::<Vec<_>>());
        let google = names(&[google]);
        let shown = escape::bounded(value, 80);
        self.find(if value.is_empty() {
            Diagnostic::warning("robots.user_agent", "a user-agent line without a name names nobody")
                .help("write a crawler's product token, or '*'")
        } else if memchr::memchr(b',', value).is_some() {
            Diagnostic::warning(
                "robots.user_agent",
                format!("'{shown}' is a list; it names nobody here and {google} to Google"),
            )
            .help("write a user-agent line for each crawler")
        } else if value.iter().any(is_control) {
            let message = format!(
                "'{shown}' holds control characters; it names nobody here and {google} to Google"
            );
            Diagnostic::warning("robots.control_character", message)
        } else {
            let message = format!(
                "'{shown}' is no product token of RFC 9309; it names {here} here and {google} to Google"
            );
            Diagnostic::note("robots.user_agent", message)
        });
    }

    fn read_rule(&mut self, directive: Directive, value: &[u8]) {
        self.end_comment();
        // Also where the rule is dropped below: it has ended the list.
        self.in_list = false;
        let line = self.line;
        let shown = || escape::bounded(value, 80);
        if self.robots.groups.is_empty() {
            let message =
                format!("'{}: {}' is in no group; it is ignored", directive.as_str(), shown());
            return self.find(
                Diagnostic::warning("robots.no_group", message)
                    .help("write a user-agent line above it"),
            );
        }
        if value.iter().any(u8::is_ascii_control) {
            let message = format!("'{}' holds control characters; the line is ignored", shown());
            return self.find(Diagnostic::warning("robots.control_character", message));
        }
        if !matches!(value.first(), Some(b'/' | b'*') | None) {
            self.find(
                Diagnostic::warning("robots.pattern", format!("'{}' matches no path", shown()))
                    .help("start it with '/' or '*'"),
            );
        } else if memchr::memchr(b' ', value).is_some() {
            let message = format!("'{}' holds a space, which RFC 9309 has not in a path", shown());
            self.find(
                Diagnostic::warning("robots.pattern", message + "; it is read as '%20'")
                    .help("write '%20', or '#' before a comment"),
            );
        }
        self.find_encoding(value);
        let directory =
            self.lenient.then(|| key::google_index_directory(directive, value)).flatten();
        if let Some(group) = self.robots.groups.last_mut() {
            group.rules.push(Rule { directive, pattern: normal::text(value), line });
            group.rules.extend(directory.map(|pattern| Rule { directive, pattern, line }));
        }
    }

    fn read_other(&mut self, name: &[u8], value: &[u8]) {
        let bytes = name.strip_prefix(BYTE_ORDER_MARK).unwrap_or(name);
        if Key::of(bytes) != Key::Other {
            self.find(
                Diagnostic::warning(
                    "robots.byte_order_mark",
                    "a byte order mark inside the file hides the line that it stands in",
                )
                .help("remove it: it comes from files that were joined"),
            );
        }
        self.end_comment();
        let record = Record {
            name: String::from_utf8_lossy(name).into_owned(),
            value: String::from_utf8_lossy(value).into_owned(),
            line: self.line,
        };
        let shown = || escape::bounded(&[name, b":", value].concat(), 80);
        if name.is_empty() {
            self.find_no_record(&shown());
        } else if record::lacks_colon(name) {
            let message = format!("'{}' has no colon behind its name", shown());
            self.find(Diagnostic::warning("robots.no_colon", message).help("write the colon"));
        } else if let Some(finding) = record.check(!self.robots.groups.is_empty()) {
            self.find(finding);
        }
        if name.iter().chain(value).any(is_control) {
            let message = format!("the record '{}' holds control characters", shown());
            self.find(Diagnostic::warning("robots.control_character", message));
        }
        self.find_encoding(value);
        match self.robots.groups.last_mut() {
            Some(group) if !record.is_global() => group.records.push(record),
            _ => self.robots.records.push(record),
        }
    }

    fn find_no_record(&mut self, shown: &str) {
        self.find(
            Diagnostic::warning("robots.no_colon", format!("'{shown}' is not a record"))
                .help("write 'name: value', or '#' before a comment"),
        );
    }

    /// Octets that are not UTF-8 (§2.3) are compared as octets; a strict reader drops the line (§3).
    fn find_encoding(&mut self, value: &[u8]) {
        if std::str::from_utf8(value).is_err() {
            let message = format!(
                "'{}' is not UTF-8; its octets stand for themselves",
                escape::bounded(value, 80)
            );
            self.find(
                Diagnostic::warning("robots.not_utf8", message)
                    .help("save the file as UTF-8, or percent-encode what is outside ASCII"),
            );
        }
    }

    fn find(&mut self, finding: Diagnostic) {
        if self.findings.len() < MAX_FINDINGS {
            self.findings.push(finding.at(self.line, 0));
        } else {
            self.dropped_findings += 1;
        }
    }

    fn finish(mut self) -> (RobotsTxt, Vec<Diagnostic>) {
        self.read_empty();
        if self.dropped_findings > 0 {
            let message = format!("{} more findings are not listed", self.dropped_findings);
            self.findings.push(Diagnostic::note("robots.more_findings", message));
        }
        (self.robots, self.findings)
    }
}

/// Names as a message has them: `'a'`, `'a' or 'b'`, `nobody`.
fn names(names: &[&[u8]]) -> String {
    let quoted: Vec<String> = names
        .iter()
        .filter(|name| !name.is_empty())
        .map(|name| format!("'{}'", escape::bounded(name, 80)))
        .collect();
    if quoted.is_empty() { "nobody".to_owned() } else { quoted.join(" or ") }
}

/// A control octet; the tab is white space.
fn is_control(octet: &u8) -> bool {
    octet.is_ascii_control() && *octet != b'\t'
}
