//! Where the nodes of a fleet differ: in their policies, programs and editions.

use std::collections::{BTreeMap, BTreeSet};

use super::presence::Report;

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
