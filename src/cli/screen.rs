//! The terminal: its width, and whether it shows colours.

use std::{
    env,
    io::{self, IsTerminal},
};

use terminal_size::{Width, terminal_size_of};

/// The width of a terminal that does not tell it.
const USUAL_WIDTH: usize = 80;
/// The smallest width that is used.
const LEAST_WIDTH: usize = 40;

/// The place where text is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Screen {
    /// The columns; `None` for a pipe or a file, where nothing is cut.
    pub(super) width: Option<usize>,
    pub(super) has_colours: bool,
}

impl Screen {
    /// The screen behind standard output. `COLUMNS` overrides the width of a terminal.
    pub(super) fn of_standard_output() -> Self {
        let out = io::stdout();
        if !out.is_terminal() {
            return Self { width: None, has_colours: false };
        }
        let variable = |name| env::var(name).ok().filter(|value| !value.is_empty());
        let named = variable("COLUMNS").and_then(|columns| columns.parse().ok());
        let own = || terminal_size_of(&out).map(|(Width(columns), _)| usize::from(columns));
        let width = named.or_else(own).filter(|&width| width > 0).unwrap_or(USUAL_WIDTH);
        let is_dumb = variable("TERM").is_some_and(|term| term == "dumb");
        Self {
            width: Some(width.max(LEAST_WIDTH)),
            has_colours: variable("NO_COLOR").is_none() && !is_dumb,
        }
    }
}
