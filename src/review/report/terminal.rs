//! A document as text for a terminal.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::{
    bars::{bar, spark},
    document::{Cell, Document, Kind, Section, Table},
};

/// The columns between two columns of a table.
const GAP: usize = 2;
/// The columns of a bar.
const BAR: usize = 16;
/// The fewest columns of names; where they have less, charts go.
const LEAST_NAME: usize = 14;

/// The width of a pipe or a file: nothing is cut.
pub const UNCUT: usize = usize::MAX;
/// The width of sentences there.
const SENTENCE: usize = 80;
/// The width up to which columns are aligned there: one long name is no reason to widen every line.
const MOST_ALIGNED: usize = 48;

/// The place where text is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Screen {
    /// Its columns; [`UNCUT`] without a screen.
    pub width: usize,
    /// Whether it shows colours.
    pub has_colours: bool,
}

/// The document as text. No line of a table is wider than the screen, if its numbers fit.
pub fn text(document: &Document, screen: Screen) -> String {
    let mut out = String::new();
    heading(&mut out, &document.title, screen);
    document.lead.iter().for_each(|sentence| paragraph(&mut out, sentence, screen.width));
    for section in &document.sections {
        out.push('\n');
        push_section(&mut out, section, screen);
    }
    out
}

fn heading(out: &mut String, text: &str, screen: Screen) {
    match screen.has_colours {
        true => out.push_str(&format!("\x1b[1m{text}\x1b[0m\n")),
        false => out.push_str(&format!("{text}\n")),
    }
}

/// A sentence, broken between words.
fn paragraph(out: &mut String, sentence: &str, width: usize) {
    let width = if width == UNCUT { SENTENCE } else { width };
    let mut column = 0;
    for word in sentence.split_whitespace() {
        let length = word.width();
        if column > 0 && column + 1 + length > width {
            out.push('\n');
            column = 0;
        } else if column > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += length;
    }
    out.push('\n');
}

fn push_section(out: &mut String, section: &Section, screen: Screen) {
    heading(out, &section.heading, screen);
    push_table(out, &section.table, screen);
    section.remarks.iter().for_each(|sentence| paragraph(out, sentence, screen.width));
}

fn push_table(out: &mut String, table: &Table, screen: Screen) {
    if table.rows.is_empty() {
        return;
    }
    let shown = |cell: &Cell| match cell {
        Cell::Text(text) => text.clone(),
        Cell::Bar(part, whole) => bar(*part, *whole, BAR),
        Cell::Trend(numbers) => spark(numbers),
    };
    let rows: Vec<Vec<String>> =
        table.rows.iter().map(|row| row.iter().map(shown).collect()).collect();
    let widths = widths(table, &rows, screen.width);
    let headings: Vec<String> =
        table.columns.iter().map(|column| column.heading.to_string()).collect();
    if table.columns.iter().any(|column| !column.heading.is_empty()) {
        push_row(out, table, &headings, &widths, Screen { has_colours: false, ..screen });
    }
    for row in &rows {
        push_row(out, table, row, &widths, screen);
    }
    if table.more > 0 {
        out.push_str(&format!("  and {} more\n", super::number::grouped(table.more as u64)));
    }
}

/// The width of each column; `None` for charts that have no room. Charts go before names get very
/// short.
fn widths(table: &Table, rows: &[Vec<String>], screen: usize) -> Vec<Option<usize>> {
    let widest = |at: usize| {
        let cells = rows.iter().filter_map(|row| row.get(at)).map(|cell| cell.width());
        let heading = table.columns.get(at).map_or(0, |column| column.heading.width());
        cells.max().unwrap_or(0).max(heading)
    };
    let mut wanted: Vec<Option<usize>> =
        (0..table.columns.len()).map(|at| Some(widest(at))).collect();
    if screen == UNCUT {
        return wanted.iter().map(|width| width.map(|width| width.min(MOST_ALIGNED))).collect();
    }
    loop {
        let (widths, fits) = shrunk(table, &wanted, screen);
        let columns = wanted.iter_mut().zip(&table.columns).rev();
        let mut charts =
            columns.filter(|(width, column)| column.kind.is_chart() && width.is_some());
        match charts.next() {
            Some((width, _)) if !fits => *width = None,
            _ => return widths,
        }
    }
}

/// The widths with names short enough for the screen, and whether they are.
fn shrunk(table: &Table, wanted: &[Option<usize>], screen: usize) -> (Vec<Option<usize>>, bool) {
    let mut widths = wanted.to_vec();
    loop {
        let sum: usize = widths.iter().flatten().map(|width| width + GAP).sum();
        let Some(excess) = sum.checked_sub(screen).filter(|&excess| excess > 0) else {
            return (widths, true);
        };
        let columns = widths.iter_mut().zip(&table.columns);
        let mut names: Vec<&mut usize> = columns
            .filter(|(_, column)| matches!(column.kind, Kind::Name | Kind::Code))
            .filter_map(|(width, _)| width.as_mut().filter(|width| **width > LEAST_NAME))
            .collect();
        names.sort_unstable_by(|a, b| b.cmp(a));
        let second = names.get(1).map_or(LEAST_NAME, |width| **width);
        let Some(longest) = names.first_mut() else { return (widths, false) };
        // Down to the next longest name; then both get shorter in turns.
        let least = second.min(**longest - 1).max(LEAST_NAME);
        **longest = longest.saturating_sub(excess).max(least);
    }
}

fn push_row(
    out: &mut String,
    table: &Table,
    row: &[String],
    widths: &[Option<usize>],
    screen: Screen,
) {
    let mut line = String::new();
    for ((column, text), width) in table.columns.iter().zip(row).zip(widths) {
        let Some(width) = *width else { continue };
        line.push_str(&" ".repeat(GAP));
        let text = if screen.width == UNCUT { text.clone() } else { cut(text, width) };
        let space = " ".repeat(width.saturating_sub(text.width()));
        match column.kind {
            Kind::Number => line.push_str(&format!("{space}{text}")),
            kind if kind.is_chart() && screen.has_colours => {
                line.push_str(&format!("\x1b[33m{text}\x1b[0m{space}"));
            }
            _ => line.push_str(&format!("{text}{space}")),
        }
    }
    out.push_str(line.trim_end());
    out.push('\n');
}

/// The text in `width` columns; a cut one ends with `…`.
fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut columns = 1;
    for c in text.chars() {
        columns += c.width().unwrap_or(0);
        if columns > width {
            break;
        }
        kept.push(c);
    }
    format!("{kept}…")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn table(cells: [&str; 2]) -> Table {
        let columns = [("path", Kind::Code), ("violations", Kind::Number), ("", Kind::Bar)];
        let row = [cells[0].into(), cells[1].into(), Cell::Bar(1, 2)];
        Table::new(columns).with(1, [row])
    }

    fn lines(table: &Table, width: usize) -> String {
        let mut out = String::new();
        push_table(&mut out, table, Screen { width, has_colours: false });
        out
    }

    #[test]
    fn names_are_cut_and_charts_go_first_when_they_would_be_cut_short() {
        let path = "/a/very/long/path/to/a/page";
        assert_eq!(
            lines(&table([path, "1,234"]), 80),
            "  path                         violations\n  /a/very/long/path/to/a/page       1,234  ████████\n"
        );
        assert_eq!(
            lines(&table([path, "1,234"]), 50),
            "  path                        violations\n  /a/very/long/path/to/a/pa…       1,234  ████████\n"
        );
        assert_eq!(
            lines(&table([path, "1,234"]), 40),
            "  path              violations\n  /a/very/long/pa…       1,234  ████████\n"
        );
        assert_eq!(
            lines(&table([path, "1,234"]), 35),
            "  path                   violations\n  /a/very/long/path/to…       1,234\n"
        );
        assert_eq!(
            lines(&table([path, "1,234"]), 10),
            "  path            violations\n  /a/very/long/…       1,234\n"
        );
        let longer = path.repeat(3);
        assert_eq!(
            lines(&table([&longer, "1,234"]), UNCUT),
            format!("  path{}violations\n  {longer}       1,234  ████████\n", " ".repeat(46)),
        );
    }

    #[test]
    fn colours_are_for_screens_that_have_them() {
        let document = Document {
            title: "T".to_owned(),
            lead: vec!["one two".to_owned()],
            sections: vec![Section::new("S", table(["/a", "1"]))],
        };
        let shown = |has_colours| text(&document, Screen { width: 80, has_colours });
        assert!(!shown(false).contains('\u{1b}'));
        assert!(
            shown(true).contains("\u{1b}[1mT\u{1b}[0m\n") && shown(true).contains("\u{1b}[33m")
        );
        let narrow = text(&document, Screen { width: 4, has_colours: false });
        assert!(narrow.starts_with("T\none\ntwo\n"), "{narrow}");
    }

    proptest! {
        #[test]
        fn no_line_is_wider_than_the_screen(
            names in prop::collection::vec("[a-z\u{e9}\u{65e5}]{0,60}", 3),
            width in 60_usize..120,
        ) {
            let columns = [
                ("a", Kind::Name), ("b", Kind::Code), ("c", Kind::Name), ("d", Kind::Trend),
            ];
            let cells = |at: usize| Cell::from(names[at].clone());
            let row = [cells(0), cells(1), cells(2), Cell::Trend(vec![1, 2, 3])];
            let text = lines(&Table::new(columns).with(1, [row]), width);
            for line in text.lines() {
                prop_assert!(line.width() <= width, "{}", text);
            }
        }
    }
}
