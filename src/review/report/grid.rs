//! Rows of cells that fit a width: the most important columns first, long cells cut.

use std::iter;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

pub(super) const GAP: usize = 2;
/// The width up to which columns are aligned where nothing is cut: one long cell is no reason to
/// widen every line.
const MOST_ALIGNED: usize = 48;
const CUT: char = '…';

/// The place where text is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Screen {
    /// Its columns; `None` for a pipe or a file, where nothing is cut.
    pub(crate) width: Option<usize>,
    pub(crate) has_colours: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Column {
    pub(crate) heading: &'static str,
    /// The order in which columns get room; one with 0 always gets some.
    pub(crate) rank: u8,
    /// The width with which a long column is still of use.
    pub(crate) least: usize,
    pub(crate) is_number: bool,
}

impl Column {
    pub(crate) const fn text(heading: &'static str, rank: u8, least: usize) -> Self {
        Self { heading, rank, least, is_number: false }
    }

    pub(crate) const fn number(heading: &'static str, rank: u8, least: usize) -> Self {
        Self { heading, rank, least, is_number: true }
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Cell {
    pub(crate) text: String,
    /// The characters at the end that stay when the cell is cut.
    pub(crate) kept_end: usize,
    pub(crate) colour: Colour,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Colour {
    /// That of the other text.
    #[default]
    None,
    Yellow,
    Red,
}

/// The columns that are shown, with their widths.
#[derive(Debug)]
pub(crate) struct Grid {
    columns: Vec<(usize, Column, usize)>,
    is_cut: bool,
    has_colours: bool,
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self { text, ..Self::default() }
    }
}

impl Grid {
    /// The columns for these rows. Without a width, nothing is left out and nothing is cut. With
    /// `more_rows`, rows will follow that are not known yet.
    pub(crate) fn fit(
        columns: &[Column],
        rows: &[Vec<Cell>],
        Screen { width, has_colours }: Screen,
        more_rows: bool,
    ) -> Self {
        let natural = natural(columns, rows, more_rows);
        let mut widths = match width {
            None => natural.iter().map(|&natural| Some(natural.min(MOST_ALIGNED))).collect(),
            Some(width) => shares(columns, &natural, width),
        };
        let columns = columns.iter().enumerate().filter_map(|(at, column)| {
            let width = widths.get_mut(at)?.take()?;
            Some((at, *column, width))
        });
        Self { columns: columns.collect(), is_cut: width.is_some(), has_colours }
    }

    /// The heading and these rows, a line for each.
    pub(crate) fn text(&self, rows: &[Vec<Cell>]) -> String {
        let rows = rows.iter().map(|row| self.line(row));
        iter::once(self.heading()).chain(rows).map(|line| line + "\n").collect()
    }

    /// Whether these columns fit the width uncut.
    pub(crate) fn fits(columns: &[Column], rows: &[Vec<Cell>], width: usize) -> bool {
        let natural = natural(columns, rows, false);
        natural.iter().sum::<usize>() + GAP * natural.len().saturating_sub(1) <= width
    }

    pub(crate) fn headings(&self) -> String {
        let cells = self.columns.iter().map(|(_, column, _)| Cell::from(column.heading.to_owned()));
        self.join(cells.collect::<Vec<_>>().iter())
    }

    /// The line of headings, set off from the rows.
    pub(crate) fn heading(&self) -> String {
        let line = self.headings();
        if self.has_colours { format!("\x1b[1m{line}\x1b[0m") } else { line }
    }

    pub(crate) fn line(&self, row: &[Cell]) -> String {
        self.join(self.columns.iter().filter_map(|(at, ..)| row.get(*at)))
    }

    fn join<'c>(&self, cells: impl Iterator<Item = &'c Cell>) -> String {
        let mut line = String::new();
        let last = self.columns.len().saturating_sub(1);
        for (number, (cell, (_, column, width))) in cells.zip(&self.columns).enumerate() {
            let text = match self.is_cut {
                true => cut(&cell.text, cell.kept_end, *width),
                false => cell.text.clone(),
            };
            let blanks = " ".repeat(width.saturating_sub(text.width()));
            let text = match cell.colour {
                Colour::Yellow if self.has_colours => format!("\x1b[33m{text}\x1b[0m"),
                Colour::Red if self.has_colours => format!("\x1b[31m{text}\x1b[0m"),
                _ => text,
            };
            if number > 0 {
                line.push_str(&" ".repeat(GAP));
            }
            match (column.is_number, number == last) {
                (true, _) => line.extend([blanks, text]),
                (false, false) => line.extend([text, blanks]),
                (false, true) => line.push_str(&text),
            }
        }
        line
    }
}

fn natural(columns: &[Column], rows: &[Vec<Cell>], more_rows: bool) -> Vec<usize> {
    let natural = columns.iter().enumerate().map(|(at, column)| {
        let cells = rows.iter().filter_map(|row| row.get(at)).map(|cell| cell.text.width());
        let usual = if more_rows { column.least } else { 0 };
        cells.chain([column.heading.width(), usual]).max().unwrap_or(0)
    });
    natural.collect()
}

/// The widths of the columns that find room; the rest of the room goes to the cut ones in turn.
fn shares(columns: &[Column], natural: &[usize], width: usize) -> Vec<Option<usize>> {
    let mut ranked: Vec<usize> = (0..columns.len()).collect();
    ranked.sort_by_key(|&at| columns.get(at).map(|column| column.rank));
    let mut widths = vec![None; columns.len()];
    let mut room = width + GAP;
    for &at in &ranked {
        let (Some(column), Some(&natural)) = (columns.get(at), natural.get(at)) else { continue };
        let least = natural.min(column.least.max(column.heading.width()));
        if column.rank == 0 || least + GAP <= room {
            room = room.saturating_sub(least + GAP);
            widths[at] = Some(least);
        }
    }
    let mut has_grown = true;
    while has_grown && room > 0 {
        has_grown = false;
        for &at in &ranked {
            if room > 0
                && let (Some(Some(share)), Some(natural)) = (widths.get_mut(at), natural.get(at))
                && *share < *natural
            {
                *share += 1;
                room -= 1;
                has_grown = true;
            }
        }
    }
    widths
}

/// The text in `width` columns at most. `kept_end` characters at the end stay, if that leaves room
/// for others.
fn cut(text: &str, kept_end: usize, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let end_at = text.char_indices().rev().take(kept_end).last().map_or(text.len(), |(at, _)| at);
    let (_, end) = text.split_at(end_at);
    let end = if end.width() * 2 < width { end } else { "" };
    let mut room = width.saturating_sub(1 + end.width());
    let begin = text.chars().take_while(|c| {
        let taken = c.width().unwrap_or(0);
        let fits = taken <= room;
        room = room.saturating_sub(taken);
        fits
    });
    let mut shown: String = begin.collect();
    shown.push(CUT);
    shown.push_str(end);
    shown
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const fn screen(width: Option<usize>) -> Screen {
        Screen { width, has_colours: false }
    }

    fn row(cells: &[&str]) -> Vec<Cell> {
        cells.iter().map(|text| Cell::from((*text).to_owned())).collect()
    }

    #[test]
    fn less_important_columns_go_first_and_long_cells_are_cut() {
        let columns =
            [Column::text("WHO", 0, 6), Column::text("WHY", 2, 6), Column::text("WHAT", 1, 6)];
        let rows = [row(&["GPTBot", "because", "/a/long/path"]), row(&["x", "y", "z"])];
        for (width, expected) in [
            (
                None,
                ["WHO     WHY      WHAT", "GPTBot  because  /a/long/path", "x       y        z"],
            ),
            (
                Some(99),
                ["WHO     WHY      WHAT", "GPTBot  because  /a/long/path", "x       y        z"],
            ),
            (
                Some(25),
                ["WHO     WHY      WHAT", "GPTBot  because  /a/long…", "x       y        z"],
            ),
            (Some(22), ["WHO     WHY     WHAT", "GPTBot  becau…  /a/lo…", "x       y       z"]),
            (Some(21), ["WHO     WHAT", "GPTBot  /a/long/path", "x       z"]),
            (Some(14), ["WHO     WHAT", "GPTBot  /a/lo…", "x       z"]),
            (Some(7), ["WHO", "GPTBot", "x"]),
            (Some(3), ["WHO", "GPTBot", "x"]),
        ] {
            let grid = Grid::fit(&columns, &rows, screen(width), false);
            let lines = [grid.heading(), grid.line(&rows[0]), grid.line(&rows[1])];
            assert_eq!(lines, expected, "{width:?}");
        }
    }

    #[test]
    fn a_cut_keeps_the_end_and_counts_wide_characters_twice() {
        for (text, kept_end, width, expected) in [
            ("Disallow: /private/ (7)", 4, 23, "Disallow: /private/ (7)"),
            ("Disallow: /private/ (7)", 4, 20, "Disallow: /priv… (7)"),
            ("Disallow: /private/ (7)", 4, 8, "Disallo…"),
            ("Disallow: /private/ (7)", 0, 20, "Disallow: /private/…"),
            ("日本語日本語", 0, 6, "日本…"),
            ("日本語日本語", 0, 12, "日本語日本語"),
            ("abc", 0, 1, "…"),
        ] {
            assert_eq!(cut(text, kept_end, width), expected);
        }
    }

    #[test]
    fn colours_are_no_part_of_the_width() {
        let columns = [Column::text("A", 0, 3), Column::text("B", 1, 3)];
        let cell = Cell { text: "block".to_owned(), colour: Colour::Red, kept_end: 0 };
        let rows = [vec![cell, Cell::from("x".to_owned())]];
        let grid =
            Grid::fit(&columns, &rows, Screen { has_colours: true, ..screen(Some(40)) }, false);
        assert_eq!(grid.line(&rows[0]), "\x1b[31mblock\x1b[0m  x");
        assert_eq!(grid.heading(), "\x1b[1mA      B\x1b[0m");
    }

    proptest! {
        #[test]
        fn no_line_is_wider_than_the_screen(
            cells in prop::collection::vec("[a-z\u{e9}\u{65e5}]{0,30}", 4),
            width in 12_usize..120,
            least in prop::collection::vec(1_usize..12, 4),
        ) {
            let columns: Vec<_> =
                least.iter().zip([2, 0, 3, 1]).map(|(&least, rank)| Column::text("H", rank, least)).collect();
            let rows = [cells.iter().map(|text| Cell { kept_end: 3, ..text.clone().into() }).collect()];
            let grid = Grid::fit(&columns, &rows, screen(Some(width)), false);
            prop_assert!(grid.line(&rows[0]).width() <= width);
        }
    }
}
