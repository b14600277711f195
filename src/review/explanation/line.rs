//! One line of an explanation.

use std::fmt;

/// A line of text with its label. An empty label continues the line before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) label: &'static str,
    /// The text; foreign octets in it are escaped.
    pub(crate) value: String,
}

impl Line {
    pub(crate) fn new(label: &'static str, value: impl Into<String>) -> Self {
        Self { label, value: value.into() }
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { label, value } = self;
        write!(f, "  {label:<9} {value}")
    }
}
