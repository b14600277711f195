//! The pages of crawlers: the list, the scorecard, the evidence bundle.

use std::process::Command;

use beadle::{
    base::text::Text,
    records::{
        tally::{Claimant, Hour, PlaceCount, PlaceKind, ReadState, Rollup, Rollups, Series},
        violations::Store,
    },
};
use jiff::Timestamp;
use serde_json::Value;

use super::{RULES, assert_guarded, page};
use crate::support::{
    client::{Request, Response},
    origin::Origin,
    program::{Beadle, PROGRAM, Setup, json_lines},
    week::{self, SITE},
};

/// A site with the counts of two weeks.
pub(super) fn with_a_week() -> Beadle {
    let origin = Origin::plain();
    let site =
        format!("  - hosts: [{SITE}]\n    origin: http://127.0.0.1:{}\n{RULES}", origin.port);
    let beadle = Setup::sites(&site).start();
    week::fill(&beadle.folder().join("beadle.db"), Timestamp::now());
    beadle
}

fn get(beadle: &Beadle, path: &str) -> Response {
    let answer = page(beadle, path).send(beadle.admin);
    assert_guarded(&answer, path);
    answer
}

fn text(beadle: &Beadle, path: &str) -> String {
    let answer = get(beadle, path);
    assert_eq!(answer.status, 200, "{path}");
    let text = answer.text();
    assert!(!text.contains("<script") && !text.contains("style="), "{path}: {text}");
    text
}

/// The links to crawlers in the table: the address and the name.
fn rows(text: &str) -> Vec<(String, String)> {
    let row = |rest: &str| {
        let (link, rest) = rest.split_once("\">")?;
        Some((link.replace("&#38;", "&"), rest.split('<').next()?.to_owned()))
    };
    let rest = text.split("<tr><td class=\"head\"><a href=\"").skip(1);
    rest.filter(|rest| rest.starts_with("/crawlers/")).filter_map(row).collect()
}

fn names(text: &str) -> Vec<String> {
    rows(text).into_iter().map(|(_, name)| name).collect()
}

#[test]
fn crawlers_are_listed_sorted_and_filtered() {
    let beadle = with_a_week();
    let all = names(&text(&beadle, "/crawlers"));
    assert_eq!((all.len(), all[0].as_str(), all[1].as_str()), (16, "GPTBot", "Bytespider"));
    for (query, first) in [
        ("?sort=requests", "Googlebot"),
        ("?sort=share", "Bytespider"),
        ("?sort=change", "YandexBot"),
        ("?sort=this", "GPTBot"),
        ("?sort=confirmed&days=30", "bingbot"),
        ("?sort=name", "(no name)"),
        ("?sort=%3Cscript%3E&days=x", "GPTBot"),
        ("?days=1", "GPTBot"),
    ] {
        let found = text(&beadle, &format!("/crawlers{query}"));
        assert_eq!(names(&found)[0], first, "{query}");
        assert_eq!(found.matches("aria-sort=").count(), 1, "{query}");
    }
    // Impostors have a row of their own, which leads to their violations.
    let found = text(&beadle, "/crawlers?sort=false");
    let first = found.split("<tr><td class=\"head\"><a href=\"").nth(1).expect("a row");
    assert!(first.contains(">claims to be Googlebot</a>"), "{first}");
    assert!(
        first.starts_with("/violations?crawler=Googlebot&#38;impostors=only&#38;since="),
        "{first}"
    );
    let search = names(&text(&beadle, "/crawlers?purpose=search&site=WWW.example.com"));
    assert!(search.contains(&"bingbot".to_owned()) && !search.contains(&"GPTBot".to_owned()));
    let unknown = names(&text(&beadle, "/crawlers?purpose=unknown"));
    assert_eq!(unknown, ["(no name)"]);
    for (query, fault) in [
        ("?site=other.example", "No site has the host &#39;other.example&#39;"),
        ("?purpose=%3Cscript%3E", "No crawlers have the purpose"),
    ] {
        let found = text(&beadle, &format!("/crawlers{query}"));
        assert!(found.contains("No crawler came in this time that this filter takes."), "{found}");
        assert!(found.contains(fault), "{found}");
    }
    for (link, name) in rows(&text(&beadle, "/crawlers?days=30")) {
        assert!(link.ends_with("?days=30"), "{link}");
        let found = text(&beadle, &link);
        let name = if name == "(no name)" { "Clients without a name" } else { &name };
        assert!(found.contains(&format!("<h1>{name}</h1>")), "{link}: {found}");
    }
}

#[test]
fn the_scorecard_says_what_the_command_says() {
    let beadle = with_a_week();
    for token in ["GPTBot", "Googlebot", "CCBot", "DotBot"] {
        let page = text(&beadle, &format!("/crawlers/{token}"));
        let score = beadle.verb(&["crawlers", "score", token, "--format", "json"]);
        let [score]: [Value; 1] = json_lines(&score).try_into().expect("one line");
        for number in [&score["requests"], &score["violations"], &score["read"]["never"]] {
            let number = number.as_u64().expect("a number");
            let shown = match number {
                small if small < 1000 => small.to_string(),
                large => format!("{},{:03}", large / 1000, large % 1000),
            };
            let cell = format!("<td class=\"number\">{shown}</td>");
            assert!(page.contains(&cell), "{token}: {cell} {page}");
        }
        for (reason, _) in score["reasons"].as_object().expect("an object") {
            assert!(page.contains(reason.as_str()), "{token}: {reason}");
        }
        for part in [
            "In figures",
            "Fetches of robots.txt",
            "Too soon for the pace",
            "svg class=\"chart wide\"",
        ] {
            assert!(page.contains(part), "{token}: {part}");
        }
    }
    let page = text(&beadle, "/crawlers/gptbot?days=1&site=www.example.com");
    for part in [
        "<h1>GPTBot</h1>",
        "OpenAI",
        "24 hours, against the 24 hours before",
        "<a href=\"/violations?crawler=GPTBot&#38;site=www.example.com&#38;rule=Disallow%3A+%2Fprivate%2F&#38;since=20",
        "\">Disallow: /private/</a>",
        "/private/prices",
        "/violations?crawler=GPTBot&#38;site=www.example.com&#38;since=20",
        "beadle report --evidence GPTBot --since 1d --site www.example.com --config ",
        "/crawlers/GPTBot/evidence.zip?days=1&#38;site=www.example.com",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    // What a person looks for first comes first: the records, and the requests over time.
    let order = ["Its violations", "Requests over time", "In figures", "Rules broken"];
    let places = order.map(|part| page.find(part).expect("it is there"));
    assert!(places.is_sorted(), "{places:?}");
    let elsewhere = text(&beadle, "/crawlers/GPTBot?site=other.example");
    assert!(elsewhere.contains("No site has the host &#39;other.example&#39;"), "{elsewhere}");
    let nameless = text(&beadle, "/crawlers/-");
    assert!(nameless.contains("Clients without a name"), "{nameless}");
    assert!(!nameless.contains("evidence.zip"), "nobody to send it to: {nameless}");
}

#[test]
fn a_name_that_nobody_knows_is_answered_with_the_nearest() {
    let origin = Origin::plain();
    let beadle = Setup::site(origin.port, RULES).start();
    for (token, said) in [
        ("GPTBoot", "did you mean GPTBot?"),
        ("%3Cscript%3E", "neither the catalogue nor"),
        ("..%2F..%2Fetc%2Fpasswd", "neither the catalogue nor"),
        ("%252f", "neither the catalogue nor"),
        ("a%0D%0Ab", "neither the catalogue nor"),
        ("%FF%FE", "neither the catalogue nor"),
        ("%00", "neither the catalogue nor"),
    ] {
        for path in [format!("/crawlers/{token}"), format!("/crawlers/{token}/evidence.zip")] {
            let answer = get(&beadle, &path);
            assert_eq!(answer.status, 404, "{path}");
            let text = answer.text();
            assert!(text.contains(said) && !text.contains("<script"), "{path}: {text}");
        }
    }
    let empty = text(&beadle, "/crawlers?days=90");
    assert!(empty.contains("No crawler came in this time."), "{empty}");
    let known = text(&beadle, "/crawlers/ClaudeBot?days=30");
    assert!(known.contains("No request came in this time.") && known.contains("Anthropic"));
    assert!(known.contains("so nothing is compared."), "{known}");

    let none = Setup::site(origin.port, "").violations("  log: $DIR/violations.jsonl\n").start();
    for path in ["/crawlers", "/crawlers/GPTBot", "/crawlers/GPTBot/evidence.zip"] {
        assert!(
            text(&none, path).contains("Set violations.database, and restart Beadle."),
            "{path}"
        );
    }
}

#[test]
fn hostile_names_are_shown_and_linked_as_they_are() {
    let origin = Origin::plain();
    let beadle = Setup::site(origin.port, RULES).start();
    for user_agent in
        ["<script>alert(1)</script>Bot/1.0", "../../etcBot/1.0 (+http://x.example/bot)"]
    {
        assert_eq!(beadle.get("/private/a", user_agent).status, 200, "only logged");
    }
    beadle.wait_for_metric("beadle_records_stored_total", 1.0);
    let hostile =
        ["<script>alert(1)</script>", "../x", "..", "%2f", "a&b\"'", "a\nb", "Odd Crawler"];
    let rollups =
        Rollups { series: hostile.iter().map(|name| logged(name)).collect(), ..Rollups::default() };
    let mut store = Store::open(&beadle.folder().join("beadle.db")).expect("a database");
    store.add_rollups(&rollups).expect("added");
    let all = text(&beadle, "/crawlers");
    let found = rows(&all);
    assert_eq!(found.len(), hostile.len(), "all but '..', and the one that came: {all}");
    for (link, name) in found {
        let card = text(&beadle, &link);
        assert!(card.contains(&format!("<h1>{name}</h1>")), "{link}: {card}");
        let (_, rest) = card.split_once("<p class=\"pages\"><a href=\"").expect("a link");
        let violations = rest.split('"').next().expect("an address").replace("&#38;", "&");
        let listed = text(&beadle, &violations);
        assert!(listed.contains(&format!("name=\"crawler\" value=\"{name}\"")), "{listed}");
    }
    for all in [all, text(&beadle, "/crawlers?days=30")] {
        assert!(all.contains("<a href=\"/violations?crawler=..\">..</a>"), "{all}");
    }
}

/// Five logged violations of this name in the present hour.
fn logged(name: &str) -> Rollup {
    let series = Series {
        site: Text::word("site.example"),
        class: Text::word("automation"),
        product_token: Text::field(name.as_bytes()),
        purpose: Text::default(),
        standing: Text::word("unknown"),
        verdict: Text::word("disallow"),
        action: Text::word("log"),
        reason: Text::word("robots.disallow"),
        edition: Text::default(),
        line: 1,
        directive: Text::word("disallow"),
        pattern: Text::word("/private/"),
        read: Some(ReadState::Never),
    };
    Rollup { hour: Hour::of(Timestamp::now()), series, requests: 5, folded: 0, dropped: 0 }
}

#[test]
fn limited_requests_have_a_column_and_a_band() {
    let beadle = with_a_week();
    assert!(!text(&beadle, "/").contains("key limited"));
    let logged = logged("GPTBot");
    let series = Series {
        site: Text::word(SITE),
        class: Text::word("crawler"),
        verdict: Text::word("allow"),
        action: Text::word("throttle"),
        reason: Text::word("limit"),
        read: None,
        ..logged.series
    };
    let limited = Rollup { series, requests: 4_321, ..logged };
    let rollups = Rollups { series: vec![limited], ..Rollups::default() };
    let mut store = Store::open(&beadle.folder().join("beadle.db")).expect("a database");
    store.add_rollups(&rollups).expect("added");
    let sorted = text(&beadle, "/crawlers?sort=limited");
    assert_eq!(names(&sorted)[0], "GPTBot");
    assert!(sorted.contains(">limited</a></th>"), "{sorted}");
    let (_, row) = sorted.split_once(">GPTBot</a>").expect("a row");
    let row = row.split("</tr>").next().unwrap_or_default();
    assert!(row.contains(" class=\"number\">4,321</td>"), "{row}");
    for (path, heading) in [
        ("/", ">Violations and limited requests over time</h2>"),
        ("/crawlers/GPTBot", ">Requests over time</h2>"),
    ] {
        let page = text(&beadle, path);
        let (_, chart) = page.split_once(heading).expect(heading);
        let chart = chart.split("<h2").next().unwrap_or_default();
        for part in ["rect class=\"limited\"", "key limited", ">limited</th>", ">4,321</td>"] {
            assert!(chart.contains(part), "{path}: {part}: {chart}");
        }
    }
}

#[test]
fn a_downloaded_bundle_verifies() {
    let origin = Origin::plain();
    let beadle = Setup::site(origin.port, RULES).start();
    for number in 0..3 {
        beadle.get(&format!("/private/{number}"), "GPTBot/1.2");
    }
    beadle.get("/", "ClaudeBot/1.0");
    beadle.wait_for_metric("beadle_records_stored_total", 3.0);
    let bundle = get(&beadle, "/crawlers/gptbot/evidence.zip?days=1");
    assert_eq!((bundle.status, bundle.header("content-type")), (200, Some("application/zip")));
    let name = "attachment; filename=\"evidence-GPTBot.zip\"";
    assert_eq!(bundle.header("content-disposition"), Some(name));
    let file = beadle.folder().join("bundle.zip");
    std::fs::write(&file, &bundle.body).expect("the folder is ours");
    let verified = Command::new(PROGRAM)
        .args(["report", "--verify"])
        .arg(&file)
        .output()
        .expect("the program can be started");
    let said = String::from_utf8_lossy(&verified.stdout);
    assert_eq!(verified.status.code(), Some(0), "{said}");
    assert!(said.contains("3 "), "{said}");
    for (path, said) in [
        ("/crawlers/ClaudeBot/evidence.zip", "there is nothing to prove"),
        ("/crawlers/GPTBot/evidence.zip?site=sit.example", "No such site"),
        ("/crawlers/-/evidence.zip", "Clients without a name have no operator"),
    ] {
        let answer = get(&beadle, path);
        assert_eq!(answer.status, 404, "{path}");
        assert!(answer.text().contains(said), "{path}: {}", answer.text());
    }
    beadle.replace_policy("sites: nonsense\n");
    let answer = get(&beadle, "/crawlers/GPTBot/evidence.zip");
    assert_eq!(answer.status, 503);
    assert!(answer.text().contains("Repair "), "{}", answer.text());
}

#[test]
fn pages_and_answers_about_a_crawler_are_the_same_with_and_without_impostors() {
    let with = with_a_week();
    let without = with_a_week();
    let hour = Hour::of(Timestamp::now());
    let series = |reason: &'static str, action: &'static str, read| Series {
        site: Text::word(SITE),
        class: Text::word("crawler"),
        product_token: Text::word("GPTBot"),
        purpose: Text::default(),
        standing: Text::word("contradicted"),
        verdict: Text::word("allow"),
        action: Text::word(action),
        reason: Text::word(reason),
        edition: Text::word(week::EDITION),
        line: 0,
        directive: Text::default(),
        pattern: Text::default(),
        read,
    };
    let rollup = |series| Rollup { hour, series, requests: 3_000, folded: 0, dropped: 0 };
    let place = |kind, place| PlaceCount {
        hour,
        kind,
        site: Text::word(SITE),
        product_token: Text::word("GPTBot"),
        claimant: Claimant::Impostor,
        place: Text::word(place),
        violations: 3_000,
    };
    let rollups = Rollups {
        series: vec![
            rollup(series("claim.contradicted", "block", Some(ReadState::Current))),
            rollup(series("robots.robots_txt", "pass", None)),
        ],
        places: vec![place(PlaceKind::Path, "/"), place(PlaceKind::Network, "192.0.2.0/24")],
        ..Rollups::default()
    };
    let mut store = Store::open(&with.folder().join("beadle.db")).expect("a database");
    store.add_rollups(&rollups).expect("added");
    let row = |beadle: &Beadle, path: &str| {
        let page = text(beadle, path);
        let rest = page.split_once(">GPTBot</a>").expect("a row").1;
        rest.split("</tr>").next().map(str::to_owned)
    };
    for path in ["/", "/crawlers"] {
        assert_eq!(row(&with, path), row(&without, path), "{path}");
        assert!(text(&with, path).contains(">claims to be GPTBot</a>"), "{path}");
    }
    // The page of the crawler: all but the line about its impostors.
    let lines = |beadle: &Beadle| -> Vec<String> {
        let page = text(beadle, "/crawlers/GPTBot");
        let of_others = |line: &&str| !line.contains("impostors") && !line.contains("--config");
        page.split("<tr>").flat_map(str::lines).filter(of_others).map(str::to_owned).collect()
    };
    assert_eq!(lines(&with), lines(&without));
    let api = |beadle: &Beadle, path: &str| {
        let answer = Request::get(path).host("localhost").send(beadle.admin);
        assert_eq!(answer.status, 200, "{path}");
        serde_json::from_str::<Value>(&answer.text()).expect("JSON")
    };
    for path in [
        "/api/v1/counts?crawler=GPTBot&by=day,action",
        "/api/v1/counts?crawler=GPTBot&by=read",
        "/api/v1/paths?crawler=GPTBot",
        "/api/v1/networks?crawler=GPTBot",
    ] {
        let [with, without] = [&with, &without].map(|beadle| {
            let mut answer = api(beadle, path);
            answer["until"].take(); // the second of the request
            answer
        });
        assert_eq!(with, without, "{path}");
    }
    let counts = api(&with, "/api/v1/counts?by=crawler&crawler=GPTBot");
    let rows = counts["counts"].as_array().expect("rows");
    assert_eq!((rows.len(), &rows[1]["standing"]), (2, &Value::from("contradicted")));
    assert!(rows[0].get("standing").is_none(), "{counts}");
    // 3,000 by the one series, 3,000 by the other.
    let page = text(&with, "/impostors");
    assert!(page.contains(">GPTBot</a></td><td class=\"number\">6,000</td>"), "{page}");
    assert!(page.contains("192.0.2.0/24 (3000)"), "{page}");
    assert!(!text(&without, "/impostors").contains("<td>GPTBot</td>"));
    let listed = Command::new(PROGRAM)
        .args(["crawlers", "impostors", "--format", "json", "--config"])
        .arg(with.policy_file())
        .output();
    let listed = json_lines(&listed.expect("the program can be started"));
    let one = listed.iter().find(|one| one["product_token"] == "GPTBot").expect("a line");
    assert_eq!(one["requests"], 6_000);
    assert_eq!(one["networks"][0][0], "192.0.2.0/24");
    assert!(one["since"].is_string() && one["more_networks"] == 0, "{one}");
    let found = text(&with, &format!("/robots/{SITE}"));
    let rest = found.split_once(">GPTBot</a></td><td class=\"number\">").expect("a row").1;
    assert!(rest.starts_with("29<"), "{rest}");
    assert!(
        found.contains("<td>claims to be GPTBot</td><td class=\"number\">3,000</td>"),
        "{found}"
    );
}
