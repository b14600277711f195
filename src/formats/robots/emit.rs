//! [`RobotsTxt`] as text: the same bytes for the same value.
//!
//! Records of the whole site (`Sitemap`) at the end of the list close the file. `License` doesn't: RSL asks
//! for it at the top. The fields are public and files are foreign, so no value can break the file:
//!
//! - Characters that end a line or begin a comment are percent-encoded. So is the colon in a name.
//! - A record that would read as a line of the protocol is left out.
//! - A group that names no crawler is left out with its rules, which would join the group above.
//!
//! A group without rules gets an empty `Disallow`. It has no effect, and keeps the user-agent lines
//! of the next group apart. Many parsers forget a last group without it.

use std::fmt;

use super::{
    line_kind::{LineKind, is_break},
    normal,
    other_record::{LIMIT, Record},
    robots_txt::{Group, RobotsTxt},
};
use crate::base::escape::percent;

impl fmt::Display for RobotsTxt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let closing = self.records.iter().rev().take_while(|record| closes(record)).count();
        let (opening, closing) = self.records.split_at(self.records.len() - closing);
        let mut blocks = vec![comment(&self.header), records(opening)];
        blocks.extend(self.groups.iter().filter(|one| !one.user_agents.is_empty()).map(group));
        blocks.push(records(closing));
        blocks.retain(|block| !block.is_empty());
        f.write_str(&blocks.join("\n"))
    }
}

/// Whether a record stands at the end of the file, if only such records follow it.
pub(super) fn closes(record: &Record) -> bool {
    record.is_global() && !record.name.eq_ignore_ascii_case("license")
}

fn group(group: &Group) -> String {
    let mut out = comment(&group.comment);
    for user_agent in &group.user_agents {
        push_line(&mut out, "User-agent", &name(&user_agent.name));
    }
    for rule in &group.rules {
        push_line(&mut out, rule.directive.field_name(), &normal::ascii(rule.pattern.as_bytes()));
    }
    if group.rules.is_empty() {
        push_line(&mut out, "Disallow", "");
    }
    out + &records(&group.records)
}

fn records(records: &[Record]) -> String {
    let mut out = String::new();
    for record in records {
        let name = one_line(&record.name).replace(':', "%3A");
        // A byte order mark at the start of the file would be skipped.
        let bare = name.trim_matches([' ', '\t', '\u{feff}']);
        if LineKind::of(bare.as_bytes()) == LineKind::Other {
            let name = name.replace('\u{feff}', "%EF%BB%BF");
            let comment = if record.is_limit { LIMIT } else { "" };
            push_line(&mut out, &name, &(one_line(&record.value) + comment));
        }
    }
    out
}

fn push_line(out: &mut String, name: &str, value: &str) {
    out.push_str(name);
    out.push_str(if value.is_empty() { ":" } else { ": " });
    out.push_str(value);
    out.push('\n');
}

fn comment(comment: &[String]) -> String {
    let mut out = String::new();
    for line in comment.iter().flat_map(|line| line.split(['\n', '\r'])) {
        let line = line.replace(is_break, " ");
        out.push_str(format!("# {line}").trim_end());
        out.push('\n');
    }
    out
}

/// A crawler's name. A name with line breaks or `#` matches no crawler, and its first letters must
/// not match one either: all but letters, digits, `-` and `_` is percent-encoded.
fn name(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if name.contains(|c| is_break(c) || c == '#') {
        percent(name, |c| !is_plain(c))
    } else {
        name.to_owned()
    }
}

/// `text` with all characters that end a line or start a comment percent-encoded.
fn one_line(text: &str) -> String {
    percent(text, |c| is_break(c) || c == '#')
}
