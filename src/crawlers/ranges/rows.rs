//! Lists of one entry on each line, and comma-separated ones with the prefix first.

use super::{prefix, read::Found, refusal::Refusal};

/// Reads lines. A line holds entries and nothing else, separated by blanks, commas or semicolons;
/// or, in columns, an entry first and what is said of it after commas. Of a geofeed only the first
/// column counts (RFC 8805 §2.1.1.1). Empty lines and comments are passed over.
pub(super) fn read(text: &str, is_geofeed: bool, found: &mut Found) -> Result<(), Refusal> {
    for line in text.split(['\n', '\r']) {
        let line = without_comment(line).trim();
        if line.is_empty() {
            continue;
        }
        if !is_geofeed && (found.take(line)? || take_each(line, found)?) {
            continue;
        }
        let column = line.split([',', ';', '\t']).next().unwrap_or_default();
        if !found.take(unquoted(column))? {
            found.note_unread(line);
        }
    }
    Ok(())
}

/// Takes all of a line's entries, or none if one of its words is none.
fn take_each(line: &str, found: &mut Found) -> Result<bool, Refusal> {
    let is_between = |c: char| c.is_whitespace() || c == ',' || c == ';';
    let words = || line.split(is_between).map(unquoted).filter(|word| !word.is_empty());
    if !words().all(|word| prefix::parse(word).is_some()) {
        return Ok(false);
    }
    for word in words() {
        found.take(word)?;
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
