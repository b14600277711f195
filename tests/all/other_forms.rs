//! Other forms of closed paths over the running program: listed apart, with the form, and never counted
//! against a crawler.

use serde_json::{Value, json};

use crate::support::{
    client::Request,
    origin::Origin,
    program::{Beadle, Setup, json_lines},
};

const RULES: &str = "
    robots_txt: { groups: [{ user_agents: [\"*\"], disallow: [/private/], allow: [/private/open] }] }
    enforcement: { mode: log }
";
/// The paths that GPTBot requests, with the form that the rules close.
const FORMS: [[&str; 2]; 3] = [
    ["//private/1", "/private/1"],
    ["/private%2F2", "/private/2"],
    ["/private/open/..%2F3", "/private/3"],
];

/// Three requests of GPTBot for other forms, and one violation of CCBot.
fn crawled() -> (Beadle, Origin) {
    let origin = Origin::plain();
    let beadle = Setup::site(origin.port, RULES).start();
    let ask = |target: &str, user_agent: &str| {
        Request::get(target).user_agent(user_agent).send(beadle.port);
    };
    for (number, [target, _]) in FORMS.into_iter().enumerate() {
        ask(target, "GPTBot/1.2");
        // Wait, so that the records have this order.
        beadle.wait_for_metric("beadle_records_stored_total", number as f64 + 1.0);
    }
    ask("/private/x", "CCBot/2.0");
    beadle.wait_for_metric("beadle_records_stored_total", 4.0);
    (beadle, origin)
}

fn text(beadle: &Beadle, args: &[&str]) -> String {
    String::from_utf8(beadle.verb(args).stdout).expect("UTF-8")
}

#[test]
fn a_listing_of_other_forms_shows_them_and_counts_requests() {
    let (beadle, _origin) = crawled();
    let rows = json_lines(&beadle.verb(&["violations", "--format", "json"]));
    assert_eq!(rows.len(), 1);
    assert_eq!((&rows[0]["product_token"], rows[0].get("form")), (&json!("CCBot"), None));
    let forms = ["violations", "--reason", "robots.form"];
    let with = |more: &[&'static str]| [&forms, more].concat();

    let rows = json_lines(&beadle.verb(&with(&["--format", "json"])));
    let shown: Vec<_> = rows.iter().map(|row| [&row["path"], &row["form"]]).collect();
    assert_eq!(json!(shown), json!(FORMS));
    let mut log = beadle.records(4);
    log.retain(|record| record["reason"] == "robots.form");
    let without_form = rows.iter().cloned().map(|mut row| {
        row.as_object_mut().expect("a record").remove("form");
        row
    });
    assert_eq!(without_form.collect::<Vec<_>>(), log, "the other fields are those of a record");

    let csv = text(&beadle, &with(&["--format", "csv"]));
    let ends: Vec<_> = csv.lines().map(|line| line.rsplit(',').next().unwrap_or("")).collect();
    assert_eq!(ends, ["form", "/private/1", "/private/2", "/private/3"]);
    let table = text(&beadle, &forms);
    let header = table.lines().next().expect("a header");
    assert!(header.contains("PATH") && header.contains("OTHER FORM"), "{table}");
    assert!(table.contains("/private/3"), "{table}");

    for (by, key) in [
        ("crawler", "GPTBot"),
        ("rule", "Disallow: /private/"),
        ("path", "//private/1"),
        ("network", "127.0.0.0/24"),
        ("day", "20"),
    ] {
        let table = text(&beadle, &with(&["--by", by]));
        assert!(table.contains("  REQUESTS") && !table.contains("VIOLATIONS"), "{table}");
        assert!(table.contains(key), "{by}: {table}");
        let rows = json_lines(&beadle.verb(&with(&["--by", by, "--format", "json"])));
        let sum = |field: &str| rows.iter().filter_map(|row| row[field].as_u64()).sum::<u64>();
        assert_eq!((sum("requests"), sum("violations")), (3, 0), "{by}");
    }
    let table = text(&beadle, &["violations", "--by", "crawler"]);
    assert!(table.contains("VIOLATIONS") && !table.contains("GPTBot"), "{table}");
    let none = beadle.verb(&with(&["--since", "2999-01-01"]));
    assert!(String::from_utf8_lossy(&none.stderr).contains("no requests with"), "{none:?}");
}

#[test]
fn other_forms_count_for_no_report_no_score_and_no_evidence() {
    let (mut beadle, _origin) = crawled();
    beadle.stop();
    let rows = json_lines(&beadle.verb(&["report", "--format", "json"]));
    let row = |kind: &str, token: &str| -> Value {
        let mut rows = rows.iter().filter(|row| row["kind"] == kind);
        let found = rows.find(|row| token.is_empty() || row["product_token"] == token);
        found.cloned().expect("a row")
    };
    let total = row("total", "");
    assert_eq!((&total["violations"], &total["other_forms"]), (&json!(1), &json!(3)));
    let crawler = row("crawler", "GPTBot");
    let counts = ["requests", "violations", "broken"].map(|field| crawler[field].clone());
    assert_eq!(json!(counts), json!([3, 0, 0]));
    let rules = rows.iter().filter(|row| row["rule"].is_object());
    let rules: u64 = rules.filter_map(|row| row["violations"].as_u64()).sum();
    assert_eq!(rules, 1, "{rows:?}");
    let score = beadle.verb(&["crawlers", "score", "GPTBot", "--format", "json"]);
    let score = json_lines(&score).remove(0);
    assert_eq!((&score["violations"], &score["broken"]), (&json!(0), &json!(0)), "{score}");
    let file = beadle.folder().join("gptbot.zip");
    let file = file.to_str().expect("text");
    let output = beadle.verb(&["report", "--evidence", "GPTBot", "--output", file]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("nothing to prove"), "{output:?}");
}

#[test]
fn the_desk_lists_other_forms_apart_and_their_pages_lead_to_forms() {
    let (beadle, _origin) = crawled();
    let page = |path: &str| Request::get(path).host("localhost").send(beadle.admin).text();
    let list = page("/violations?reason=robots.form");
    for known in [
        "<title>Other forms of closed paths",
        "<caption>3 requests, the latest first</caption>",
        "<th scope=\"col\">other form</th>",
        " title=\"/private/3\">/private/3</td>",
        "<a href=\"/violations?reason=robots.form\">All</a>",
        "<a href=\"/violations\">Violations</a>",
    ] {
        assert!(list.contains(known), "{known}: {list}");
    }
    let violations = page("/violations");
    for known in ["<title>Violations", "1 violation, the latest first"] {
        assert!(violations.contains(known), "{known}: {violations}");
    }
    assert!(!violations.contains(">All</a>"), "no filter to leave");
    assert!(!violations.contains("other form</th>") && !violations.contains("GPTBot</td>"));

    let ids: Vec<String> = beadle
        .records(4)
        .iter()
        .filter(|record| record["reason"] == "robots.form")
        .map(|record| record["id"].as_str().expect("an id").to_owned())
        .collect();
    let one = page(&format!("/violations/{}", ids[1]));
    for known in [
        format!("<title>Other form {}", ids[1]),
        format!("<a rel=\"prev\" href=\"/violations/{}\">Other form before</a>", ids[0]),
        format!("<a rel=\"next\" href=\"/violations/{}\">Other form after</a>", ids[2]),
        "href=\"/violations?crawler=GPTBot&#38;reason=robots.form\">Other forms by GPTBot<"
            .to_owned(),
        "<dd class=\"mono\">/private/2</dd>".to_owned(),
    ] {
        assert!(one.contains(&known), "{known}: {one}");
    }
    assert!(!one.contains("Violation ") && !one.contains("Violations by"), "{one}");
    let overview = page("/");
    let tile = "<dt>Other forms of closed paths</dt><dd><a href=\"/violations?reason=robots.form&#38;since=";
    assert!(overview.contains(tile), "{overview}");
}
