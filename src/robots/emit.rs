//! [`RobotsTxt`] to text: the same bytes for the same value.
//!
//! Lines end in LF. The header comes first, then the records that belong to no group, then the
//! groups, an empty line between all of them; records at the end of the list that speak of the
//! whole site (`Sitemap`) close the file, except `License`, which RSL wants first.
//!
//! Patterns are written in printable ASCII, everything else percent-encoded. The fields are
//! public, so whatever stands in them is made harmless here: no value can start a line of its own
//! or hide behind `#`.
//!
//! A group without rules that isn't the last gets an empty `Disallow`, which has no effect;
//! without it, the user-agent lines of the next group would join its own.

use std::fmt;

use super::{Group, Record, RobotsTxt, normal};

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
        for (index, group) in self.groups.iter().enumerate() {
            blocks.start(f)?;
            write_group(f, group, index + 1 == self.groups.len())?;
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

fn closes(record: &Record) -> bool {
    record.is_global() && !record.name.eq_ignore_ascii_case("license")
}

fn write_group(f: &mut fmt::Formatter<'_>, group: &Group, last: bool) -> fmt::Result {
    write_comment(f, &group.comment)?;
    for user_agent in &group.user_agents {
        writeln!(f, "User-agent: {}", one_line(&user_agent.name))?;
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
        write_line(f, &one_line(&record.name).replace(':', " "), &one_line(&record.value))
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

/// `text` without anything that ends a line or starts a comment.
fn one_line(text: &str) -> String {
    without_breaks(text).replace('#', "%23")
}

/// `text` with a space for each control character and for what some readers take for a line end.
fn without_breaks(text: &str) -> String {
    let breaks = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    text.chars().map(|c| if breaks(c) { ' ' } else { c }).collect()
}
