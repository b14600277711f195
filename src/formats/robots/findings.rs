//! The findings about a robots.txt, bounded in number.
//!
//! A finding never changes the parsed file. Its text is built only if it is kept, so a hostile file
//! costs no more than another.

use super::{
    intent::{self, Intent},
    line_kind::{self, GOOGLE_LINE, LineKind},
    name,
    other_record::{self, Record},
    robots_txt::{LEAST_BYTES, MAX_FINDINGS},
    rule::Directive,
};
use crate::base::{diagnostic::Diagnostic, escape::shown};

/// The findings so far, and the current line.
#[derive(Debug, Default)]
pub(super) struct Findings<'f> {
    /// The line that new findings get, from 1; 0 for the whole file.
    pub(super) line: u32,
    /// The octets of that line.
    pub(super) text: &'f [u8],
    kept: Vec<Diagnostic>,
    dropped: usize,
}

impl Findings<'_> {
    /// The findings that were kept, and a note that counts the others.
    pub(super) fn into_vec(mut self) -> Vec<Diagnostic> {
        if self.dropped > 0 {
            let message = format!("{} more findings are not listed", self.dropped);
            self.kept.push(Diagnostic::note("robots.more_findings", message));
        }
        self.kept
    }

    /// Adds a finding about a part of the current line.
    fn add_at(&mut self, part: &[u8], finding: impl FnOnce() -> Diagnostic) {
        if self.kept.len() < MAX_FINDINGS {
            self.kept.push(finding().at(self.line, self.column(part)));
        } else {
            self.dropped += 1;
        }
    }

    /// Adds a warning about a part of the current line, or about all of it without one.
    fn warn(
        &mut self,
        part: &[u8],
        code: &'static str,
        help: &str,
        message: impl FnOnce() -> String,
    ) {
        self.add_at(part, || Diagnostic::warning(code, message()).help(help));
    }

    /// The column of a part of the current line, from 1; 0 if it is none.
    fn column(&self, part: &[u8]) -> u32 {
        let offset = part.as_ptr().addr().checked_sub(self.text.as_ptr().addr());
        let before = offset.filter(|_| !part.is_empty()).and_then(|end| self.text.get(..end));
        let count = |before: &[u8]| -> usize {
            let chunks = before.utf8_chunks();
            chunks.map(|chunk| chunk.valid().chars().count() + chunk.invalid().len()).sum()
        };
        before.map_or(0, |before| u32::try_from(count(before) + 1).unwrap_or(0))
    }

    /// The file is longer than every crawler has to read. `read` octets of it are read here.
    pub(super) fn too_long(&mut self, length: usize, read: usize) {
        let help = "shorten the file: crawlers need not read more than 500 KiB (RFC 9309 §2.5)";
        self.warn(&[], "robots.too_long", help, || {
            format!(
                "the file has {length} bytes; Beadle reads {read} of them, and some crawlers stop \
                 at {LEAST_BYTES}"
            )
        });
    }

    /// The file is UTF-16 or HTML.
    pub(super) fn kind(&mut self, file: &[u8]) {
        if file.starts_with(b"\xff\xfe") || file.starts_with(b"\xfe\xff") {
            let help = "save it as UTF-8 (RFC 9309 §2.3); no crawler finds a rule in UTF-16";
            self.warn(&[], "robots.not_utf8", help, || {
                "the file begins with a UTF-16 byte order mark".to_owned()
            });
        }
        if file.trim_ascii_start().starts_with(b"<") {
            let help = "serve plain text; crawlers look for rules in HTML too";
            self.warn(&[], "robots.html", help, || {
                "the file looks like HTML, not like a robots.txt".to_owned()
            });
        }
    }

    pub(super) fn mark(&mut self) {
        let message = "the byte order mark at the start of the file is skipped";
        self.add_at(&[], || Diagnostic::note("robots.byte_order_mark", message));
    }

    pub(super) fn long_line(&mut self, length: usize) {
        self.add_at(&[], || {
            let message =
                format!("the line has {length} bytes; Google reads the first {GOOGLE_LINE}");
            Diagnostic::warning("robots.long_line", message)
        });
    }

    /// A line that no reader reads as a record.
    pub(super) fn no_record(&mut self, content: &[u8]) {
        let help = "write 'name: value', or '#' before a comment";
        self.warn(content, "robots.no_colon", help, || {
            format!("'{}' is not a record", shown(content))
        });
    }

    /// A line without a colon that Google reads nevertheless.
    pub(super) fn no_colon(&mut self, content: &[u8], name: &[u8]) {
        self.warn(content, "robots.no_colon", "write the colon", || {
            let (content, name) = (shown(content), shown(name));
            format!("'{content}' has no colon; RFC 9309 ignores it, Google reads '{name}:'")
        });
    }

    /// A line that Google reads as a rule or a user-agent line and RFC 9309 doesn't, or the reverse.
    pub(super) fn spelling(&mut self, name: &[u8], strict: LineKind, google: LineKind) {
        let Some(read) = google.name().filter(|_| strict != google) else { return };
        let help = "spell it as RFC 9309 does: user-agent, allow, disallow";
        self.warn(name, "robots.misspelt", help, || {
            let name = shown(name);
            format!("RFC 9309 ignores '{name}' as an unknown record; Google reads it as '{read}'")
        });
    }

    /// A crawler's name outside the grammar, with the crawlers that it names here and at Google.
    pub(super) fn name(&mut self, value: &[u8], google: &[u8]) {
        if !value.is_empty() && google.len() == value.len() {
            return;
        }
        self.add_at(value, || {
            let (shown, google) = (shown(value), crawlers(&[google]));
            let text = String::from_utf8_lossy(value);
            if value.is_empty() {
                let message = "the user-agent line has no name, so its group applies to no crawler";
                Diagnostic::warning("robots.user_agent", message)
                    .help("write a crawler's product token, or '*'")
            } else if memchr::memchr(b',', value).is_some() {
                let message = format!(
                    "'{shown}' is a list; Beadle applies it to no crawler, Google to {google}"
                );
                Diagnostic::warning("robots.user_agent", message)
                    .help("write a user-agent line for each crawler")
            } else if text.contains(line_kind::is_break) {
                let message = format!(
                    "'{shown}' contains control characters; Beadle applies it to no crawler, \
                     Google to {google}"
                );
                Diagnostic::warning("robots.control_character", message)
                    .help("remove them; a name consists of letters, '-' and '_'")
            } else {
                let here: Vec<&[u8]> = if name::is_star(&text) {
                    vec![b"*"]
                } else {
                    name::forms(&text).into_iter().flatten().map(str::as_bytes).collect()
                };
                let here = crawlers(&here);
                let message = format!(
                    "'{shown}' is not a product token of RFC 9309; Beadle applies it to {here}, \
                     Google to {google}"
                );
                Diagnostic::note("robots.user_agent", message)
            }
        });
    }

    pub(super) fn no_group(&mut self, directive: Directive, value: &[u8]) {
        self.warn(value, "robots.no_group", "write a user-agent line above it", || {
            let (name, value) = (directive.as_str(), shown(value));
            format!("'{name}: {value}' stands before any group and is ignored")
        });
    }

    /// A rule with control characters, which is ignored.
    pub(super) fn dropped_rule(&mut self, value: &[u8]) {
        let help = "percent-encode them, as in '%09'";
        self.warn(value, "robots.control_character", help, || {
            let google = match memchr::memchr(0, value) {
                Some(_) => ", and Google reads it up to the NUL",
                None => "",
            };
            let shown = shown(value);
            format!("'{shown}' contains control characters; the line is ignored{google}")
        });
    }

    /// A path outside the grammar, or one that says something else than is meant.
    pub(super) fn path(&mut self, directive: Directive, value: &[u8]) {
        let text = String::from_utf8_lossy(value);
        if let Some(intent) = intent::intent(&text) {
            self.add_at(value, || meant(directive, &text, intent));
        } else if !matches!(value.first(), Some(b'/' | b'*') | None) {
            self.add_at(value, || {
                let message = format!("'{}' matches no path", shown(value));
                let help = match intent::corrected(&text) {
                    Some(pattern) => format!("write '{}'", shown(pattern)),
                    None => intent::BEGIN.to_owned(),
                };
                Diagnostic::warning("robots.pattern", message).help(help)
            });
        } else if memchr::memchr(b' ', value).is_some() {
            let help = "write '%20', or '#' before a comment";
            self.warn(value, "robots.pattern", help, || {
                let shown = shown(value);
                format!(
                    "'{shown}' contains a space, which RFC 9309 doesn't allow; it is read as '%20'"
                )
            });
        }
    }

    /// An allow rule that Google reads as two.
    pub(super) fn index_page(&mut self, value: &[u8], directory: &str) {
        self.add_at(value, || {
            let message =
                format!("at Google, '{}' also allows '{}'", shown(value), shown(directory));
            Diagnostic::note("robots.index_page", message)
        });
    }

    /// Octets that are not UTF-8 (§2.3), which are compared as octets. A strict reader drops the
    /// line (§3).
    pub(super) fn encoding(&mut self, value: &[u8]) {
        if std::str::from_utf8(value).is_err() {
            let help = "save the file as UTF-8, or percent-encode the octets outside ASCII";
            self.warn(value, "robots.not_utf8", help, || {
                format!("'{}' is not UTF-8; its octets are compared as they are", shown(value))
            });
        }
    }

    /// An other record, as written and as parsed.
    pub(super) fn record(&mut self, name: &[u8], value: &[u8], record: &Record, in_group: bool) {
        let unmarked = name.strip_prefix(line_kind::BYTE_ORDER_MARK).unwrap_or(name);
        if LineKind::of(unmarked) != LineKind::Other {
            let help = "remove it; it comes from joined files";
            self.warn(name, "robots.byte_order_mark", help, || {
                "a byte order mark inside the file hides this line".to_owned()
            });
        }
        let whole = || [name, b":", value].concat();
        if name.is_empty() {
            self.no_record(self.text.trim_ascii());
        } else if other_record::lacks_colon(name) {
            self.warn(name, "robots.no_colon", "write the colon", || {
                format!("'{}' has no colon after its name", shown(whole()))
            });
        } else if let Some(finding) = record.check(in_group) {
            let is_value = finding.code == "robots.record_value";
            self.add_at(if is_value { value } else { name }, || finding);
        }
        if [&*record.name, &*record.value].iter().any(|text| text.contains(line_kind::is_break)) {
            self.warn(name, "robots.control_character", "remove them", || {
                format!("the record '{}' contains control characters", shown(whole()))
            });
        }
        if std::str::from_utf8(name).is_err() {
            self.encoding(self.text.trim_ascii());
        } else {
            self.encoding(value);
        }
    }
}

/// The finding about a path that says something else than is meant.
fn meant(directive: Directive, text: &str, intent: Intent) -> Diagnostic {
    let name = directive.field_name();
    let lines = |patterns: &[String]| {
        let lines: Vec<String> =
            patterns.iter().map(|pattern| format!("'{name}: {}'", shown(pattern))).collect();
        lines.join(" and ")
    };
    match intent {
        Intent::List(paths) => {
            let message = format!("'{}' is one path; it looks like a list of paths", shown(text));
            Diagnostic::warning("robots.list_pattern", message)
                .help(format!("write a line for each: {}", lines(&paths)))
        }
        Intent::Regex(patterns) => {
            let message = format!(
                "'{}' looks like a regular expression; only '*' and a '$' at the end are special",
                shown(text)
            );
            Diagnostic::warning("robots.regex_pattern", message).help(match patterns.as_slice() {
                [] => intent::NO_REGEX.to_owned(),
                patterns => format!("for a regular expression, write {}", lines(patterns)),
            })
        }
    }
}

/// Names of crawlers for a message: `'a'`, `'a' or 'b'`, `no crawler`.
fn crawlers(names: &[&[u8]]) -> String {
    let names = names.iter().filter(|name| !name.is_empty());
    let quoted: Vec<String> = names.map(|name| format!("'{}'", shown(name))).collect();
    if quoted.is_empty() { "no crawler".to_owned() } else { quoted.join(" or ") }
}
