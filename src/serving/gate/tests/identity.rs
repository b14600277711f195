//! The group that binds each client (RFC 9309 §2.2.1).

use super::{
    BROWSER, GPTBOT,
    world::{Message, World},
};

const GROUPS: &str = "
    robots_txt:
      groups:
        - user_agents: [\"*\"]
          disallow: [/admin/]
        - user_agents: [BadBot]
          disallow: [/private/, \"/*?secret=\"]
          allow: [/private/help/]
        - user_agents: [GPTBot]
          disallow: [/]
          allow: [/press/]
    enforcement: { mode: block }
";

fn message(target: &str, user_agents: &[&str]) -> Message {
    user_agents.iter().fold(Message::get(target), |message, one| message.user_agent(one))
}

#[test]
fn rfc9309_2_2_each_client_is_judged_by_the_group_that_binds_it() {
    let world = World::of(GROUPS);
    for (target, user_agents, blocked) in [
        // The longest match counts, and a longer allow wins.
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
        // Names are whole words, in any case.
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
        // `*` binds clients without a User-Agent.
        ("/admin/x", &[], Some("-")),
        ("/admin/x", &[""], Some("-")),
        ("/admin/x", &["-"], Some("-")),
        // Only a group that names a user-triggered fetcher binds it.
        (
            "/admin/x",
            &["Mozilla/5.0 (compatible; ChatGPT-User/1.0; +https://openai.com/bot)"],
            None,
        ),
        // Of two names the stricter group counts, in one field or in two.
        ("/private/x", &["Googlebot/2.1 (compatible; BadBot/1.0)"], Some("BadBot")),
        ("/admin/x", &["BadBot/1.0 (compatible; bingbot/2.0)"], Some("bingbot")),
        ("/private/x", &["Mozilla/5.0", "BadBot/1.0"], Some("BadBot")),
    ] {
        let response = world.send(&message(target, user_agents));
        let expected = if blocked.is_some() { 403 } else { 200 };
        assert_eq!(response.status, expected, "{target} {user_agents:?}");
        let name = response.violation.as_ref().map(|record| record.product_token.as_str());
        assert_eq!(name, blocked, "{target} {user_agents:?}");
    }
    let record = world.violation_of(&message("/private/x", &["bingbot/2.0", "x (BadBot/1.0)"]));
    let names: Vec<&str> = record.product_tokens.iter().map(|name| name.as_str()).collect();
    assert_eq!(names, ["bingbot", "BadBot"], "all names are kept");
    assert_eq!(record.user_agent.as_str(), "bingbot/2.0, x (BadBot/1.0)");
    let violations = world.violations();
    for path in ["/admin/", "/private/", "/"] {
        assert_eq!(world.status(path, BROWSER), 200, "{path}");
    }
    assert_eq!(world.violations(), violations, "a browser is never judged");
}

#[test]
fn a_group_that_names_a_user_triggered_fetcher_binds_it() {
    let world = World::of(
        "
    robots_txt:
      groups: [{ user_agents: [ChatGPT-User, AdsBot-Google], disallow: [/private/] }, { user_agents: [\"*\"], disallow: [/admin/] }]
    enforcement: { mode: block, star_binds: [crawler] }
",
    );
    for (target, user_agent, status) in [
        ("/private/x", "ChatGPT-User/1.0", 403),
        ("/admin/x", "ChatGPT-User/1.0", 200),
        ("/private/x", "AdsBot-Google (+http://www.google.com/adsbot.html)", 403),
        // AdsBot-Google ignores `*`, as its operator documents.
        ("/admin/x", "AdsBot-Google (+http://www.google.com/adsbot.html)", 200),
        ("/admin/x", "Googlebot/2.1", 403),
        // In this policy `*` binds neither tools nor clients without a name.
        ("/admin/x", "curl/8.5.0", 200),
        ("/admin/x", "", 200),
    ] {
        assert_eq!(world.status(target, user_agent), status, "{target} {user_agent}");
    }
}

#[test]
fn the_first_override_that_names_a_crawler_counts() {
    let world = World::with_sections(
        "crawler_sets: { ai: { purposes: [ai-training, ai-search] } }\n",
        "
    robots_txt:
      groups: [{ user_agents: [\"*\"], disallow: [/private/] }]
    enforcement:
      mode: log
      overrides:
        - { user_agents: [Googlebot], mode: off }
        - { user_agents: [set:ai, PartnerBot], mode: block }
        - { user_agents: [purpose:ai-training], mode: off }
        - { user_agents: [\"purpose:seo\"], mode: block }
",
    );
    for (user_agent, status, action) in [
        ("Googlebot/2.1", 200, None),
        ("GPTBot/1.2", 403, Some("block")),
        ("OAI-SearchBot/1.0", 403, Some("block")),
        ("PartnerBot/1.0", 403, Some("block")),
        ("AhrefsBot/7.0", 403, Some("block")),
        ("bingbot/2.0", 200, Some("log")),
        ("GPTBot/1.2 Googlebot/2.1", 403, Some("block")),
    ] {
        let response = world.get("/private/x", user_agent);
        let recorded = response.violation.as_ref().map(|record| record.action.as_str());
        assert_eq!((response.status, recorded), (status, action), "{user_agent}");
    }
    assert_eq!(world.violations(), 6);
}
