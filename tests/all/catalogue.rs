//! The built-in catalogue: its schema, and how it identifies User-Agents.
//!
//! `tests/data/crawlers/golden.tsv` has the results, so that no update changes them silently.
//! `BEADLE_UPDATE=1` writes the file.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
    path::Path,
};

use beadle::{
    base::escape,
    rules::{
        crawlers::{CatalogueFile, Entry, Honours, Kind, Match, Name, SiteNames, ranges::Format},
        policy,
    },
};
use parking_lot::Mutex;
use regex_automata::meta::Regex;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::traffic::user_agents;

// === the schema

const SCHEMA: &str = include_str!("../../config/crawlers.schema.json");

fn schema() -> Value {
    serde_json::from_str(SCHEMA).expect("the schema is JSON")
}

/// The keys or words that serde accepts, from its message about an unknown one.
fn known<T: DeserializeOwned>(odd: Value) -> BTreeSet<String> {
    let Err(error) = serde_json::from_value::<T>(odd) else { panic!("something odd is taken") };
    let error = error.to_string();
    let list = error.split_once("expected").expect("it says what it expected").1;
    list.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

fn words(list: &Value) -> BTreeSet<String> {
    let list = list.as_array().expect("a list");
    list.iter().map(|word| word.as_str().expect("a word").to_owned()).collect()
}

fn keys(object: &Value) -> BTreeSet<String> {
    object.as_object().expect("a mapping").keys().cloned().collect()
}

#[test]
fn the_schema_has_the_keys_and_words_of_the_program_and_no_others() {
    let schema = schema();
    let crawler = &schema["$defs"]["crawler"]["properties"];
    let odd = json!({ "colour": "red" });
    assert_eq!(keys(&schema["properties"]), known::<CatalogueFile>(odd.clone()));
    assert_eq!(keys(crawler), known::<Entry>(odd.clone()));
    assert_eq!(keys(&crawler["honours"]["properties"]), known::<Honours>(odd));
    let purposes: BTreeSet<String> =
        beadle::rules::crawlers::Purpose::ALL.iter().map(|one| one.as_str().to_owned()).collect();
    assert_eq!(words(&crawler["purpose"]["enum"]), purposes);
    assert_eq!(words(&crawler["kind"]["enum"]), known::<Kind>(json!("odd")));
    assert_eq!(words(&crawler["match"]["enum"]), known::<Match>(json!("odd")));
    let status = known::<beadle::rules::crawlers::Status>(json!("odd"));
    assert_eq!(words(&crawler["status"]["enum"]), status);
    let honours = &crawler["honours"]["properties"];
    let robots = known::<beadle::rules::crawlers::Robots>(json!("odd"));
    assert_eq!(words(&honours["robots_txt"]["enum"]), robots);
    let crawl_delay = known::<beadle::rules::crawlers::CrawlDelay>(json!("odd"));
    assert_eq!(words(&honours["crawl_delay"]["enum"]), crawl_delay);
    for name in words(&crawler["ip_format"]["enum"]) {
        assert!(Format::named(&name).is_some(), "{name}");
    }
}

#[test]
fn the_built_in_catalogue_is_valid_by_the_schema() {
    let schema = schema();
    let options = serde_yaml::options! {
        strict_booleans: true,
        budget: None,
    };
    let file: Value =
        serde_yaml::from_str_with_options(policy::BUILT_IN_CATALOGUE, options).expect("YAML");
    let faults = faults(&schema, &schema, &file, "");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    for (broken, place) in [
        (json!({ "version": "2026-11-01" }), ""),
        (json!({ "version": "new", "crawlers": [] }), "/version"),
        (crawler(json!({ "operator": "A" })), "/crawlers/0"),
        (crawler(json!({ "product_token": "A*" })), "/crawlers/0/product_token"),
        (crawler(json!({ "product_token": "A", "kind": "robot" })), "/crawlers/0/kind"),
        (crawler(json!({ "product_token": "A", "honours": { "x": 1 } })), "/crawlers/0/honours"),
        (crawler(json!({ "product_token": "A", "aliases": "B" })), "/crawlers/0/aliases"),
        (
            crawler(json!({ "product_token": "A", "ip_ranges": ["http://a.example"] })),
            "/crawlers/0/ip_ranges/0",
        ),
        (
            crawler(json!({ "product_token": "A", "reverse_dns": [".com"] })),
            "/crawlers/0/reverse_dns/0",
        ),
    ] {
        let found = self::faults(&schema, &schema, &broken, "");
        assert!(found.len() == 1 && found[0].starts_with(&format!("{place}: ")), "{found:?}");
    }
}

fn crawler(entry: Value) -> Value {
    json!({ "version": "2026-11-01", "crawlers": [entry] })
}

/// The faults of a value by a schema. Supports the part of JSON Schema 2020-12 that our schema uses,
/// and panics at any other.
fn faults(root: &Value, schema: &Value, value: &Value, place: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut fault = |what: String| found.push(format!("{place}: {what}"));
    let mut inner = Vec::new();
    for (keyword, says) in schema.as_object().expect("a schema is a mapping") {
        let text = value.as_str().unwrap_or_default();
        let number = || says.as_u64().expect("a number") as usize;
        match keyword.as_str() {
            "$schema" | "$defs" | "title" | "description" | "default" => {}
            "$ref" => {
                let pointer = says.as_str().and_then(|at| at.strip_prefix('#'));
                let target = pointer.and_then(|at| root.pointer(at)).expect("it leads somewhere");
                inner.extend(faults(root, target, value, place));
            }
            "type" => {
                let is = match says.as_str().expect("one type") {
                    "object" => value.is_object(),
                    "array" => value.is_array(),
                    "string" => value.is_string(),
                    "boolean" => value.is_boolean(),
                    other => panic!("no test for the type {other}"),
                };
                if !is {
                    fault(format!("{value} is no {says}"));
                }
            }
            "enum" if !says.as_array().expect("a list").contains(value) => {
                fault(format!("{value} is none of {says}"));
            }
            "enum" => {}
            "pattern" => {
                if value.is_string() && !is_match(says.as_str().expect("a pattern"), text) {
                    fault(format!("{value} does not match {says}"));
                }
            }
            "minLength" if value.is_string() && text.chars().count() < number() => {
                fault(format!("{value} is too short"));
            }
            "maxLength" if value.is_string() && text.chars().count() > number() => {
                fault(format!("{value} is too long"));
            }
            "maxItems" if value.as_array().is_some_and(|list| list.len() > number()) => {
                fault("too many items".to_owned());
            }
            "minLength" | "maxLength" | "maxItems" => {}
            "required" => {
                for key in words(says) {
                    if value.get(&key).is_none() {
                        fault(format!("{key} is missing"));
                    }
                }
            }
            "additionalProperties" => {
                assert_eq!(says, &Value::Bool(false), "no test for more");
                let known = keys(&schema["properties"]);
                for key in value.as_object().into_iter().flat_map(|map| map.keys()) {
                    if !known.contains(key) {
                        fault(format!("{key} is unknown"));
                    }
                }
            }
            "properties" => {
                for (key, value) in value.as_object().into_iter().flatten() {
                    if let Some(schema) = says.get(key) {
                        inner.extend(faults(root, schema, value, &format!("{place}/{key}")));
                    }
                }
            }
            "items" => {
                for (number, item) in value.as_array().into_iter().flatten().enumerate() {
                    inner.extend(faults(root, says, item, &format!("{place}/{number}")));
                }
            }
            other => panic!("no test for the keyword {other}"),
        }
    }
    found.extend(inner);
    found
}

/// Whether a pattern of the schema matches. Each is compiled once, which takes longer than all
/// matches together.
fn is_match(pattern: &str, text: &str) -> bool {
    static PATTERNS: Mutex<BTreeMap<String, Regex>> = Mutex::new(BTreeMap::new());
    let mut patterns = PATTERNS.lock();
    let compile = || Regex::new(pattern).expect("it is a regular expression");
    patterns.entry(pattern.to_owned()).or_insert_with(compile).is_match(text)
}

// === the golden file

const USER_AGENTS: &str = include_str!("../data/crawlers/user_agents.txt");
const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/crawlers/golden.tsv");

/// The lines of the golden file. First, how each User-Agent is identified. Then the order of groups
/// for each crawler that follows other groups than its own and `*`.
fn verdicts() -> String {
    let catalogue = policy::built_in_catalogue();
    let none = SiteNames::default();
    let mut lines = "# user-agent\tclass\tproduct tokens\n".to_owned();
    let own = USER_AGENTS.lines().filter(|line| !line.starts_with('#'));
    let traffic = user_agents::browsers().into_iter();
    let traffic = traffic.chain(user_agents::crawlers().map(str::to_owned));
    for user_agent in own.map(str::to_owned).chain(traffic) {
        let claim = catalogue.identify(user_agent.as_bytes(), &none);
        let tokens: Vec<&str> = claim.tokens().map(Name::as_str).collect();
        let tokens = if tokens.is_empty() { "-".to_owned() } else { tokens.join(", ") };
        let user_agent = escape::text(user_agent.as_bytes());
        writeln!(lines, "{user_agent}\t{}\t{tokens}", claim.class()).expect("a String takes all");
    }
    lines.push_str("# product token\tkind\tgroups in order\tidentified\n");
    for crawler in catalogue.iter() {
        let mut groups: Vec<&str> = crawler.groups().map(|token| token.as_str()).collect();
        if !crawler.ignores_star() {
            groups.push("*");
        }
        let is_usual =
            groups.len() == 2 && crawler.kind() == Kind::Crawler && crawler.is_identifiable();
        if !is_usual || crawler.ignores_star() {
            let kind = serde_json::to_value(crawler.kind()).expect("a word");
            let identified = if crawler.is_identifiable() { "yes" } else { "no" };
            let (token, groups) = (crawler.product_token(), groups.join(" > "));
            let kind = kind.as_str().expect("a word");
            writeln!(lines, "{token}\t{kind}\t{groups}\t{identified}").expect("a String takes all");
        }
    }
    lines
}

#[test]
fn the_built_in_catalogue_identifies_as_the_golden_file_says() {
    let found = verdicts();
    if std::env::var_os("BEADLE_UPDATE").is_some() {
        std::fs::write(GOLDEN, &found).expect("the golden file can be written");
    }
    let expected = std::fs::read_to_string(GOLDEN).unwrap_or_default();
    let (was, is): (BTreeSet<&str>, BTreeSet<&str>) =
        (expected.lines().collect(), found.lines().collect());
    let lines = was.difference(&is).map(|line| format!("-{line}"));
    let lines: Vec<String> = lines.chain(is.difference(&was).map(|l| format!("+{l}"))).collect();
    let golden = Path::new(GOLDEN).display();
    assert!(found == expected, "BEADLE_UPDATE=1 writes {golden} anew:\n{}", lines.join("\n"));
    assert!(expected.lines().count() > 500);
}

#[test]
fn each_user_agent_is_in_the_list_once() {
    let mut seen = BTreeSet::new();
    for line in USER_AGENTS.lines() {
        assert!(seen.insert(line), "{line}");
    }
    assert!(seen.len() > 200, "{}", seen.len());
}
