//! Findings as a SARIF 2.1.0 log, for tools of static analysis.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::base::{escape, version};

use super::Diagnostic;

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// A kind of finding: its code and its meaning in one sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The code.
    pub code: &'static str,
    /// The meaning.
    pub meaning: &'static str,
}

/// The log of a run with these findings. It describes each rule that has a finding; a code that
/// `rules` lacks is described by itself.
pub fn sarif(findings: &[Diagnostic], rules: &[Rule]) -> Value {
    let codes: BTreeSet<&str> = findings.iter().map(|finding| finding.code).collect();
    let codes: Vec<&str> = codes.into_iter().collect();
    let described: Vec<Value> = codes
        .iter()
        .map(|code| {
            let known = rules.iter().find(|rule| rule.code == *code);
            let meaning = known.map_or(*code, |rule| rule.meaning);
            json!({ "id": code, "shortDescription": { "text": meaning } })
        })
        .collect();
    let results = findings.iter().map(|finding| {
        json!({
            "ruleId": finding.code,
            "ruleIndex": codes.binary_search(&finding.code).unwrap_or_default(),
            "level": finding.severity.as_str(),
            "message": { "text": message(finding) },
            "locations": locations(finding),
        })
    });
    let results: Vec<Value> = results.collect();
    let driver = json!({
        "name": "beadle",
        "version": version::NUMBER,
        "rules": described,
    });
    let run = json!({
        "tool": { "driver": driver },
        "columnKind": "unicodeCodePoints",
        "results": results,
    });
    json!({ "$schema": SCHEMA, "version": "2.1.0", "runs": [run] })
}

fn message(finding: &Diagnostic) -> String {
    match &finding.help {
        Some(help) => format!("{}\nhelp: {help}", finding.message),
        None => finding.message.clone(),
    }
}

/// The place; none if not even the file is known.
fn locations(finding: &Diagnostic) -> Vec<Value> {
    let Some(file) = &finding.place.file else { return Vec::new() };
    let mut location = json!({ "artifactLocation": { "uri": uri(file) } });
    if let Some(line) = finding.place.line {
        let column = finding.place.column.unwrap_or(1);
        location["region"] = json!({ "startLine": line, "startColumn": column });
    }
    vec![json!({ "physicalLocation": location })]
}

/// A file name as a URI reference (RFC 3986); a URL stays as it is.
fn uri(file: &str) -> String {
    let is_url = file.contains("://");
    let is_plain = |c: char| {
        c.is_ascii_alphanumeric()
            || "-._~/!$&'()*+,;=@".contains(c)
            || (is_url && ":?%[]".contains(c))
    };
    escape::percent(file, |c| !is_plain(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_describes_its_rules_once_and_points_at_the_place() {
        let one =
            |line| Diagnostic::warning("b.two", "m").at(line, 3).in_file("a b.yaml").help("do it");
        let findings = [one(1), Diagnostic::note("a.one", "n"), one(2)];
        let rules = [Rule { code: "b.two", meaning: "two" }];
        let log = sarif(&findings, &rules);
        assert_eq!(log["version"], "2.1.0");
        let run = &log["runs"][0];
        let described = run["tool"]["driver"]["rules"].as_array().expect("a list");
        assert_eq!(described.len(), 2);
        assert_eq!(described[1]["shortDescription"]["text"], "two");
        let results = run["results"].as_array().expect("a list");
        assert_eq!(results[0]["ruleIndex"], 1);
        assert_eq!(results[0]["level"], "warning");
        assert_eq!(results[0]["message"]["text"], "m\nhelp: do it");
        let place = &results[0]["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "a%20b.yaml");
        assert_eq!(place["region"], json!({ "startLine": 1, "startColumn": 3 }));
        assert_eq!(results[1]["locations"], json!([]));
    }

    #[test]
    fn a_url_stays_a_url() {
        assert_eq!(
            uri("https://e.example:8/robots.txt?a=%20"),
            "https://e.example:8/robots.txt?a=%20"
        );
        assert_eq!(uri("c:d?.yaml"), "c%3Ad%3F.yaml");
    }
}
