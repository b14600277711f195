//! Pages by a cursor: every record once, whatever comes meanwhile.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{RULES, answer, get, lines, traffic};
use crate::support::{
    origin::Origin,
    program::{Beadle, Setup},
};

/// All pages from an address on, and what happens between two of them.
fn pages(beadle: &Beadle, query: &str, mut between: impl FnMut()) -> Vec<Value> {
    let mut found = Vec::new();
    let mut cursor = String::new();
    loop {
        let page = get(beadle, &format!("/api/v1/violations?{query}{cursor}"));
        found.extend(page["violations"].as_array().expect("records").clone());
        let Some(next) = page["next"].as_str() else { return found };
        cursor = format!("&cursor={next}");
        between();
    }
}

#[test]
fn pages_are_complete_and_without_doubles_while_records_come() {
    let origin = Origin::plain();
    let beadle = Setup::site(origin.port, RULES).start();
    for number in 0..57 {
        beadle.get(&format!("/private/{number}"), "GPTBot/1.2");
    }
    beadle.wait_for_metric("beadle_records_stored_total", 57.0);
    let before = lines(&beadle, &["violations", "--format", "json", "--limit", "1000"]);
    let mut stored = 57.0;
    let found = pages(&beadle, "limit=10&since=1h", || {
        for _ in 0..3 {
            beadle.get("/private/new", "GPTBot/1.2");
        }
        stored += 3.0;
        beadle.wait_for_metric("beadle_records_stored_total", stored);
    });
    let newest_first: Vec<Value> = before.into_iter().rev().collect();
    assert_eq!(found, newest_first, "as the command line had them, newest first");
    let ids: BTreeSet<_> = found.iter().map(|one| one["id"].as_str().expect("an id")).collect();
    assert_eq!(ids.len(), 57);
    // A page that ends with the last record is the last one.
    let all = stored as usize;
    assert_eq!(pages(&beadle, &format!("limit={all}"), || panic!("one page")).len(), all);
    assert_eq!(pages(&beadle, &format!("limit={}", all / 2), || ()).len(), all);
}

#[test]
fn filters_select_what_the_command_line_selects() {
    let origin = Origin::plain();
    let beadle = Setup::site(origin.port, RULES).start();
    let count = traffic(&beadle);
    for (query, args) in [
        ("", &[][..]),
        ("crawler=gptbot", &["--product-token", "gptbot"]),
        ("crawler=-", &["--product-token", "-"]),
        ("crawler=HouseBot&site=site.example", &["-t", "HouseBot", "--site", "site.example"]),
        ("purpose=ai-training", &["--purpose", "ai-training"]),
        ("path=/old/", &["--path", "/old/"]),
        ("path=/*%3Ftoken=", &["--path", "/*?token="]),
        ("path=*a$&action=block", &["--path", "*a$", "--action", "block"]),
        ("since=2999-01-01", &["--since", "2999-01-01"]),
        ("since=1d&until=2999-01-01", &["--since", "1d", "--until", "2999-01-01"]),
    ] {
        let mut args = args.to_vec();
        args.splice(0..0, ["violations", "--format", "json"]);
        let mut expected = lines(&beadle, &args);
        expected.reverse();
        assert_eq!(pages(&beadle, &format!("{query}&limit=2"), || ()), expected, "{query}");
        assert!(expected.len() <= count);
    }
    let all = get(&beadle, "/api/v1/violations");
    for record in all["violations"].as_array().expect("records") {
        let id = record["id"].as_str().expect("an id");
        assert_eq!(&get(&beadle, &format!("/api/v1/violations/{id}")), record);
        let other = id.to_ascii_uppercase().replace('-', "");
        assert_eq!(&get(&beadle, &format!("/api/v1/violations/{other}")), record);
    }
}

#[test]
fn a_cursor_of_another_filter_is_refused() {
    let origin = Origin::plain();
    let beadle = Setup::site(origin.port, RULES).start();
    traffic(&beadle);
    let page = get(&beadle, "/api/v1/violations?crawler=GPTBot&limit=1");
    let next = page["next"].as_str().expect("there are more");
    for query in ["", "crawler=bingbot&", "crawler=GPTBot&action=block&", "crawler=gptbot&"] {
        let refused = answer(&beadle, &format!("/api/v1/violations?{query}cursor={next}"));
        assert_eq!(refused.status, 400, "{query}");
        assert!(refused.text().contains("belongs to another filter"), "{}", refused.text());
    }
    let other_size = format!("/api/v1/violations?crawler=GPTBot&limit=7&cursor={next}");
    assert_eq!(get(&beadle, &other_size)["violations"].as_array().map(Vec::len), Some(2));
}
