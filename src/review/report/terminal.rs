//! A document as text for a terminal.

use unicode_width::UnicodeWidthStr;

use super::{
    document::{Cell, Document, Table, bar, spark},
    grid::{self, Colour, Column, GAP, Grid, Screen},
    number::grouped,
};

const BAR: usize = 16;
/// The fewest columns of names; where they have less, charts go.
const LEAST_NAME: usize = 14;

/// The width of sentences in a pipe or a file.
const SENTENCE: usize = 80;

/// The document as text. No line of a table is wider than the screen, if its numbers fit.
pub(crate) fn text(document: &Document, screen: Screen) -> String {
    let mut out = String::new();
    heading(&mut out, &document.title, screen);
    document.lead.iter().for_each(|sentence| paragraph(&mut out, sentence, screen.width));
    for section in &document.sections {
        out.push('\n');
        heading(&mut out, &section.heading, screen);
        push_table(&mut out, &section.table, screen);
        section.remarks.iter().for_each(|one| paragraph(&mut out, one, screen.width));
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
fn paragraph(out: &mut String, sentence: &str, width: Option<usize>) {
    let width = width.unwrap_or(SENTENCE);
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

/// A table, indented. Charts go before names get very short.
fn push_table(out: &mut String, table: &Table, screen: Screen) {
    let columns: Vec<Column> =
        table.columns().map(|(heading, cell)| column(heading, cell)).collect();
    let rows: Vec<Vec<grid::Cell>> =
        table.rows.iter().map(|row| row.iter().map(shown).collect()).collect();
    let width = screen.width.map(|width| width.saturating_sub(GAP));
    let grid = Grid::fit(&columns, &rows, Screen { width, ..screen }, false);
    let mut push = |line: String| {
        out.push_str(format!("{:GAP$}{line}", "").trim_end());
        out.push('\n');
    };
    if columns.iter().any(|column| !column.heading.is_empty()) {
        push(grid.headings());
    }
    rows.iter().for_each(|row| push(grid.line(row)));
    if table.more > 0 {
        push(format!("and {} more", grouped(table.more as u64)));
    }
}

/// A column of cells like this one. Only names are cut.
fn column(heading: &'static str, cell: &Cell) -> Column {
    let is_name = matches!(cell, Cell::Text(_) | Cell::Code(_));
    let least = if is_name { LEAST_NAME } else { usize::MAX };
    Column { heading, rank: cell.is_chart().into(), least, is_number: cell.is_number() }
}

fn shown(cell: &Cell) -> grid::Cell {
    let text = match cell {
        Cell::Text(text) | Cell::Code(text) | Cell::Number(text) => text.clone(),
        Cell::Bar(part, whole) => bar(*part, *whole, BAR),
        Cell::Trend(numbers) => spark(numbers),
    };
    let colour = if cell.is_chart() { Colour::Yellow } else { Colour::None };
    grid::Cell { text, colour, kept_end: 0 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::review::report::Section;

    fn table(cells: [&str; 2]) -> Table {
        let row = [Cell::code(cells[0]), Cell::number(cells[1]), Cell::Bar(1, 2)];
        Table::new(["path", "violations", ""], 1, [row])
    }

    fn lines(table: &Table, width: Option<usize>) -> String {
        let mut out = String::new();
        push_table(&mut out, table, Screen { width, has_colours: false });
        out
    }

    #[test]
    fn names_are_cut_and_charts_go_first_when_they_would_be_cut_short() {
        let path = "/a/very/long/path/to/a/page";
        assert_eq!(
            lines(&table([path, "1,234"]), Some(80)),
            "  path                         violations\n  /a/very/long/path/to/a/page       1,234  ████████\n"
        );
        assert_eq!(
            lines(&table([path, "1,234"]), Some(50)),
            "  path                        violations\n  /a/very/long/path/to/a/pa…       1,234  ████████\n"
        );
        assert_eq!(
            lines(&table([path, "1,234"]), Some(40)),
            "  path              violations\n  /a/very/long/pa…       1,234  ████████\n"
        );
        assert_eq!(
            lines(&table([path, "1,234"]), Some(35)),
            "  path                   violations\n  /a/very/long/path/to…       1,234\n"
        );
        assert_eq!(
            lines(&table([path, "1,234"]), Some(10)),
            "  path            violations\n  /a/very/long/…       1,234\n"
        );
        let longer = path.repeat(3);
        assert_eq!(
            lines(&table([&longer, "1,234"]), None),
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
        let shown = |has_colours| text(&document, Screen { width: Some(80), has_colours });
        assert!(!shown(false).contains('\u{1b}'));
        assert!(
            shown(true).contains("\u{1b}[1mT\u{1b}[0m\n") && shown(true).contains("\u{1b}[33m")
        );
        let narrow = text(&document, Screen { width: Some(4), has_colours: false });
        assert!(narrow.starts_with("T\none\ntwo\n"), "{narrow}");
    }

    proptest! {
        #[test]
        fn no_line_is_wider_than_the_screen(
            names in prop::collection::vec("[a-z\u{e9}\u{65e5}]{0,60}", 3),
            width in 60_usize..120,
        ) {
            let code = Cell::code(names[1].as_str());
            let row = [names[0].clone().into(), code, names[2].clone().into(), Cell::Trend(vec![1, 2, 3])];
            let text = lines(&Table::new(["a", "b", "c", "d"], 1, [row]), Some(width));
            for line in text.lines() {
                prop_assert!(line.width() <= width, "{}", text);
            }
        }
    }
}
