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

/// The place where text is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Screen {
    /// Its columns.
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
    let rows: Vec<Vec<String>> = table
        .rows
        .iter()
        .map(|row| row.iter().map(shown).collect())
        .collect();
    let widths = widths(table, &rows, screen.width);
    let headings: Vec<String> =
        table.columns.iter().map(|column| column.heading.to_string()).collect();
    if table.columns.iter().any(|column| !column.heading.is_empty()) {
        push_row(out, table, &headings, &widths, false);
    }
    for row in &rows {
        push_row(out, table, row, &widths, screen.has_colours);
    }
    if table.more > 0 {
        out.push_str(&format!("  and {} more\n", super::number::grouped(table.more as u64)));
    }
}

/// The width of each column; `None` for charts that have no room.
fn widths(table: &Table, rows: &[Vec<String>], screen: usize) -> Vec<Option<usize>> {
    let widest = |at: usize| {
        let cells = rows.iter().filter_map(|row| row.get(at)).map(|cell| cell.width());
        let heading = table.columns.get(at).map_or(0, |column| column.heading.width());
        cells.max().unwrap_or(0).max(heading)
    };
    let mut widths: Vec<Option<usize>> = (0..table.columns.len()).map(|at| Some(widest(at))).collect();
    loop {
        let others: usize =
            widths.iter().skip(1).flatten().map(|width| width + GAP).sum::<usize>() + GAP;
        let name = widths.first().copied().flatten().unwrap_or(0);
        let room = screen.saturating_sub(others);
        let is_chart = |at: &usize| table.columns.get(*at).is_some_and(|one| one.kind.is_chart());
        let chart = (0..widths.len()).rev().filter(is_chart).find(|at| widths[*at].is_some());
        match chart {
            Some(chart) if room < name.min(LEAST_NAME) => widths[chart] = None,
            _ => {
                if let Some(first) = widths.first_mut() {
                    *first = Some(name.min(room.max(LEAST_NAME)));
                }
                return widths;
            }
        }
    }
}

fn push_row(
    out: &mut String,
    table: &Table,
    row: &[String],
    widths: &[Option<usize>],
    has_colours: bool,
) {
    let mut line = String::new();
    for ((column, text), width) in table.columns.iter().zip(row).zip(widths) {
        let Some(width) = *width else { continue };
        line.push_str(&" ".repeat(GAP));
        let text = cut(text, width);
        let space = " ".repeat(width.saturating_sub(text.width()));
        match column.kind {
            Kind::Number => line.push_str(&format!("{space}{text}")),
            kind if kind.is_chart() && has_colours => {
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
