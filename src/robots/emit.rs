//! [`RobotsTxt`] to text: the same bytes for the same value.
//!
//! Lines end in LF. The header comes first, then the records that belong to no group, then the
//! groups, an empty line between all of them; records at the end of the list that speak of the
//! whole site (`Sitemap`) close the file, except `License`, which RSL wants first.
//!
//! Patterns are written in printable ASCII, everything else percent-encoded. The fields are
//! public and files are foreign, so whatever stands in them is made harmless here: what ends a line
//! or begins a comment is percent-encoded, and so is the colon in a name; a record that would read
//! as a line of the protocol is left out, and a group that names nobody with all its rules, which
//! would join the group above.
//!
//! A group without rules that isn't the last gets an empty `Disallow`, which has no effect;
//! without it, the user-agent lines of the next group would join its own. Read again, that is all
//! that differs from a value that [`Rule::new`](super::Rule::new) and its siblings made; line
//! numbers aside.

use std::fmt;

use super::{
    Group, Record, RobotsTxt,
    key::{Key, is_break},
    normal,
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
        let mut groups =
            self.groups.iter().filter(|group| !group.user_agents.is_empty()).peekable();
        while let Some(group) = groups.next() {
            blocks.start(f)?;
            write_group(f, group, groups.peek().is_none())?;
        }
        if !closing.is_empty() {
            blocks.start(f)?;
            write_records(f, closing)?;
        }
        Ok(())
    }
}

/// Puts an empty line between blocks.
struct Blocks {
    started: bool,
}

impl Blocks {
    fn start(&mut self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if std::mem::replace(&mut self.started, true) { f.write_str("\n") } else { Ok(()) }
    }
}

/// Whether a record closes the file where only such stand behind it.
pub(super) fn closes(record: &Record) -> bool {
    record.is_global() && !record.name.eq_ignore_ascii_case("license")
}

fn write_group(f: &mut fmt::Formatter<'_>, group: &Group, last: bool) -> fmt::Result {
    write_comment(f, &group.comment)?;
    for user_agent in &group.user_agents {
        writeln!(f, "User-agent: {}", name(&user_agent.name))?;
    }
    for rule in &group.rules {
        write_line(f, rule.directive.field_name(), &normal::ascii(rule.pattern.as_bytes()))?;
    }
    if group.rules.is_empty() && !last {
        write_line(f, "Disallow", "")?;
    }
    write_records(f, &group.records)
}

fn write_records(f: &mut fmt::Formatter<'_>, records: &[Record]) -> fmt::Result {
    records.iter().try_for_each(|record| {
        let name = one_line(&record.name).replace(':', "%3A");
        // A byte order mark that came to stand first in the file would be skipped.
        match Key::of(name.trim_matches([' ', '\t', '\u{feff}']).as_bytes()) {
            Key::Other => {
                write_line(f, &name.replace('\u{feff}', "%EF%BB%BF"), &one_line(&record.value))
            }
            Key::UserAgent | Key::Rule(_) => Ok(()),
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

/// A crawler's name. One that holds what no line can names nobody, and must not come to name
/// somebody by its first letters: all but letters, digits, `-` and `_` is percent-encoded.
fn name(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if name.contains(|c| is_break(c) || c == '#') {
        encoded(name, |c| !is_plain(c))
    } else {
        name.to_owned()
    }
}

/// `text` with everything that could end a line or start a comment percent-encoded.
fn one_line(text: &str) -> String {
    encoded(text, |c| is_break(c) || c == '#')
}

/// `text` with those characters percent-encoded.
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

/// `text` with a space for everything that could end a line.
fn without_breaks(text: &str) -> String {
    text.chars().map(|c| if is_break(c) { ' ' } else { c }).collect()
}
