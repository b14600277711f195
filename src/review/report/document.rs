//! A document of tables, whatever the format it is written in; its small bars of block characters.

use super::number::grouped;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Document {
    pub(crate) title: String,
    pub(crate) lead: Vec<String>,
    pub(crate) sections: Vec<Section>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Section {
    pub(crate) heading: String,
    /// The table; without rows, [`Self::remarks`] say why.
    pub(crate) table: Table,
    pub(crate) remarks: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Table {
    pub(crate) headings: Vec<&'static str>,
    /// The rows; each has a cell for every column. All cells of a column are of one kind.
    pub(crate) rows: Vec<Vec<Cell>>,
    pub(crate) more: usize,
}

/// A cell. Foreign text in it is escaped for one line; each format adds its own escapes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Cell {
    /// A name. Those of the first column have all the room that the others leave.
    Text(String),
    /// A rule or a path, shown letter by letter.
    Code(String),
    Number(String),
    /// A part of a whole as a bar, the first to go where the room is small.
    Bar(u64, u64),
    /// Numbers over time as bars side by side, the first to go where the room is small.
    Trend(Vec<u64>),
}

impl Cell {
    pub(crate) fn code(text: impl Into<String>) -> Self {
        Self::Code(text.into())
    }

    /// A number in words: `12%`, `new`.
    pub(crate) fn number(text: impl Into<String>) -> Self {
        Self::Number(text.into())
    }

    pub(crate) const fn is_number(&self) -> bool {
        matches!(self, Self::Number(_))
    }

    pub(crate) const fn is_bar(&self) -> bool {
        matches!(self, Self::Bar(..))
    }

    pub(crate) const fn is_chart(&self) -> bool {
        matches!(self, Self::Bar(..) | Self::Trend(_))
    }
}

impl Table {
    /// A table with the first rows, up to `most`; the rest is counted.
    pub(crate) fn new<const N: usize>(
        headings: [&'static str; N],
        most: usize,
        rows: impl IntoIterator<Item = [Cell; N]>,
    ) -> Self {
        let mut rows = rows.into_iter();
        let first = rows.by_ref().take(most).map(Vec::from).collect();
        Self { headings: headings.into(), rows: first, more: rows.count() }
    }

    /// The headings, each with the first cell of its column. Without rows there are none.
    pub(crate) fn columns(&self) -> impl Iterator<Item = (&'static str, &Cell)> {
        let first = self.rows.first().map(Vec::as_slice).unwrap_or_default();
        self.headings.iter().copied().zip(first)
    }
}

impl Section {
    pub(crate) fn new(heading: impl Into<String>, table: Table) -> Self {
        Self { heading: heading.into(), table, remarks: Vec::new() }
    }

    pub(crate) fn remark(mut self, sentence: impl Into<String>) -> Self {
        self.remarks.push(sentence.into());
        self
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<u64> for Cell {
    fn from(number: u64) -> Self {
        Self::Number(grouped(number))
    }
}

const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// A bar of a share of `width` columns. Something is never an empty bar.
pub(super) fn bar(part: u64, whole: u64, width: usize) -> String {
    if part == 0 || whole == 0 {
        return String::new();
    }
    let eighths = (part as f64 / whole as f64 * width as f64 * 8.0).round() as usize;
    let eighths = eighths.clamp(1, width * 8);
    format!("{}{}", "█".repeat(eighths / 8), EIGHTHS[eighths % 8])
}

/// One column for each number, as high as its share of the largest; a space for nothing.
pub(super) fn spark(numbers: &[u64]) -> String {
    let most = numbers.iter().copied().max().unwrap_or(0);
    let level = |number: u64| {
        let level = (number as f64 / most as f64 * 8.0).ceil() as usize;
        LEVELS[level.clamp(1, 8) - 1]
    };
    numbers.iter().map(|&number| if number == 0 { ' ' } else { level(number) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_as_long_as_their_share() {
        for (part, whole, bar_of_four) in [
            (0, 0, ""),
            (0, 9, ""),
            (9, 9, "████"),
            (1, 2, "██"),
            (1, u64::MAX, "▏"),
            (5, 32, "▋"),
            (99, 9, "████"),
        ] {
            assert_eq!(bar(part, whole, 4), bar_of_four);
        }
        assert_eq!(spark(&[0, 1, 4, 8, 2]), " ▁▄█▂");
        assert_eq!(spark(&[0, 0]), "  ");
    }
}
