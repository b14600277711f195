//! `<meta name="robots">`: the rules for crawlers in the head of an HTML document
//! (draft-illyes-repext-03 §3.1.2).
//!
//! The content is an `X-Robots-Tag` line without a crawler's name, and has the same reader. Several
//! elements are combined by union (§3.1.2). Names and rules are compared without case. An element
//! counts if it stands in the head (§4), also in a `noscript` there, because the source counts as
//! well as the result of scripts (§4). An element in the body, which some crawlers read, is reported
//! and ignored. The octets below 0x80 are read as ASCII, which is right for UTF-8 and all encodings of
//! the Web except UTF-16.

#[cfg(test)]
mod tests;

use super::{
    findings::Findings,
    head::{self, MetaTag, Spot},
    legacy,
    tag::{MAX_BYTES, RobotsTag, Scope},
};
use crate::base::{diagnostic::Diagnostic, escape::shown, product_token::ProductToken};

/// The most octets of a document that are read: 1 MiB. The rest is ignored.
pub const MAX_DOCUMENT_BYTES: usize = 1 << 20;

/// The most elements for crawlers that are read in one document.
pub const MAX_METAS: usize = 64;

/// Names with another meaning in the HTML standard (§4.2.5.1). They never name a crawler.
const OTHER_NAMES: [&str; 9] = [
    "application-name",
    "author",
    "color-scheme",
    "description",
    "generator",
    "keywords",
    "referrer",
    "theme-color",
    "viewport",
];

/// The rules in a document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Document {
    /// The elements that count, in their order.
    pub metas: Vec<Meta>,
    /// The findings about the document, with line and column; bounded in number.
    pub diagnostics: Vec<Diagnostic>,
}

/// A `meta` element with rules for crawlers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meta {
    /// The crawlers that it is for: `*` for the name `robots`.
    pub scope: Scope,
    /// Its content as written, with character references resolved: foreign text, at most
    /// [`MAX_BYTES`] octets, the invalid ones replaced.
    pub content: String,
    /// Its rules for that scope.
    pub tag: RobotsTag,
    /// The octet of the document at which it begins, from 0.
    pub offset: usize,
    /// The line on which it begins, from 1.
    pub line: u32,
}

impl Document {
    /// The union of all elements.
    pub fn tag(&self) -> RobotsTag {
        self.metas.iter().fold(RobotsTag::new(), |all, meta| all.union(&meta.tag))
    }
}

/// A reader for a document in pieces. The cuts make no difference. At most [`MAX_DOCUMENT_BYTES`]
/// are kept.
#[derive(Debug, Default)]
pub struct DocumentReader {
    octets: Vec<u8>,
    is_cut: bool,
}

impl DocumentReader {
    /// Takes the next octets. Returns whether it needs more.
    pub fn feed(&mut self, octets: &[u8]) -> bool {
        let room = MAX_DOCUMENT_BYTES - self.octets.len();
        let (taken, rest) = octets.split_at_checked(room).unwrap_or((octets, &[]));
        self.octets.extend_from_slice(taken);
        self.is_cut |= !rest.is_empty();
        !self.is_cut
    }

    /// The rules in the document. `is_crawler` says whether a name other than `robots` is that of a
    /// crawler: any word may be the name of a `meta` element.
    pub fn finish(self, is_crawler: impl Fn(&ProductToken) -> bool) -> Document {
        let octets = self.octets.as_slice();
        let mut findings = Findings::default();
        if is_utf16(octets) {
            findings.warn("robots_tag.utf16", "serve it as UTF-8", || {
                "the document is UTF-16, which Beadle does not read".to_owned()
            });
            return Document { metas: Vec::new(), diagnostics: findings.into_vec() };
        }
        let mark = if octets.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        let text = octets.get(mark..).unwrap_or_default();
        let mut cursor = Cursor { text, offset: 0, line: 1, line_start: 0 };
        let (mut metas, mut count) = (Vec::new(), 0);
        let has_ended = head::metas(text, |element, spot| {
            let before = findings.len();
            let Some((scope, name)) = addressee(&element, &is_crawler, &mut findings) else {
                if findings.len() > before {
                    let column = cursor.go_to(element.offset);
                    findings.place(before, cursor.line, column);
                }
                return true;
            };
            count += 1;
            if count > MAX_METAS {
                findings.warn("robots_tag.too_many_metas", "", || {
                    format!("more than {MAX_METAS} meta elements for crawlers; the rest is ignored")
                });
                return false;
            }
            let column = cursor.go_to(element.offset);
            if spot == Spot::Outside {
                let help = "move it into the head; only some crawlers read it in the body";
                findings.warn("robots_tag.meta_outside_head", help, || {
                    format!(
                        "<meta name=\"{}\"> stands outside the head and is ignored",
                        shown(&name)
                    )
                });
            } else {
                if spot == Spot::Noscript {
                    let help = "move it out of the noscript element";
                    findings.warn("robots_tag.meta_in_noscript", help, || {
                        let name = shown(&name);
                        format!(
                            "crawlers that run scripts may ignore <meta name=\"{name}\"> in noscript"
                        )
                    });
                }
                let content = content(element.content.as_deref(), &name, &mut findings);
                let tag = legacy::read_rules(&content, scope.clone(), &mut findings);
                let (offset, line) = (mark + element.offset, cursor.line);
                metas.push(Meta { scope, content, tag, offset, line });
            }
            findings.place(before, cursor.line, column);
            true
        });
        if self.is_cut && !has_ended && count <= MAX_METAS {
            findings.warn("robots_tag.head_cut", "", || {
                format!(
                    "the head does not end within {MAX_DOCUMENT_BYTES} bytes; the rest is ignored"
                )
            });
        }
        Document { metas, diagnostics: findings.into_vec() }
    }
}

/// The rules in a whole document. [`DocumentReader::finish`] explains `is_crawler`. Never fails.
pub fn read_html(document: &[u8], is_crawler: impl Fn(&ProductToken) -> bool) -> Document {
    let mut reader = DocumentReader::default();
    reader.feed(document);
    reader.finish(is_crawler)
}

/// The scope and the name of an element, if it is for crawlers.
fn addressee(
    element: &MetaTag,
    is_crawler: &dyn Fn(&ProductToken) -> bool,
    findings: &mut Findings,
) -> Option<(Scope, String)> {
    let text = |value: &Option<Vec<u8>>| {
        value.as_deref().map(|octets| String::from_utf8_lossy(octets).into_owned())
    };
    let is_tag = |name: &str| is_any(name, &["robots", "robots-tag", "x-robots-tag"]);
    let Some(name) = text(&element.name) else {
        for (attribute, value) in
            [("http-equiv", text(&element.http_equiv)), ("property", text(&element.property))]
        {
            if let Some(value) = value.filter(|value| is_tag(value)) {
                findings.not_a_robots_meta(attribute, &value);
            }
        }
        return None;
    };
    if is_any(&name, &["robots"]) {
        return Some((Scope::Any, name));
    }
    let mut words = name.split([',', ' ']);
    if is_any(&name, &["robot"]) || words.any(is_tag) {
        findings.not_a_robots_meta("name", &name);
        return None;
    }
    let token = ProductToken::new(&name)?;
    (!is_any(&name, &OTHER_NAMES) && is_crawler(&token)).then_some((Scope::Token(token), name))
}

/// The rules of an element, as text. Of content that is too long, the whole rules within the limit
/// count, as in a field (§3.1.1).
fn content(octets: Option<&[u8]>, name: &str, findings: &mut Findings) -> String {
    let octets = octets.unwrap_or_default();
    if octets.trim_ascii().is_empty() {
        let help = "write content=\"noindex\", or another rule";
        findings.warn("robots_tag.meta_without_content", help, || {
            format!("<meta name=\"{}\"> without content has no effect", shown(name))
        });
    }
    let kept = match octets.get(..MAX_BYTES) {
        Some(kept) if kept.len() < octets.len() => {
            findings.warn("robots_tag.too_long", "", || {
                let length = octets.len();
                format!(
                    "the content has {length} bytes; all after the first {MAX_BYTES} is ignored"
                )
            });
            let end = kept.iter().rposition(|octet| *octet == b',').unwrap_or_default();
            kept.get(..end).unwrap_or_default()
        }
        _ => octets,
    };
    String::from_utf8_lossy(kept).into_owned()
}

/// Whether a name is one of these, in any case, with or without white space around it.
fn is_any(name: &str, names: &[&str]) -> bool {
    names.iter().any(|known| name.trim().eq_ignore_ascii_case(known))
}

/// Whether a document begins with a byte order mark of UTF-16, or with a `<` in UTF-16.
fn is_utf16(octets: &[u8]) -> bool {
    [b"\xfe\xff", b"\xff\xfe", b"\0<", b"<\0"].iter().any(|begin| octets.starts_with(*begin))
}

/// A place in a text. It only moves forward.
struct Cursor<'t> {
    text: &'t [u8],
    offset: usize,
    line: u32,
    line_start: usize,
}

impl Cursor<'_> {
    /// Moves to an octet. Returns its column in characters, from 1.
    fn go_to(&mut self, offset: usize) -> u32 {
        for (at, octet) in self.text.iter().enumerate().take(offset).skip(self.offset) {
            if *octet == b'\n' {
                self.line = self.line.saturating_add(1);
                self.line_start = at + 1;
            }
        }
        self.offset = offset.max(self.offset);
        let line = self.text.get(self.line_start..self.offset).unwrap_or_default();
        let characters = line.iter().filter(|octet| **octet & 0b1100_0000 != 0b1000_0000).count();
        u32::try_from(characters).map_or(u32::MAX, |before| before.saturating_add(1))
    }
}
