//! One edit, and the proof that nothing else changed.

use std::ops::Range;

use super::{
    entry::{self, Entry, List},
    layout::{Content, Node, Refusal, Style, line_after, line_start},
};

/// The text with an entry at the head of a list of the site that begins at this line and column, in place
/// of an earlier entry for the same crawler.
pub(crate) fn put(text: &str, site: (u32, u32), entry: &Entry) -> Result<String, Refusal> {
    let (mark, body) = split_mark(text);
    let body = match entry.list {
        // The rules of several groups add up.
        List::Groups => body.to_owned(),
        list => take_from(body, site, list, &entry.name)?.unwrap_or_else(|| body.to_owned()),
    };
    let root = read(&body)?;
    let inserted = entry::insertion(&body, find(&root, site)?, entry)?.apply(&body);
    let [section, list] = entry.list.keys();
    let mut meant = root.clone();
    let item = read(&entry.text(Style::Block))?;
    let found = site_mut(&mut meant, site)
        .and_then(|site| site.get_or_put(section, Content::Map(Style::Block, Vec::new())))
        .and_then(|section| section.get_or_put(list, Content::List(Style::Block, Vec::new())));
    if let Some(Node { content: Content::List(_, items), .. }) = found {
        items.insert(0, item);
    }
    match read(&inserted) {
        Ok(found) if found == meant => Ok([mark, &inserted].concat()),
        _ => Err(Refusal::at(find(&root, site)?, "no place for the entry was found")),
    }
}

/// The text without what [`put`] wrote for this crawler into a list; `None` if it wrote nothing.
pub(crate) fn take(
    text: &str,
    site: (u32, u32),
    list: List,
    name: &str,
) -> Result<Option<String>, Refusal> {
    let (mark, body) = split_mark(text);
    Ok(take_from(body, site, list, name)?.map(|taken| [mark, &taken].concat()))
}

fn take_from(
    text: &str,
    site: (u32, u32),
    list: List,
    name: &str,
) -> Result<Option<String>, Refusal> {
    let mut text = text.to_owned();
    let mut is_changed = false;
    loop {
        let root = read(&text)?;
        let Some((number, splices)) = entry::removal(&text, find(&root, site)?, list, name) else {
            return Ok(is_changed.then_some(text));
        };
        let taken = splices.iter().fold(text, |text, splice| splice.apply(&text));
        let without = |root: &Node, number: Option<usize>| {
            let (mut root, [outer, inner]) = (root.clone(), list.keys());
            let site = site_mut(&mut root, site)?;
            let section = site.get_or_put(outer, Content::Map(Style::Block, Vec::new()))?;
            let empty = Content::List(Style::Block, Vec::new());
            if let (Some(number), Content::List(_, items)) =
                (number, &mut section.get_or_put(inner, empty)?.content)
            {
                items.remove(number);
            }
            section.prune(inner);
            site.prune(outer);
            Some(root)
        };
        if without(&root, Some(number)) != without(&read(&taken)?, None) {
            return Err(Refusal::at(find(&root, site)?, "the entry can't be taken out alone"));
        }
        (text, is_changed) = (taken, true);
    }
}

/// The bytes of a section of a site, as whole lines; where there is none, the place for it.
pub(crate) fn section(text: &str, site: (u32, u32), key: &str) -> Result<Range<usize>, Refusal> {
    let (mark, body) = split_mark(text);
    let root = read(body)?;
    let site = find(&root, site)?;
    let lines = match site.entry(key) {
        _ if !matches!(site.content, Content::Map(Style::Block, _)) => {
            return Err(Refusal::at(site, "the site is written in braces"));
        }
        Some((at, value)) if value.is_referred_to() => {
            return Err(Refusal::at(
                at,
                format!("other places refer to '{key}', or to a part of it"),
            ));
        }
        Some((at, value)) => {
            let start = line_start(body, at.span.start);
            let is_first = body.get(start..at.span.start).is_some_and(|one| one.trim() == "");
            if !is_first {
                return Err(Refusal::at(
                    at,
                    format!("'{key}' begins behind something in its line"),
                ));
            }
            start..line_after(body, value.span.end)
        }
        None => {
            let at = line_after(body, site.span.end);
            at..at
        }
    };
    Ok(lines.start + mark.len()..lines.end + mark.len())
}

/// Whether two texts mean the same but for these sections of their sites.
pub(crate) fn is_same_beside(before: &str, after: &str, sections: &[&str]) -> bool {
    let without = |text: &str| {
        let mut root = read(split_mark(text).1).ok()?;
        let sites = root.get_or_put("sites", Content::List(Style::Block, Vec::new()))?;
        if let Content::List(_, items) = &mut sites.content {
            for site in items {
                if let Content::Map(_, entries) = &mut site.content {
                    entries.retain(|(key, _)| !sections.iter().any(|one| key.is_text(one)));
                }
            }
        }
        Some(root)
    };
    without(before).is_some_and(|before| without(after) == Some(before))
}

fn split_mark(text: &str) -> (&str, &str) {
    text.split_at(if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 })
}

fn read(text: &str) -> Result<Node, Refusal> {
    Node::read(text).map_err(|error| Refusal {
        line: u32::try_from(error.marker().line()).unwrap_or_default(),
        why: "not valid YAML".to_owned(),
    })
}

fn find(root: &Node, place: (u32, u32)) -> Result<&Node, Refusal> {
    let sites = root.get("sites").filter(|sites| !sites.is_shared && !root.is_shared);
    let found = sites.and_then(|sites| sites.items().iter().find(|site| site.place == place));
    found.filter(|site| !site.is_shared).ok_or_else(|| Refusal {
        line: place.0,
        why: "the site comes from an alias or an anchor, so a change here would change other \
              places too"
            .to_owned(),
    })
}

fn site_mut(root: &mut Node, place: (u32, u32)) -> Option<&mut Node> {
    let sites = root.get_or_put("sites", Content::List(Style::Block, Vec::new()))?;
    let Content::List(_, items) = &mut sites.content else { return None };
    items.iter_mut().find(|site| site.place == place)
}
