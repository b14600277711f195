//! The terminal: its width, and whether it shows colours.

use std::{
    env,
    io::{self, IsTerminal},
};

use terminal_size::{Width, terminal_size_of};

use crate::review::report::Screen;

/// The width of a terminal that does not tell it.
const USUAL_WIDTH: usize = 80;
const LEAST_WIDTH: usize = 40;

impl Screen {
    /// The screen behind standard output. `COLUMNS` overrides the width of a terminal.
    pub(crate) fn of_standard_output() -> Self {
        let out = io::stdout();
        if !out.is_terminal() {
            return Self { width: None, has_colours: false };
        }
        let named = variable("COLUMNS").and_then(|columns| columns.parse().ok());
        let own = || terminal_size_of(&out).map(|(Width(columns), _)| usize::from(columns));
        let width = named.or_else(own).filter(|&width| width > 0).unwrap_or(USUAL_WIDTH);
        Self { width: Some(width.max(LEAST_WIDTH)), has_colours: wants_colours() }
    }
}

/// Whether the environment lets a terminal have colours: neither `NO_COLOR` nor a dumb terminal says
/// no.
pub(crate) fn wants_colours() -> bool {
    variable("NO_COLOR").is_none() && variable("TERM").is_none_or(|term| term != "dumb")
}

fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}
