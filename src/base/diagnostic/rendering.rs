//! A finding as text for people: its place, the source line, the repair.
//!
//! ```text
//! warning[policy.regex_pattern]: '/(a|b)/' looks like a regular expression
//!   --> beadle.yaml:9:13
//!    |
//!  9 |           - /(a|b)/
//!    |             ^^^^^^^
//!    = help: write '/a/' and '/b/'
//! ```

use std::fmt;

use super::{Diagnostic, Place, Severity, snippet::Snippet};
use crate::base::{escape, text::lines};

/// The columns of a source line if the width of the screen is unknown.
const USUAL_WIDTH: usize = 100;
/// The fewest columns of a source line.
const LEAST_WIDTH: usize = 20;

/// The look of findings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// Whether parts are coloured.
    pub has_colours: bool,
    /// The columns of the screen; `None` for a pipe or a file.
    pub width: Option<usize>,
}

/// The text that findings are about.
#[derive(Debug, Default)]
pub struct SourceText<'a> {
    file: String,
    lines: Vec<&'a [u8]>,
}

/// A finding with its source line.
#[derive(Debug)]
pub struct Shown<'a> {
    /// The finding.
    pub finding: &'a Diagnostic,
    /// The text that it is about. A finding about another file is shown without a line.
    pub source: &'a SourceText<'a>,
    /// The look.
    pub style: Style,
}

impl<'a> SourceText<'a> {
    /// The text of a file; `file` is its name as findings have it.
    pub fn new(file: &str, bytes: &'a [u8]) -> Self {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        Self { file: escape::text(file.as_bytes()), lines: lines(bytes).collect() }
    }

    /// The name of the file, as findings have it.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// A place in it.
    pub fn place(&self, line: u32, column: u32) -> Place {
        Place { file: Some(self.file.clone()), line: Some(line), column: Some(column) }
    }

    /// The lines, without their ends.
    pub fn lines(&self) -> &[&'a [u8]] {
        &self.lines
    }

    fn line_of(&self, finding: &Diagnostic) -> Option<(u32, &'a [u8])> {
        let number =
            finding.place.line.filter(|_| finding.place.file.as_ref() == Some(&self.file))?;
        let at = usize::try_from(number).ok()?.checked_sub(1)?;
        Some((number, self.lines.get(at)?))
    }
}

impl Style {
    fn painted(self, codes: &str, text: &str) -> String {
        if self.has_colours { format!("\x1b[{codes}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

/// The lines of a finding, with an empty one at the end.
impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { finding, source, style } = self;
        let colour = match finding.severity {
            Severity::Error => "1;31",
            Severity::Warning => "1;33",
            Severity::Note => "1;36",
        };
        let frame = |text: &str| style.painted("1;34", text);
        let title = format!("{}[{}]", finding.severity, finding.code);
        writeln!(f, "{}: {}", style.painted(colour, &title), style.painted("1", &finding.message))?;
        let line = source.line_of(finding);
        let gutter = line.map_or(1, |(number, _)| number.to_string().len()).max(2);
        let place = finding.place.to_string();
        if !place.is_empty() {
            writeln!(f, "{}{} {place}", " ".repeat(gutter), frame("-->"))?;
        }
        let bar = format!("{} {}", " ".repeat(gutter), frame("|"));
        if let Some((number, bytes)) = line {
            let width = style.width.unwrap_or(USUAL_WIDTH).saturating_sub(gutter + 3);
            let Snippet { line, before, marked } =
                Snippet::of(bytes, finding.place.column, width.max(LEAST_WIDTH));
            let number = format!("{number:>gutter$}");
            writeln!(f, "{bar}")?;
            writeln!(f, "{}", format!("{} {} {line}", frame(&number), frame("|")).trim_end())?;
            let marks = style.painted(colour, &"^".repeat(marked));
            writeln!(f, "{bar} {}{marks}", " ".repeat(before))?;
        }
        if let Some(help) = &finding.help {
            let sign = frame("=");
            writeln!(f, "{} {sign} {}: {help}", " ".repeat(gutter), style.painted("1", "help"))?;
        }
        writeln!(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(finding: &Diagnostic, bytes: &[u8], style: Style) -> String {
        Shown { finding, source: &SourceText::new("a.yaml", bytes), style }.to_string()
    }

    #[test]
    fn a_finding_shows_its_line_its_place_and_its_repair() {
        let finding = Diagnostic::warning("a.b", "odd").at(2, 3).in_file("a.yaml").help("mend it");
        assert_eq!(
            show(&finding, b"\xef\xbb\xbfx:\r\n  /(a|b)/\r\n", Style::default()),
            "warning[a.b]: odd\n  --> a.yaml:2:3\n   |\n 2 |   /(a|b)/\n   |   ^^^^^^^\n   = help: \
             mend it\n\n"
        );
    }

    #[test]
    fn a_place_without_a_line_or_in_another_file_has_no_snippet() {
        let style = Style::default();
        let whole = Diagnostic::note("a.b", "odd").in_file("a.yaml");
        assert_eq!(show(&whole, b"x", style), "note[a.b]: odd\n  --> a.yaml\n\n");
        let other = Diagnostic::note("a.b", "odd").at(1, 1).in_file("b.yaml");
        assert_eq!(show(&other, b"x", style), "note[a.b]: odd\n  --> b.yaml:1:1\n\n");
        let nowhere = Diagnostic::note("a.b", "odd");
        assert_eq!(show(&nowhere, b"x", style), "note[a.b]: odd\n\n");
        let beyond = Diagnostic::note("a.b", "odd").at(9, 1).in_file("a.yaml");
        assert_eq!(show(&beyond, b"x", style), "note[a.b]: odd\n  --> a.yaml:9:1\n\n");
    }

    #[test]
    fn colours_are_there_only_if_asked_for() {
        let finding = Diagnostic::error("a.b", "odd").at(1, 1).in_file("a.yaml");
        let style = Style { has_colours: true, width: Some(80) };
        let coloured = show(&finding, b"x", style);
        assert!(coloured.starts_with("\x1b[1;31merror[a.b]\x1b[0m: "), "{coloured:?}");
        assert!(!show(&finding, b"x\x1b[31m", Style::default()).contains('\x1b'));
    }
}
