//! What is worth telling about a file that was read: findings, bounded in number.
//!
//! A lint never changes what was read. A finding is made only where it is kept, so that a hostile
//! file costs no more than another.

use super::{
    Directive, LEAST_BYTES, MAX_FINDINGS, Record,
    key::{self, GOOGLE_LINE, Key},
    name, record,
};
use crate::{diagnostic::Diagnostic, escape};

/// How much of a foreign text a message shows, in bytes.
const SHOWN: usize = 80;

/// The findings so far, and the line that is being read.
#[derive(Debug, Default)]
pub(super) struct Findings {
    /// From 1; 0 for what is about the whole file.
    pub(super) line: u32,
    kept: Vec<Diagnostic>,
    dropped: usize,
}

impl Findings {
    pub(super) fn into_vec(mut self) -> Vec<Diagnostic> {
        if self.dropped > 0 {
            let message = format!("{} more findings are not listed", self.dropped);
            self.kept.push(Diagnostic::note("robots.more_findings", message));
        }
        self.kept
    }

    fn add(&mut self, finding: impl FnOnce() -> Diagnostic) {
        if self.kept.len() < MAX_FINDINGS {
            self.kept.push(finding().at(self.line, 0));
        } else {
            self.dropped += 1;
        }
    }

    /// The file is longer than every crawler reads, or than is read here.
    pub(super) fn too_long(&mut self, length: usize, read: usize) {
        self.add(|| {
            let message = format!(
                "the file has {length} bytes; {read} of them are read here, and some crawlers stop \
                 at {LEAST_BYTES}"
            );
            Diagnostic::warning("robots.too_long", message)
                .help("shorten the file: crawlers need not read more than 500 KiB (RFC 9309 §2.5)")
        });
    }

    /// The file as a whole is of another kind.
    pub(super) fn kind(&mut self, file: &[u8]) {
        if file.starts_with(b"\xff\xfe") || file.starts_with(b"\xfe\xff") {
            self.add(|| {
                Diagnostic::warning("robots.not_utf8", "the file begins with the mark of UTF-16")
                    .help("save it as UTF-8 (RFC 9309 §2.3); no reader finds a rule in it as it is")
            });
        }
        if file.trim_ascii_start().starts_with(b"<") {
            self.add(|| {
                let message = "the file looks like HTML, not like a robots.txt";
                Diagnostic::warning("robots.html", message)
                    .help("serve it as text/plain; crawlers look for rules in it all the same")
            });
        }
    }

    /// A byte order mark where it belongs.
    pub(super) fn mark(&mut self) {
        self.add(|| Diagnostic::note("robots.byte_order_mark", "a byte order mark is skipped"));
    }

    /// A line that Google cuts.
    pub(super) fn long_line(&mut self, length: usize) {
        self.add(|| {
            let message = format!("a line of {length} bytes; Google reads the first {GOOGLE_LINE}");
            Diagnostic::warning("robots.long_line", message)
        });
    }

    /// A line that is no record to anybody.
    pub(super) fn no_record(&mut self, content: &[u8]) {
        self.add(|| {
            let message = format!("'{}' is not a record", shown(content));
            Diagnostic::warning("robots.no_colon", message)
                .help("write 'name: value', or '#' before a comment")
        });
    }

    /// A line without a colon that Google reads all the same.
    pub(super) fn no_colon(&mut self, content: &[u8], name: &[u8]) {
        self.add(|| {
            let (content, name) = (shown(content), shown(name));
            let message =
                format!("'{content}' has no colon; RFC 9309 ignores it, Google reads '{name}:'");
            Diagnostic::warning("robots.no_colon", message).help("write the colon")
        });
    }

    /// A record of its own to one reader and a line of the protocol to the other.
    pub(super) fn spelling(&mut self, name: &[u8], strict: Key, google: Key) {
        let Some(key) = google.name().filter(|_| strict != google) else { return };
        self.add(|| {
            let name = shown(name);
            let message =
                format!("'{name}' is a record of its own to RFC 9309, and '{key}' to Google");
            Diagnostic::warning("robots.misspelt", message)
                .help("spell it as RFC 9309 does: user-agent, allow, disallow")
        });
    }

    /// A crawler's name outside the grammar: whom it names here, and to Google.
    pub(super) fn name(&mut self, value: &[u8], google: &[u8]) {
        if !value.is_empty() && google.len() == value.len() {
            return;
        }
        self.add(|| {
            let (shown, google) = (shown(value), named(&[google]));
            let text = String::from_utf8_lossy(value);
            if value.is_empty() {
                let message = "a user-agent line without a name names nobody";
                Diagnostic::warning("robots.user_agent", message)
                    .help("write a crawler's product token, or '*'")
            } else if memchr::memchr(b',', value).is_some() {
                let message =
                    format!("'{shown}' is a list; it names nobody here and {google} to Google");
                Diagnostic::warning("robots.user_agent", message)
                    .help("write a user-agent line for each crawler")
            } else if text.contains(key::is_break) {
                let message = format!(
                    "'{shown}' holds control characters; it names nobody here and {google} to \
                     Google"
                );
                Diagnostic::warning("robots.control_character", message)
                    .help("remove them; a name is letters, '-' and '_'")
            } else {
                let here: Vec<&[u8]> = if name::is_star(&text) {
                    vec![b"*"]
                } else {
                    name::forms(&text).into_iter().flatten().map(str::as_bytes).collect()
                };
                let here = named(&here);
                let message = format!(
                    "'{shown}' is no product token of RFC 9309; it names {here} here and {google} \
                     to Google"
                );
                Diagnostic::note("robots.user_agent", message)
            }
        });
    }

    /// A rule before the first group.
    pub(super) fn no_group(&mut self, directive: Directive, value: &[u8]) {
        self.add(|| {
            let (name, value) = (directive.as_str(), shown(value));
            let message = format!("'{name}: {value}' is in no group; it is ignored");
            Diagnostic::warning("robots.no_group", message).help("write a user-agent line above it")
        });
    }

    /// A rule that is dropped.
    pub(super) fn dropped_rule(&mut self, value: &[u8]) {
        self.add(|| {
            let google = match memchr::memchr(0, value) {
                Some(_) => ", Google reads it up to the NUL",
                None => "",
            };
            let shown = shown(value);
            let message =
                format!("'{shown}' holds control characters; the line is ignored{google}");
            Diagnostic::warning("robots.control_character", message)
                .help("percent-encode them, as in '%09'")
        });
    }

    /// A path that is not what the grammar has.
    pub(super) fn path(&mut self, value: &[u8]) {
        if !matches!(value.first(), Some(b'/' | b'*') | None) {
            self.add(|| {
                let message = format!("'{}' matches no path", shown(value));
                Diagnostic::warning("robots.pattern", message).help("start it with '/' or '*'")
            });
        } else if memchr::memchr(b' ', value).is_some() {
            self.add(|| {
                let message = format!(
                    "'{}' holds a space, which RFC 9309 has not in a path; it is read as '%20'",
                    shown(value)
                );
                Diagnostic::warning("robots.pattern", message)
                    .help("write '%20', or '#' before a comment")
            });
        }
    }

    /// An allow rule that Google takes for two.
    pub(super) fn index_page(&mut self, value: &[u8], directory: &str) {
        self.add(|| {
            let message = format!(
                "'{}' also allows '{}' to Google",
                shown(value),
                shown(directory.as_bytes())
            );
            Diagnostic::note("robots.index_page", message)
        });
    }

    /// Octets that are not UTF-8 (§2.3) are compared as octets; a strict reader drops the line (§3).
    pub(super) fn encoding(&mut self, value: &[u8]) {
        if std::str::from_utf8(value).is_err() {
            self.add(|| {
                let message =
                    format!("'{}' is not UTF-8; its octets stand for themselves", shown(value));
                Diagnostic::warning("robots.not_utf8", message)
                    .help("save the file as UTF-8, or percent-encode what is outside ASCII")
            });
        }
    }

    /// A record that is not of the protocol, as it stands in the file and as it was read.
    pub(super) fn record(&mut self, name: &[u8], value: &[u8], record: &Record, in_group: bool) {
        if Key::of(name.strip_prefix(key::BYTE_ORDER_MARK).unwrap_or(name)) != Key::Other {
            self.add(|| {
                let message = "a byte order mark inside the file hides the line that it stands in";
                Diagnostic::warning("robots.byte_order_mark", message)
                    .help("remove it: it comes from files that were joined")
            });
        }
        let whole = || [name, b":", value].concat();
        if name.is_empty() {
            self.no_record(&whole());
        } else if record::lacks_colon(name) {
            self.add(|| {
                let message = format!("'{}' has no colon behind its name", shown(&whole()));
                Diagnostic::warning("robots.no_colon", message).help("write the colon")
            });
        } else if let Some(finding) = record.check(in_group) {
            self.add(|| finding);
        }
        if [&*record.name, &*record.value].iter().any(|text| text.contains(key::is_break)) {
            self.add(|| {
                let message = format!("the record '{}' holds control characters", shown(&whole()));
                Diagnostic::warning("robots.control_character", message).help("remove them")
            });
        }
        if std::str::from_utf8(name).is_err() {
            self.encoding(&whole());
        } else {
            self.encoding(value);
        }
    }
}

/// Names as a message has them: `'a'`, `'a' or 'b'`, `nobody`.
fn named(names: &[&[u8]]) -> String {
    let names = names.iter().filter(|name| !name.is_empty());
    let quoted: Vec<String> = names.map(|name| format!("'{}'", shown(name))).collect();
    if quoted.is_empty() { "nobody".to_owned() } else { quoted.join(" or ") }
}

fn shown(bytes: &[u8]) -> String {
    escape::bounded(bytes, SHOWN)
}
