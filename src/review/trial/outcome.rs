//! One test with its outcome: the facts that were expected, and those that were found.

use serde::Serialize;

use crate::{
    review::explanation::{Explanation, Fault, RuleRow},
    rules::policy::{Client, Expectation, Test},
};

/// The outcome of a test.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// The name of the test.
    pub name: String,
    /// The request in short: the User-Agent and the target.
    pub request: String,
    /// The expected facts.
    pub expected: Facts,
    /// The facts that were found.
    pub found: Found,
    /// The line of the test in the policy.
    pub line: u32,
    /// The column of the test in the policy.
    pub column: u32,
}

/// Facts of a decision. Those that a test does not name are `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Facts {
    /// `allow` or `disallow`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expect: Option<String>,
    /// The action.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    /// The line of the rule in robots.txt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The code of the reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Whether models may be trained on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub train_ai: Option<String>,
    /// Whether a search may show it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub search: Option<String>,
    /// `Robots-Tag`; empty is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub robots_tag: Option<String>,
    /// `X-Robots-Tag`; empty is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub x_robots_tag: Option<String>,
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Found {
    /// The decision.
    Decision {
        /// Its facts.
        #[serde(flatten)]
        facts: Facts,
        /// The rule that decides.
        rule: Option<RuleRow>,
    },
    /// The reason why no request is like this.
    Fault {
        /// A sentence with the repair.
        fault: String,
    },
}

/// A fact that is not as expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The key of the test.
    pub key: &'static str,
    /// What was expected.
    pub expected: String,
    /// What was found.
    pub found: String,
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
            expected: Facts::of_test(&test.expected),
            found: match explained {
                Ok(explanation) => Found::of(explanation),
                Err(fault) => Found::Fault { fault: fault.to_string() },
            },
            line: test.line,
            column: test.column,
        }
    }

    /// Whether everything is as expected.
    pub fn is_passed(&self) -> bool {
        matches!(self.found, Found::Decision { .. }) && self.differences().is_empty()
    }

    /// The facts that are not as expected. A request that can't be has none.
    pub fn differences(&self) -> Vec<Difference> {
        let Found::Decision { facts, .. } = &self.found else { return Vec::new() };
        let pairs = self.expected.texts().into_iter().zip(facts.texts());
        let differences = pairs.filter_map(|((key, expected), (_, found))| {
            let (expected, found) = (expected?, found.unwrap_or_default());
            let is_same = match key.ends_with("robots_tag") {
                true => members(&expected) == members(&found),
                false => expected == found,
            };
            (!is_same).then_some(Difference { key, expected, found })
        });
        differences.collect()
    }
}

impl Facts {
    fn of_test(expected: &Expectation) -> Self {
        let owned = |word: Option<&str>| word.map(str::to_owned);
        Self {
            expect: owned(expected.access.map(|access| access.as_str())),
            action: owned(expected.action),
            line: expected.line,
            reason: owned(expected.reason),
            train_ai: owned(expected.train_ai),
            search: owned(expected.search),
            robots_tag: expected.robots_tag.clone(),
            x_robots_tag: expected.x_robots_tag.clone(),
        }
    }

    /// The key and the text of every fact.
    fn texts(&self) -> [(&'static str, Option<String>); 8] {
        [
            ("expect", self.expect.clone()),
            ("action", self.action.clone()),
            ("line", self.line.map(|line| line.to_string())),
            ("reason", self.reason.clone()),
            ("train_ai", self.train_ai.clone()),
            ("search", self.search.clone()),
            ("robots_tag", self.robots_tag.clone()),
            ("x_robots_tag", self.x_robots_tag.clone()),
        ]
    }
}

impl Found {
    fn of(explanation: Explanation) -> Self {
        let rule = explanation.verdict.rule;
        Self::Decision {
            facts: Facts {
                expect: Some(explanation.verdict.verdict.to_owned()),
                action: Some(explanation.action.to_owned()),
                line: rule.as_ref().map(|rule| rule.line),
                reason: Some(explanation.reason.to_owned()),
                train_ai: explanation.train_ai.map(str::to_owned),
                search: explanation.search.map(str::to_owned),
                robots_tag: Some(explanation.robots_tag.unwrap_or_default()),
                x_robots_tag: Some(explanation.x_robots_tag.unwrap_or_default()),
            },
            rule,
        }
    }
}

/// The members of a field, sorted: their order and the spaces between them mean nothing.
fn members(field: &str) -> Vec<&str> {
    let mut members: Vec<&str> =
        field.split(',').map(str::trim).filter(|member| !member.is_empty()).collect();
    members.sort_unstable();
    members
}
