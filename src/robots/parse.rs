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

use super::{Directive, Group, Record, RobotsTxt, Rule, UserAgent, normal};
use crate::{diagnostic::Diagnostic, escape};

/// How much of a file is read, in octets; §2.5 wants at least 500 KiB.
pub const MAX_BYTES: usize = 512 * 1024;

/// How many findings are kept; a last one counts the others.
pub const MAX_FINDINGS: usize = 1000;

/// What Google's parser reads of a line, in octets.
const GOOGLE_LINE: usize = 8 * 2083 - 1;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// How a file is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// Read as Google's parser does. Misspelt names count (`dissallow`, `useragent`), as does what
    /// merely begins with a name (`disallow-old`); a line of two words needs no colon; a user-agent
    /// value ends at the first octet that is no letter, `_` or `-`; an allow rule for `/index.htm…`
    /// also allows the directory; a part of a byte order mark is skipped; a NUL ends the line, and
    /// a line is cut at 16,663 octets.
    pub lenient: bool,
}

/// The robots.txt in `bytes`, read as RFC 9309 has it, and what is worth saying about it.
pub fn parse(bytes: &[u8]) -> (RobotsTxt, Vec<Diagnostic>) {
    parse_with(bytes, ReadOptions::default())
}

/// Like [`parse`], with options.
pub fn parse_with(bytes: &[u8], options: ReadOptions) -> (RobotsTxt, Vec<Diagnostic>) {
    let mut reader = Reader::new(options);
    let mut rest = reader.cut(bytes);
    rest = reader.skip_mark(rest);
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

/// Whether some reader takes a line of this name for one of the protocol.
pub(super) fn is_protocol_name(name: &[u8]) -> bool {
    !matches!(Key::of_google(name), Key::Other) || !matches!(Key::of(name), Key::Other)
}

/// What a line is, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Key {
    UserAgent,
    Rule(Directive),
    Other,
}

impl Key {
    fn of(name: &[u8]) -> Self {
        let is = |key: &str| name.eq_ignore_ascii_case(key.as_bytes());
        match name.len() {
            10 if is("user-agent") => Self::UserAgent,
            5 if is("allow") => Self::Rule(Directive::Allow),
            8 if is("disallow") => Self::Rule(Directive::Disallow),
            _ => Self::Other,
        }
    }

    /// As google/robotstxt has it: the beginning counts, frequent misspellings too.
    fn of_google(name: &[u8]) -> Self {
        let begins = |keys: &[&str]| {
            keys.iter().any(|key| {
                name.get(..key.len())
                    .is_some_and(|start| start.eq_ignore_ascii_case(key.as_bytes()))
            })
        };
        if begins(&["user-agent", "useragent", "user agent"]) {
            Self::UserAgent
        } else if begins(&["allow"]) {
            Self::Rule(Directive::Allow)
        } else if begins(&["disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw"])
        {
            Self::Rule(Directive::Disallow)
        } else {
            Self::Other
        }
    }

    /// How the RFC spells the line.
    fn name(self) -> Option<&'static str> {
        match self {
            Self::UserAgent => Some("user-agent"),
            Self::Rule(directive) => Some(directive.as_str()),
            Self::Other => None,
        }
    }
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
        let Some(read) = bytes.get(..MAX_BYTES).filter(|read| read.len() < bytes.len()) else {
            return bytes;
        };
        let end = memchr::memrchr2(b'\n', b'\r', read).map_or(0, |at| at + 1);
        let kept = read.get(..end).unwrap_or_default();
        let message = format!(
            "the file has {} bytes; what follows the first {} is not read",
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
        let Some((name, _)) = two.filter(|(name, _)| is_protocol_name(name)) else {
            self.find(
                Diagnostic::warning("robots.no_colon", format!("'{shown}' is not a record"))
                    .help("write 'name: value', or '#' before a comment"),
            );
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
        let google = google_name(value);
        if google.len() != value.len() {
            self.find_name(value, google);
        }
        let name = if self.lenient { google } else { value };
        let user_agent =
            UserAgent { name: String::from_utf8_lossy(name).into_owned(), line: self.line };
        if let Some(group) = self.robots.groups.last_mut() {
            group.user_agents.push(user_agent);
        }
    }

    fn find_name(&mut self, value: &[u8], google: &[u8]) {
        let (shown, google) = (escape::bounded(value, 80), escape::bounded(google, 80));
        let finding = if memchr::memchr(b',', value).is_some() {
            Diagnostic::warning(
                "robots.user_agent",
                format!("'{shown}' is a list; it names nobody, or '{google}' to Google"),
            )
            .help("write a user-agent line for each crawler")
        } else if google.is_empty() {
            Diagnostic::note(
                "robots.user_agent",
                format!("'{shown}' is no product token; Google takes it for nobody"),
            )
        } else {
            Diagnostic::note(
                "robots.user_agent",
                format!("'{shown}' is no product token; Google takes it for '{google}'"),
            )
        };
        self.find(finding);
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
        }
        let directory = self.lenient.then(|| google_index_directory(directive, value)).flatten();
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
        match self.robots.groups.last_mut() {
            Some(group) if !record.is_global() => group.records.push(record),
            _ => self.robots.records.push(record),
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

/// The part of a user-agent value that Google compares.
fn google_name(value: &[u8]) -> &[u8] {
    if let [b'*', rest @ ..] = value
        && rest.first().is_none_or(|b| is_space(*b))
    {
        return value.get(..1).unwrap_or_default();
    }
    let end = value.iter().position(|b| !(b.is_ascii_alphabetic() || matches!(b, b'-' | b'_')));
    value.get(..end.unwrap_or(value.len())).unwrap_or_default()
}

/// The second pattern of an allow rule for an index page: the directory itself.
fn google_index_directory(directive: Directive, value: &[u8]) -> Option<String> {
    let slash = memchr::memrchr(b'/', value).filter(|_| directive == Directive::Allow)?;
    let (directory, page) = value.split_at(slash);
    page.starts_with(b"/index.htm").then(|| normal::text(directory) + "/$")
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

fn trim(bytes: &[u8]) -> &[u8] {
    let start = bytes.iter().position(|b| !is_space(*b)).unwrap_or(bytes.len());
    let end = bytes.iter().rposition(|b| !is_space(*b)).map_or(start, |at| at + 1);
    bytes.get(start..end).unwrap_or_default()
}
