//! A decision as data: the JSON of `beadle explain`, and what the pages show. The verdict, the group and the
//! rules are what a robots.txt alone also has; the lines around a rule are those of its file.

use derive_more::Display;
use jiff::Timestamp;
use serde::Serialize;

use crate::{
    base::{escape, text::lines},
    formats::robots::{self, Matcher, Scope, Target},
    records::record::RobotsRead,
    rules::{
        crawlers::Class,
        enforce::{self, Site},
    },
};

/// The decision about one request. Its fields are written in this order.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Explanation {
    #[serde(flatten)]
    pub(crate) verdict: VerdictRow,
    pub(crate) site: String,
    pub(crate) claim: ClaimRow,
    pub(crate) standing: &'static str,
    pub(crate) evidence: Option<&'static str>,
    pub(crate) action: &'static str,
    /// The stable code of the reason.
    pub(crate) reason: &'static str,
    /// The form of the path that is disallowed, if it is not the letter.
    pub(crate) form: Option<String>,
    /// Which forms of the path count, and why, where the policy says anything about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) forms: Option<String>,
    pub(crate) rung: Option<&'static str>,
    /// Seconds for one request.
    pub(crate) crawl_delay: Option<f64>,
    /// Whether an earlier request gets 429; else Beadle only counts it.
    pub(crate) crawl_delay_enforced: Option<bool>,
    /// The limits of the operator that count the request.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) rate_limits: Vec<String>,
    /// Whom the client makes room for at the origin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) people_first: Option<String>,
    /// The followed list that the crawler comes from, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) list: Option<String>,
    /// Whether the site lets the client train models on the content: `yes` or `no`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) train_ai: Option<&'static str>,
    /// Whether the site lets the client show the content in a search: `yes` or `no`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) search: Option<&'static str>,
    /// What robots.txt says of the use of the content, each with its line.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) preferences: Vec<String>,
    pub(crate) robots_tag: Option<String>,
    pub(crate) x_robots_tag: Option<String>,
    /// The last fetch of robots.txt by the client.
    pub(crate) robots_read: RobotsRead,
    /// The editions that count, the one in force first.
    pub(crate) editions: Vec<EditionRow>,
    /// The whole reasoning as text.
    #[serde(skip)]
    pub(crate) lines: Vec<Line>,
    #[serde(skip)]
    pub(crate) edition: String,
    #[serde(skip)]
    pub(crate) excerpt: Option<Excerpt>,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct ClaimRow {
    pub(crate) class: Class,
    /// The names, the primary first.
    pub(crate) product_tokens: Vec<String>,
}

/// An edition that counts for the decision.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct EditionRow {
    pub(crate) edition: String,
    /// The start of its time in force.
    pub(crate) from: String,
    pub(crate) until: Option<String>,
    /// Whether it is in force at another node of the fleet alone.
    #[serde(rename = "elsewhere", skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_elsewhere: bool,
    /// `allow` or `disallow`.
    pub(crate) verdict: &'static str,
    /// Whether the client may still use it.
    #[serde(rename = "held")]
    pub(crate) is_known: bool,
    /// The number of editions that are judged as one, if there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) count: Option<usize>,
}

impl From<enforce::EditionVerdict> for EditionRow {
    fn from(one: enforce::EditionVerdict) -> Self {
        Self {
            edition: one.edition.to_string(),
            from: time(one.from),
            until: one.until.map(time),
            is_elsewhere: one.is_elsewhere,
            verdict: one.access.as_str(),
            is_known: one.is_known,
            count: Some(one.count).filter(|count| *count > 1),
        }
    }
}

/// A time to the second.
pub(super) fn time(time: Timestamp) -> String {
    format!("{time:.0}")
}

/// The verdict for one target.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct VerdictRow {
    /// The target as the operator wrote it.
    pub(crate) target: String,
    pub(crate) path: String,
    /// The judged name.
    pub(crate) product_token: Option<String>,
    /// `allow` or `disallow`.
    pub(crate) verdict: &'static str,
    pub(crate) group: Option<Vec<String>>,
    pub(crate) rule: Option<RuleRow>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct RuleRow {
    /// `allow` or `disallow`.
    pub(crate) directive: &'static str,
    pub(crate) pattern: String,
    pub(crate) line: u32,
}

impl RuleRow {
    pub(crate) fn of(rule: &robots::Rule) -> Self {
        let robots::Rule { directive, pattern, line, .. } = rule;
        Self { directive: directive.as_str(), pattern: pattern.clone(), line: *line }
    }
}

/// A line of text with its label. An empty label continues the line before.
#[derive(Clone, Debug, Display, PartialEq, Eq)]
#[display("  {label:<9} {value}")]
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

/// The lines for the group, the rule that decides, and the rule that it outranks. `site` knows the
/// sources of the rules.
pub(crate) fn group_lines(
    matcher: &Matcher,
    group: Scope,
    target: &Target<'_>,
    site: Option<&Site>,
) -> Vec<Line> {
    const SHOWN: usize = 5;
    let names = escape::first_of(matcher.tokens(group).iter().map(escape::shown), SHOWN);
    let mut lines = vec![Line::new("group", names)];
    let explanation = matcher.explain(group, target);
    if explanation.is_cut {
        let note =
            "origins may read the path in too many ways, so every disallow rule applies to it";
        lines.push(Line::new("note", note));
        return lines;
    }
    if explanation.matches.is_empty() {
        lines.push(Line::new("rule", "none matches, so it is allowed"));
        return lines;
    }
    for (number, matched) in explanation.matches.iter().take(2).enumerate() {
        let mut text = rule_text(matched);
        if let Some(source) = site.and_then(|site| site.edition().source(matched.rule.line)) {
            text.push_str(&format!(", {source}"));
        }
        lines.push(Line::new(if number == 0 { "rule" } else { "over" }, text));
    }
    if let Some(path) = other_form(&explanation) {
        let note = format!("allowed as written, but an origin may read the path as {path}");
        lines.push(Line::new("note", note));
    }
    lines
}

pub(crate) fn rule_text(robots::Match { rule, specificity }: &robots::Match<'_>) -> String {
    format!(
        "{}: {}   (robots.txt line {}, {specificity} octet{})",
        rule.directive.field_name(),
        escape::shown(&rule.pattern),
        rule.line,
        if *specificity == 1 { "" } else { "s" }
    )
}

/// The form of the path that is disallowed, if it is not the letter.
pub(super) fn other_form(explanation: &robots::Explanation<'_>) -> Option<String> {
    let is_other = explanation.verdict.form == robots::Form::Other && !explanation.is_cut;
    is_other.then(|| escape::text(&explanation.path))
}

/// The most lines before and after the rule.
const AROUND: usize = 3;

/// The most octets of a line.
const MOST_OCTETS: usize = 200;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Excerpt {
    pub(crate) lines: Vec<ExcerptLine>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ExcerptLine {
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
