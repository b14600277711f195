//! Where an entry goes out.

use super::{
    entry::{Entry, List},
    layout::{Content, Node, Splice, Style, line_after, line_start},
};

/// The number of the first entry for a crawler that an insertion wrote, and the bytes to take out, the last
/// ones first.
pub(super) fn of(text: &str, site: &Node, list: List, name: &str) -> Option<(usize, Vec<Splice>)> {
    let [outer, inner] = list.keys();
    let (outer_key, section) = site.entry(outer)?;
    let (inner_key, found) = section.entry(inner)?;
    if section.is_shared || found.is_shared {
        return None;
    }
    let Content::List(style, items) = &found.content else { return None };
    let head = Entry::head(name, *style);
    let is_ours = |item: &Node| match style {
        _ if !text.get(item.span.clone()).is_some_and(|text| text.starts_with(&head)) => false,
        Style::Block => {
            let start = line_start(text, item.span.start);
            let before = text.get(start..item.span.start).unwrap_or_default();
            let after = text.get(item.span.end..line_after(text, item.span.end));
            before.trim_start() == "- " && after.is_some_and(|one| one.trim() == list.mark())
        }
        Style::Flow => true,
    };
    let number = items.iter().position(is_ours)?;
    let item = items.get(number)?;
    let splices = match style {
        Style::Flow => vec![in_brackets(text, item, [outer, inner])?],
        Style::Block => {
            let is_last = items.len() == 1;
            let is_section_ours = matches!(&section.content, Content::Map(Style::Block, entries) if entries.len() == 1);
            let keys =
                [(inner_key, inner, is_last), (outer_key, outer, is_last && is_section_ours)];
            lines(text, item, &keys)
        }
    };
    Some((number, splices))
}

/// The line of an entry, and the lines before it that have a key alone which is empty without the entry.
fn lines(text: &str, item: &Node, keys: &[(&Node, &str, bool)]) -> Vec<Splice> {
    let mut start = line_start(text, item.span.start);
    let mut end = line_after(text, item.span.end);
    let mut splices = Vec::new();
    for (node, key, is_empty) in keys {
        if !is_empty {
            break;
        }
        let line = line_start(text, start.saturating_sub(1));
        let is_alone = text.get(line..start).is_some_and(|line| line.trim() == format!("{key}:"));
        if !is_alone {
            // The operator wrote something there, so the list stays.
            let at = node.span.end + 1;
            splices.push(Splice { bytes: at..at, text: " []".to_owned() });
            break;
        }
        start = line;
    }
    if end == text.len() && !text.ends_with('\n') {
        let before = text.get(..start).unwrap_or_default();
        start = before
            .strip_suffix("\r\n")
            .or_else(|| before.strip_suffix('\n'))
            .unwrap_or(before)
            .len();
        end = text.len();
    }
    splices.insert(0, Splice { bytes: start..end, text: String::new() });
    splices
}

/// An entry in brackets with what an insertion wrote around it.
fn in_brackets(text: &str, item: &Node, [outer, inner]: [&str; 2]) -> Option<Splice> {
    let (before, after) = (text.get(..item.span.start)?, text.get(item.span.end..)?);
    let created = format!(", {outer}: {{{inner}: [");
    let in_section = format!(", {inner}: [");
    let alone = format!(" {inner}: [");
    let section_alone = format!(" {outer}: {{{inner}: [");
    for (head, tail) in [
        ("", ", "),
        (created.as_str(), "]}"),
        (section_alone.as_str(), "]} "),
        (in_section.as_str(), "]"),
        (alone.as_str(), "] "),
        (" ", " "),
        ("", ""),
    ] {
        if before.ends_with(head) && after.starts_with(tail) {
            let bytes = item.span.start - head.len()..item.span.end + tail.len();
            return Some(Splice { bytes, text: String::new() });
        }
    }
    None
}
