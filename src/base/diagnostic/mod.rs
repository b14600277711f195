//! A finding: a fault, its place and its repair.
//!
//! Parsers of foreign text return a list of findings beside their value. The policy collects all
//! findings before it refuses. Messages are lower case, name the value and have no full stop.
//!
//! A finding is shown as text with its source line ([`Shown`]), as JSON, as an annotation of GitHub
//! ([`github()`]), or with all others as one SARIF document ([`sarif()`]).
//!
//! May use: escape, text, version. Must not know: what is checked, files, the terminal.

use std::fmt;

use derive_more::Display;
use serde::{Deserialize, Serialize};

use crate::base::{escape, text::words};

mod rendering; // text for people
mod sarif; // a log for tools of static analysis, annotations of GitHub's workflows
mod snippet; // a source line, and the part that is at fault

pub use self::{
    rendering::{Shown, SourceText, Style},
    sarif::{Rule, github, sarif},
};

/// One finding. Its `code` is stable and of low cardinality (`policy.unknown_key`), for metric
/// labels and for a search in the documentation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// The stable name of the kind of finding: `room.fault`.
    pub code: &'static str,
    /// The severity.
    pub severity: Severity,
    /// One sentence, with foreign bytes escaped.
    pub message: String,
    /// The position, as far as it is known.
    #[serde(flatten)]
    pub place: Place,
    /// The repair, in the imperative.
    pub help: Option<String>,
}

words! {
    /// The severity of a finding, from the lowest to the highest.
    #[derive(Clone, Copy, Debug, Display, PartialEq, Eq, PartialOrd, Ord, Serialize)]
    #[display("{}", self.as_str())]
    #[serde(rename_all = "lowercase")]
    pub enum Severity {
        /// Information; no change is needed.
        Note = "note",
        /// Probably a mistake.
        Warning = "warning",
        /// A mistake; the text is refused.
        Error = "error",
    }
}

/// A position in a text. Lines and columns count from 1; a column counts characters.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
pub struct Place {
    /// The file's name as the operator gave it.
    pub file: Option<String>,
    /// Line, from 1.
    pub line: Option<u32>,
    /// Column in characters, from 1.
    pub column: Option<u32>,
}

impl Diagnostic {
    /// A finding that refuses the text.
    pub fn error(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Error, message)
    }

    /// A finding that is probably a mistake.
    pub fn warning(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Warning, message)
    }

    /// A finding for information.
    pub fn note(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Note, message)
    }

    fn new(code: &'static str, severity: Severity, message: impl Into<String>) -> Self {
        Self { code, severity, message: message.into(), place: Place::default(), help: None }
    }

    /// Sets the position; 0 means unknown.
    #[must_use]
    pub fn at(mut self, line: u32, column: u32) -> Self {
        self.place.line = (line > 0).then_some(line);
        self.place.column = (line > 0 && column > 0).then_some(column);
        self
    }

    /// Sets the repair.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The message, and on a second line the repair.
    fn with_help(&self) -> String {
        match &self.help {
            Some(help) => format!("{}\nhelp: {help}", self.message),
            None => self.message.clone(),
        }
    }

    /// Sets the file.
    #[must_use]
    pub fn in_file(mut self, file: &str) -> Self {
        self.place.file = Some(escape::text(file.as_bytes()));
        self
    }
}

/// `file:line:column`, as far as known; an unknown place is empty.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::with_capacity(3);
        parts.extend(self.file.clone());
        parts.extend(self.line.map(|line| line.to_string()));
        parts.extend(self.column.map(|column| column.to_string()));
        f.write_str(&parts.join(":"))
    }
}

/// `place: severity: message [code]`, with the repair on the next line. The alternate form (`{:#}`)
/// is one line, for logs.
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = self.place.to_string();
        if !place.is_empty() {
            write!(f, "{place}: ")?;
        }
        write!(f, "{}: {} [{}]", self.severity, self.message, self.code)?;
        match &self.help {
            Some(help) if f.alternate() => write!(f, "; help: {help}"),
            Some(help) => write!(f, "\n    help: {help}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_names_place_severity_code_and_repair() {
        let finding = Diagnostic::error("policy.unknown_key", "unknown key 'robot'")
            .at(4, 11)
            .in_file("beadle.yaml")
            .help("write 'robots_txt'");
        assert_eq!(
            finding.to_string(),
            "beadle.yaml:4:11: error: unknown key 'robot' [policy.unknown_key]\n    help: write 'robots_txt'"
        );
    }

    #[test]
    fn json_is_flat_and_keeps_unknown_places_as_null() {
        let finding = Diagnostic::note("robots.bom", "byte order mark").at(1, 0);
        assert_eq!(
            serde_json::to_string(&finding).expect("a diagnostic has no map with odd keys"),
            r#"{"code":"robots.bom","severity":"note","message":"byte order mark","file":null,"line":1,"column":null,"help":null}"#
        );
    }

    #[test]
    fn severities_are_ordered() {
        assert!(Severity::Note < Severity::Warning && Severity::Warning < Severity::Error);
    }
}
