//! A file line by line, as a page shows it: escaped, and no more than a page can hold. The hits of its lines,
//! from the counts by edition and line.
//!
//! A count of the edition on the page belongs to its line. A count of an older edition belongs to
//! the line with the same directive and the same path. If several lines have both, it is the one in
//! the group for the same crawlers, else the first.

use std::collections::{BTreeSet, HashMap};

use crate::{
    base::{
        escape,
        text::{Text, lines},
    },
    formats::robots::RobotsTxt,
    records::{
        counts::{Counted, Dimension},
        record::rule_line,
    },
    review::report::number::grouped,
    rules::enforce::Reason,
};

/// The most lines of a page. The whole file can be downloaded.
const MOST_LINES: usize = 2_000;
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

/// The reason of a fetch of robots.txt.
pub(super) const FETCH: &str = Reason::RobotsTxt.as_str();

/// By what the counts of a [`Hits`] are told apart.
pub(super) const BY: [Dimension; 4] =
    [Dimension::Edition, Dimension::Line, Dimension::Directive, Dimension::Pattern];

/// The requests that a line decided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Count {
    pub(super) violations: u64,
    /// The others: for an allow line, those that it allowed.
    pub(super) passed: u64,
}

#[derive(Debug, Default)]
pub(super) struct Hits {
    by_line: HashMap<u32, Count>,
    /// The rules of older editions that the file does not have, the most violated first.
    pub(super) gone: Vec<(String, Count)>,
}

/// A line that decides requests: a rule or a pace.
struct Deciding<'f> {
    group: usize,
    directive: String,
    pattern: &'f str,
    line: u32,
}

impl Hits {
    /// The hits of `file`, the edition `id`, from counts [`BY`] edition and line. `older` has the
    /// older editions that are known.
    pub(super) fn of(
        id: &str,
        file: &RobotsTxt,
        counted: &[Counted],
        older: &HashMap<Text, RobotsTxt>,
    ) -> Self {
        let mut lines: HashMap<(String, Text), Vec<Deciding<'_>>> = HashMap::new();
        let mut by_line = HashMap::new();
        for one in deciding(file) {
            by_line.insert(one.line, Count::default());
            let key = (one.directive.clone(), Text::path(one.pattern.as_bytes()));
            lines.entry(key).or_default().push(one);
        }
        let mut gone: HashMap<String, Count> = HashMap::new();
        for one in counted {
            let [edition, line, directive, pattern] = one.key.as_slice() else { continue };
            let Some(rule) = rule_line(directive, pattern) else { continue };
            let line: u32 = line.parse().unwrap_or_default();
            let found = if *edition == id && by_line.contains_key(&line) {
                Some(line)
            } else {
                let same = lines.get(&(directive.to_string(), pattern.clone()));
                same.and_then(|same| same_line(same, file, line, older.get(edition)))
            };
            let count = match found {
                Some(line) => by_line.entry(line).or_default(),
                None => gone.entry(rule).or_default(),
            };
            count.violations += one.violations;
            count.passed += one.requests.saturating_sub(one.violations);
        }
        let mut gone: Vec<_> = gone.into_iter().collect();
        gone.sort_by(|(a, one), (b, other)| {
            (other.violations, other.passed, a).cmp(&(one.violations, one.passed, b))
        });
        Self { by_line, gone }
    }

    /// The count of a line; `None` if the line decides nothing.
    pub(super) fn of_line(&self, line: u32) -> Option<Count> {
        self.by_line.get(&line).copied()
    }
}

/// The rule of each line, without rules that stand in several groups. A record names its rule and not
/// the line, so violations of such a rule belong to no line.
pub(super) fn told_apart(file: &RobotsTxt) -> HashMap<u32, String> {
    let mut lines: HashMap<String, Vec<u32>> = HashMap::new();
    for one in deciding(file) {
        let rule = rule_line(&one.directive, &Text::path(one.pattern.as_bytes()));
        lines.entry(rule.unwrap_or_default()).or_default().push(one.line);
    }
    let alone = lines.into_iter().filter_map(|(rule, lines)| match lines[..] {
        [line] => Some((line, rule)),
        _ => None,
    });
    alone.collect()
}

/// The line among those with the same directive and path that a line of an older edition became.
fn same_line(
    same: &[Deciding<'_>],
    file: &RobotsTxt,
    line: u32,
    older: Option<&RobotsTxt>,
) -> Option<u32> {
    let [first, _, ..] = same else { return same.first().map(|one| one.line) };
    let group = older.and_then(|older| {
        let found = deciding(older).find(|one| one.line == line)?;
        Some(names(older, found.group))
    });
    let of_group = same.iter().find(|one| group.as_ref() == Some(&names(file, one.group)));
    Some(of_group.unwrap_or(first).line)
}

fn names(file: &RobotsTxt, group: usize) -> BTreeSet<String> {
    let group = file.groups.get(group);
    let names = group.iter().flat_map(|group| &group.user_agents);
    names.map(|user_agent| user_agent.name.to_ascii_lowercase()).collect()
}

fn deciding(file: &RobotsTxt) -> impl Iterator<Item = Deciding<'_>> {
    file.groups.iter().enumerate().flat_map(|(group, content)| {
        let rules = content.rules.iter().map(move |rule| Deciding {
            group,
            directive: rule.directive.as_str().to_owned(),
            pattern: &rule.pattern,
            line: rule.line,
        });
        let paces = content.records.iter().map(move |record| Deciding {
            group,
            directive: record.name.to_ascii_lowercase(),
            pattern: &record.value,
            line: record.line,
        });
        rules.chain(paces.filter(|one| ["crawl-delay", "request-rate"].contains(&&*one.directive)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::robots;

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

    fn counted(edition: &str, line: u32, rule: (&str, &str), counts: (u64, u64)) -> Counted {
        let (directive, pattern) = rule;
        let line = line.to_string();
        let key = [edition, &line, directive, pattern].map(Text::from).to_vec();
        let (violations, passed) = counts;
        Counted { key, requests: violations + passed, violations, ..Counted::default() }
    }

    #[test]
    fn a_rule_counts_where_it_stands_now() {
        let file = "User-agent: *\nDisallow: /a\nAllow: /a/b\nCrawl-delay: 5\n\n\
                    User-agent: GPTBot\nDisallow: /a\n";
        let older = "User-agent: gptbot\nDisallow: /a\nDisallow: /gone\n";
        let (file, older) = (robots::parse(file.as_bytes()).0, robots::parse(older.as_bytes()).0);
        let older = HashMap::from([(Text::from("old"), older)]);
        let rows = [
            counted("now", 2, ("disallow", "/a"), (3, 1)),
            counted("now", 3, ("allow", "/a/b"), (0, 7)),
            counted("now", 4, ("crawl-delay", "5"), (2, 0)),
            counted("old", 2, ("disallow", "/a"), (10, 0)),
            counted("old", 3, ("disallow", "/gone"), (1, 0)),
            counted("unknown", 9, ("disallow", "/a"), (100, 0)),
            counted("unknown", 9, ("allow", "/a/b"), (0, 2)),
            // An edition that is summed up has no lines.
            counted("sum", 0, ("disallow", "/other"), (4, 0)),
            counted("", 0, ("", ""), (50, 50)),
        ];
        let hits = Hits::of("now", &file, &rows, &older);
        for (line, expected) in [
            (1, None),
            (2, Some((103, 1))),
            (3, Some((0, 9))),
            (4, Some((2, 0))),
            (5, None),
            (7, Some((10, 0))),
        ] {
            let count = expected.map(|(violations, passed)| Count { violations, passed });
            assert_eq!(hits.of_line(line), count, "line {line}");
        }
        let gone: Vec<_> =
            hits.gone.iter().map(|(rule, count)| (&**rule, count.violations)).collect();
        assert_eq!(gone, [("Disallow: /other", 4), ("Disallow: /gone", 1)]);
    }

    #[test]
    fn a_line_that_is_cut_in_the_counts_is_found() {
        let long = format!("/{}\\", "x".repeat(5000));
        let file = robots::parse(format!("User-agent: *\nDisallow: {long}\n").as_bytes()).0;
        let key = vec![
            Text::from("old"),
            Text::from("7"),
            Text::from("disallow"),
            Text::path(long.as_bytes()),
        ];
        let row = Counted { key, requests: 2, violations: 2, ..Counted::default() };
        let hits = Hits::of("now", &file, &[row], &HashMap::new());
        assert_eq!(hits.of_line(2), Some(Count { violations: 2, passed: 0 }));
    }
}
