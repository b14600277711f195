//! The rows as lines of text, by site and by crawlers.

use std::sync::Arc;

use crate::base::escape;

use super::row::{Comparison, Row, State, Verdict};

/// The most crawlers that are named; the others are counted.
const SHOWN: usize = 5;

const NO_DIFFERENCE: &str = "no difference in meaning";

/// The comparison as lines.
pub fn text(comparison: &Comparison) -> Vec<String> {
    let mut lines = Vec::new();
    let mut site: Option<Option<&Arc<str>>> = None;
    let mut clients: Option<(&[String], &[String])> = None;
    for row in &comparison.rows {
        let indent = if row.site.is_some() { "  " } else { "" };
        if site != Some(row.site.as_ref()) {
            site = Some(row.site.as_ref());
            clients = None;
            lines.extend(row.site.iter().map(|site| escape::shown(site.as_bytes())));
        }
        let those = (&*row.product_tokens, &*row.except);
        if clients != Some(those) {
            clients = Some(those);
            lines.push(format!("{indent}{}", crawlers(row)));
        }
        lines.extend(change(row).into_iter().map(|line| format!("{indent}  {line}")));
    }
    lines.extend(remarks(comparison));
    lines
}

/// What is said after the rows: what is left out, how exact they are.
fn remarks(comparison: &Comparison) -> Vec<String> {
    let mut lines = Vec::new();
    if comparison.is_empty() {
        lines.push(NO_DIFFERENCE.to_owned());
    }
    if comparison.omitted > 0 {
        lines.push(format!("and {} more", comparison.omitted));
    }
    lines.extend(comparison.remarks.iter().cloned());
    lines.push(exactness(comparison).to_owned());
    lines
}

impl Comparison {
    /// The first change in words, and how many others there are. One that concerns a rule is before one
    /// of a mode alone.
    pub fn summary(&self) -> String {
        let of_rules = self.rows.iter().find(|row| row.what != "mode");
        let Some(first) = of_rules.or_else(|| self.rows.first()) else {
            return NO_DIFFERENCE.to_owned();
        };
        let Told { crawlers, subject, before, after, .. } = Told::of(first);
        let more = match self.rows.len() - 1 + self.omitted {
            0 => String::new(),
            more => format!(", and {more} more"),
        };
        format!("{crawlers}: {subject} {before} -> {after}{more}")
    }

    /// How exact the rows are, as a sentence.
    pub const fn exactness(&self) -> &'static str {
        exactness(self)
    }
}

const fn exactness(comparison: &Comparison) -> &'static str {
    match comparison.is_by_sample {
        true => {
            "by sample: some rules are too many to compare exactly, so one path of each pattern was \
             judged; a difference in the overlap of patterns may be missing"
        }
        false => "exact: every path as sent is compared",
    }
}

fn crawlers(row: &Row) -> String {
    let names = |tokens: &[String]| {
        let shown = tokens.iter().take(SHOWN).map(|token| escape::bounded(token.as_bytes(), 80));
        let mut text = shown.collect::<Vec<_>>().join(", ");
        if tokens.len() > SHOWN {
            text.push_str(&format!(" and {} more", tokens.len() - SHOWN));
        }
        text
    };
    match (&*row.product_tokens, &*row.except) {
        ([], _) => "every client".to_owned(),
        (tokens, []) => names(tokens),
        (tokens, except) => format!("{} (not {})", names(tokens), names(except)),
    }
}

/// One change in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// The crawlers that it concerns.
    pub crawlers: String,
    /// The paths, or the setting.
    pub subject: String,
    /// Before.
    pub before: String,
    /// After.
    pub after: String,
    /// The rules that decide, before and after.
    pub by: Option<String>,
}

impl Told {
    /// A row in words.
    pub fn of(row: &Row) -> Self {
        let path = row.path.as_ref().map(|path| escape::shown(path.as_bytes()));
        let crawlers = crawlers(row);
        if let (State::Verdict(before), State::Verdict(after)) = (&row.before, &row.after) {
            let subject = path.unwrap_or_default();
            let mut by = format!("before {}, after {}", rule(before), rule(after));
            if let Some(example) = row.example.as_ref().filter(|example| **example != subject) {
                by.push_str(&format!("; such as {}", escape::shown(example.as_bytes())));
            }
            let verdict = |one: &Verdict| match &one.action {
                Some(action) => format!("{} ({})", one.verdict, escape::shown(action)),
                None => one.verdict.to_owned(),
            };
            let (before, after) = (verdict(before), verdict(after));
            return Self { crawlers, subject, before, after, by: Some(by) };
        }
        let value = |state: &State| match state {
            State::Value(text) => escape::shown(text),
            State::None | State::Verdict(_) => "none".to_owned(),
        };
        let subject = match (row.what, path) {
            ("tagged", Some(path)) => format!("{path} tags"),
            ("paced", _) => "pace".to_owned(),
            (_, Some(_)) => "violations get".to_owned(),
            (what, None) => what.to_owned(),
        };
        Self { crawlers, subject, before: value(&row.before), after: value(&row.after), by: None }
    }
}

fn change(row: &Row) -> Vec<String> {
    let Told { subject, before, after, by, .. } = Told::of(row);
    let by = by.map(|by| format!("    {by}"));
    std::iter::once(format!("{subject:<28} {before} -> {after}")).chain(by).collect()
}

fn rule(verdict: &Verdict) -> String {
    let (Some(directive), Some(pattern)) = (verdict.directive, &verdict.pattern) else {
        return "by no rule".to_owned();
    };
    let directive = if directive == "allow" { "Allow" } else { "Disallow" };
    let place = verdict.line.map_or(String::new(), |line| format!(" (line {line})"));
    format!("by '{directive}: {}'{place}", escape::shown(pattern.as_bytes()))
}
