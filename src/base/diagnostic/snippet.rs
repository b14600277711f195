//! A source line as a terminal shows it, and the part of it that is at fault.
//!
//! Foreign characters that have no glyph or change the line are escaped, and a tab is a space. So
//! each part of the line has a known width, and the marks stand right below their text. A long line
//! is cut around the marks.

use unicode_width::UnicodeWidthStr;

use crate::base::escape;

/// The sign for a part that is cut off.
const CUT: &str = "…";

/// A source line and the marks below it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Snippet {
    /// The line, or a part of it.
    pub(super) line: String,
    /// The columns before the marks.
    pub(super) before: usize,
    /// The columns that are marked; at least one.
    pub(super) marked: usize,
}

/// A character or an octet that is none.
struct Cell {
    /// `None` for an octet that is no character.
    character: Option<char>,
    text: String,
    width: usize,
}

impl Snippet {
    /// The line from `bytes`, with the word at `column` marked (from 1, in characters), or all of it
    /// without a column. It takes `width` columns at most.
    pub(super) fn of(bytes: &[u8], column: Option<u32>, width: usize) -> Self {
        let cells = cells(bytes);
        let is_space = |cell: &Cell| cell.character.is_some_and(char::is_whitespace);
        let first = cells.iter().position(|cell| !is_space(cell)).unwrap_or(0);
        let (from, until) = match column.map(|column| column.saturating_sub(1) as usize) {
            Some(at) => (at.min(cells.len()), end_of_word(&cells, at)),
            None => {
                let last = cells.iter().rposition(|cell| !is_space(cell));
                (first, last.map_or(first, |last| last + 1))
            }
        };
        let until = until.max(from);
        let (start, end) = window(&cells, from, until, width);
        let part = |from: usize, until: usize| cells.get(from..until).unwrap_or_default();
        let mut line = String::new();
        if start > 0 {
            line.push_str(CUT);
        }
        part(start, end).iter().for_each(|cell| line.push_str(&cell.text));
        if end < cells.len() {
            line.push_str(CUT);
        }
        Self {
            line: line.trim_end().to_owned(),
            before: usize::from(start > 0) + columns(part(start, from)),
            marked: columns(part(from, until.min(end))).max(1),
        }
    }
}

fn cells(bytes: &[u8]) -> Vec<Cell> {
    let mut cells = Vec::new();
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            let text = match character {
                '\t' => " ".to_owned(),
                '\\' => "\\".to_owned(),
                _ => escape::text(character.encode_utf8(&mut [0; 4]).as_bytes()),
            };
            cells.push(Cell { character: Some(character), width: text.width(), text });
        }
        for octet in chunk.invalid() {
            let text = escape::text(&[*octet]);
            cells.push(Cell { character: None, width: text.width(), text });
        }
    }
    cells
}

/// The end of the value or key that begins at `at`: a quoted text with its marks, or a plain one up
/// to a comment, the end of a key, or in a list in brackets the next separator.
fn end_of_word(cells: &[Cell], at: usize) -> usize {
    let character = |at: usize| cells.get(at).and_then(|cell| cell.character);
    if let Some(quote @ ('"' | '\'')) = character(at) {
        let closing = (at + 1..cells.len()).find(|&end| {
            character(end) == Some(quote) && (quote == '\'' || character(end - 1) != Some('\\'))
        });
        return closing.map_or(cells.len(), |end| end + 1);
    }
    let opened = cells.get(..at).unwrap_or_default().iter().fold(0_usize, |open, cell| match cell
        .character
    {
        Some('[' | '{') => open + 1,
        Some(']' | '}') => open.saturating_sub(1),
        _ => open,
    });
    if matches!(character(at), Some('[' | '{')) {
        return at + 1;
    }
    let is_space = |at: usize| character(at).is_none_or(char::is_whitespace);
    let ends = |end: usize| match character(end) {
        Some('#') => end > at && is_space(end - 1),
        Some(':') => end + 1 >= cells.len() || is_space(end + 1),
        Some(',' | ']' | '}') => opened > 0,
        _ => false,
    };
    let mut end = (at..cells.len()).find(|&end| ends(end)).unwrap_or(cells.len());
    while end > at + 1 && is_space(end - 1) {
        end -= 1;
    }
    end
}

fn columns(cells: &[Cell]) -> usize {
    cells.iter().map(|cell| cell.width).sum()
}

/// The cells to show: all of them if they fit, else those around the marks.
fn window(cells: &[Cell], from: usize, until: usize, width: usize) -> (usize, usize) {
    if columns(cells) <= width {
        return (0, cells.len());
    }
    // One column at each end is for the sign of the cut.
    let room = width.saturating_sub(2).max(1);
    let marked = columns(cells.get(from..until).unwrap_or_default()).min(room);
    let mut left = (room - marked).clamp(room / 4, room / 3);
    let mut start = from;
    while let Some(cell) = start.checked_sub(1).and_then(|at| cells.get(at)) {
        let Some(rest) = left.checked_sub(cell.width) else { break };
        left = rest;
        start -= 1;
    }
    let mut left = room - columns(cells.get(start..from).unwrap_or_default());
    let mut end = from;
    while let Some(cell) = cells.get(end) {
        let Some(rest) = left.checked_sub(cell.width) else { break };
        left = rest;
        end += 1;
    }
    (start, end)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The line with the marks below.
    fn show(line: &[u8], column: Option<u32>, width: usize) -> String {
        let Snippet { line, before, marked } = Snippet::of(line, column, width);
        format!("{line}\n{}{}", " ".repeat(before), "^".repeat(marked))
    }

    #[test]
    fn a_word_is_marked_as_far_as_it_goes() {
        for (line, column, expected) in [
            ("  - /a, /b # x", 5, "  - /a, /b # x\n    ^^^^^^"),
            ("  disallow: [/a, /b]", 14, "  disallow: [/a, /b]\n             ^^"),
            ("  disallow: [\"/a, b\"]", 14, "  disallow: [\"/a, b\"]\n             ^^^^^^^"),
            ("  it''s: 1", 3, "  it''s: 1\n  ^^^^^"),
            ("- { hosts: a }", 3, "- { hosts: a }\n  ^"),
            ("Disallow: /x", 11, "Disallow: /x\n          ^^"),
            ("a", 9, "a\n ^"),
        ] {
            assert_eq!(show(line.as_bytes(), Some(column), 80), expected);
        }
        assert_eq!(show(b"  whole line \t", None, 80), "  whole line\n  ^^^^^^^^^^");
        assert_eq!(show(b"", None, 80), "\n^");
    }

    #[test]
    fn the_marks_stand_below_wide_and_foreign_characters() {
        assert_eq!(show("日本: /x".as_bytes(), Some(5), 80), "日本: /x\n      ^^");
        assert_eq!(show(b"\x1b[2J \xe9 /x", Some(8), 80), "\\x1b[2J \\xe9 /x\n             ^^");
        assert_eq!(show("e\u{301} /x".as_bytes(), Some(4), 80), "e\u{301} /x\n  ^^");
        assert_eq!(show("\u{202e}/x".as_bytes(), Some(2), 80), "\\u{202e}/x\n        ^^");
        assert_eq!(show(b"\t\t/x\\y", Some(3), 80), "  /x\\y\n  ^^^^");
    }

    #[test]
    fn a_long_line_is_cut_around_the_marks() {
        let line = format!("{} here {}", "a".repeat(100), "b".repeat(100));
        assert_eq!(
            show(line.as_bytes(), Some(102), 20),
            "…aaa here bbbbbbbbb…\n     ^^^^^^^^^^^^^^"
        );
        let open = Snippet::of(line.as_bytes(), Some(1), 20);
        assert_eq!((open.line.as_str(), open.before, open.marked), ("aaaaaaaaaaaaaaaaaa…", 0, 18));
        let wide = "語".repeat(60);
        let cut = Snippet::of(wide.as_bytes(), Some(30), 21);
        assert!(cut.line.width() <= 21, "{cut:?}");
    }
}
