//! The presence of a node: a beat at each exchange, and a report for operators and new nodes; and where
//! reports differ.

use std::collections::{BTreeMap, BTreeSet};

use derive_more::Display;
use serde::{Deserialize, Serialize};

use super::{news::VERSION, statements::Statement};

/// A place in the stream of messages: the milliseconds and the number of an entry.
#[derive(
    Clone, Copy, Debug, Default, Display, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize,
)]
#[display("{_0}-{_1}")]
#[serde(into = "String", try_from = "String")]
pub struct Position(pub u64, pub u64);

/// What a node has told and taken in so far.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Beat {
    pub(crate) v: u32,
    pub(crate) node: String,
    pub(crate) run: String,
    /// The time of the fleet up to which everything was told.
    pub at: i64,
    /// The number of the last message that was told by then.
    pub seq: u64,
    /// The last message of others that was taken in.
    pub read: Position,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) gone: bool,
    /// Whether the node missed others at this server.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub apart: bool,
}

/// A node in detail.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    pub(crate) v: u32,
    pub(crate) node: String,
    pub(crate) run: String,
    /// The time of the fleet at which the report was written.
    pub at: i64,
    /// The time of the fleet at which the run began.
    #[serde(default)]
    pub started: i64,
    #[serde(default)]
    pub(crate) version: String,
    /// The fingerprint of the policy in force.
    #[serde(default)]
    pub policy: String,
    /// Why the node is degraded; empty if it is not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub degraded: Vec<String>,
    /// The milliseconds since the last message of each other node, at most.
    #[serde(default)]
    pub lag: i64,
    /// The node's clock, less the time of the fleet, in milliseconds.
    #[serde(default)]
    pub offset: i64,
    #[serde(default)]
    pub(crate) serves: Statement,
}

impl Beat {
    /// Reads a beat.
    pub fn read(text: &[u8]) -> Option<Self> {
        serde_json::from_slice(text).ok()
    }
}

impl Report {
    /// Reads a report; `None` for one of a newer version.
    pub fn read(text: &[u8]) -> Option<Self> {
        serde_json::from_slice(text).ok().filter(|report: &Self| report.v <= VERSION)
    }
}

impl Position {
    /// Reads `1700000000000-3`.
    pub fn parse(text: &str) -> Option<Self> {
        let (time, number) = text.split_once('-')?;
        Some(Self(time.parse().ok()?, number.parse().ok()?))
    }
}

impl From<Position> for String {
    fn from(position: Position) -> Self {
        position.to_string()
    }
}

impl TryFrom<String> for Position {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text).ok_or(text)
    }
}

/// A difference between nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// `policy`, `version` or `edition`.
    pub what: &'static str,
    pub(crate) site: Option<String>,
    /// The values, each with its nodes.
    pub values: BTreeMap<String, Vec<String>>,
}

/// The differences between nodes with these reports. A site that a node does not serve has the
/// value `-`.
pub fn differences(reports: &[&Report]) -> Vec<Difference> {
    let by = |what, site: Option<&str>, value: &dyn Fn(&Report) -> String| {
        let mut values: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for report in reports {
            values.entry(value(report)).or_default().push(report.node.clone());
        }
        (values.len() > 1).then(|| Difference { what, site: site.map(str::to_owned), values })
    };
    let mut found = Vec::new();
    found.extend(by("policy", None, &|report| report.policy.clone()));
    found.extend(by("version", None, &|report| report.version.clone()));
    let served = reports.iter().flat_map(|report| &report.serves.editions);
    let sites: BTreeSet<&str> = served.map(|one| one.site.as_str()).collect();
    for site in sites {
        found.extend(by("edition", Some(site), &|report| editions(report, site)));
    }
    found
}

/// The editions of a site at a node, as a text.
fn editions(report: &Report, site: &str) -> String {
    let served = report.serves.editions.iter().filter(|one| one.site == site);
    let names: Vec<&str> = served.map(|one| one.edition.as_str()).collect();
    if names.is_empty() { "-".to_owned() } else { names.join(" ") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::fleet::{Served, Statement};

    fn report(node: &str, policy: &str, editions: &[(&str, &str)]) -> Report {
        let served = |(site, edition): &(&str, &str)| Served {
            site: (*site).to_owned(),
            edition: (*edition).to_owned(),
            since: 1,
        };
        let serves = Statement { at: 1, editions: editions.iter().map(served).collect() };
        let (node, policy) = (node.to_owned(), policy.to_owned());
        let (run, version) = (String::new(), "1".to_owned());
        Report {
            v: 1,
            node,
            run,
            at: 1,
            started: 0,
            version,
            policy,
            degraded: Vec::new(),
            lag: 0,
            offset: 0,
            serves,
        }
    }

    #[test]
    fn each_difference_names_the_values_and_their_nodes() {
        let (one, two) = (report("one", "p", &[("a", "1")]), report("two", "p", &[("a", "1")]));
        assert_eq!(differences(&[]), []);
        assert_eq!(differences(&[&one, &two]), []);
        let three = report("three", "q", &[("a", "1"), ("a", "2"), ("b", "3")]);
        let shown: Vec<String> = differences(&[&one, &two, &three])
            .into_iter()
            .map(|one| format!("{} {:?} {:?}", one.what, one.site, one.values))
            .collect();
        assert_eq!(
            shown,
            [
                r#"policy None {"p": ["one", "two"], "q": ["three"]}"#,
                r#"edition Some("a") {"1": ["one", "two"], "1 2": ["three"]}"#,
                r#"edition Some("b") {"-": ["one", "two"], "3": ["three"]}"#,
            ]
        );
    }
}
