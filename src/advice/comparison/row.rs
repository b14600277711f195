//! One change, as a value that is printed as JSON.

use std::sync::Arc;

use serde::{Serialize, Serializer};

use crate::formats::robots::{Access, Rule};

/// The most rows; the others are counted.
pub(super) const MOST_ROWS: usize = 10_000;

/// The changes between two policies or files.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    /// The changes, by site and by crawlers.
    pub rows: Vec<Row>,
    /// How many changes are not listed.
    pub omitted: usize,
    /// Whether some verdicts are compared by samples.
    pub is_by_sample: bool,
    /// What is not compared, and why.
    pub remarks: Vec<String>,
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
    #[serde(serialize_with = "texts", skip_serializing_if = "no_tokens")]
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

fn no_tokens(tokens: &Arc<[String]>) -> bool {
    tokens.is_empty()
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
