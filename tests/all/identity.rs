//! Every client is held to the group that binds it, and to no other (RFC 9309 §2.2.1).

use serde_json::{Value, json};

use crate::support::{
    BROWSER, GROUPS,
    client::Request,
    origin::Origin,
    program::{Beadle, Setup},
};

const GPTBOT: &str = "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)";

fn start(origin: &Origin) -> Beadle {
    Setup::site(origin.port, &format!("{GROUPS}    enforcement: {{ mode: block }}\n")).start()
}

/// Asks for a target and tells what became of it: the status, and the reason of the record.
fn outcome(beadle: &Beadle, target: &str, user_agents: &[&str]) -> (u16, Option<Value>) {
    let before = beadle.metric("beadle_records_seen");
    let request = user_agents
        .iter()
        .fold(Request::get(target), |request, user_agent| request.user_agent(user_agent));
    let status = request.send(beadle.port).status;
    if status == 403 {
        beadle.wait_for_metric("beadle_records_seen", before + 1.0);
        let count = beadle.metric("beadle_records_seen") as usize;
        return (status, beadle.records(count).pop());
    }
    (status, None)
}

#[test]
fn rfc9309_2_2_each_client_is_held_to_the_group_that_binds_it() {
    let origin = Origin::plain();
    let beadle = start(&origin);
    for (target, user_agents, blocked) in [
        // The longest match counts, and allow wins where it is longer.
        ("/private/x", &["BadBot/1.0"][..], Some("BadBot")),
        ("/private/help/x", &["BadBot/1.0"], None),
        ("/private/hel", &["BadBot/1.0"], Some("BadBot")),
        ("/press/x", &[GPTBOT], None),
        ("/pres", &[GPTBOT], Some("GPTBot")),
        ("/?x&secret=1", &["BadBot"], None),
        ("/a?secret=1", &["BadBot"], Some("BadBot")),
        // A crawler's own group replaces that of `*` (section 2.2.1).
        ("/admin/x", &["BadBot/1.0"], None),
        ("/admin/x", &["OtherBot/1.0"], Some("OtherBot")),
        ("/admin/x", &["Mozilla/5.0 (compatible; bingbot/2.0)"], Some("bingbot")),
        // Names compare whole and without case.
        ("/private/x", &["BADBOT/1.0"], Some("BadBot")),
        ("/private/x", &["NotBadBotty/1.0"], None),
        (
            "/private/x",
            &["Mozilla/5.0 (compatible; BadBot/2.1; +http://x.example)"],
            Some("BadBot"),
        ),
        // `*` binds crawlers and tools, not people.
        ("/admin/x", &["curl/8.5.0"], Some("curl")),
        ("/admin/x", &["python-requests/2.32"], Some("python-requests")),
        ("/admin/x", &[BROWSER], None),
        ("/private/x", &[BROWSER], None),
        // Who says nothing is bound by `*`.
        ("/admin/x", &[], Some("-")),
        ("/admin/x", &[""], Some("-")),
        ("/admin/x", &["-"], Some("-")),
        // User-triggered fetchers are bound by a group that names them only.
        (
            "/admin/x",
            &["Mozilla/5.0 (compatible; ChatGPT-User/1.0; +https://openai.com/bot)"],
            None,
        ),
        // Nobody picks the laxer group by naming two, in one field or in two.
        ("/private/x", &["Googlebot/2.1 (compatible; BadBot/1.0)"], Some("BadBot")),
        ("/admin/x", &["BadBot/1.0 (compatible; bingbot/2.0)"], Some("bingbot")),
        ("/private/x", &["Mozilla/5.0", "BadBot/1.0"], Some("BadBot")),
    ] {
        let (status, record) = outcome(&beadle, target, user_agents);
        let expected = if blocked.is_some() { 403 } else { 200 };
        assert_eq!(status, expected, "{target} {user_agents:?}");
        if let (Some(name), Some(record)) = (blocked, record) {
            assert_eq!(record["product_token"], json!(name), "{target} {user_agents:?}");
        }
    }
    let (_, record) = outcome(&beadle, "/private/x", &["bingbot/2.0", "x (BadBot/1.0)"]);
    let record = record.expect("a record");
    assert_eq!(record["product_tokens"], json!(["bingbot", "BadBot"]), "all names are kept");
    assert_eq!(record["user_agent"], json!("bingbot/2.0, x (BadBot/1.0)"));
    let violations = beadle.metric("beadle_records_seen");
    for path in ["/admin/", "/private/", "/"] {
        assert_eq!(beadle.get(path, BROWSER).status, 200, "{path}");
    }
    beadle.assert_healthy("all this");
    beadle.wait_for_metric("beadle_requests_in_flight", 0.0);
    assert_eq!(beadle.metric("beadle_records_seen"), violations, "a browser is never judged");
}

#[test]
fn a_group_that_names_a_user_triggered_fetcher_binds_it() {
    let origin = Origin::plain();
    let settings = "
    robots_txt:
      groups: [{ user_agents: [ChatGPT-User, AdsBot-Google], disallow: [/private/] }, { user_agents: [\"*\"], disallow: [/admin/] }]
    enforcement: { mode: block, star_binds: [crawler] }
";
    let beadle = Setup::site(origin.port, settings).start();
    for (target, user_agent, status) in [
        ("/private/x", "ChatGPT-User/1.0", 403),
        ("/admin/x", "ChatGPT-User/1.0", 200),
        ("/private/x", "AdsBot-Google (+http://www.google.com/adsbot.html)", 403),
        // By its operator's word AdsBot-Google ignores `*`.
        ("/admin/x", "AdsBot-Google (+http://www.google.com/adsbot.html)", 200),
        ("/admin/x", "Googlebot/2.1", 403),
        // Here `*` binds neither tools nor the nameless.
        ("/admin/x", "curl/8.5.0", 200),
        ("/admin/x", "", 200),
    ] {
        assert_eq!(beadle.get(target, user_agent).status, status, "{target} {user_agent}");
    }
}

#[test]
fn the_first_override_that_names_a_crawler_counts() {
    let origin = Origin::plain();
    let settings = "
    robots_txt:
      groups: [{ user_agents: [\"*\"], disallow: [/private/] }]
    enforcement:
      mode: log
      overrides:
        - { user_agents: [Googlebot], mode: off }
        - { user_agents: [set:ai, PartnerBot], mode: block }
        - { user_agents: [purpose:ai-training], mode: off }
        - { user_agents: [\"purpose:seo\"], mode: block }
";
    let beadle = Setup::site(origin.port, settings)
        .sections("crawler_sets: { ai: { purposes: [ai-training, ai-search] } }\n")
        .start();
    for (user_agent, status, action) in [
        ("Googlebot/2.1", 200, None),
        ("GPTBot/1.2", 403, Some("block")),
        ("OAI-SearchBot/1.0", 403, Some("block")),
        ("PartnerBot/1.0", 403, Some("block")),
        ("AhrefsBot/7.0", 403, Some("block")),
        ("bingbot/2.0", 200, Some("log")),
        ("GPTBot/1.2 Googlebot/2.1", 403, Some("block")),
    ] {
        let before = beadle.log().len();
        assert_eq!(beadle.get("/private/x", user_agent).status, status, "{user_agent}");
        if let Some(action) = action {
            assert_eq!(beadle.records(before + 1)[before]["action"], json!(action), "{user_agent}");
        }
    }
    beadle.wait_for_metric("beadle_records_seen", 6.0);
}
