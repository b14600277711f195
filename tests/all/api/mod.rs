//! The API: its answers are those that its description, the command line and RFC 9457 say.

use serde_json::Value;

use crate::support::{
    BROWSER,
    client::{Request, Response},
    program::Beadle,
};

pub(crate) use export::fill;

mod counts; // counts, paths, people, reports: as the command line has them
mod description; // every answer is as openapi.json says
mod export; // streams
mod paging; // cursors
mod refusals; // what is wrong with a request
mod schema; // a validator of JSON Schema

const RULES: &str = "
    robots_txt: { groups: [{ user_agents: [\"*\"], disallow: [/private/, /old/] }, { user_agents: [HouseBot, GPTBot], disallow: [/private/, /house/] }] }
    enforcement: { mode: log, overrides: [{ user_agents: [GPTBot], mode: block }] }
";

/// The answer to a program on the same machine.
fn answer(beadle: &Beadle, path: &str) -> Response {
    Request::get(path).host("localhost").send(beadle.admin)
}

/// The JSON of a good answer.
fn get(beadle: &Beadle, path: &str) -> Value {
    let answer = answer(beadle, path);
    assert_eq!(answer.status, 200, "{path}: {}", answer.text());
    assert_eq!(answer.header("content-type"), Some("application/json"), "{path}");
    assert_eq!(answer.header("cache-control"), Some("no-store"), "{path}");
    assert_eq!(answer.all("access-control-allow-origin"), [""; 0], "{path}");
    json(&answer.text())
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Violations of several crawlers, with hostile values among them; returns their number.
fn traffic(beadle: &Beadle) -> usize {
    let requests = [
        ("/private/a", "GPTBot/1.2"),
        ("/private/a?token=secret", "GPTBot/1.2"),
        ("/house/b", "HouseBot/1.0"),
        ("/old/c", "bingbot/2.0"),
        ("/old/%22%3Cb%3E,=1+1", "=1+1 bingbot/2.0"),
        ("/private/\"x\",;=", "<script>alert(1)</script> GPTBot/1.2"),
        ("/private/x", ""),
        ("/private/long", "NeverHeardOfBot/1.0"),
    ];
    for (path, user_agent) in requests {
        beadle.get(path, user_agent);
    }
    for path in ["/", "/robots.txt", "/allowed"] {
        beadle.get(path, "GPTBot/1.2");
    }
    beadle.get("/", BROWSER);
    let referred = Request::get("/from").user_agent(BROWSER);
    referred.field("Referer", "https://chatgpt.com/").send(beadle.port);
    beadle.wait_for_metric("beadle_records_stored_total", requests.len() as f64);
    requests.len()
}

/// The JSON lines of a verb.
fn lines(beadle: &Beadle, args: &[&str]) -> Vec<Value> {
    crate::support::program::json_lines(&beadle.verb(args))
}
