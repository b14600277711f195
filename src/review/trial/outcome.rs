//! One test with its outcome: the facts that were expected, and those that were found.

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::{
    review::explanation::{Explanation, Fault, RuleRow},
    rules::policy::{Client, Expectation, Test},
};

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Trial {
    pub(crate) name: String,
    /// The request in short: the User-Agent and the target.
    pub(crate) request: String,
    pub(crate) expected: Facts,
    pub(crate) found: Found,
    pub(crate) line: u32,
    pub(crate) column: u32,
}

/// Facts of a decision, by the keys of a test. Those that a test does not name are not there.
pub(crate) type Facts = Map<String, Value>;

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub(crate) enum Found {
    Decision {
        #[serde(flatten)]
        facts: Facts,
        rule: Option<RuleRow>,
    },
    /// The reason why no request is like this.
    Fault {
        /// A sentence with the repair.
        fault: String,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Difference {
    pub(crate) key: String,
    pub(crate) expected: String,
    pub(crate) found: String,
}

impl Trial {
    pub(super) fn of(test: &Test, explained: Result<Explanation, Fault>) -> Self {
        let client = match test.client {
            Client::Anonymous => String::new(),
            Client::Address(address) => format!(" from {address}"),
            Client::Standing(outcome) => format!(" ({})", outcome.as_str()),
        };
        let site = test.site.as_ref().map(|site| format!(" at {site}")).unwrap_or_default();
        Self {
            name: test.name.clone(),
            request: format!("{}{client} {}{site}", test.user_agent, test.target),
            expected: expected(&test.expected),
            found: match explained {
                Ok(explanation) => Found::of(explanation),
                Err(fault) => Found::Fault { fault: fault.to_string() },
            },
            line: test.line,
            column: test.column,
        }
    }

    pub(crate) fn is_passed(&self) -> bool {
        matches!(self.found, Found::Decision { .. }) && self.differences().is_empty()
    }

    /// The facts that are not as expected. A request that can't be has none.
    pub(crate) fn differences(&self) -> Vec<Difference> {
        let Found::Decision { facts, .. } = &self.found else { return Vec::new() };
        let differences = self.expected.iter().filter_map(|(key, expected)| {
            let [expected, found] = [Some(expected), facts.get(key)].map(text);
            let is_same = match key.ends_with("robots_tag") {
                true => members(&expected) == members(&found),
                false => expected == found,
            };
            (!is_same).then(|| Difference { key: key.clone(), expected, found })
        });
        differences.collect()
    }
}

/// The facts among these values; one without a value is none.
fn facts(values: Value) -> Facts {
    let Value::Object(values) = values else { return Facts::new() };
    values.into_iter().filter(|(_, value)| !value.is_null()).collect()
}

fn expected(test: &Expectation) -> Facts {
    facts(json!({
        "expect": test.access.map(|access| access.as_str()),
        "action": test.action,
        "line": test.line,
        "reason": test.reason,
        "train_ai": test.train_ai,
        "search": test.search,
        "robots_tag": test.robots_tag,
        "x_robots_tag": test.x_robots_tag,
    }))
}

impl Found {
    fn of(explanation: Explanation) -> Self {
        let rule = explanation.verdict.rule;
        let facts = facts(json!({
            "expect": explanation.verdict.verdict,
            "action": explanation.action,
            "line": rule.as_ref().map(|rule| rule.line),
            "reason": explanation.reason,
            "train_ai": explanation.train_ai,
            "search": explanation.search,
            "robots_tag": explanation.robots_tag.unwrap_or_default(),
            "x_robots_tag": explanation.x_robots_tag.unwrap_or_default(),
        }));
        Self::Decision { facts, rule }
    }
}

/// The text of a fact; empty without one.
fn text(fact: Option<&Value>) -> String {
    match fact {
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => String::new(),
    }
}

/// The members of a field, sorted: their order and the spaces between them mean nothing.
fn members(field: &str) -> Vec<&str> {
    let mut members: Vec<&str> =
        field.split(',').map(str::trim).filter(|member| !member.is_empty()).collect();
    members.sort_unstable();
    members
}
