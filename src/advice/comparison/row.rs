//! One change, as a value that is printed as JSON, and in words; all changes as lines of text, by site and by
//! crawlers.

use std::sync::Arc;

use serde::{Serialize, Serializer};

use super::difference::Difference;
use crate::{
    base::escape,
    formats::robots::{Access, Rule},
};

pub(super) const MOST_ROWS: usize = 10_000;

/// The changes between two policies or files.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    /// The changes, by site and by crawlers.
    pub rows: Vec<Row>,
    /// How many changes are not listed.
    pub(crate) omitted: usize,
    /// Whether some verdicts are compared by samples.
    pub(crate) is_by_sample: bool,
    /// What is not compared, and why.
    pub(crate) remarks: Vec<String>,
}

/// One change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Row {
    /// The site; `None` for two files.
    #[serde(serialize_with = "text_or_null")]
    pub site: Option<Arc<str>>,
    /// The crawlers; empty if it concerns all clients. `*` is every crawler without a group of its
    /// own in both.
    #[serde(serialize_with = "texts")]
    pub product_tokens: Arc<[String]>,
    /// The crawlers that `*` does not mean here.
    #[serde(serialize_with = "texts", skip_serializing_if = "<[String]>::is_empty")]
    pub except: Arc<[String]>,
    /// The pattern of the paths; `*` for all. `None` where no path plays a part.
    pub path: Option<String>,
    /// What happens: `allowed`, `disallowed`, `blocked`, `paced`, `tagged`, or the setting.
    pub what: &'static str,
    /// Before.
    pub before: State,
    /// After.
    pub after: State,
    /// One of the paths.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub example: Option<String>,
}

/// One side of a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum State {
    /// There is none.
    None,
    /// A value.
    Value(String),
    /// A verdict.
    Verdict(Verdict),
}

/// A verdict with the rule that decides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// `allow` or `disallow`.
    pub verdict: &'static str,
    /// `allow` or `disallow`; the last three are null if no rule matches.
    pub directive: Option<&'static str>,
    /// The pattern of the rule.
    pub pattern: Option<String>,
    /// The line of the rule in robots.txt.
    pub line: Option<u32>,
    /// What happens to a request that is disallowed, where a policy says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
}

fn text_or_null<S: Serializer>(text: &Option<Arc<str>>, serializer: S) -> Result<S::Ok, S::Error> {
    text.as_deref().serialize(serializer)
}

fn texts<S: Serializer>(texts: &Arc<[String]>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(texts.iter())
}

impl Comparison {
    pub(super) fn add(&mut self, row: Row) {
        if self.rows.len() < MOST_ROWS {
            self.rows.push(row);
        } else {
            self.omitted += 1;
        }
    }

    /// Whether nothing changes.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.omitted == 0
    }
}

impl Row {
    /// A row about all clients of a site, without a path.
    pub(super) fn setting(
        site: Option<&Arc<str>>,
        what: &'static str,
        before: State,
        after: State,
    ) -> Self {
        Self {
            site: site.cloned(),
            product_tokens: Arc::default(),
            except: Arc::default(),
            path: None,
            what,
            before,
            after,
            example: None,
        }
    }
}

impl From<&Difference> for Row {
    fn from(found: &Difference) -> Self {
        let Difference { tokens, pattern, path, before, after } = found;
        let [old, new] =
            [before, after].map(|one| State::verdict(one.access, one.rule.as_ref(), None));
        Self {
            product_tokens: Arc::clone(tokens),
            path: Some(pattern.clone()),
            example: Some(path.clone()),
            ..Self::setting(None, word(after.access), old, new)
        }
    }
}

impl State {
    /// The value, or none for an empty text.
    pub(super) fn of(text: String) -> Self {
        if text.is_empty() { Self::None } else { Self::Value(text) }
    }

    /// The verdict of a rule. `action` is what happens to a request that it disallows; empty for a name
    /// that no request has.
    pub(super) fn verdict(access: Access, rule: Option<&Rule>, action: Option<&str>) -> Self {
        let is_taken = |action: &&str| access == Access::Disallow && !action.is_empty();
        let action = action.filter(is_taken).map(str::to_owned);
        Self::Verdict(Verdict {
            verdict: access.as_str(),
            directive: rule.map(|rule| rule.directive.as_str()),
            pattern: rule.map(|rule| rule.pattern.clone()),
            line: rule.map(|rule| rule.line).filter(|line| *line > 0),
            action,
        })
    }
}

/// The word for a new verdict.
pub(super) const fn word(access: Access) -> &'static str {
    match access {
        Access::Allow => "allowed",
        Access::Disallow => "disallowed",
    }
}

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
        let told = Told::of(row);
        lines.push(format!("{indent}  {:<28} {} -> {}", told.subject, told.before, told.after));
        lines.extend(told.by().map(|by| format!("{indent}      {by}")));
    }
    // What is left out, and how exact the rows are.
    if comparison.is_empty() {
        lines.push(NO_DIFFERENCE.to_owned());
    }
    if comparison.omitted > 0 {
        lines.push(format!("and {} more", comparison.omitted));
    }
    lines.extend(comparison.remarks.iter().cloned());
    lines.push(comparison.exactness().to_owned());
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
    pub(crate) const fn exactness(&self) -> &'static str {
        match self.is_by_sample {
            true => {
                "by sample: some rules are too many to compare exactly, so one path of each pattern \
                 was judged; a difference in the overlap of patterns may be missing"
            }
            false => "exact: every path as sent is compared",
        }
    }
}

fn crawlers(row: &Row) -> String {
    let names = |tokens: &[String]| {
        escape::first_of(tokens.iter().map(|one| escape::bounded(one.as_bytes(), 80)), SHOWN)
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
    /// The rules that decide before and after, if a rule does.
    pub rules: Option<[String; 2]>,
    /// One of the paths, unless it is the subject.
    pub example: Option<String>,
}

impl Told {
    /// A row in words.
    pub fn of(row: &Row) -> Self {
        let path = row.path.as_ref().map(|path| escape::shown(path.as_bytes()));
        let crawlers = crawlers(row);
        if let (State::Verdict(before), State::Verdict(after)) = (&row.before, &row.after) {
            let subject = path.unwrap_or_default();
            let rules = Some([rule(before), rule(after)]);
            let example = row.example.as_ref().filter(|example| **example != subject);
            let example = example.map(escape::shown);
            let verdict = |one: &Verdict| match &one.action {
                Some(action) => format!("{} ({})", one.verdict, escape::shown(action)),
                None => one.verdict.to_owned(),
            };
            let (before, after) = (verdict(before), verdict(after));
            return Self { crawlers, subject, before, after, rules, example };
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
        let (before, after) = (value(&row.before), value(&row.after));
        Self { crawlers, subject, before, after, rules: None, example: None }
    }

    /// The rules that decide, as one text.
    pub fn by(&self) -> Option<String> {
        let [before, after] = self.rules.as_ref()?;
        let example = self.example.as_ref().map(|example| format!("; such as {example}"));
        Some(format!("before {before}, after {after}{}", example.unwrap_or_default()))
    }
}

fn rule(verdict: &Verdict) -> String {
    let (Some(directive), Some(pattern)) = (verdict.directive, &verdict.pattern) else {
        return "by no rule".to_owned();
    };
    let directive = if directive == "allow" { "Allow" } else { "Disallow" };
    let place = verdict.line.map_or(String::new(), |line| format!(" (line {line})"));
    format!("by '{directive}: {}'{place}", escape::shown(pattern.as_bytes()))
}
