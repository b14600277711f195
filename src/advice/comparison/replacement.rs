//! The rules of an origin's robots.txt that a policy replaces.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::Arc,
};

use crate::{
    base::escape,
    formats::robots::{self, Access, Group, GroupIndex, Record, RobotsTxt, Rule},
};

use super::{difference::differences_within, files::is_pace};

/// The most samples that are compared: well under a second.
const MOST_SAMPLES: usize = 100_000;
/// The most lines that are named, and the most crawlers of a line.
const SHOWN: (usize, usize) = (10, 3);

/// Crawlers, and the rule that decides for them.
type Row = (Arc<[String]>, Option<Rule>);

/// The lines of an origin's file that a policy replaces and `source: merge` would keep.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replaced {
    /// Each line with its number and its crawlers.
    lines: Vec<String>,
}

/// The repair.
pub const KEEP_RULES: &str =
    "write 'source: merge' in robots_txt to keep them, or add them to robots_txt.groups";

impl Replaced {
    /// The rules of `origin` that decide about a path if both files are merged, and otherwise than
    /// the file `own` alone; and its records of a pace that only the merged file has.
    pub fn of(origin: &RobotsTxt, own: &RobotsTxt) -> Self {
        let (rows, paced): (Vec<Row>, Vec<Group>) = match robots::merge(origin, own, &[]) {
            // Where the answers differ, the rule of the merged file is the origin's.
            Ok(merged) => {
                let rows = differences_within(own, &merged.file, MOST_SAMPLES).rows.into_iter();
                (rows.map(|row| (row.tokens, row.after.rule)).collect(), merged.file.groups)
            }
            // Without a merged file, a line counts that closes what is open without it.
            Err(_) => {
                let rows = differences_within(origin, own, MOST_SAMPLES).rows.into_iter();
                let closed = rows.filter(|row| row.before.access == Access::Disallow);
                let closed = closed.map(|row| (row.tokens, row.before.rule));
                (closed.collect(), origin.groups.clone())
            }
        };
        let mut rules: BTreeMap<u32, (String, BTreeSet<String>)> = BTreeMap::new();
        for (tokens, rule) in rows {
            let Some(rule) = rule else { continue };
            let text = format!("{}: {}", rule.directive.field_name(), rule.pattern);
            let (_, crawlers) = rules.entry(rule.line).or_insert((text, BTreeSet::new()));
            crawlers.extend(tokens.iter().cloned());
        }
        for (crawler, record) in lost_paces(&paced, own) {
            let text = format!("{}: {}", record.name, record.value);
            let (_, crawlers) = rules.entry(record.line).or_insert((text, BTreeSet::new()));
            crawlers.insert(crawler.to_owned());
        }
        let line = |(line, (text, crawlers)): (u32, (String, BTreeSet<String>))| {
            let text = escape::bounded(text.as_bytes(), 120);
            let crawlers = crawlers.iter().map(|one| escape::bounded(one.as_bytes(), 80));
            format!("line {line} '{text}' for {}", escape::first_of(crawlers, SHOWN.1))
        };
        Self { lines: rules.into_iter().map(line).collect() }
    }

    /// Whether no rule is replaced.
    pub const fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// How many rules are replaced, as a part of a sentence.
    pub fn summary(&self) -> String {
        let (count, s) = (self.lines.len(), if self.lines.len() == 1 { "" } else { "s" });
        format!("the policy replaces {count} rule{s} of the origin's own robots.txt")
    }

    /// The first lines, and a last one that counts the others.
    pub fn lines(&self) -> Vec<String> {
        let more = self.lines.len().saturating_sub(SHOWN.0);
        let more = (more > 0).then(|| format!("and {more} more"));
        self.lines.iter().take(SHOWN.0).cloned().chain(more).collect()
    }
}

/// A sentence with the lines.
impl fmt::Display for Replaced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.summary(), self.lines().join("; "))
    }
}

/// The crawlers of these groups, each with a record of a pace that `own` does not have for it.
fn lost_paces<'g>(groups: &'g [Group], own: &RobotsTxt) -> Vec<(&'g str, &'g Record)> {
    let index = GroupIndex::new(&own.groups);
    let is_own = |crawler: &str, record: &Record| {
        let obeyed = index.obeyed(crawler).map(|list| index.groups(list)).unwrap_or_default();
        let obeyed = obeyed.iter().filter_map(|number| own.groups.get(*number));
        obeyed
            .flat_map(|group| &group.records)
            .any(|one| one.name.eq_ignore_ascii_case(&record.name) && one.value == record.value)
    };
    let all = groups.iter().flat_map(|group| {
        let records = || group.records.iter().filter(|record| is_pace(record));
        let crawlers = group.user_agents.iter().map(|one| one.name.as_str());
        crawlers.flat_map(move |crawler| records().map(move |record| (crawler, record)))
    });
    all.filter(|(crawler, record)| !is_own(crawler, record)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replaced(origin: &str, own: &str) -> Vec<String> {
        let file = |text: &str| robots::parse(text.as_bytes()).0;
        Replaced::of(&file(origin), &file(own)).lines()
    }

    #[test]
    fn a_rule_is_lost_if_a_path_is_judged_differently_without_it() {
        let star = |rules: &str| format!("User-agent: *\n{rules}");
        for (origin, own, lost) in [
            // The same meaning: other bytes, another order, a wider rule.
            ("", "Disallow: /a/", &[][..]),
            ("Disallow: /a/\nDisallow: /b/", "Disallow: /b/\nDisallow: /a/", &[]),
            ("Disallow: /%7Ea\nDisallow: /b*", "Disallow: /~a\nDisallow: /b", &[]),
            ("Disallow: /a/b", "Disallow: /a/", &[]),
            ("Disallow:\nAllow: /", "Disallow: /a/", &[]),
            ("# a comment\nSitemap: https://a.example/s.xml", "", &[]),
            ("Crawl-delay: 5", "", &["line 2 'Crawl-delay: 5' for *"]),
            ("Crawl-delay: 5", "crawl-delay: 5", &[]),
            // `source: merge` keeps the policy's own.
            ("Crawl-delay: 5", "Crawl-delay: 9", &[]),
            (
                "Request-rate: 1/9\nContent-Signal: search=yes",
                "Crawl-delay: 9",
                &["line 2 'Request-rate: 1/9' for *"],
            ),
            // What the origin closes or opens, and the policy does not.
            (
                "Disallow: /a/\nDisallow: /b/",
                "Disallow: /b/\nDisallow: /c/",
                &["line 2 'Disallow: /a/' for *"],
            ),
            (
                "Disallow: /wp-admin/\nAllow: /wp-admin/admin-ajax.php",
                "Disallow: /wp-admin/",
                &["line 3 'Allow: /wp-admin/admin-ajax.php' for *"],
            ),
            ("Disallow: /\n", "", &["line 2 'Disallow: /' for *"]),
        ] {
            assert_eq!(replaced(&star(origin), &star(own)), lost, "{origin:?} {own:?}");
        }
    }

    #[test]
    fn a_line_names_its_crawlers_and_many_lines_are_counted() {
        let own = "User-agent: *\nDisallow: /a/\n";
        let origin = "User-agent: GPTBot\nUser-agent: CCBot\nDisallow: /\n\nUser-agent: *\n\
                      Disallow: /a/\n";
        assert_eq!(replaced(origin, own), ["line 3 'Disallow: /' for CCBot, GPTBot"]);
        // `source: merge` leaves a crawler that only the policy names its group alone.
        let named = "User-agent: GPTBot\nDisallow: /b/\n\nUser-agent: *\nDisallow: /a/\n";
        assert_eq!(replaced("User-agent: *\nDisallow: /a/\n", named), [""; 0]);
        let many: String = (0..30).map(|number| format!("Disallow: /{number}/\n")).collect();
        let lines = replaced(&format!("User-agent: *\n{many}"), own);
        assert_eq!((lines.len(), lines[10].as_str()), (11, "and 20 more"));
    }

    #[test]
    fn files_that_are_too_long_to_merge_are_compared_as_they_are() {
        let rules = |word: &str| -> String {
            (0..9_000)
                .map(|number| format!("Disallow: /{word}/{number}/of/some/length/\n"))
                .collect()
        };
        let origin = format!("User-agent: *\n{}", rules("a"));
        let own = format!("User-agent: *\n{}Disallow: /a/\n", rules("b"));
        assert_eq!(replaced(&origin, &own), [""; 0]);
        let own = format!("User-agent: *\n{}", rules("b"));
        assert_eq!(replaced(&origin, &own).len(), 11);
    }
}
