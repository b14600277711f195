//! Every answer is as openapi.json says, and so is every refusal.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{RULES, answer, get, json, schema::faults, traffic};
use crate::support::{
    client::{Request, Response},
    origin::Origin,
    program::{Beadle, Setup},
};

/// The path of the description that an address is of.
fn path_of<'a>(document: &'a Value, address: &str) -> &'a str {
    let address = address.split('?').next().unwrap_or_default();
    let is_of = |path: &&String| {
        let (mut wanted, mut found) = (path.split('/'), address.split('/'));
        let is_same =
            wanted.by_ref().zip(found.by_ref()).all(|(w, f)| w.starts_with('{') || w == f);
        is_same && path.matches('/').count() == address.matches('/').count()
    };
    let paths: Vec<&String> = document["paths"].as_object().expect("paths").keys().collect();
    // A path without variable parts comes before one with them.
    let exact = paths.iter().find(|path| path.as_str() == address);
    exact.copied().or_else(|| paths.into_iter().find(is_of)).expect("it is described")
}

/// Holds an answer against the description.
fn assert_described(document: &Value, address: &str, answer: &Response) {
    let path = path_of(document, address);
    let status = answer.status.to_string();
    let mut described = &document["paths"][path]["get"]["responses"][&status];
    if let Some(reference) = described["$ref"].as_str() {
        described = document.pointer(&reference[1..]).expect("it leads somewhere");
    }
    assert!(described.is_object(), "{address}: {status} is not described: {}", answer.text());
    let media_type = answer.header("content-type").expect("a media type");
    let media_type = media_type.split(';').next().unwrap_or_default();
    let content = described["content"].as_object().expect("contents");
    assert!(content.contains_key(media_type), "{address}: {media_type}");
    if media_type.ends_with("json") {
        let found = faults(document, &content[media_type]["schema"], &json(&answer.text()));
        assert!(found.is_empty(), "{address}: {found:#?}\n{}", answer.text());
    }
    for name in described["headers"].as_object().into_iter().flatten().map(|(name, _)| name) {
        assert!(answer.header(&name.to_ascii_lowercase()).is_some(), "{address}: {name}");
    }
}

/// Addresses with every path and every parameter.
fn addresses(beadle: &Beadle) -> Vec<String> {
    let id = beadle.records(1)[0]["id"].as_str().expect("an id").to_owned();
    let sites = get(beadle, "/api/v1/robots");
    let edition = sites["sites"][0]["edition"].as_str().expect("an edition").to_owned();
    let page = get(beadle, "/api/v1/violations?limit=2");
    let next = page["next"].as_str().expect("there are more").to_owned();
    let filter = "site=SITE.example&crawler=gptbot&purpose=ai-training&path=/private/&\
                  action=block&since=2020-01-01&until=2999-01-01T00:00:00Z";
    let dimensions = "site,class,crawler,purpose,standing,verdict,action,reason,edition,directive,\
                      pattern,line,read";
    let span = "site=site.example&since=24h&until=2999-01-01";
    let of_crawler = format!("{span}&crawler=-");
    [
        "violations".to_owned(),
        format!("violations?{filter}&limit=1000"),
        format!("violations?limit=2&cursor={next}"),
        format!("violations/{id}"),
        format!("violations.jsonl?{filter}"),
        format!("violations.csv?{filter}"),
        "counts".to_owned(),
        format!("counts?by={dimensions},hour&{of_crawler}&only_violations=true"),
        format!("counts?by={dimensions},day&{span}&purpose=ai-training&crawler=GPTBot"),
        format!("counts?by={dimensions},day"),
        "paths".to_owned(),
        format!("paths?{of_crawler}&limit=1"),
        format!("networks?{span}&crawler=GPTBot&limit=1000"),
        "networks".to_owned(),
        format!("people?by=site,hour&{span}"),
        "people?by=day".to_owned(),
        format!("referrals?{span}"),
        format!("report?{span}"),
        "report".to_owned(),
        format!("crawlers/gptbot?{span}"),
        "crawlers/Googlebot".to_owned(),
        "robots".to_owned(),
        "robots/site.example/editions".to_owned(),
        format!("robots/site.example/editions/{edition}"),
        "status".to_owned(),
        "openapi.json".to_owned(),
    ]
    .map(|rest| format!("/api/v1/{rest}"))
    .into()
}

#[test]
fn every_answer_is_as_described() {
    let origin = Origin::plain();
    let beadle = Setup::site(origin.port, RULES).start();
    traffic(&beadle);
    let document = get(&beadle, "/api/v1/openapi.json");
    let addresses = addresses(&beadle);
    for address in &addresses {
        let answer = answer(&beadle, address);
        assert_eq!(answer.status, 200, "{address}: {}", answer.text());
        assert_described(&document, address, &answer);
        let head = Request::new("HEAD", address).host("localhost").send(beadle.admin);
        assert_eq!((head.status, head.body.len()), (200, 0), "HEAD {address}");
        for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "NOTHING"] {
            let refused = Request::new(method, address).host("localhost").send(beadle.admin);
            assert_eq!(refused.status, 405, "{method} {address}");
            assert_eq!(refused.header("allow"), Some("GET,HEAD"), "{method} {address}");
            let problem = serde_json::json!({ "$ref": "#/components/schemas/Problem" });
            let found = faults(&document, &problem, &json(&refused.text()));
            assert!(found.is_empty(), "{method} {address}: {found:?}");
        }
    }
    let asked: BTreeSet<&str> =
        addresses.iter().map(|address| path_of(&document, address)).collect();
    let described: BTreeSet<&str> =
        document["paths"].as_object().expect("paths").keys().map(String::as_str).collect();
    assert_eq!(asked, described, "every path has an address here");
}

#[test]
fn every_refusal_is_as_described() {
    let origin = Origin::plain();
    let beadle = Setup::site(origin.port, RULES).start();
    traffic(&beadle);
    let document = get(&beadle, "/api/v1/openapi.json");
    let hostile = ["%00", "%ff", "%1b%5b2J", "'%20OR%201=1--", "%F0%9F%92%A9", "", "-1", "x"];
    for (path, item) in document["paths"].as_object().expect("paths") {
        let parameters = item["get"]["parameters"].as_array().into_iter().flatten();
        let named = parameters.map(|one| match one["$ref"].as_str() {
            Some(reference) => document.pointer(&reference[1..]).expect("it leads somewhere"),
            None => one,
        });
        let (parts, queries): (Vec<_>, Vec<_>) = named.partition(|one| one["in"] == "path");
        let with = |value: &str| {
            let names = parts.iter().map(|part| part["name"].as_str().expect("a name"));
            names.fold(path.clone(), |path, name| path.replace(&format!("{{{name}}}"), value))
        };
        for value in hostile {
            if !parts.is_empty() && !value.is_empty() {
                let address = with(value);
                assert_described(&document, &address, &answer(&beadle, &address));
            }
            for query in &queries {
                let name = query["name"].as_str().expect("a name");
                let address = format!("{}?{name}={value}", with("x"));
                assert_described(&document, &address, &answer(&beadle, &address));
            }
            let address = format!("{}?{value}unknown=1", with("x"));
            let refused = answer(&beadle, &address);
            assert_eq!(refused.status, 400, "{address}");
            assert_described(&document, &address, &refused);
        }
    }
}

#[test]
fn without_a_database_what_needs_one_says_so() {
    let origin = Origin::plain();
    let setup = Setup::site(origin.port, RULES).violations("  log: $DIR/violations.jsonl\n");
    let beadle = setup.start();
    let document = get(&beadle, "/api/v1/openapi.json");
    for (path, status) in [
        ("violations", 409),
        ("violations/01a1fac2-c907-705b-afda-7511298981af", 409),
        ("violations.jsonl", 409),
        ("violations.csv", 409),
        ("counts", 409),
        ("paths", 409),
        ("networks", 409),
        ("people", 409),
        ("referrals", 409),
        ("report", 409),
        ("crawlers/GPTBot", 409),
        ("robots/site.example/editions", 409),
        ("robots", 200),
        ("status", 200),
    ] {
        let address = format!("/api/v1/{path}");
        let answer = answer(&beadle, &address);
        assert_eq!(answer.status, status, "{address}: {}", answer.text());
        assert_described(&document, &address, &answer);
    }
}

#[test]
fn a_policy_that_is_refused_shows_in_the_status() {
    let origin = Origin::plain();
    let beadle = Setup::site(origin.port, RULES).start();
    let status = get(&beadle, "/api/v1/status");
    assert_eq!(status["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(
        (&status["ready"], &status["policy"]["refused"]),
        (&Value::Bool(true), &Value::Null)
    );
    beadle.replace_policy("sites: nonsense\n");
    beadle.signal("HUP");
    beadle.wait_for_metric("beadle_policy_last_reload_successful", 0.0);
    let refused = crate::support::wait_for("the refusal", || {
        let status = get(&beadle, "/api/v1/status");
        (!status["policy"]["refused"].is_null()).then_some(status)
    });
    assert!(!refused["policy"]["refused"]["findings"].as_array().expect("findings").is_empty());
    assert_eq!(refused["policy"]["fingerprint"], status["policy"]["fingerprint"]);
}
