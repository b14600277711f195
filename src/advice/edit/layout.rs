//! The text of a policy as a tree; every node has its bytes. Bytes that go in or out, and lines.

use std::{collections::HashSet, ops::Range};

use granit_parser::{Event, Marker, Parser, ScanError, Span, StructureStyle};

#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) content: Content,
    /// Its bytes, without the space and the comments after it.
    pub(super) span: Range<usize>,
    /// Its first line and column, as findings count them.
    pub(super) place: (u32, u32),
    /// Whether the text has it in two places: it is an alias, or one refers to it.
    pub(super) is_shared: bool,
    anchor: usize,
}

/// What a node is. A text is as it is meant, without quotation marks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Content {
    Alias(usize),
    Text(String),
    List(Style, Vec<Node>),
    Map(Style, Vec<(Node, Node)>),
}

/// How a list or a mapping is written. Two styles mean the same.
#[derive(Clone, Copy, Debug)]
pub(super) enum Style {
    Block,
    Flow,
}

impl PartialEq for Style {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Style {}

/// Nodes are equal if they mean the same, wherever they stand.
impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        self.content == other.content
    }
}

impl Eq for Node {}

impl Node {
    /// The root of a document. `text` begins after a byte order mark.
    pub(super) fn read(text: &str) -> Result<Self, ScanError> {
        let mut reader = Reader { events: Parser::new_from_str(text), aliases: HashSet::new() };
        let mut root = reader.document()?;
        root.mark_shared(&reader.aliases);
        Ok(root)
    }

    /// The value of a key of a mapping.
    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        self.entry(key).map(|(_, value)| value)
    }

    pub(super) fn entry(&self, key: &str) -> Option<&(Self, Self)> {
        let Content::Map(_, entries) = &self.content else { return None };
        entries.iter().find(|(found, _)| found.is_text(key))
    }

    pub(super) fn items(&self) -> &[Self] {
        match &self.content {
            Content::List(_, items) => items,
            _ => &[],
        }
    }

    pub(super) fn is_text(&self, text: &str) -> bool {
        matches!(&self.content, Content::Text(found) if found == text)
    }

    /// Whether nothing is written: `key:` alone.
    pub(super) fn is_absent(&self) -> bool {
        self.span.is_empty() && matches!(self.content, Content::Text(_))
    }

    /// Whether an alias refers to it, or to a part of it.
    pub(super) fn is_referred_to(&self) -> bool {
        match &self.content {
            Content::Alias(_) => false,
            _ if self.is_shared => true,
            Content::Text(_) => false,
            Content::List(_, items) => items.iter().any(Self::is_referred_to),
            Content::Map(_, entries) => entries.iter().any(|(_, value)| value.is_referred_to()),
        }
    }

    /// The value of a key of a mapping, which is made if it is not there.
    pub(super) fn get_or_put(&mut self, key: &str, absent: Content) -> Option<&mut Self> {
        let Content::Map(_, entries) = &mut self.content else { return None };
        let found = entries.iter().position(|(found, _)| found.is_text(key));
        let number = found.unwrap_or_else(|| {
            entries.push((Self::of(Content::Text(key.to_owned())), Self::of(absent)));
            entries.len() - 1
        });
        entries.get_mut(number).map(|(_, value)| value)
    }

    /// Removes a key of a mapping if its value is empty.
    pub(super) fn prune(&mut self, key: &str) {
        let is_empty = |node: &Self| match &node.content {
            Content::List(_, items) => items.is_empty(),
            Content::Map(_, entries) => entries.is_empty(),
            _ => false,
        };
        if let Content::Map(_, entries) = &mut self.content {
            entries.retain(|(found, value)| !(found.is_text(key) && is_empty(value)));
        }
    }

    fn of(content: Content) -> Self {
        Self { content, span: 0..0, place: (0, 0), is_shared: false, anchor: 0 }
    }

    fn mark_shared(&mut self, aliases: &HashSet<usize>) {
        self.is_shared |= aliases.contains(&self.anchor);
        match &mut self.content {
            Content::Alias(_) | Content::Text(_) => {}
            Content::List(_, items) => items.iter_mut().for_each(|one| one.mark_shared(aliases)),
            Content::Map(_, entries) => entries.iter_mut().for_each(|(key, value)| {
                key.mark_shared(aliases);
                value.mark_shared(aliases);
            }),
        }
    }
}

struct Reader<'t> {
    events: Parser<'t, granit_parser::StrInput<'t>>,
    /// The anchors that aliases refer to.
    aliases: HashSet<usize>,
}

impl<'t> Reader<'t> {
    fn next(&mut self) -> Result<(Event<'t>, Span), ScanError> {
        self.events.next().unwrap_or_else(|| Ok((Event::StreamEnd, Span::empty(Marker::default()))))
    }

    fn document(&mut self) -> Result<Node, ScanError> {
        loop {
            match self.next()? {
                (Event::StreamStart | Event::DocumentStart(..), _) => {}
                (event, span) => return self.node(event, span),
            }
        }
    }

    /// The node that begins with this event.
    fn node(&mut self, event: Event<'t>, span: Span) -> Result<Node, ScanError> {
        let (start, mut end) = (offset(span.start), offset(span.end));
        let place = (narrow(span.start.line()), narrow(span.start.col() + 1));
        let (content, anchor) = match event {
            Event::Alias(id) => {
                self.aliases.insert(id);
                (Content::Alias(id), 0)
            }
            Event::Scalar(text, _, anchor, _) => (Content::Text(text.into_owned()), anchor),
            Event::SequenceStart(style, anchor, _) => {
                let mut items = Vec::new();
                end = loop {
                    match self.next()? {
                        (Event::SequenceEnd, span) => break ending(style, span, items.last()),
                        (event, span) => items.push(self.node(event, span)?),
                    }
                };
                (Content::List(Style::of(style), items), anchor)
            }
            Event::MappingStart(style, anchor, _) => {
                let mut entries = Vec::new();
                end = loop {
                    match self.next()? {
                        (Event::MappingEnd, span) => {
                            break ending(style, span, entries.last().map(|(_, value)| value));
                        }
                        (event, span) => {
                            let key = self.node(event, span)?;
                            let (event, span) = self.next()?;
                            let mut value = self.node(event, span)?;
                            if value.is_absent() {
                                value.span = key.span.end..key.span.end;
                            }
                            entries.push((key, value));
                        }
                    }
                };
                (Content::Map(Style::of(style), entries), anchor)
            }
            _ => (Content::Text(String::new()), 0),
        };
        let is_shared = matches!(content, Content::Alias(_));
        Ok(Node { content, span: start..end.max(start), place, is_shared, anchor })
    }
}

impl Style {
    const fn of(style: StructureStyle) -> Self {
        match style {
            StructureStyle::Block => Self::Block,
            StructureStyle::Flow => Self::Flow,
        }
    }
}

/// The end of a collection: of one by indentation, the end of its last value.
fn ending(style: StructureStyle, end: Span, last: Option<&Node>) -> usize {
    match (style, last) {
        (StructureStyle::Block, Some(last)) => last.span.end,
        _ => offset(end.end),
    }
}

fn offset(marker: Marker) -> usize {
    marker.byte_offset().unwrap_or_default()
}

fn narrow(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// The line of the text, from 1; 0 is unknown.
    pub(crate) line: u32,
    pub(crate) why: String,
}

impl Refusal {
    pub(super) fn at(node: &Node, why: impl Into<String>) -> Self {
        Self { line: node.place.0, why: why.into() }
    }
}

/// Bytes of the text, and what stands there instead.
pub(super) struct Splice {
    pub(super) bytes: Range<usize>,
    pub(super) text: String,
}

impl Splice {
    pub(super) fn apply(&self, text: &str) -> String {
        let before = text.get(..self.bytes.start).unwrap_or(text);
        let after = text.get(self.bytes.end..).unwrap_or_default();
        [before, &self.text, after].concat()
    }
}

pub(super) fn line_start(text: &str, at: usize) -> usize {
    text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |newline| newline + 1)
}

/// Where the line after this byte begins; a byte behind a line feed begins a line.
pub(super) fn line_after(text: &str, at: usize) -> usize {
    if at > 0 && text.as_bytes().get(at - 1) == Some(&b'\n') {
        return at;
    }
    let rest = text.get(at..).unwrap_or_default();
    rest.find('\n').map_or(text.len(), |newline| at + newline + 1)
}

pub(super) fn line_end(text: &str) -> &'static str {
    let is_pair = text.find('\n').is_some_and(|at| text[..at].ends_with('\r'));
    if is_pair { "\r\n" } else { "\n" }
}
