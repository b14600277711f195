//! Where an entry goes in.

use super::{
    entry::{Entry, List},
    layout::{Content, Node, Refusal, Splice, Style, line_after, line_end, line_start},
};

/// The bytes of an entry at the head of its list, with the list and its section where they are missing.
pub(super) fn of(text: &str, site: &Node, entry: &Entry) -> Result<Splice, Refusal> {
    let keys = entry.list.keys();
    let [outer, inner] = keys;
    let Some(section) = own(site, outer)? else { return create(text, site, &keys, entry) };
    match own(section, inner)? {
        Some(list) => into_list(text, list, entry),
        None => create(text, section, &[inner], entry),
    }
}

/// The value of a key, if the mapping itself has it.
fn own<'n>(map: &'n Node, key: &str) -> Result<Option<&'n Node>, Refusal> {
    let Some((at, value)) = map.entry(key) else {
        return match map.entry("<<") {
            Some((at, _)) => {
                let why = format!("a merge key may bring '{key}' here");
                Err(Refusal::at(at, why))
            }
            None => Ok(None),
        };
    };
    if value.is_shared {
        let why = format!(
            "'{key}' comes from an alias or an anchor, so a change here would change other places too"
        );
        return Err(Refusal::at(at, why));
    }
    if value.is_absent() {
        let why = format!("'{key}' has no value: remove it, or write one");
        return Err(Refusal::at(at, why));
    }
    Ok(Some(value))
}

/// The keys, one in the other, at the end of a mapping, with the entry in the innermost.
fn create(text: &str, map: &Node, keys: &[&str], entry: &Entry) -> Result<Splice, Refusal> {
    if entry.list == List::Groups {
        return Err(Refusal::at(map, "the site publishes no groups of its own"));
    }
    let Content::Map(style, entries) = &map.content else {
        return Err(Refusal::at(map, "a mapping is expected here"));
    };
    if let Style::Block = style {
        let column = map.place.1.saturating_sub(1) as usize;
        let lines = keys.iter().enumerate().map(|(depth, key)| (depth, format!("{key}:")));
        let last = (keys.len(), line_of(entry));
        let line = |(depth, line): (usize, String)| " ".repeat(column + 2 * depth) + &line;
        let lines: Vec<String> = lines.chain([last]).map(line).collect();
        return Ok(lines_at(text, line_after(text, map.span.end), &lines));
    }
    let mut written = format!("[{}]", entry.text(Style::Flow));
    for (depth, key) in keys.iter().rev().enumerate() {
        written = match depth {
            0 => format!("{key}: {written}"),
            _ => format!("{key}: {{{written}}}"),
        };
    }
    let (at, written) = match entries.last() {
        Some((_, value)) => (value.span.end, format!(", {written}")),
        None => (map.span.start + 1, format!(" {written} ")),
    };
    Ok(Splice { bytes: at..at, text: written })
}

/// The entry before the first one of a list.
fn into_list(text: &str, list: &Node, entry: &Entry) -> Result<Splice, Refusal> {
    match &list.content {
        Content::List(Style::Block, items) => {
            // The dash of the first item: in its line, or where the list begins.
            let lines = items.iter().map(|one| one.span.start).chain([list.span.start]);
            let mut lines = lines.map(|at| line_start(text, at));
            let dash =
                |start: &usize| text.get(*start..).unwrap_or_default().trim_start_matches(' ');
            let first = lines.find(|start| dash(start).starts_with('-'));
            let Some(start) = first else {
                return Err(Refusal::at(list, "the list begins behind something in its line"));
            };
            let indentation = " ".repeat(text.len() - start - dash(&start).len());
            Ok(lines_at(text, start, &[indentation + &line_of(entry)]))
        }
        Content::List(Style::Flow, items) => {
            let at = list.span.start + 1;
            let spaces = text.get(at..).unwrap_or_default().bytes().take_while(|b| *b == b' ');
            let (at, written) = match items.is_empty() {
                true => (at, format!(" {} ", entry.text(Style::Flow))),
                false => (at + spaces.count(), format!("{}, ", entry.text(Style::Flow))),
            };
            Ok(Splice { bytes: at..at, text: written })
        }
        _ => Err(Refusal::at(list, "a list is expected here")),
    }
}

fn line_of(entry: &Entry) -> String {
    format!("- {}  {}", entry.text(Style::Block), entry.list.mark())
}

/// Whole lines. Behind a last line without an end, the last of them has none either.
fn lines_at(text: &str, at: usize, lines: &[String]) -> Splice {
    let end = line_end(text);
    let written = lines.join(end);
    let is_behind_open_line = at == text.len() && !text.is_empty() && !text.ends_with('\n');
    let text = if is_behind_open_line { [end, &written].concat() } else { written + end };
    Splice { bytes: at..at, text }
}
