//! The JSON Schema of the policy agrees with the readers, with the reference and with itself.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    process::Command,
};

use beadle::{
    base::diagnostic::Severity,
    rules::{
        keys::{self, Absent, Key, Section, Shape},
        policy,
    },
};
use boon::{Compiler, SchemaIndex, Schemas};
use serde_json::{Map, Value, json};

use crate::{
    page::{blocks, is_update, page, pages, root},
    support::program::PROGRAM,
};

/// The broken policies whose faults a schema can't see, and what it lacks.
const UNSEEN: [(&str, &str); 13] = [
    ("12-unknown-crawler.yaml", "a misspelt name"),
    ("15-control-character-in-path.yaml", "the inside of a pattern"),
    ("16-allowed-and-disallowed.yaml", "two rules together"),
    ("18-own-listener-as-origin.yaml", "two sections together"),
    ("20-duplicate-host.yaml", "two sites together"),
    ("25-blocks-everybody.yaml", "rules and enforcement together"),
    ("28-source-and-database.yaml", "two keys together"),
    ("31-odd-records.yaml", "the inside of a record"),
    ("32-evidence-that-confirms-anybody.yaml", "the worth of evidence"),
    ("32-evidence-that-proves-nothing.yaml", "the worth of evidence"),
    ("33-missing-catalogue.yaml", "another file"),
    ("37-size.yaml", "the least and the most of a size"),
    ("39-clickhouse.yaml", "the inside of the URL of a database"),
];

fn printed() -> String {
    let output = Command::new(PROGRAM).arg("schema").output().expect("the program can be started");
    assert_eq!(output.status.code(), Some(0));
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// A schema that policies are held against.
struct Validator {
    schemas: Schemas,
    whole: SchemaIndex,
}

fn validator() -> (Validator, Value) {
    let schema: Value = serde_json::from_str(&printed()).expect("it is JSON");
    let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
    compiler.add_resource("policy.json", schema.clone()).expect("it is the first one");
    // It holds the schema itself against that of its draft.
    let whole = compiler.compile("policy.json", &mut schemas).expect("it is a schema");
    (Validator { schemas, whole }, schema)
}

fn faults(validator: &Validator, policy: &Value) -> Vec<String> {
    let validated = validator.schemas.validate(policy, validator.whole);
    validated.err().map(|error| format!("{error:#}")).into_iter().collect()
}

/// Whether the reader accepts a policy: the errors, or none.
fn errors(policy: &Value) -> Vec<String> {
    // The built-in catalogue is much longer to read.
    let few = "version: '2999-01-01'\ncrawlers: [{ product_token: GPTBot }, { product_token: Googlebot }]\n";
    let mut policy = policy.clone();
    if let Some(object) = policy.as_object_mut() {
        object.entry("catalogue").or_insert_with(|| json!("few.yaml"));
    }
    let text = serde_json::to_string(&policy).expect("JSON");
    let open = &mut |_: policy::OtherFile, _: &Path| Ok(few.as_bytes().to_vec());
    let (_, findings) = policy::read_with("beadle.yaml", text.as_bytes(), open);
    let errors = findings.iter().filter(|one| one.severity == Severity::Error);
    errors.map(ToString::to_string).collect()
}

#[test]
fn every_policy_of_the_project_is_valid_by_the_schema() {
    let (validator, _) = validator();
    let mut count = 0;
    let mut check = |name: &str, text: &str| {
        let policy: Value = serde_yaml::from_str(text).expect("it is YAML");
        assert_eq!(faults(&validator, &policy), Vec::<String>::new(), "{name}");
        count += 1;
    };
    for entry in std::fs::read_dir(root().join("examples")).expect("a folder") {
        let path = entry.expect("readable").path();
        if path.extension().is_some_and(|ending| ending == "yaml") {
            let text = std::fs::read_to_string(&path).expect("readable");
            check(&path.display().to_string(), &text);
        }
    }
    for page in pages() {
        let policies = blocks(&page.text).into_iter();
        for block in policies.filter(|block| block.language == "yaml" && block.is_policy()) {
            check(&page.name(), &block.whole());
        }
    }
    assert!(count >= 40, "{count} policies");
}

#[test]
fn a_policy_with_a_fault_of_shape_is_refused_by_the_schema() {
    let (validator, _) = validator();
    let folder = root().join("tests/data/policies");
    let mut unseen = BTreeSet::new();
    let mut refused = 0;
    for entry in std::fs::read_dir(&folder).expect("a folder") {
        let path = entry.expect("readable").path();
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let Ok(policy) = serde_yaml::from_str::<Value>(&text) else { continue };
        if path.extension().is_none_or(|ending| ending != "yaml") {
            continue;
        }
        let name = path.file_name().and_then(|name| name.to_str()).expect("UTF-8").to_owned();
        let (_, findings) = policy::read(&name, text.as_bytes());
        let shape = ["policy.unknown_key", "policy.wrong_type", "policy.missing_key"];
        let is_of_shape = findings.iter().any(|one| shape.contains(&one.code));
        let faults = faults(&validator, &policy);
        assert!(!is_of_shape || !faults.is_empty(), "{name}: {findings:?}");
        match faults.is_empty() {
            true => drop(unseen.insert(name)),
            false => refused += 1,
        }
    }
    let listed: BTreeSet<String> = UNSEEN.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(unseen, listed, "left: found, right: the list");
    assert!(refused >= 15, "{refused} policies");
}

/// A section and a way to build a policy around its mapping.
type Around<'a> = &'a dyn Fn(Value) -> Value;
/// A way to write a mapping as a value of a shape.
type Wrap = fn(Value) -> Value;

/// Values of a shape that the reader takes too, where `key` needs a special one.
fn good(section: &Section, key: &Key) -> Vec<Value> {
    let special = match (section.path, key.name) {
        ("tests[]", "url") => Some(json!("/x")),
        ("server.limits", "header_time" | "handshake_time") => Some(json!("5s")),
        ("server.limits", "header_size") => Some(json!("64KiB")),
        ("tests[]", "site") => Some(json!("www.example.com")),
        ("tests[]", "client_ip") => Some(json!("192.0.2.7")),
        ("crawlers[]", "product_token") => Some(json!("AcmeBot")),
        (_, "product_token") => Some(json!("GPTBot")),
        (_, "product_tokens") => Some(json!(["GPTBot"])),
        (_, "user_agent_pattern") => Some(json!("^x$")),
        ("crawlers[]", "reverse_dns") => Some(json!([".bots.example"])),
        ("crawlers[]", "falls_back_to") => Some(json!(["Googlebot"])),
        ("sites[].robots_tag[]", "rules") => {
            Some(json!({ "*": ["noindex"], "GPTBot": "noarchive" }))
        }
        (_, "records") => Some(json!([{ "License": "https://www.example.com/", "X-Count": 7 }])),
        _ => None,
    };
    special.map_or_else(|| samples(key.shape), |value| vec![value])
}

fn samples(shape: Shape) -> Vec<Value> {
    let minimum = |section: &'static Section| Value::Object(minimum(section));
    match shape {
        Shape::Text => vec![json!("text")],
        Shape::Form(form) => vec![json!(form.example)],
        Shape::Boolean => vec![json!(true), json!(false)],
        Shape::Integer(least, most) | Shape::Number(least, most) => vec![json!(least), json!(most)],
        Shape::OneNumber(numbers) => numbers.iter().map(|number| json!(number)).collect(),
        Shape::Choice(words) => words.iter().map(|word| json!(word)).collect(),
        Shape::Purpose => {
            beadle::rules::crawlers::Purpose::ALL.map(|one| json!(one.as_str())).to_vec()
        }
        Shape::Crawlers => vec![json!("*"), json!("GPTBot"), json!("purpose:search")],
        Shape::SomeCrawlers => vec![json!("GPTBot"), json!("purpose:search")],
        Shape::Either(shapes) => shapes.iter().flat_map(|shape| samples(*shape)).collect(),
        Shape::List(item) | Shape::Some(item) => {
            let items = samples(*item);
            let single = items.iter().filter(|one| !one.is_object()).cloned();
            single.chain(items.iter().map(|one| json!([one]))).collect()
        }
        Shape::Sections(section) => vec![minimum(section), json!([minimum(section)])],
        Shape::Mapping(value) => {
            samples(*value).into_iter().map(|one| json!({ "a": one })).collect()
        }
        Shape::Section(section) => vec![minimum(section)],
    }
}

/// Values that are not of the shape.
fn bad(shape: Shape) -> Vec<Value> {
    let (mapping, odd) = (json!({ "qqqq": 1 }), json!("qqqq"));
    match shape {
        Shape::Text => vec![mapping, json!(7), json!(true), json!([])],
        Shape::Form(_) => vec![mapping, json!(true), json!([]), json!("")],
        Shape::Boolean => vec![mapping, odd, json!(1)],
        Shape::Integer(least, most) => {
            vec![mapping, odd, json!(least - 1), json!(most + 1), json!(1.5)]
        }
        Shape::Number(least, most) => vec![mapping, odd, json!(least - 1), json!(most + 1)],
        Shape::OneNumber(_) => vec![mapping, odd, json!(1), json!(200)],
        Shape::Choice(_) | Shape::Purpose => vec![mapping, odd, json!(true), json!(7)],
        Shape::Crawlers => vec![mapping, json!(true), json!(7), json!("")],
        Shape::SomeCrawlers => vec![mapping, json!(true), json!(7), json!(""), json!("*")],
        Shape::Either(shapes) if shapes.iter().any(|one| matches!(one, Shape::Boolean)) => {
            vec![mapping, odd]
        }
        Shape::Either(_) => vec![mapping, json!(true)],
        Shape::List(item) => {
            bad(*item).into_iter().filter(|one| !one.is_array()).map(|one| json!([one])).collect()
        }
        Shape::Some(item) => [bad(Shape::List(item)), vec![json!([])]].concat(),
        Shape::Sections(_) | Shape::Section(_) => vec![mapping, json!(true), odd],
        Shape::Mapping(_) => vec![json!(true), odd, json!([])],
    }
}

/// The mapping with nothing but what is required.
fn minimum(section: &'static Section) -> Map<String, Value> {
    let one = section.one_of.last();
    let is_needed = |key: &&Key| key.absent == Absent::Required || one == Some(&key.name);
    let needed = section.keys.iter().filter(is_needed);
    let mut object: Map<String, Value> = needed
        .filter_map(|key| Some((key.name.to_owned(), good(section, key).first()?.clone())))
        .collect();
    // What is more than a shape.
    match section.path {
        "tests[]" => drop(object.insert("expect".to_owned(), json!("allow"))),
        "sites[].preferences[]" => drop(object.insert("search".to_owned(), json!("yes"))),
        "sites[].robots_txt.groups[]" => drop(object.insert("disallow".to_owned(), json!(["/x"]))),
        _ => {}
    }
    object
}

/// How many values were compared, and where schema and reader differ from what is expected.
#[derive(Default)]
struct Outcome {
    count: usize,
    faults: Vec<String>,
}

impl Outcome {
    fn note(&mut self, policy: &Value, found: (Vec<String>, Vec<String>), is_good: bool) {
        self.count += 1;
        let (by_schema, by_reader) = found;
        if by_schema.is_empty() != is_good || by_reader.is_empty() != is_good {
            let what = if is_good { "good" } else { "bad" };
            self.faults.push(format!("{what} {policy}: {by_schema:?} {by_reader:?}"));
        }
    }
}

/// Holds every key of a section, and of those inside, against the reader.
fn compare(
    section: &'static Section,
    around: Around<'_>,
    validator: &Validator,
    outcome: &mut Outcome,
) {
    for key in section.keys {
        let with = |value: Value| {
            let mut object = minimum(section);
            section.one_of.iter().filter(|_| section.one_of.contains(&key.name)).for_each(|name| {
                object.remove(*name);
            });
            object.insert(key.name.to_owned(), value);
            around(Value::Object(object))
        };
        for value in good(section, key) {
            let policy = with(value);
            outcome.note(&policy, (faults(validator, &policy), errors(&policy)), true);
        }
        for value in bad(key.shape) {
            let policy = with(value);
            outcome.note(&policy, (faults(validator, &policy), errors(&policy)), false);
        }
        for (inner, wrap) in inner(key.shape) {
            compare(inner, &|object| with(wrap(object)), validator, outcome);
        }
    }
}

/// The sections inside a shape, with a way to write one as such a value.
fn inner(shape: Shape) -> Vec<(&'static Section, Wrap)> {
    match shape {
        Shape::Section(section) => vec![(section, |object| object)],
        Shape::Sections(section) => vec![(section, |object| json!([object]))],
        Shape::List(Shape::Section(section)) | Shape::Some(Shape::Section(section)) => {
            vec![(section, |object| json!([object]))]
        }
        Shape::Some(Shape::Either(shapes)) => {
            let sections = shapes.iter().flat_map(|shape| inner(*shape));
            sections.map(|(section, _)| (section, list as Wrap)).collect()
        }
        Shape::Mapping(Shape::Either(shapes)) => {
            let sections = shapes.iter().filter(|shape| matches!(shape, Shape::Section(_)));
            let sections = sections.flat_map(|shape| inner(*shape));
            sections.map(|(section, _)| (section, named as Wrap)).collect()
        }
        Shape::Either(shapes) => shapes.iter().flat_map(|shape| inner(*shape)).collect(),
        _ => Vec::new(),
    }
}

fn list(object: Value) -> Value {
    json!([object])
}

fn named(object: Value) -> Value {
    json!({ "a": object })
}

#[test]
fn each_value_is_accepted_by_the_schema_and_the_reader_or_by_neither() {
    let (validator, _) = validator();
    let mut outcome = Outcome::default();
    let around = |mut policy: Value| {
        if let Some(object) = policy.as_object_mut()
            && object.get("sites").is_none()
        {
            object.insert("sites".to_owned(), json!([minimum(&keys::SITE)]));
        }
        // The settings of ClickHouse need such a database.
        let violations = policy.get_mut("violations").and_then(Value::as_object_mut);
        if let Some(violations) = violations.filter(|section| section.contains_key("clickhouse")) {
            violations.insert("database".to_owned(), json!("clickhouses://db.example/beadle"));
        }
        // Who asks the origin needs a page to ask for.
        let origin = policy.pointer_mut("/sites/0/origin").and_then(Value::as_object_mut);
        if let Some(origin) = origin.filter(|origin| origin.get("forms") == Some(&json!("probe"))) {
            origin.entry("probe_path").or_insert_with(|| json!("/docs/start"));
        }
        // Alerts and reports need a mail server and a database, and each receiver has its own keys.
        if let Some(policy) = policy.as_object_mut()
            && (policy.contains_key("alerts") || policy.contains_key("reports"))
        {
            let email = json!({ "server": "mail.example", "from": "admin@example.com" });
            policy.entry("email").or_insert(email);
            policy.entry("violations").or_insert_with(|| json!({ "database": "data/beadle.db" }));
        }
        let alert = match policy.get_mut("alerts") {
            Some(Value::Array(alerts)) => alerts.first_mut(),
            other => other,
        };
        if let Some(alert) = alert.and_then(Value::as_object_mut) {
            if alert.contains_key("digest") && alert.remove("url").is_some() {
                alert.insert("email_to".to_owned(), json!("admin@example.com"));
            }
            let is_signed = alert.get("format").is_none_or(|format| format == "json");
            if alert.contains_key("url") && is_signed {
                alert.entry("secret_file").or_insert_with(|| json!("data/file"));
            }
            if alert.get("format") == Some(&json!("ntfy")) {
                alert.insert("url".to_owned(), json!("https://ntfy.example/topic"));
            }
        }
        let email = policy.get_mut("email").and_then(Value::as_object_mut);
        if let Some(email) = email
            && (email.contains_key("username") || email.contains_key("password_file"))
        {
            email.entry("username").or_insert_with(|| json!("text"));
            email.entry("password_file").or_insert_with(|| json!("data/file"));
        }
        // A limit has at least one of two numbers.
        let limit = policy.pointer_mut("/sites/0/enforcement/rate_limits/0");
        if let Some(limit) = limit.and_then(Value::as_object_mut)
            && !limit.contains_key("concurrent")
        {
            limit.entry("requests").or_insert_with(|| json!("60/1m"));
        }
        // Only a control token governs uses of copies.
        let crawler = policy.pointer_mut("/crawlers/0").and_then(Value::as_object_mut);
        if let Some(crawler) = crawler.filter(|crawler| crawler.contains_key("governs")) {
            crawler.entry("kind").or_insert_with(|| json!("control"));
        }
        // A client that is to authenticate itself needs a challenge.
        let block = policy.pointer_mut("/sites/0/enforcement/block").and_then(Value::as_object_mut);
        if let Some(block) = block.filter(|block| block.get("status") == Some(&json!(401))) {
            block.entry("fields").or_insert_with(|| json!({ "WWW-Authenticate": "License" }));
        }
        // Only a person with the token may change the policy.
        let admin = policy.pointer_mut("/server/admin").and_then(Value::as_object_mut);
        if let Some(admin) = admin.filter(|admin| admin.contains_key("edit")) {
            admin.entry("token_file").or_insert_with(|| json!("token"));
        }
        // Only trusted peers may ask, or speak for others.
        let server = policy.get_mut("server").and_then(Value::as_object_mut);
        let speaks = |listen: &Value| listen.to_string().contains("proxy_protocol");
        let is_trusting = |server: &Map<String, Value>| {
            server.contains_key("decide") || server.get("listen").is_some_and(speaks)
        };
        if let Some(server) = server.filter(|server| is_trusting(server)) {
            server.entry("trusted_proxies").or_insert_with(|| json!(["127.0.0.1"]));
        }
        policy
    };
    compare(&keys::POLICY, &around, &validator, &mut outcome);
    assert!(outcome.faults.is_empty(), "{}", outcome.faults.join("\n"));
    assert!(outcome.count >= 700, "{} values", outcome.count);
}

/// A text of the reference without its links.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('[') {
        plain.push_str(before);
        match after
            .split_once("](")
            .and_then(|(label, tail)| Some((label, tail.split_once(')')?.1)))
        {
            Some((label, tail)) if !label.contains('[') => {
                plain.push_str(label);
                rest = tail;
            }
            _ => {
                plain.push('[');
                rest = after;
            }
        }
    }
    plain + rest
}

fn sections(section: &'static Section, into: &mut BTreeMap<&'static str, &'static Section>) {
    into.insert(section.path, section);
    let inside = section.keys.iter().flat_map(|key| inner(key.shape));
    inside.for_each(|(inside, _)| sections(inside, into));
}

#[test]
fn the_reference_explains_each_key_with_the_words_of_the_schema() {
    let text = page("policy.md").text;
    let mut all = BTreeMap::new();
    sections(&keys::POLICY, &mut all);
    for (path, section) in all {
        let heading = if path.is_empty() { "Top level".to_owned() } else { format!("`{path}`") };
        let part = text.split("\n## ").find(|part| part.starts_with(&format!("{heading}\n")));
        let part = part.expect("every section has a heading");
        for key in section.keys {
            let start = format!("| `{}` | ", key.name);
            let row = part.lines().find(|line| line.starts_with(&start)).expect("a row");
            let cells: Vec<String> =
                row.trim_matches('|').split(" | ").map(|cell| plain(cell.trim())).collect();
            let absent = match key.absent {
                Absent::Required => "required".to_owned(),
                Absent::Value(value) => format!("`{value}`"),
                Absent::Words(words) => words.to_owned(),
            };
            assert_eq!((&cells[2], cells[3].as_str()), (&absent, key.meaning), "{heading} {start}");
            let words: Vec<&str> = cells[1].split('`').skip(1).step_by(2).collect();
            let words: Vec<&str> = words.iter().map(|word| word.trim_matches('"')).collect();
            let choices = match key.shape {
                Shape::Choice(choices) => choices,
                Shape::List(Shape::Choice(choices)) => *choices,
                _ => continue,
            };
            assert!(words.is_empty() || words == choices, "{heading} {start}{words:?} {choices:?}");
        }
    }
}

#[test]
fn the_schema_of_the_examples_is_the_one_of_the_program() {
    let file = root().join("examples/beadle.schema.json");
    let printed = printed();
    if is_update() {
        std::fs::write(&file, &printed).expect("it is writable");
    }
    let written = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(written == printed, "BEADLE_UPDATE=1 rewrites {}", file.display());
    for entry in std::fs::read_dir(root().join("examples")).expect("a folder") {
        let path = entry.expect("readable").path();
        if path.extension().is_some_and(|ending| ending == "yaml") {
            let text = std::fs::read_to_string(&path).expect("readable");
            let line = "# yaml-language-server: $schema=./beadle.schema.json\n";
            assert!(text.starts_with(line), "{}", Path::display(&path));
        }
    }
}
