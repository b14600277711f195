//! The lines of a robots.txt around a rule.

use crate::base::{escape, text::lines};

/// The most lines before and after the rule.
const AROUND: usize = 3;

/// The most octets of a line.
const MOST_OCTETS: usize = 200;

/// The lines of a file around one of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Excerpt {
    pub(crate) lines: Vec<ExcerptLine>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ExcerptLine {
    /// Its number, from 1.
    pub(crate) number: usize,
    /// Its text, bounded and escaped.
    pub(crate) text: String,
    pub(crate) is_rule: bool,
}

impl Excerpt {
    /// The lines around `line` (from 1); `None` if the file has no such line.
    pub(crate) fn around(file: &[u8], line: u32) -> Option<Self> {
        let wanted = usize::try_from(line).ok()?;
        let first = wanted.saturating_sub(AROUND).max(1);
        let file = file.strip_prefix(b"\xef\xbb\xbf").unwrap_or(file);
        let numbered = lines(file).enumerate().map(|(at, text)| (at + 1, text));
        let shown = numbered.skip(first - 1).take_while(|(number, _)| *number <= wanted + AROUND);
        let lines: Vec<ExcerptLine> = shown
            .map(|(number, text)| ExcerptLine {
                number,
                text: escape::bounded(text, MOST_OCTETS),
                is_rule: number == wanted,
            })
            .collect();
        lines.iter().any(|line| line.is_rule).then_some(Self { lines })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::robots;

    #[test]
    fn a_line_has_the_number_that_the_parser_gives_it() {
        let file = b"\xef\xbb\xbfUser-agent: *\r\n\r\rDisallow: /a\n\nDisallow: /b\rAllow: /c";
        let (read, _) = robots::parse(file);
        let rules: Vec<_> = read.groups.iter().flat_map(|group| &group.rules).collect();
        assert_eq!(rules.len(), 3);
        for rule in rules {
            let excerpt = Excerpt::around(file, rule.line).expect("the line is there");
            let line = excerpt.lines.iter().find(|line| line.is_rule).expect("it is marked");
            assert!(line.text.ends_with(rule.pattern.as_str()), "{rule:?}: {line:?}");
            assert_eq!(u32::try_from(line.number), Ok(rule.line));
        }
    }

    #[test]
    fn an_excerpt_is_short_and_safe() {
        let long = format!("# {}\n", "x".repeat(10_000));
        let file = format!("{}Disallow: /\u{1b}\n{long}", long.repeat(20));
        let excerpt = Excerpt::around(file.as_bytes(), 21).expect("the line is there");
        let numbers: Vec<usize> = excerpt.lines.iter().map(|line| line.number).collect();
        assert_eq!(numbers, [18, 19, 20, 21, 22]);
        assert!(excerpt.lines.iter().all(|line| line.text.len() < 300), "{excerpt:?}");
        assert_eq!(excerpt.lines[3].text, "Disallow: /\\x1b");
        for (file, line) in [("", 1), ("a", 0), ("a", 2), ("a\n", 2), ("a", u32::MAX)] {
            assert_eq!(Excerpt::around(file.as_bytes(), line), None, "{file:?} {line}");
        }
    }
}
