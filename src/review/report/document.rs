//! A document of tables, whatever the format it is written in.

use std::borrow::Cow;

/// A document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Document {
    /// The title.
    pub title: String,
    /// Sentences below the title.
    pub lead: Vec<String>,
    /// The parts.
    pub sections: Vec<Section>,
}

/// A part of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// The heading.
    pub heading: String,
    /// The table; without rows, [`Self::remarks`] say why.
    pub table: Table,
    /// Sentences below the table.
    pub remarks: Vec<String>,
}

/// A table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// The columns.
    pub columns: Vec<Column>,
    /// The rows; each has a cell for every column.
    pub rows: Vec<Vec<Cell>>,
    /// The number of further rows that are not here.
    pub more: usize,
}

/// A column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// The heading.
    pub heading: Cow<'static, str>,
    /// What its cells are.
    pub kind: Kind,
}

/// What the cells of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Names; the first column of a table has all the room that the others leave.
    Name,
    /// Rules and paths, shown letter by letter.
    Code,
    /// Numbers, to the right.
    Number,
    /// Shares as bars, the first to go where the room is small.
    Bar,
    /// Numbers over time as bars side by side, the first to go where the room is small.
    Trend,
}

/// A cell. Foreign text in it is escaped for one line; each format adds its own escapes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cell {
    /// A text.
    Text(String),
    /// A part of a whole.
    Bar(u64, u64),
    /// Numbers over time.
    Trend(Vec<u64>),
}

impl Column {
    /// A column.
    pub fn new(heading: impl Into<Cow<'static, str>>, kind: Kind) -> Self {
        Self { heading: heading.into(), kind }
    }
}

impl Kind {
    /// Whether it is [`Self::Number`].
    pub const fn is_number(self) -> bool {
        matches!(self, Self::Number)
    }

    /// Whether it is [`Self::Code`].
    pub const fn is_code(self) -> bool {
        matches!(self, Self::Code)
    }

    /// Whether it is [`Self::Bar`].
    pub const fn is_bar(self) -> bool {
        matches!(self, Self::Bar)
    }

    /// Whether it is a chart.
    pub const fn is_chart(self) -> bool {
        matches!(self, Self::Bar | Self::Trend)
    }
}

impl Table {
    /// A table with these columns.
    pub fn new<const N: usize>(columns: [(&'static str, Kind); N]) -> Self {
        let columns = columns.map(|(heading, kind)| Column::new(heading, kind));
        Self { columns: columns.into(), ..Self::default() }
    }

    /// With the first rows, up to `most`; the rest is counted.
    pub fn with<const N: usize>(
        mut self,
        most: usize,
        rows: impl IntoIterator<Item = [Cell; N]>,
    ) -> Self {
        let mut rows = rows.into_iter();
        self.rows.extend(rows.by_ref().take(most).map(Vec::from));
        self.more += rows.count();
        self
    }
}

impl Section {
    /// A part without remarks.
    pub fn new(heading: impl Into<String>, table: Table) -> Self {
        Self { heading: heading.into(), table, remarks: Vec::new() }
    }

    /// With a sentence below the table.
    pub fn remark(mut self, sentence: impl Into<String>) -> Self {
        self.remarks.push(sentence.into());
        self
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self::Text(text.into())
    }
}
