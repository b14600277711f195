//! Counts, places, people, reports and editions: what the command line and the database say.

use serde_json::{Value, json};

use super::{RULES, answer, get, lines, traffic};
use crate::support::{
    origin::Origin,
    program::{Beadle, Setup, json_lines},
    wait_for,
};

fn sum(rows: &Value, field: &str) -> u64 {
    rows.as_array().expect("rows").iter().map(|row| row[field].as_u64().expect("a number")).sum()
}

/// Waits until the requests that were only counted are in the database.
fn counted(beadle: &Beadle, requests: u64) {
    wait_for("the counts", || {
        let counts = get(beadle, "/api/v1/counts");
        (sum(&counts["counts"], "requests") == requests).then_some(())
    });
}

fn pairs(rows: &Value, key: &str) -> Vec<(Value, u64)> {
    let rows = rows.as_array().expect("rows").iter();
    rows.map(|row| (row[key].clone(), row["violations"].as_u64().expect("a number"))).collect()
}

#[test]
fn counts_agree_with_the_command_line() {
    let origin = Origin::plain();
    let beadle = Setup::site(origin.port, RULES).start();
    let violations = traffic(&beadle) as u64;
    counted(&beadle, violations + 3);
    let by_crawler = get(&beadle, "/api/v1/counts?by=crawler&only_violations=true");
    let mut found = pairs(&by_crawler["counts"], "crawler");
    let of_command = lines(&beadle, &["violations", "--by", "crawler", "--format", "json"]);
    let mut expected = pairs(&Value::Array(of_command), "key");
    found.sort_by_key(|(name, _)| name.to_string());
    expected.sort_by_key(|(name, _)| name.to_string());
    assert_eq!(found, expected);
    assert_eq!(sum(&by_crawler["counts"], "violations"), violations);

    for (query, requests, all) in [
        ("", violations + 3, violations),
        ("crawler=GPTBot", 6, 3),
        ("crawler=-", 1, 1),
        ("crawler=GPTBot&only_violations=true", 3, 3),
        ("site=site.example&purpose=ai-training", 6, 3),
        ("since=2020-01-01&until=2020-02-01", 0, 0),
    ] {
        let counts = get(&beadle, &format!("/api/v1/counts?{query}"));
        assert_eq!(sum(&counts["counts"], "requests"), requests, "{query}");
        assert_eq!(sum(&counts["counts"], "violations"), all, "{query}");
    }
    // What is told apart adds up.
    for by in ["site,action", "reason,directive,pattern,line", "read,hour", "day,class,crawler"] {
        let counts = get(&beadle, &format!("/api/v1/counts?by={by}"));
        assert_eq!(sum(&counts["counts"], "requests"), violations + 3, "{by}");
        for row in counts["counts"].as_array().expect("rows") {
            let names: Vec<_> = row.as_object().expect("an object").keys().cloned().collect();
            let counts = ["requests", "violations", "folded", "dropped"];
            let expected: Vec<_> = by.split(',').chain(counts).map(str::to_owned).collect();
            assert_eq!(names, expected);
        }
    }
    for (path, key, by) in [("paths", "path", "path"), ("networks", "network", "network")] {
        let places = get(&beadle, &format!("/api/v1/{path}"));
        let of_command = lines(&beadle, &["violations", "--by", by, "--format", "json"]);
        assert_eq!(pairs(&places[path], key), pairs(&Value::Array(of_command), "key"), "{path}");
        assert_eq!(places["more"], false);
        let first = get(&beadle, &format!("/api/v1/{path}?limit=1"));
        assert_eq!(first[path][0], places[path][0]);
        assert_eq!(first["more"], places[path].as_array().is_some_and(|all| all.len() > 1));
    }
    let nameless = get(&beadle, "/api/v1/paths?crawler=-");
    assert_eq!(nameless["paths"], json!([{ "path": "/private/x", "violations": 1 }]));
    wait_for("people", || {
        let people = get(&beadle, "/api/v1/people?by=site");
        let expected = json!([{ "site": "site.example", "requests": 2 }]);
        (people["people"] == expected).then_some(())
    });
    wait_for("their visits", || {
        let referrals = get(&beadle, "/api/v1/referrals");
        let expected = json!([{ "operator": "OpenAI", "site": "site.example", "visits": 1 }]);
        (referrals["referrals"] == expected).then_some(())
    });
}

#[test]
fn reports_are_those_of_the_command_line() {
    let origin = Origin::plain();
    let beadle = Setup::site(origin.port, RULES).start();
    let violations = traffic(&beadle) as u64;
    counted(&beadle, violations + 3);
    // The end is now, which moves; an hour may begin between two answers.
    let without_end = |mut value: Value| {
        if let Some(line) = value.as_object_mut() {
            line.remove("until");
        }
        value
    };
    wait_for("the same report", || {
        let review = get(&beadle, "/api/v1/report?since=24h");
        let found = review.as_array().expect("lines").iter().cloned().map(without_end);
        let printed = lines(&beadle, &["report", "--since", "24h", "--format", "json"]);
        found.eq(printed.into_iter().map(without_end)).then_some(())
    });
    wait_for("the same scorecard", || {
        let score = get(&beadle, "/api/v1/crawlers/gptbot?site=site.example");
        let site = ["--site", "site.example"];
        let args = [&["crawlers", "score", "gptbot", "--format", "json"][..], &site].concat();
        let output = beadle.verb(&args);
        let printed = json_lines(&output).remove(0);
        (without_end(score) == without_end(printed)).then_some(())
    });
}

#[test]
fn editions_are_those_of_the_command_line() {
    let origin = Origin::plain();
    let setup = Setup::site(origin.port, RULES);
    let beadle = setup.clone().start();
    let first = get(&beadle, "/api/v1/robots")["sites"][0].clone();
    beadle.reload(&setup.replaced("/old/", "/older/"));
    let sites = get(&beadle, "/api/v1/robots");
    let second = &sites["sites"][0];
    assert_ne!(first["sha256"], second["sha256"]);
    assert_eq!((&second["source"], &second["quarantined"]), (&json!("policy"), &json!(false)));
    let editions = wait_for("both editions", || {
        let editions = get(&beadle, "/api/v1/robots/SITE.example./editions");
        (editions["editions"].as_array()?.len() == 2).then_some(editions)
    });
    assert_eq!(editions["site"], "site.example");
    let of_command = lines(&beadle, &["robots", "--history", "--format", "json"]);
    assert_eq!(editions["editions"], Value::Array(of_command));
    for (edition, pattern) in [(&first, "/old/"), (second, "/older/")] {
        let id = edition["edition"].as_str().expect("an id");
        let file = answer(&beadle, &format!("/api/v1/robots/site.example/editions/{id}"));
        assert_eq!(file.header("content-type"), Some("text/plain; charset=utf-8"));
        assert!(file.text().contains(&format!("Disallow: {pattern}\n")), "{}", file.text());
        let printed = beadle.verb(&["robots", "--edition", id]).stdout;
        assert_eq!(file.body, printed, "byte for byte");
    }
}
