//! Bytes that go in or out, and the lines of a text.

use std::ops::Range;

use super::layout::Node;

/// Why a text is not changed.
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

/// Where the line of this byte begins.
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

/// The end of a line, as the text has it.
pub(super) fn line_end(text: &str) -> &'static str {
    let is_pair = text.find('\n').is_some_and(|at| text[..at].ends_with('\r'));
    if is_pair { "\r\n" } else { "\n" }
}
