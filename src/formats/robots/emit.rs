//! [`RobotsTxt`] as text: the same bytes for the same value.
//!
//! Lines end in LF. The header comes first, then the records outside groups, then the groups, with
//! an empty line between blocks. Records of the whole site (`Sitemap`) at the end of the list close
//! the file. `License` doesn't: RSL asks for it at the top.
//!
//! Patterns are written in printable ASCII, all else percent-encoded. The fields are public and
//! files are foreign, so no value can break the file:
//!
//! - Characters that end a line or begin a comment are percent-encoded. So is the colon in a name.
//! - A record that would read as a line of the protocol is left out.
//! - A group that names no crawler is left out with its rules, which would join the group above.
//!
//! A group without rules gets an empty `Disallow`. It has no effect, and keeps the user-agent lines
//! of the next group apart. Many parsers forget a last group without it. Values from [`Rule::new`](super::Rule::new) and its
//! siblings otherwise read back as they were, line numbers aside.

use std::fmt;

use super::{
    line_kind::{LineKind, is_break},
    normal,
    other_record::{LIMIT, Record},
    robots_txt::{Group, RobotsTxt},
};

impl fmt::Display for RobotsTxt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let closing = self.records.iter().rev().take_while(|record| closes(record)).count();
        let (opening, closing) = self.records.split_at(self.records.len() - closing);
        let mut blocks = Blocks { started: false };
        if !self.header.is_empty() {
            blocks.start(f)?;
            write_comment(f, &self.header)?;
        }
        if !opening.is_empty() {
            blocks.start(f)?;
            write_records(f, opening)?;
        }
        for group in self.groups.iter().filter(|group| !group.user_agents.is_empty()) {
            blocks.start(f)?;
            write_group(f, group)?;
        }
        if !closing.is_empty() {
            blocks.start(f)?;
            write_records(f, closing)?;
        }
        Ok(())
    }
}

/// The empty lines between blocks.
struct Blocks {
    started: bool,
}

impl Blocks {
    fn start(&mut self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if std::mem::replace(&mut self.started, true) { f.write_str("\n") } else { Ok(()) }
    }
}

/// Whether a record stands at the end of the file, if only such records follow it.
pub(super) fn closes(record: &Record) -> bool {
    record.is_global() && !record.name.eq_ignore_ascii_case("license")
}

fn write_group(f: &mut fmt::Formatter<'_>, group: &Group) -> fmt::Result {
    write_comment(f, &group.comment)?;
    for user_agent in &group.user_agents {
        writeln!(f, "User-agent: {}", name(&user_agent.name))?;
    }
    for rule in &group.rules {
        write_line(f, rule.directive.field_name(), &normal::ascii(rule.pattern.as_bytes()))?;
    }
    if group.rules.is_empty() {
        write_line(f, "Disallow", "")?;
    }
    write_records(f, &group.records)
}

fn write_records(f: &mut fmt::Formatter<'_>, records: &[Record]) -> fmt::Result {
    records.iter().try_for_each(|record| {
        let name = one_line(&record.name).replace(':', "%3A");
        // A byte order mark at the start of the file would be skipped.
        match LineKind::of(name.trim_matches([' ', '\t', '\u{feff}']).as_bytes()) {
            LineKind::Other => {
                let name = name.replace('\u{feff}', "%EF%BB%BF");
                let comment = if record.is_limit { LIMIT } else { "" };
                write_line(f, &name, &(one_line(&record.value) + comment))
            }
            LineKind::UserAgent | LineKind::Rule(_) => Ok(()),
        }
    })
}

fn write_line(f: &mut fmt::Formatter<'_>, name: &str, value: &str) -> fmt::Result {
    if value.is_empty() { writeln!(f, "{name}:") } else { writeln!(f, "{name}: {value}") }
}

fn write_comment(f: &mut fmt::Formatter<'_>, comment: &[String]) -> fmt::Result {
    for line in comment.iter().flat_map(|line| line.split(['\n', '\r'])) {
        let line = without_breaks(line);
        let line = line.trim_end();
        if line.is_empty() { f.write_str("#\n")? } else { writeln!(f, "# {line}")? }
    }
    Ok(())
}

/// A crawler's name. A name with line breaks or `#` matches no crawler, and its first letters must
/// not match one either: all but letters, digits, `-` and `_` is percent-encoded.
fn name(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if name.contains(|c| is_break(c) || c == '#') {
        encoded(name, |c| !is_plain(c))
    } else {
        name.to_owned()
    }
}

/// `text` with all characters that end a line or start a comment percent-encoded.
fn one_line(text: &str) -> String {
    encoded(text, |c| is_break(c) || c == '#')
}

/// `text` with the characters that `is_encoded` selects percent-encoded.
fn encoded(text: &str, is_encoded: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_encoded(c) {
            for octet in c.encode_utf8(&mut [0; 4]).bytes() {
                out.push_str(&format!("%{octet:02X}"));
            }
        } else {
            out.push(c);
        }
    }
    out
}

/// `text` with a space in place of each character that could end a line.
fn without_breaks(text: &str) -> String {
    text.chars().map(|c| if is_break(c) { ' ' } else { c }).collect()
}
