//! Lists of crawlers that others maintain: a new name is published and recorded, and never refused until
//! the operator accepts it.

use std::process::Command;

use serde_json::{Map, Value, json};

use crate::support::{
    origin::Origin,
    policy_server::{Answer, PolicyServer},
    program::{Beadle, PROGRAM, Setup, json_lines},
    receiver::Receiver,
    wait_for,
};

const PATH: &str = "/robots.json";
const NEW: &str = "Mozilla/5.0 (compatible; Quuxfreshbot/1.0; +https://fresh.example/bot)";
const RULES: &str = "
    robots_txt:
      cache_window: 0s
      groups:
        - { user_agents: ['*'], disallow: [/star/] }
        - { user_agents: ['purpose:ai-training', Quuxownbot], disallow: [/closed/] }
    enforcement:
      mode: block
      other_forms: refuse
      overrides: [{ user_agents: ['purpose:ai-training'], mode: block }]
      rate_limits: [{ user_agents: ['purpose:ai-training'], requests: 1/1h }]
";

fn list(names: &[&str]) -> String {
    let facts =
        || json!({ "operator": "[Acme](https://acme.example)", "function": "AI Data Scrapers" });
    let members: Map<String, Value> =
        names.iter().map(|name| ((*name).to_owned(), facts())).collect();
    Value::Object(members).to_string()
}

fn setup(origin: &Origin, url: &str) -> Setup {
    Setup::site(origin.port, RULES).sections(&format!(
        "catalogue: {{ follow: [{{ url: '{url}', format: ai-robots-json, every: 1h }}] }}\n"
    ))
}

fn robots_txt(beadle: &Beadle) -> String {
    beadle.get("/robots.txt", "Googlebot").text()
}

fn status(beadle: &Beadle, target: &str, user_agent: &str) -> u16 {
    beadle.get(target, user_agent).status
}

fn wait_for_name(beadle: &Beadle, name: &str) {
    wait_for(name, || robots_txt(beadle).contains(name).then_some(()));
}

#[test]
fn a_new_name_is_published_and_recorded_and_refused_only_once_it_is_accepted() {
    let (origin, server) = (Origin::plain(), PolicyServer::http());
    server
        .put_file(PATH, list(&["GPTBot", "Quuxfreshbot", "Quuxownbot", "Cursor", "Quuxotherbot"]));
    let url = server.url("", PATH);
    let beadle = setup(&origin, &url).start();
    wait_for_name(&beadle, "Quuxfreshbot");
    let text = robots_txt(&beadle);
    assert!(text.contains("Quuxotherbot") && !text.contains("Cursor"), "{text}");
    beadle.wait_for_stderr("left_out=\"Cursor\"");

    // Whatever closes a path to it, and however often it comes.
    for target in ["/closed/x", "/closed/x", "//closed/x", "/open", "/open", "/open"] {
        assert_eq!(status(&beadle, target, NEW), 200, "{target}");
    }
    let records = beadle.records(2);
    let record =
        records.iter().find(|one| one["product_token"] == "Quuxfreshbot").expect("a record");
    assert_eq!((&record["action"], &record["reason"]), (&json!("log"), &json!("robots.disallow")));
    assert_eq!(record["purpose"], "ai-training");
    // A known crawler and a name that the policy writes itself are refused as before.
    for name in ["GPTBot/1.0", "Quuxownbot/1.0"] {
        assert_eq!(status(&beadle, "/closed/x", name), 403, "{name}");
    }

    let policy = beadle.policy_file();
    let verb = |args: &[&str]| {
        let command = &mut Command::new(PROGRAM);
        command.args(args).arg("--config").arg(&policy).output().expect("it can be started")
    };
    let listed = String::from_utf8(verb(&["crawlers", "accept"]).stdout).expect("text");
    assert_eq!(listed.lines().count(), 2, "{listed}");
    assert!(listed.contains("Quuxfreshbot") && listed.contains(&url), "{listed}");
    let shown = json_lines(&verb(&["crawlers", "show", "quuxfreshbot", "--format", "json"]));
    assert_eq!((&shown[0]["list"], &shown[0]["pending"]), (&json!(url), &json!(true)));
    let explained = verb(&["explain", "--user-agent", NEW, "/closed/x"]);
    let explained = String::from_utf8(explained.stdout).expect("text");
    assert!(explained.contains(&url) && explained.contains("log (robots.disallow)"), "{explained}");
    let desk = beadle.admin_page("/crawlers/Quuxfreshbot").text();
    assert!(desk.contains("never refused until"), "{desk}");
    for name in ["Quuxnobot", "GPTBot"] {
        assert_eq!(verb(&["crawlers", "accept", name]).status.code(), Some(2), "{name}");
    }

    let accepted = verb(&["crawlers", "accept", "quuxfreshbot"]);
    assert_eq!(String::from_utf8_lossy(&accepted.stdout), "Quuxfreshbot: accepted\n");
    wait_for("the refusal", || (status(&beadle, "/closed/x", NEW) == 403).then_some(()));
    assert_eq!(status(&beadle, "/closed/x", "Quuxotherbot/1.0"), 200);

    // The names and the acceptance survive a restart without the server.
    server.is_away(true);
    let beadle = beadle.restarted();
    assert_eq!(status(&beadle, "/closed/x", NEW), 403);
    assert!(robots_txt(&beadle).contains("Quuxotherbot"));
    assert_eq!(status(&beadle, "/closed/x", "Quuxotherbot/1.0"), 200);
    beadle.wait_for_stderr("the last good list of crawlers stays in use");
}

#[test]
fn an_implausible_list_changes_nothing_and_is_an_event() {
    let receiver = Receiver::start();
    let alert = receiver.alerts();
    let (origin, server) = (Origin::plain(), PolicyServer::http());
    server.put_file(PATH, list(&["Quuxfreshbot", "Quuxotherbot", "Quuxthirdbot"]));
    let beadle = setup(&origin, &server.url("", PATH)).sections(&alert).start();
    wait_for_name(&beadle, "Quuxfreshbot");
    let new = receiver.event("new_crawlers");
    assert_eq!(new["crawlers"], json!(["Quuxfreshbot", "Quuxotherbot", "Quuxthirdbot"]));
    let before = robots_txt(&beadle);
    for (answer, why) in [
        (list(&["Quuxfreshbot"]), "it has 1 names, and 3 before"),
        (list(&["Quuxfreshbot", "Quuxotherbot", "Chrome"]), "can't tell a crawler from a browser"),
        ("<html>".to_owned(), "no object with a member for each crawler"),
    ] {
        server.put_file(PATH, &answer);
        beadle.signal("HUP");
        beadle.wait_for_stderr(why);
        assert_eq!(robots_txt(&beadle), before);
    }
    assert!(receiver.event("list_refused")["reason"].is_string());
    assert!(beadle.admin_page("/").text().contains("the last good copy stays in use"));
    // A server without the list is no other list.
    server.put(PATH, Answer::Status(500, String::new()));
    beadle.signal("HUP");
    beadle.wait_for_stderr("status 500");
    server.put_file(PATH, list(&["Quuxfreshbot", "Quuxotherbot", "Quuxfourthbot"]));
    beadle.signal("HUP");
    wait_for_name(&beadle, "Quuxfourthbot");
    wait_for("the dropped name", || (!robots_txt(&beadle).contains("Quuxthirdbot")).then_some(()));
}
