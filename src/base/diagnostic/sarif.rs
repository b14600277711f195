//! Findings for programs: a SARIF 2.1.0 log for tools of static analysis, and annotations of GitHub's
//! workflows: `::warning file=a.yaml,line=3,col=5,title=code::message`.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{Diagnostic, Severity};
use crate::base::{escape, version};

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
            "message": { "text": finding.with_help() },
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

/// The finding as a workflow command, without the line end. The repair is the second line of the
/// annotation.
pub fn github(finding: &Diagnostic) -> String {
    let kind = match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "notice",
    };
    let place = &finding.place;
    let number = |number: Option<u32>| number.map(|number| number.to_string());
    let properties = [
        ("file", place.file.clone()),
        ("line", number(place.line)),
        ("col", number(place.column)),
        ("title", Some(finding.code.to_owned())),
    ];
    let properties: Vec<String> = properties
        .into_iter()
        .filter_map(|(name, value)| Some(format!("{name}={}", property(&value?))))
        .collect();
    format!("::{kind} {}::{}", properties.join(","), data(&finding.with_help()))
}

/// A message: the characters that end a command are encoded.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// The value of a property: `:` and `,` end it too.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
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

#[cfg(test)]
mod github_tests {
    use super::*;

    #[test]
    fn an_annotation_has_its_place_and_no_foreign_command() {
        let finding = Diagnostic::warning("policy.regex_pattern", "'/a%20/b' is odd\n::error::x")
            .at(3, 5)
            .in_file("a,b:c.yaml")
            .help("write '/a'");
        assert_eq!(
            github(&finding),
            "::warning file=a%2Cb%3Ac.yaml,line=3,col=5,title=policy.regex_pattern::'/a%2520/b' is \
             odd%0A::error::x%0Ahelp: write '/a'"
        );
    }

    #[test]
    fn a_note_is_a_notice_and_an_unknown_place_is_left_out() {
        let finding = Diagnostic::note("robots.html", "x");
        assert_eq!(github(&finding), "::notice title=robots.html::x");
        assert_eq!(github(&Diagnostic::error("a.b", "x").at(2, 0)), "::error line=2,title=a.b::x");
    }
}
