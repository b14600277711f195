//! A refusal names the repair, and the parameter.

use super::{RULES, answer, json, traffic};
use crate::support::{
    client::Request,
    origin::Origin,
    program::{Beadle, Setup},
};

fn assert_refused(beadle: &Beadle, path: &str, status: u16, parameter: Option<&str>, says: &str) {
    let refused = answer(beadle, &format!("/api/{path}"));
    assert_eq!(refused.status, status, "{path}: {}", refused.text());
    assert_eq!(refused.header("content-type"), Some("application/problem+json"), "{path}");
    assert_eq!(refused.header("cache-control"), Some("no-store"), "{path}");
    let problem = json(&refused.text());
    assert_eq!(problem["status"], status, "{path}");
    assert_eq!(problem["parameter"].as_str(), parameter, "{path}: {problem}");
    let detail = problem["detail"].as_str().expect("a detail");
    assert!(detail.contains(says), "{path}: {detail}");
    assert!(!detail.contains(char::is_control), "{path}: {detail}");
    assert!(detail.len() < 1_000, "{path}: {detail}");
}

#[test]
fn a_refusal_names_the_repair() {
    let origin = Origin::plain();
    let beadle = Setup::site(origin.port, RULES).start();
    traffic(&beadle);
    for (path, parameter, says) in [
        ("v1/violations?crawlr=x", "crawlr", "did you mean crawler?"),
        ("v1/status?x=1", "x", "has no parameters"),
        ("v1/violations?limit=1&limit=2", "limit", "twice"),
        ("v1/violations?limit=0", "limit", "from 1 to 1000"),
        ("v1/violations?limit=1001", "limit", "from 1 to 1000"),
        ("v1/violations?crawler=GPTBto", "crawler", "did you mean GPTBot?"),
        ("v1/violations?crawler=HouseBt", "crawler", "did you mean HouseBot?"),
        ("v1/violations?site=site.exmple", "site", "did you mean site.example?"),
        ("v1/violations?purpose=ai-trainin", "purpose", "did you mean ai-training?"),
        ("v1/violations?action=blok", "action", "did you mean block?"),
        ("v1/violations?rule=/private/", "rule", "write it as robots.txt has it"),
        ("v1/violations?path=private", "path", "write '/private'"),
        ("v1/violations?since=soon", "since", "write 2026-11-20T10:00:00Z"),
        ("v1/violations?since=1h&until=2h", "until", "swap the two"),
        ("v1/counts?since=2999-01-01", "since", "not after the start"),
        ("v1/violations?cursor=x", "cursor", "take 'next'"),
        ("v1/violations?crawler=%1b%5b2J", "crawler", "\\x1b[2J"),
        ("v1/counts?by=crawlers", "by", "did you mean crawler?"),
        ("v1/counts?by=hour,day", "by", "exclude each other"),
        ("v1/counts?by=", "by", "write one of site, class, crawler"),
        ("v1/counts?only_violations=yes", "only_violations", "true or false"),
    ] {
        assert_refused(&beadle, path, 400, Some(parameter), says);
    }
    let long = format!("/api/v1/violations?{}=1", "x".repeat(9_000));
    assert!(answer(&beadle, &long).text().len() < 1_000, "a long name is cut");
    let id = "01a1fac2-c907-705b-afda-7511298981af";
    for (path, says) in [
        (format!("v1/violations/{id}"), "no record with the id 01a1fac2"),
        ("v1/violations/x".to_owned(), "is no decision id"),
        ("v1/crawlers/GPTBto".to_owned(), "did you mean GPTBot?"),
        ("v1/crawlers/-".to_owned(), "name a crawler"),
        ("v1/robots/site.exmple/editions".to_owned(), "did you mean site.example?"),
        ("v1/robots/site.example/editions/0123".to_owned(), "8 or more"),
        ("v1/robots/site.example/editions/0123456789".to_owned(), "lists the editions"),
        ("v1/nothing".to_owned(), "openapi.json"),
        ("v1/violations/".to_owned(), "openapi.json"),
        ("v2/violations".to_owned(), "openapi.json"),
        ("v1/%1b%5b2J".to_owned(), "no path '/api/v1/%1b%5b2J'"),
    ] {
        assert_refused(&beadle, &path, 404, None, says);
    }
}

#[test]
fn the_api_needs_the_token() {
    const TOKEN: &str = "correct-horse-battery-staple";
    let origin = Origin::plain();
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("token");
    std::fs::write(&file, TOKEN).expect("written");
    let admin = format!("{{ address: $ADMIN, token_file: {} }}", file.display());
    let beadle = Setup::site(origin.port, RULES).admin(&admin).start();
    for path in ["/api/v1/status", "/api/v1/openapi.json", "/api/v1/violations.csv", "/api/x"] {
        let request = Request::get(path).host("localhost").field("Accept", "text/html,*/*");
        let refused = request.send(beadle.admin);
        assert_eq!(refused.status, 401, "{path}");
        assert!(refused.has("www-authenticate", "Bearer realm=\"beadle\""), "{path}");
        assert_eq!(refused.header("content-type"), Some("application/problem+json"), "{path}");
        assert_eq!(json(&refused.text())["type"], "urn:beadle:problem:token", "{path}");
        let right = request.field("Authorization", format!("Bearer {TOKEN}")).send(beadle.admin);
        assert_eq!(right.status, if path == "/api/x" { 404 } else { 200 }, "{path}");
    }
}
