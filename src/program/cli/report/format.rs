//! The formats of a report.

use crate::program::console::{self, Error};

/// The output format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(in crate::program::cli) enum Format {
    /// Text for people. On a terminal, as wide as the terminal.
    #[default]
    Text,
    /// One JSON object per line.
    Json,
    /// Markdown with tables (a review only).
    Markdown,
    /// One HTML file, for mail and print (a review only).
    Html,
}

impl Format {
    /// The format of what is no review.
    pub(super) fn of_lines(self) -> Result<console::Format, Error> {
        match self {
            Self::Text => Ok(console::Format::Text),
            Self::Json => Ok(console::Format::Json),
            Self::Markdown | Self::Html => Err(Error::Refused(
                "--evidence and --verify print text or json (take another --format)".to_owned(),
            )),
        }
    }
}
