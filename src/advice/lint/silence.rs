//! Comments that allow a finding: `# beadle: allow lint.secret, policy.regex_pattern`.
//!
//! A comment counts for its own line. Alone on a line, it counts for the next line that is no
//! comment, without an empty line between. Above the first line of the file, it counts for the whole
//! file. Errors are never silenced. A comment that allows nothing is a finding itself.

use crate::{
    base::{
        diagnostic::{Diagnostic, Severity, SourceText},
        escape::shown,
    },
    rules::policy::closest,
};

use super::codes::RULES;

struct Allowed {
    code: String,
    /// The line for which it counts; `None` is the whole file.
    line: Option<u32>,
    at: (u32, u32),
    is_used: bool,
    meets_error: bool,
}

/// The findings that no comment in `source` allows, with those about the comments.
///
/// `is_whole` says whether everything was checked. If not, a comment without a finding may still be
/// needed.
pub fn silence(
    source: &SourceText<'_>,
    findings: Vec<Diagnostic>,
    is_whole: bool,
) -> Vec<Diagnostic> {
    let mut allowed = comments(source.lines());
    if allowed.is_empty() {
        return findings;
    }
    let mut kept: Vec<Diagnostic> = Vec::with_capacity(findings.len());
    for finding in findings {
        let is_here = finding.place.file.as_deref() == Some(source.file());
        let mut is_allowed = false;
        for one in allowed.iter_mut().filter(|one| is_here && one.is_for(&finding)) {
            let is_error = finding.severity == Severity::Error;
            one.meets_error |= is_error;
            one.is_used |= !is_error;
            is_allowed |= !is_error;
        }
        if !is_allowed {
            kept.push(finding);
        }
    }
    for one in &allowed {
        kept.extend(one.finding(is_whole).map(|finding| {
            let (line, column) = one.at;
            Diagnostic { place: source.place(line, column), ..finding }
        }));
    }
    kept.sort_by_key(|one| {
        (one.place.file.as_deref() != Some(source.file()), one.place.line, one.place.column)
    });
    kept
}

impl Allowed {
    fn is_for(&self, finding: &Diagnostic) -> bool {
        self.code == finding.code && (self.line.is_none() || self.line == finding.place.line)
    }

    fn finding(&self, is_whole: bool) -> Option<Diagnostic> {
        let code = shown(&self.code);
        if !RULES.iter().any(|rule| rule.code == self.code) {
            let message = format!("'{code}' is no code of a finding");
            let known = RULES.iter().map(|rule| rule.code);
            let help = closest(&self.code, known).map_or_else(
                || {
                    "write '# beadle: allow CODE', with the code that 'beadle check' prints"
                        .to_owned()
                },
                |code| format!("did you mean '{code}'?"),
            );
            return Some(Diagnostic::warning("lint.unknown_code", message).help(help));
        }
        if self.meets_error {
            let message = format!("'{code}' is an error here, and errors can't be silenced");
            return Some(
                Diagnostic::warning("lint.refused_allow", message)
                    .help("mend the error, remove this"),
            );
        }
        // Found only with --online.
        let is_of_origin = self.code == "policy.replaces_origin" || self.code.starts_with("probe.");
        if self.is_used || !is_whole || is_of_origin {
            return None;
        }
        let where_ = if self.line.is_some() { "on its line" } else { "in the file" };
        let message = format!("there is no finding '{code}' {where_} to silence");
        Some(Diagnostic::warning("lint.unused_allow", message).help("remove the comment"))
    }
}

fn comments(lines: &[&[u8]]) -> Vec<Allowed> {
    let is_comment = |line: &[u8]| line.trim_ascii_start().starts_with(b"#");
    let is_content = |line: &[u8]| {
        let line = line.trim_ascii();
        !line.is_empty() && !is_comment(line) && line != b"---" && !line.starts_with(b"%")
    };
    let first = lines.iter().position(|line| is_content(line)).unwrap_or(lines.len());
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let codes = codes(line);
        if codes.is_empty() {
            continue;
        }
        let target = match (is_comment(line), at < first) {
            (true, true) => None,
            (true, false) => {
                let rest = lines.iter().enumerate().skip(at + 1);
                let mut rest = rest.skip_while(|(_, line)| is_comment(line));
                Some(rest.next().map_or(at, |(next, _)| next))
            }
            (false, _) => Some(at),
        };
        let number = |at: usize| u32::try_from(at + 1).unwrap_or(u32::MAX);
        found.extend(codes.into_iter().map(|(code, column)| Allowed {
            code,
            line: target.map(number),
            at: (number(at), column),
            is_used: false,
            meets_error: false,
        }));
    }
    found
}

/// The codes that a comment in a line allows, with their columns. What stands behind a code up to the
/// next comma is its reason.
fn codes(line: &[u8]) -> Vec<(String, u32)> {
    let Ok(line) = std::str::from_utf8(line) else { return Vec::new() };
    let mut starts = line.match_indices('#').filter_map(|(at, _)| {
        let before = &line[..at];
        let begins = before.is_empty() || before.ends_with([' ', '\t']);
        let is_quoted = before.matches('"').count() % 2 == 1;
        let rest = line[at + 1..].trim_start().strip_prefix("beadle:")?;
        (begins && !is_quoted).then_some(rest)
    });
    let Some(rest) = starts.next() else { return Vec::new() };
    let column = |part: &str| {
        let before = part.as_ptr().addr().saturating_sub(line.as_ptr().addr());
        let before = line.get(..before).unwrap_or_default();
        u32::try_from(before.chars().count() + 1).unwrap_or(0)
    };
    let rest = rest.trim_start();
    let Some(list) = rest.strip_prefix("allow").filter(|list| list.starts_with([' ', '\t'])) else {
        let word = rest.split_whitespace().next().unwrap_or_default();
        return vec![(word.to_owned(), column(rest))];
    };
    let pieces = list.split(',').map(str::trim_start);
    let words = pieces.filter_map(|piece| {
        let word = piece.split([' ', '\t', ':', ';']).next().unwrap_or_default();
        (!word.is_empty()).then(|| (word.to_owned(), column(piece)))
    });
    // A reason may have commas.
    words
        .enumerate()
        .take_while(|(at, (word, _))| *at == 0 || word.contains('.'))
        .map(|(_, one)| one)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(code: &'static str, line: u32) -> Diagnostic {
        Diagnostic::warning(code, "x").at(line, 1).in_file("a.yaml")
    }

    /// The codes that are left, with their lines.
    fn left(
        text: &str,
        findings: &[Diagnostic],
        is_whole: bool,
    ) -> Vec<(&'static str, Option<u32>)> {
        let source = SourceText::new("a.yaml", text.as_bytes());
        let left = silence(&source, findings.to_vec(), is_whole);
        left.iter().map(|one| (one.code, one.place.line)).collect()
    }

    const REGEX: &str = "policy.regex_pattern";

    #[test]
    fn a_comment_counts_for_its_line_for_the_next_or_for_the_file() {
        let allow = "# beadle: allow policy.regex_pattern";
        for (text, line, is_silenced) in [
            (format!("a:\n  b {allow}\n"), 2, true),
            (format!("a:\n  b {allow}\n"), 1, false),
            (format!("a:\n  {allow}\n  # why\n  b\n"), 4, true),
            (format!("a:\n  {allow}\n\n  b\n"), 4, false),
            (format!("# head\n{allow}\n\na:\n  b\n"), 5, true),
            (format!("---\n{allow}: the path is literal\na:\n  b\n"), 4, true),
            (format!("a: x{allow}\n"), 1, false),
            (format!("a: \"{allow}\"\n"), 1, false),
            ("a: b # beadle: allow lint.secret, policy.regex_pattern\n".to_owned(), 1, true),
        ] {
            let found = left(&text, &[finding(REGEX, line)], false);
            assert_eq!(found.is_empty(), is_silenced, "{text}");
        }
    }

    #[test]
    fn a_comment_that_silences_nothing_is_a_finding() {
        let unused = "a: b # beadle: allow policy.regex_pattern\n";
        assert_eq!(left(unused, &[], true), [("lint.unused_allow", Some(1))]);
        assert_eq!(left(unused, &[], false), []);
        let online = "a: b # beadle: allow probe.no_answer\n";
        assert_eq!(left(online, &[], true), [], "the origin was not asked");
        let unknown = "a: b # beadle: allow policy.regex_patern\n";
        assert_eq!(
            left(unknown, &[finding(REGEX, 1)], true),
            [(REGEX, Some(1)), ("lint.unknown_code", Some(1))]
        );
        assert_eq!(left("a: b # beadle: alow x.y\n", &[], true), [("lint.unknown_code", Some(1))]);
        let source = SourceText::new("a.yaml", unknown.as_bytes());
        let found = silence(&source, Vec::new(), true);
        assert_eq!(found[0].help.as_deref(), Some("did you mean 'policy.regex_pattern'?"));
        assert_eq!(found[0].place.column, Some(22));
    }

    #[test]
    fn errors_are_never_silenced() {
        let error = Diagnostic { severity: Severity::Error, ..finding(REGEX, 1) };
        let text = "a: b # beadle: allow policy.regex_pattern\n";
        assert_eq!(
            left(text, &[error], false),
            [(REGEX, Some(1)), ("lint.refused_allow", Some(1))]
        );
    }
}
