//! An entry of a list: how it is written, where it goes in, and where it goes out.

use derive_more::Display;

use super::layout::{Content, Node, Refusal, Splice, Style, line_after, line_end, line_start};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum List {
    Overrides,
    RateLimits,
    Quiet,
    Groups,
}

impl List {
    /// The section of the site, and its key of the list.
    pub(super) const fn keys(self) -> [&'static str; 2] {
        match self {
            Self::Overrides => ["enforcement", "overrides"],
            Self::RateLimits => ["enforcement", "rate_limits"],
            Self::Quiet => ["enforcement", "quiet"],
            Self::Groups => ["robots_txt", "groups"],
        }
    }

    pub(super) const fn mark(self) -> &'static str {
        match self {
            Self::Overrides | Self::Groups => "# beadle block",
            Self::RateLimits => "# beadle limit",
            Self::Quiet => "# beadle quiet",
        }
    }
}

/// An entry of a list: a line that names one crawler.
#[derive(Clone, Debug, Display)]
#[display("{}:\n  {}:\n    - {}", list.keys()[0], list.keys()[1], self.text(Style::Block))]
pub(crate) struct Entry {
    pub(crate) list: List,
    /// The crawler, or another word for crawlers, as `user_agents` takes it.
    pub(crate) name: String,
    /// The other keys, as a policy writes them: `mode: block`; may be empty.
    pub(crate) rest: String,
}

impl Entry {
    /// The beginning of the entries for this crawler. Brackets leave no room for a comment, so there the
    /// quotation marks around the key tell an entry from one of the operator.
    pub(super) fn head(name: &str, style: Style) -> String {
        let key = match style {
            Style::Block => "user_agents",
            Style::Flow => "\"user_agents\"",
        };
        format!("{{ {key}: [{}]", quoted(name))
    }

    pub(super) fn text(&self, style: Style) -> String {
        let comma = if self.rest.is_empty() { "" } else { ", " };
        format!("{}{comma}{} }}", Self::head(&self.name, style), self.rest)
    }
}

/// A text as a value in brackets: as it is, or in quotation marks where YAML needs them.
pub(crate) fn quoted(text: &str) -> String {
    let is_word = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/')
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_./".contains(&b))
    };
    let means_else = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    if is_word(text) && !means_else.iter().any(|word| text.eq_ignore_ascii_case(word)) {
        return text.to_owned();
    }
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// The bytes of an entry at the head of its list, with the list and its section where they are missing.
pub(super) fn insertion(text: &str, site: &Node, entry: &Entry) -> Result<Splice, Refusal> {
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

/// The number of the first entry for a crawler that an insertion wrote, and the bytes to take out, the last
/// ones first.
pub(super) fn removal(
    text: &str,
    site: &Node,
    list: List,
    name: &str,
) -> Option<(usize, Vec<Splice>)> {
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
