//! What a site says about the use of its content, as crawlers and browsers get it.

use std::process::Command;

use crate::support::{
    client::{Request, Response},
    origin::{After, Origin},
    program::{Beadle, PROGRAM, Setup, json_lines},
};

const GPTBOT: &str = "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)";
const SITE: &str = "    robots_txt:
      groups:
        - { user_agents: [\"*\"], disallow: [/private/] }
        - { user_agents: [CCBot], disallow: [/] }
    preferences:
      - { train-ai: no, search: yes }
      - { paths: [/press/], train-ai: yes }
    license: https://www.example.com/license.xml
    tdm: true
";

/// An origin that says something itself below `/own/`.
fn origin() -> Origin {
    Origin::playing(|exchange| {
        let target = exchange.request.target.clone();
        let fields: &[&str] = match target.as_slice() {
            b"/own/" => &[
                "Content-Usage: train-ai=y, search=n, more=n",
                "TDM-Reservation: 1",
                "Link: </a.css>; rel=preload",
            ],
            b"/own/broken" => &["Content-Usage: train-ai=y,"],
            b"/same" => &["Content-Usage: train-ai=y", "Link: </a.css>; rel=preload"],
            _ => &[],
        };
        let status = if target == b"/same" { "304 Not Modified" } else { "200 OK" };
        exchange.answer(status, fields, if target == b"/same" { b"" } else { b"ok" as &[u8] });
        After::Close
    })
}

fn get(beadle: &Beadle, target: &str) -> Response {
    Request::get(target).user_agent(GPTBOT).send(beadle.port)
}

#[test]
fn robots_txt_and_responses_say_the_preferences() {
    let origin = origin();
    let beadle = Setup::site(origin.port, SITE).start();
    let robots = get(&beadle, "/robots.txt").text();
    let lines = "Content-Usage: train-ai=n, search=y\nContent-Usage: /press/ train-ai=y, search=y\n\
                 Content-Signal: ai-train=no, search=yes\n\
                 Content-Signal: /press/ ai-train=yes, search=yes";
    // CCBot, the two control tokens and '*'.
    assert_eq!(robots.matches(lines).count(), 4, "{robots}");
    assert!(robots.contains(
        "User-agent: Google-Extended\nDisallow: /private/\nAllow: /press/\nDisallow: /\n"
    ));
    assert_eq!(robots.matches("License: https://www.example.com/license.xml").count(), 1);

    let license =
        "<https://www.example.com/license.xml>; rel=\"license\"; type=\"application/rsl+xml\"";
    for (target, usage, reserved, links) in [
        ("/", &["train-ai=n, search=y"][..], Some("1"), &[license][..]),
        ("/press/2026", &["train-ai=y, search=y"], Some("0"), &[license]),
        // The stricter one counts, and the rest of the origin's stays.
        (
            "/own/",
            &["train-ai=y, search=n, more=n", "train-ai=n, search=n"],
            Some("1"),
            &["</a.css>; rel=preload", license],
        ),
        ("/own/broken", &["train-ai=n, search=y"], Some("1"), &[license]),
        // A cache would take the fields of a 304 over those that it stored.
        ("/same", &[], None, &["</a.css>; rel=preload"]),
    ] {
        let response = get(&beadle, target);
        assert_eq!(response.all("content-usage"), usage, "{target}");
        assert_eq!(response.header("tdm-reservation"), reserved, "{target}");
        assert_eq!(response.all("link"), links, "{target}");
    }
    let tdmrep = get(&beadle, "/.well-known/tdmrep.json");
    assert_eq!((tdmrep.status, tdmrep.header("content-type")), (200, Some("application/json")));
    let tdmrep: serde_json::Value = serde_json::from_str(&tdmrep.text()).expect("JSON");
    assert_eq!(tdmrep[1]["location"], "/");

    let explained = beadle.verb(&["explain", "--user-agent", GPTBOT, "/press/x"]);
    let explained = String::from_utf8_lossy(&explained.stdout).into_owned();
    assert!(
        explained.contains("Content-Usage: /press/ train-ai=y, search=y (robots.txt line "),
        "{explained}"
    );
}

#[test]
fn the_matrix_of_the_running_proxy_gives_back_the_table_of_the_policy() {
    let origin = Origin::plain();
    let site = SITE.replace(
        "    license",
        "      - { user_agents: [bingbot], search: no }
      - { paths: [/press/own/], user_agents: [GPTBot], train-ai: no }
    license",
    );
    let beadle = Setup::site(origin.port, &format!("    default: true\n{site}")).start();
    for (path, name, expected) in [
        ("/", "GPTBot", ["yes", "no", "yes"]),
        ("/press/1", "GPTBot", ["yes", "yes", "yes"]),
        ("/press/own/1", "GPTBot", ["yes", "no", "yes"]),
        ("/press/own/1", "ClaudeBot", ["yes", "yes", "yes"]),
        ("/", "bingbot", ["yes", "no", "no"]),
        ("/press/1", "bingbot", ["yes", "yes", "no"]),
        // What may not be fetched may not be used.
        ("/", "CCBot", ["no", "no", "no"]),
        ("/private/1", "GPTBot", ["no", "no", "no"]),
    ] {
        let url = format!("http://127.0.0.1:{}{path}", beadle.port);
        let args = ["audit", "--matrix", "--format", "json", "--user-agent", name, &url];
        let found = Command::new(PROGRAM).args(args).output().expect("the program can be started");
        let rows = json_lines(&found);
        let row = rows.iter().find(|row| row["url"] == url).expect("a row");
        let answers =
            ["crawl", "train_ai", "search"].map(|key| row[key].as_str().unwrap_or("null"));
        assert_eq!(answers, expected, "{name} {path}: {row}");
    }
}

#[test]
fn a_policy_for_mining_is_sent_where_mining_is_reserved() {
    let origin = origin();
    let policy = "https://www.example.com/tdm.json";
    let site = SITE.replace("tdm: true", &format!("tdm: {policy}"));
    let beadle = Setup::site(origin.port, &site).start();
    for (target, reserved, sent) in
        [("/", Some("1"), Some(policy)), ("/press/2026", Some("0"), None), ("/same", None, None)]
    {
        let response = get(&beadle, target);
        assert_eq!(response.header("tdm-reservation"), reserved, "{target}");
        assert_eq!(response.header("tdm-policy"), sent, "{target}");
    }
    let rows = get(&beadle, "/.well-known/tdmrep.json").text();
    let rows: serde_json::Value = serde_json::from_str(&rows).expect("JSON");
    assert_eq!(
        (&rows[0]["tdm-policy"], &rows[1]["tdm-policy"]),
        (&serde_json::Value::Null, &policy.into())
    );
}

#[test]
fn the_desk_shows_what_crawlers_may_do() {
    let origin = origin();
    let beadle = Setup::site(origin.port, SITE).start();
    let page = |query: &str| {
        let path = format!("/robots/site.example/matrix{query}");
        let page = Request::get(path).host("localhost").send(beadle.admin);
        assert_eq!(page.status, 200, "{query}: {}", page.text());
        page.text()
    };
    let words = |text: &str, name: &str| {
        let row = text.split_once(&format!(">{name}</th>")).expect("a row").1;
        let cells = row.split("</tr>").next().unwrap_or_default().split("<td>").skip(1);
        let word = |cell: &str| cell.split('>').nth(1).unwrap_or_default().replace("</span", "");
        cells.map(word).collect::<Vec<_>>()
    };
    let all = page("");
    assert_eq!(all.matches("<th scope=\"row\"").count(), 20);
    assert_eq!(words(&all, "GPTBot"), ["yes", "no", "yes"]);
    assert_eq!(words(&all, "CCBot"), ["no", "no", "no"]);
    assert!(all.contains("Content-Usage line ") || all.contains("TDMRep"), "{all}");
    let press = page("?path=/press/1&crawler=GPTBot,OtherBot");
    assert_eq!(words(&press, "GPTBot"), ["yes", "yes", "yes"]);
    assert_eq!(press.matches("<th scope=\"row\"").count(), 2);
    let faults = page("?path=x&crawler=%3Cb%3E&purpose=none&more=1");
    assert_eq!(faults.matches("class=\"banner\"").count(), 3, "{faults}");
    assert!(!faults.contains("<b>"), "{faults}");
    let site = Request::get("/robots/site.example").host("localhost").send(beadle.admin);
    assert!(site.text().contains("href=\"/robots/site.example/matrix\""));
}

#[test]
fn without_preferences_the_origin_speaks_for_itself() {
    let origin = origin();
    let beadle =
        Setup::site(origin.port, "    robots_txt: { groups: [{ user_agents: [\"*\"] }] }\n")
            .start();
    let response = get(&beadle, "/own/");
    assert_eq!(response.all("content-usage"), ["train-ai=y, search=n, more=n"]);
    assert_eq!(get(&beadle, "/same").header("content-usage"), Some("train-ai=y"));
    assert_eq!(get(&beadle, "/.well-known/tdmrep.json").text(), "ok");
}
