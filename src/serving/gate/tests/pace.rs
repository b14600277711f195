//! How fast a crawler may come.

use std::time::Duration;

use super::{
    BINGBOT, GOOGLEBOT, ONE, TWO,
    world::{Message, World},
};
use crate::records::counts::{Dimension, Question};

fn site(enforcement: &str) -> String {
    format!(
        "    robots_txt:\n      groups:\n        - {{ user_agents: [\"*\"], disallow: [/private/], \
         crawl_delay: 1 }}\n    enforcement: {{ {enforcement} }}\n"
    )
}

/// The requests of bingbot that kept its pace, or broke it.
fn measured(world: &World, outcome: &str) -> f64 {
    world.metric(&format!(
        "beadle_crawl_delay_requests_total{{outcome=\"{outcome}\",product_token=\"bingbot\",\
         site=\"site.example\"}}"
    ))
}

#[test]
fn polite_crawlers_and_those_without_a_promise_are_not_throttled() {
    let world = World::of(&site("mode: throttle"));
    // The crawler sends one request each second; the network delivers up to 400 ms late.
    for (second, late) in (0..).zip([200, 390, 0, 310, 90, 400, 10, 220_u64]) {
        world.at(Duration::from_millis(second * 1_000 + late));
        let address = if second % 2 == 0 { "192.0.2.7" } else { "198.51.100.9" };
        assert_eq!(world.status_from(address, "/page", BINGBOT), 200, "after {second} s");
        assert_eq!(world.statuses("/page", GOOGLEBOT, 5), [200; 5]);
    }
    assert_eq!((measured(&world, "kept"), measured(&world, "broken")), (8.0, 0.0));
}

#[test]
fn other_modes_count_fast_requests_and_refuse_none() {
    for (enforcement, on_private, broken) in [
        ("mode: log", 200, 10.0),
        ("mode: block", 403, 9.0),
        ("mode: throttle, crawl_delay: log", 200, 10.0),
    ] {
        let world = World::of(&site(enforcement));
        assert_eq!(world.statuses("/page", BINGBOT, 12), [200; 12], "{enforcement}");
        assert_eq!(world.status("/private/x", BINGBOT), on_private, "{enforcement}");
        assert_eq!(measured(&world, "broken"), broken, "{enforcement}");
        assert_eq!(measured(&world, "kept"), 3.0, "{enforcement}");
        assert_eq!(world.violations(), 1, "the violation only: {enforcement}");
    }
}

#[test]
fn a_fast_request_that_passes_is_counted_by_hour_and_is_no_violation() {
    let world = World::with_database(&site("mode: log"));
    assert_eq!(world.statuses("/page", BINGBOT, 12), [200; 12]);
    let (store, _folder) = world.store();
    let by = vec![Dimension::Action, Dimension::Reason];
    let counted = store.counted(&Question { by, ..Question::default() }).expect("rows");
    let of = |reason: &str| {
        let one = counted.iter().find(|one| one.key[1].as_str() == reason).expect(reason);
        (one.key[0].as_str(), one.requests, one.violations)
    };
    assert_eq!(of("robots.allow"), ("pass", 3, 0));
    assert_eq!(of("robots.crawl_delay"), ("pass", 9, 0));
}

#[test]
fn following_a_redirect_at_once_does_not_count_against_the_pace() {
    let mut world = World::of(&site("mode: throttle"));
    world.origin = |target| if target.ends_with('/') { 200 } else { 301 };
    // Each page takes two requests. If redirects counted, the fourth would be refused.
    for second in 0..5 {
        world.at(Duration::from_secs(second));
        assert_eq!(world.status("/there", BINGBOT), 301, "after {second} s");
        assert_eq!(world.status("/there/", BINGBOT), 200, "after {second} s");
    }
    assert_eq!(measured(&world, "kept"), 10.0);
    // A client that requests only redirects gets at most six times as many requests.
    let statuses = world.statuses("/there", BINGBOT, 60);
    let passed = statuses.iter().filter(|status| **status == 301).count();
    assert!(passed <= 6 * (3 + 1), "{passed} passed: {statuses:?}");
}

#[test]
fn a_chain_of_redirects_is_free_whether_or_not_a_hop_is_charged() {
    for (hops, enforcement) in [(2, "mode: throttle"), (3, "mode: throttle"), (5, "mode: ladder")] {
        let mut world = World::of(&site(enforcement));
        world.origin = |target| if target.ends_with("/0") { 200 } else { 301 };
        for second in 0..60 {
            world.at(Duration::from_secs(second));
            for hop in (1..=hops).rev() {
                let status = world.status(&format!("/page/{hop}"), BINGBOT);
                assert_eq!(status, 301, "hop {hop} of {hops} after {second} s");
            }
            assert_eq!(world.status("/page/0", BINGBOT), 200, "{hops} hops, after {second} s");
        }
        assert_eq!(measured(&world, "broken"), 0.0);
    }
}

#[test]
fn a_stranger_under_its_name_does_not_make_an_honest_crawler_pay() {
    let world = World::of(&site("mode: throttle"));
    let mut throttled = 0;
    for tenth in 0..300 {
        world.at(Duration::from_millis(100 * tenth));
        throttled += u32::from(world.status_from(TWO, "/page", BINGBOT) == 429);
        if tenth % 10 == 0 {
            let status = world.status_from(ONE, "/page", BINGBOT);
            assert_eq!(status, 200, "the honest one after {tenth}/10 s");
        }
    }
    assert!((250..=270).contains(&throttled), "{throttled} of the stranger's");
}

#[test]
fn neighbours_with_the_same_program_share_no_pace() {
    for (user_agent, of_the_neighbour) in [("python-requests/2.32", 200), ("GPTBot/1.2", 429)] {
        let world = World::of(&site(
            "mode: ladder, ladder: { min_violations: 2, throttle: 1/1h }, breaker: \"off\"",
        ));
        let from = |address: &str, target: &str| world.status_from(address, target, user_agent);
        // Two violations lead to the rung with a pace.
        assert_eq!([(); 2].map(|()| from("192.0.2.7", "/private/x")), [200; 2], "{user_agent}");
        let statuses = [(); 4].map(|()| from("192.0.2.7", "/page"));
        assert_eq!(statuses, [200, 200, 200, 429], "{user_agent}");
        assert_eq!(from("192.0.2.8", "/page"), of_the_neighbour, "{user_agent}");
    }
}

#[test]
fn a_fast_violation_is_recorded_with_the_rule_it_broke() {
    let world = World::of(&site("mode: throttle"));
    let responses: Vec<_> = (0..12).map(|_| world.get("/private/x", BINGBOT)).collect();
    assert_eq!(world.violations(), 12);
    let slow = responses.into_iter().find(|one| one.status == 429).expect("one is refused");
    let record = slow.violation.expect("a record");
    assert_eq!(
        [record.verdict.as_str(), record.reason.as_str(), record.action.as_str()],
        ["disallow", "robots.crawl_delay", "throttle"]
    );
    let robots = &record.robots;
    assert_eq!([robots.directive.as_str(), robots.pattern.as_str()], ["disallow", "/private/"]);
}

#[test]
fn a_fast_request_in_grace_counts_as_grace() {
    let mut world = World::of(&site("mode: throttle"));
    world.reload(&site("mode: throttle").replace("[/private/]", "[/private/, /page]"));
    let responses: Vec<_> = (0..12).map(|_| world.get("/page", BINGBOT)).collect();
    let statuses: Vec<u16> = responses.iter().map(|one| one.status).collect();
    assert_eq!((&statuses[..3], &statuses[3..]), (&[200; 3][..], &[429; 9][..]));
    assert_eq!(world.grace("bingbot"), 12.0);
    assert!(responses[..3].iter().all(|one| one.violation.is_none()), "grace is no violation");
    let record = responses[3].violation.as_ref().expect("a record");
    assert_eq!((record.verdict.as_str(), record.robots.pattern.as_str()), ("disallow", "/page"));
}

#[test]
fn each_host_of_a_site_has_a_pace_of_its_own() {
    let world = World::of_sites(
        "  - hosts: [site.example, www.site.example]\n    origin: http://127.0.0.1:1\n    \
         robots_txt: { groups: [{ user_agents: [\"*\"], disallow: [/private/], crawl_delay: 3600 }] }\n    \
         enforcement: { mode: throttle }\n",
    );
    let from = |host, user_agent: &str| -> Vec<u16> {
        let request = || Message::get("/page").user_agent(user_agent).host(host);
        (0..4).map(|_| world.send(&request()).status).collect()
    };
    for host in ["site.example", "www.site.example"] {
        assert_eq!(from(host, BINGBOT), [200, 200, 200, 429], "{host}");
    }
    // Of two names in one User-Agent, the one that honours Crawl-delay counts.
    let both = "bingbot/2.0 GPTBot/1.2";
    assert_eq!(from("site.example", both), [429; 4]);
    assert_eq!(from("site.example", "AhrefsBot/7.0 GPTBot/1.2"), [200, 200, 200, 429]);
}
