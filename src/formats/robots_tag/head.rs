//! The `meta` elements of an HTML document, and their place in or outside the head.
//!
//! Tokens are those of the HTML standard (§13.2.5). The tree construction is followed up to the body
//! (§13.2.6.4.1 to §13.2.6.4.6), without scripts. Tags that the source leaves out (`<html>`,
//! `<head>`, their end tags) are implied. The first token that no head can contain ends the head. An
//! element between `</head>` and `<body>` still belongs to it.

use html5gum::{
    Span, State, Tokenizer,
    emitters::callback::{Callback, CallbackEmitter, CallbackEvent},
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spot {
    Head,
    /// In a `noscript` of the head.
    Noscript,
    /// In a `template`, or after the head.
    Outside,
}

/// A `meta` start tag. Character references in its attributes are resolved. Of several attributes
/// with one name, the first counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct MetaTag {
    /// The octet at which it begins, from 0.
    pub(super) offset: usize,
    pub(super) name: Option<Vec<u8>>,
    pub(super) content: Option<Vec<u8>>,
    pub(super) http_equiv: Option<Vec<u8>>,
    pub(super) property: Option<Vec<u8>>,
}

/// Calls `found` with each `meta` element of the document until it returns `false`. Returns whether
/// the head ended before the document.
pub(super) fn metas(document: &[u8], mut found: impl FnMut(MetaTag, Spot) -> bool) -> bool {
    let mut builder = TreeBuilder::default();
    let emitter = CallbackEmitter::new(Tags::default());
    let mut tokenizer = Tokenizer::new_with_emitter(document, emitter);
    while let Some(Ok(token)) = tokenizer.next() {
        match token {
            Token::Text => builder.leave_head(),
            Token::End(name) => builder.end(&name),
            Token::Start(name, meta) => {
                let spot = builder.start(&name);
                if name == b"meta" && !found(meta, spot) {
                    break;
                }
                if let Some(state) = content_state(&name) {
                    tokenizer.set_state(state);
                }
            }
        }
    }
    builder.part == Part::Body
}

/// The state in which the content of an element is read, if it is text and no markup.
fn content_state(name: &[u8]) -> Option<State> {
    match name {
        b"title" | b"textarea" => Some(State::RcData),
        b"style" | b"xmp" | b"iframe" | b"noembed" | b"noframes" => Some(State::RawText),
        b"script" => Some(State::ScriptData),
        b"plaintext" => Some(State::PlainText),
        _ => None,
    }
}

/// The current part of the document (the standard's insertion modes).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Part {
    #[default]
    BeforeHead,
    Head,
    HeadNoscript,
    AfterHead,
    Body,
}

#[derive(Debug, Default)]
struct TreeBuilder {
    part: Part,
    templates: usize,
    /// Whether the next text is that of a title, a style or a script.
    in_text: bool,
}

impl TreeBuilder {
    /// Reads a start tag. Returns the place of its element.
    fn start(&mut self, name: &[u8]) -> Spot {
        if self.templates > 0 {
            self.templates += usize::from(name == b"template");
            return Spot::Outside;
        }
        if self.part == Part::BeforeHead {
            match name {
                b"html" => return Spot::Outside,
                b"head" => {
                    self.part = Part::Head;
                    return Spot::Outside;
                }
                _ => self.part = Part::Head,
            }
        }
        if self.part == Part::HeadNoscript {
            match name {
                b"basefont" | b"bgsound" | b"link" | b"meta" | b"noframes" | b"style" => {
                    self.in_text = content_state(name).is_some();
                    return Spot::Noscript;
                }
                b"html" | b"head" | b"noscript" => return Spot::Outside,
                _ => self.part = Part::Head,
            }
        }
        match (self.part, name) {
            (Part::Body, _) => return Spot::Outside,
            (Part::Head, b"noscript") => self.part = Part::HeadNoscript,
            (_, b"html" | b"head") => {}
            (_, b"base" | b"basefont" | b"bgsound" | b"link" | b"meta") => return Spot::Head,
            (_, b"title" | b"noframes" | b"style" | b"script") => self.in_text = true,
            (_, b"template") => self.templates = 1,
            _ => self.part = Part::Body,
        }
        Spot::Outside
    }

    fn end(&mut self, name: &[u8]) {
        self.in_text = false;
        if self.templates > 0 {
            self.templates -= usize::from(name == b"template");
            return;
        }
        match (self.part, name) {
            (Part::Head, b"head") => self.part = Part::AfterHead,
            (Part::HeadNoscript, b"noscript") => self.part = Part::Head,
            (Part::BeforeHead, b"head") => self.part = Part::AfterHead,
            (Part::HeadNoscript, b"br") => self.part = Part::Body,
            (Part::BeforeHead | Part::Head | Part::AfterHead, b"body" | b"html" | b"br") => {
                self.part = Part::Body;
            }
            _ => {}
        }
    }

    /// Reads text that is not white space. It ends the head, unless one of its elements contains it.
    fn leave_head(&mut self) {
        if !self.in_text && self.templates == 0 {
            self.part = Part::Body;
        }
    }
}

enum Token {
    /// A start tag: its name, and its attributes as those of a `meta` element.
    Start(Vec<u8>, MetaTag),
    End(Vec<u8>),
    /// Text other than white space.
    Text,
}

#[derive(Debug, Default)]
struct Tags {
    name: Vec<u8>,
    meta: MetaTag,
    /// The current attribute; empty for an unused or repeated one.
    attribute: Vec<u8>,
}

impl Tags {
    /// The place of an attribute's value, if the attribute is used.
    fn slot(&mut self, attribute: &[u8]) -> Option<&mut Option<Vec<u8>>> {
        match attribute {
            b"name" => Some(&mut self.meta.name),
            b"content" => Some(&mut self.meta.content),
            b"http-equiv" => Some(&mut self.meta.http_equiv),
            b"property" => Some(&mut self.meta.property),
            _ => None,
        }
    }
}

impl Callback<Token, usize> for Tags {
    fn handle_event(&mut self, event: CallbackEvent<'_>, span: Span<usize>) -> Option<Token> {
        match event {
            CallbackEvent::OpenStartTag { name } => {
                self.name = name.to_vec();
                self.meta = MetaTag { offset: span.start, ..MetaTag::default() };
                self.attribute.clear();
            }
            CallbackEvent::AttributeName { name } => {
                // §13.2.5.33: of several attributes with one name the first counts.
                let free = self.slot(name).filter(|slot| slot.is_none());
                let is_first = free.map(|slot| *slot = Some(Vec::new())).is_some();
                self.attribute.clear();
                self.attribute.extend_from_slice(if is_first { name } else { b"" });
            }
            CallbackEvent::AttributeValue { value } => {
                let attribute = std::mem::take(&mut self.attribute);
                if let Some(Some(slot)) = self.slot(&attribute) {
                    slot.extend_from_slice(value);
                }
                self.attribute = attribute;
            }
            CallbackEvent::CloseStartTag { .. } => {
                let (name, meta) = (std::mem::take(&mut self.name), std::mem::take(&mut self.meta));
                return Some(Token::Start(name, meta));
            }
            CallbackEvent::EndTag { name } => return Some(Token::End(name.to_vec())),
            CallbackEvent::String { value } => {
                let is_blank = |b: &u8| matches!(b, b'\t' | b'\n' | 0x0c | b'\r' | b' ');
                return (!value.iter().all(is_blank)).then_some(Token::Text);
            }
            CallbackEvent::Comment { .. }
            | CallbackEvent::Doctype { .. }
            | CallbackEvent::Error(_) => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The contents of the elements by place: `h` head, `n` noscript, `o` outside.
    fn spots(document: &str) -> String {
        let mut all = Vec::new();
        metas(document.as_bytes(), |meta, spot| {
            assert!(document[meta.offset..].to_ascii_lowercase().starts_with("<meta"));
            let letter = match spot {
                Spot::Head => 'h',
                Spot::Noscript => 'n',
                Spot::Outside => 'o',
            };
            let content = meta.content.unwrap_or_default();
            all.push(format!("{letter}{}", String::from_utf8_lossy(&content)));
            true
        });
        all.join(" ")
    }

    #[test]
    fn html_13_2_6_4_the_head_is_that_of_a_browser() {
        for (document, found) in [
            ("<!doctype html><html><head><meta content=1></head><body><meta content=2>", "h1 o2"),
            ("<meta content=1>", "h1"),
            ("\n <meta content=1>\n<meta content=2> x <meta content=3>", "h1 h2 o3"),
            ("x<meta content=1>", "o1"),
            ("<head></head>\n<meta content=1><body><meta content=2>", "h1 o2"),
            ("<head></head>x<meta content=1>", "o1"),
            ("<head><title>a</title><p><meta content=1>", "o1"),
            ("<html lang=en><meta content=1><div><meta content=2></div>", "h1 o2"),
            ("<head><meta content=1><iframe></iframe><meta content=2>", "h1 o2"),
            ("<head><html><head><meta content=1>", "h1"),
            ("</p><meta content=1></br><meta content=2>", "h1 o2"),
            ("</head><meta content=1>", "h1"),
            ("</body><meta content=1>", "o1"),
            ("<head></html><meta content=1>", "o1"),
            ("<?xml version=\"1.0\"?><!-- a --><meta content=1>", "h1"),
            ("<frameset><meta content=1>", "o1"),
        ] {
            assert_eq!(spots(document), found, "{document}");
        }
    }

    #[test]
    fn html_13_2_5_text_and_comments_contain_no_elements() {
        for (document, found) in [
            ("<!-- <meta content=1> --><meta content=2>", "h2"),
            ("<script>'<meta content=1>'</script><meta content=2>", "h2"),
            ("<script><!--<script><meta content=1></script>--></script><meta content=2>", "h2"),
            ("<style><meta content=1></style><meta content=2>", "h2"),
            ("<title><meta content=1></title><meta content=2>", "h2"),
            ("<noframes><meta content=1></noframes><meta content=2>", "h2"),
            ("<title>never closed <meta content=1>", ""),
            ("<template><meta content=1><template></template></template><meta content=2>", "o1 h2"),
            ("<template>x<p></head></template><meta content=1>", "h1"),
            ("<noscript><meta content=1></noscript><meta content=2>", "n1 h2"),
            ("<noscript><style>x</style><meta content=1></noscript><meta content=2>", "n1 h2"),
            ("<noscript><img><meta content=1></noscript><meta content=2>", "o1 o2"),
            ("<noscript>x</noscript><meta content=1>", "o1"),
            ("<body><textarea><meta content=1></textarea><meta content=2>", "o2"),
            ("<body><plaintext><meta content=1>", ""),
        ] {
            assert_eq!(spots(document), found, "{document}");
        }
    }

    #[test]
    fn html_13_2_5_attributes_are_read_in_every_form() {
        for (document, found) in [
            ("<META NAME=x CONTENT=NoIndex>", "hNoIndex"),
            ("<meta content='a, b'/>", "ha, b"),
            ("<meta\n\tcontent = \"a\"\n>", "ha"),
            ("<meta content=a content=b>", "ha"),
            ("<meta content content=b>", "h"),
            ("<meta content=\"a&#44;b&comma;c&amp;d&#x2c\">", "ha,b,c&d,"),
            ("<meta/content=a>", "ha"),
            ("<meta data-content=b content=a>", "ha"),
            ("<meta content=\"a>b\">", "ha>b"),
            ("<meta content=\"a", ""),
            ("<metal content=a><meta content=b>", "ob"),
        ] {
            assert_eq!(spots(document), found, "{document}");
        }
    }
}
