//! Lists with entries on lines, and comma-separated lists with the prefix first.

use super::{entries::Entries, member_names, prefix, refusal::Refusal};

/// Reads lines. A line contains only entries, separated by blanks, commas or semicolons; or it has
/// columns, the first of which is an entry. Of a geofeed only the first column counts
/// (RFC 8805 §2.1.1.1). Empty lines and comments are ignored, and a first line that names the columns.
pub(super) fn read(text: &str, is_geofeed: bool, entries: &mut Entries) -> Result<(), Refusal> {
    for line in text.split(['\n', '\r']) {
        let line = without_comment(line).trim();
        if line.is_empty() {
            continue;
        }
        if !is_geofeed && (entries.add(line)? || add_each(line, entries)?) {
            continue;
        }
        let column = unquoted(line.split([',', ';', '\t']).next().unwrap_or_default());
        let is_heading = entries.is_untouched() && member_names::is_of_addresses(column);
        if !entries.add(column)? && !is_heading {
            entries.note_unread(line);
        }
    }
    Ok(())
}

/// Adds all words of a line, or none if one of them is not an entry.
fn add_each(line: &str, entries: &mut Entries) -> Result<bool, Refusal> {
    let is_between = |c: char| c.is_whitespace() || c == ',' || c == ';';
    let words = || line.split(is_between).map(unquoted).filter(|word| !word.is_empty());
    if !words().all(|word| prefix::parse(word).is_some()) {
        return Ok(false);
    }
    for word in words() {
        entries.add(word)?;
    }
    Ok(true)
}

fn unquoted(text: &str) -> &str {
    text.trim().trim_matches('"').trim()
}

fn without_comment(line: &str) -> &str {
    let line = line.split('#').next().unwrap_or_default();
    let is_comment = line.trim_start().starts_with([';']) || line.trim_start().starts_with("//");
    if is_comment { "" } else { line }
}
