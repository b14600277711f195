//! A file line by line, as a page shows it: escaped, and no more than a page can hold.

use super::hits::{Count, Hits};
use crate::{
    base::{escape, text::lines},
    review::report::number::grouped,
};

/// The most lines of a page. The whole file can be downloaded.
const MOST_LINES: usize = 2_000;
/// The most bytes of a line.
const LONGEST: usize = 400;
/// The most lines with hits that are listed beyond the others.
const MOST_HIT_LINES: usize = 200;
/// The most names of a group that have lines of their own, and those that a folded line names.
const MOST_NAMES: usize = 8;
const NAMED: usize = 4;
const MOST_GONE: usize = 50;

pub(super) struct FileView {
    /// The first lines, and later ones with hits.
    pub(super) rows: Vec<LineRow>,
    pub(super) note: Option<String>,
    pub(super) has_counts: bool,
    pub(super) has_sources: bool,
    /// Rules of older editions that the file does not have.
    pub(super) gone: Vec<(String, [String; 2])>,
}

/// A line, or many names of a group in one.
pub(super) struct LineRow {
    pub(super) number: u32,
    pub(super) text: String,
    /// The lines, where there are many.
    pub(super) lines: Vec<Self>,
    count: Option<Count>,
    pub(super) has_violations: bool,
    pub(super) link: Option<String>,
    /// The line of the policy or of the origin's file.
    pub(super) source: String,
}

impl FileView {
    /// The file with nothing beside its lines.
    pub(super) fn plain(bytes: &[u8]) -> Self {
        Self::new(bytes, None, |_| None, |_| None)
    }

    /// The file with the hits of its lines, with the source of each rule, and with a link to the
    /// violations of each line that has some.
    pub(super) fn new(
        bytes: &[u8],
        hits: Option<&Hits>,
        source: impl Fn(u32) -> Option<String>,
        link: impl Fn(u32) -> Option<String>,
    ) -> Self {
        let row = |(number, line): (u32, &[u8])| {
            let count = hits.and_then(|hits| hits.of_line(number));
            let has_violations = count.is_some_and(|count| count.violations > 0);
            LineRow {
                number,
                text: escape::bounded(line, LONGEST),
                lines: Vec::new(),
                count,
                has_violations,
                link: has_violations.then(|| link(number)).flatten(),
                source: source(number).unwrap_or_default(),
            }
        };
        let mut lines = (1..).zip(lines(bytes));
        let mut rows: Vec<LineRow> = lines.by_ref().take(MOST_LINES).map(row).collect();
        let mut more = 0;
        for (number, line) in lines {
            more += 1;
            let count = hits.and_then(|hits| hits.of_line(number)).unwrap_or_default();
            if count != Count::default() && rows.len() < MOST_LINES + MOST_HIT_LINES {
                rows.push(row((number, line)));
            }
        }
        let note = (more > 0).then(|| {
            let (more, first) = (grouped(more), grouped(MOST_LINES as u64));
            let with_hits = if hits.is_some() { ", and later ones with hits" } else { "" };
            format!("The first {first} lines are shown{with_hits}; {more} more are in the file.")
        });
        let gone = hits.map(|hits| hits.gone.iter()).into_iter().flatten().take(MOST_GONE);
        let gone = gone.map(|(rule, count)| (rule.clone(), shown(*count)));
        Self {
            has_counts: hits.is_some(),
            has_sources: rows.iter().any(|row| !row.source.is_empty()),
            gone: gone.collect(),
            rows: folded(rows),
            note,
        }
    }
}

impl LineRow {
    /// Violations and other requests; `None` if the line decides nothing.
    pub(super) fn counts(&self) -> Option<[String; 2]> {
        self.count.map(shown)
    }

    /// The name of a group, if the line is one.
    fn name(&self) -> Option<&str> {
        let (directive, name) = self.text.split_once(':')?;
        let name = name.split('#').next().unwrap_or_default().trim();
        directive.trim().eq_ignore_ascii_case("user-agent").then_some(name)
    }
}

/// The lines with many names of a group folded into one, which has the hits of the group.
fn folded(rows: Vec<LineRow>) -> Vec<LineRow> {
    let mut runs: Vec<Vec<LineRow>> = Vec::new();
    for row in rows {
        match runs.last_mut() {
            Some(run) if run[0].name().is_some() == row.name().is_some() => run.push(row),
            _ => runs.push(vec![row]),
        }
    }
    let mut folded = Vec::new();
    let mut runs = runs.into_iter().peekable();
    while let Some(run) = runs.next() {
        if run.len() <= MOST_NAMES || run[0].name().is_none() {
            folded.extend(run);
            continue;
        }
        let group = runs.peek().into_iter().flatten().filter_map(|row| row.count);
        let count = group.reduce(|sum, one| Count {
            violations: sum.violations + one.violations,
            passed: sum.passed + one.passed,
        });
        let names = run.iter().filter_map(LineRow::name).take(NAMED).collect::<Vec<_>>().join(", ");
        folded.push(LineRow {
            number: run[0].number,
            text: format!("{} names: {names}, …", run.len()),
            has_violations: count.is_some_and(|count| count.violations > 0),
            link: None,
            source: run[0].source.clone(),
            count,
            lines: run,
        });
    }
    folded
}

fn shown(count: Count) -> [String; 2] {
    [grouped(count.violations), grouped(count.passed)]
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::{base::text::Text, formats::robots, records::counts::Counted};

    #[test]
    fn a_page_has_the_first_lines_and_later_ones_with_hits() {
        let text = format!("User-agent: *\n{}Disallow: /z\nDisallow: /y\n", "\n".repeat(9_000));
        let (file, _) = robots::parse(text.as_bytes());
        let key = ["now", "9002", "disallow", "/z"].map(Text::from).to_vec();
        let row = Counted { key, requests: 5, violations: 4, ..Counted::default() };
        let hits = Hits::of("now", &file, &[row], &HashMap::new());
        let view =
            FileView::new(text.as_bytes(), Some(&hits), |_| None, |line| Some(line.to_string()));
        assert_eq!(view.rows.len(), MOST_LINES + 1);
        let last = view.rows.last().expect("a row");
        assert_eq!((last.number, last.text.as_str()), (9_002, "Disallow: /z"));
        assert_eq!(last.counts(), Some(["4".to_owned(), "1".to_owned()]));
        assert_eq!(last.link.as_deref(), Some("9002"));
        assert!(view.note.is_some_and(|note| note.contains("later ones with hits; 7,003")));
        let names: String = (0..195).map(|at| format!("user-agent: Bot{at}\n")).collect();
        let text = format!("#\n{names}Disallow: /z\nAllow: /z/a\n\nUser-agent: *\nDisallow: /y\n");
        let (file, _) = robots::parse(text.as_bytes());
        let key = ["now", "197", "disallow", "/z"].map(Text::from).to_vec();
        let row = Counted { key, requests: 5, violations: 4, ..Counted::default() };
        let hits = Hits::of("now", &file, &[row], &HashMap::new());
        let view = FileView::new(text.as_bytes(), Some(&hits), |_| None, |_| None);
        let group = &view.rows[1];
        assert_eq!((view.rows.len(), group.number, group.lines.len()), (7, 2, 195));
        assert_eq!(group.text, "195 names: Bot0, Bot1, Bot2, Bot3, …");
        assert_eq!(group.counts(), Some(["4".to_owned(), "1".to_owned()]));
        let plain = FileView::plain(b"Disallow: /\xff\r\nx");
        assert!(!plain.has_counts && !plain.has_sources && plain.note.is_none());
        let texts: Vec<_> = plain.rows.iter().map(|row| row.text.as_str()).collect();
        assert_eq!(texts, ["Disallow: /\\xff", "x"]);
    }
}
