//! Other forms of closed paths: no violations, and listed and counted apart.

use super::{GPTBOT, world::World};
use crate::{
    outside::alerts::Tally,
    records::{
        counts::{Dimension, Question},
        record::{Filter, REASONS},
        tally::{FORM, PlaceKind},
    },
    rules::enforce::Reason,
};

/// Links to paths that the letter of [`site`] allows, and that an origin may read as closed ones.
const LINKS: [&str; 11] = [
    "/exact;jsessionid=1",
    "//private/dbl",
    "/private%2Fx",
    "/private;x/y",
    "/caf%E9/x",
    "/wiki/Special%3ARandom",
    "/cart?",
    "/c%2B%2B-book",
    "/share/https%3A%2F%2Fblog.test%2Ffeed%2F",
    "//private//x",
    "/private%5Cx",
];

fn site(enforcement: &str) -> String {
    format!(
        "    robots_txt: {{ groups: [{{ user_agents: [\"*\"], disallow: [\"/exact$\", /private/, \
         \"/café/\", \"/wiki/Special:\", \"/cart$\", \"/*+\", \"/*/feed/\"] }}] }}\n    \
         enforcement: {{ {enforcement} }}\n"
    )
}

#[test]
fn a_link_that_the_letter_allows_is_no_violation() {
    for (enforcement, status) in
        [("mode: log", 200), ("mode: block", 403), ("mode: block, other_forms: log", 200)]
    {
        let world = World::with_store("detail: 100", &site(enforcement));
        for target in LINKS {
            let response = world.get(target, GPTBOT);
            assert_eq!(response.status, status, "{enforcement} {target}");
            let record = response.violation.expect("a record");
            assert_eq!([&*record.verdict, &*record.reason], ["allow", FORM], "{target}");
            assert_eq!(&*record.robots.directive, "disallow", "the rule that closes the form");
        }
        let action = if status == 403 { "block" } else { "log" };
        let labels =
            format!("{{action=\"{action}\",product_token=\"GPTBot\",site=\"site.example\"}}");
        let counted = world.metric(&format!("beadle_other_forms_total{labels}"));
        assert!((counted - LINKS.len() as f64).abs() < 0.1, "{enforcement}: {counted}");
        let (store, _folder) = world.store();
        let by = vec![Dimension::Reason];
        let counted = store.counted(&Question { by, ..Question::default() }).expect("rows");
        let counted: Vec<_> =
            counted.iter().map(|one| (one.key[0].as_str(), one.requests, one.violations)).collect();
        assert_eq!(counted, [(FORM, LINKS.len() as u64, 0)]);
        for kind in [PlaceKind::Path, PlaceKind::Network] {
            let places = store.places(kind, &Question::default(), 9).expect("rows");
            assert_eq!(places.len(), 0, "{kind:?}");
        }
        // They are listed only when asked for.
        let forms = Filter { reason: Some(FORM.to_owned()), ..Filter::default() };
        for (filter, expected) in [(Filter::default(), 0), (forms, LINKS.len())] {
            assert_eq!(store.query(&filter).expect("rows").records.len(), expected);
            assert_eq!(store.count_records(&filter).expect("a number"), expected as u64);
        }
    }
}

#[test]
fn a_refusal_shows_the_form_and_its_rule() {
    let world = World::of(&site("mode: block"));
    let body = String::from_utf8(world.get("//private/dbl", GPTBOT).body.to_vec()).expect("UTF-8");
    for known in ["allow this path as it is written", "\n  /private/dbl\n", "Disallow: /private/"] {
        assert!(body.contains(known), "{body}");
    }
}

#[test]
fn a_refusal_of_a_form_has_the_operators_text_only_if_that_shows_the_form() {
    let html = "content_type: text/html, body: \"<p>{rule}";
    for (block, target, content_type, known) in [
        (format!("{html}</p>\""), "/private/x", "text/html", "<p>Disallow: /private/</p>"),
        (format!("{html}</p>\""), "//private/dbl", "text/plain; charset=utf-8", "as it is written"),
        (
            format!("{html} {{form}}</p>\""),
            "//private/dbl",
            "text/html",
            "/private/ /private/dbl</p>",
        ),
        (format!("{html} {{form}}</p>\""), "/private/x", "text/html", "/private/ /private/x</p>"),
        // A path with more forms than are judged.
        (
            "status: 410".to_owned(),
            "//a;b/%2F..%5c..;/%40/..//%3bc%2f./%2f%5C/d;e/..%2f%5c//f/../g",
            "text/plain; charset=utf-8",
            "may read it as\n  any of too many paths to judge\n",
        ),
    ] {
        let world = World::of(&site(&format!("mode: block, block: {{ {block} }}")));
        let response = world.get(target, GPTBOT);
        let body = String::from_utf8(response.body.to_vec()).expect("UTF-8");
        assert_eq!(response.field("content-type"), content_type, "{block} {target}");
        assert!(body.contains(known), "{block} {target}: {body}");
    }
}

#[test]
fn forms_that_pass_leave_no_trace() {
    let world = World::of(&site("mode: block, other_forms: pass"));
    for target in LINKS {
        let response = world.get(target, GPTBOT);
        assert_eq!((response.status, response.violation), (200, None), "{target}");
    }
    assert_eq!(
        world.get("/x/../private/", GPTBOT).status,
        403,
        "dot segments belong to the letter"
    );
}

#[test]
fn refused_forms_open_no_breaker_and_pass_while_it_is_open() {
    let world = World::of(&site("mode: block, breaker: {}"));
    let open = || world.metric("beadle_breaker_open{site=\"site.example\"}");
    let from = |number: u32, target: &str| {
        let name = format!("Wild{}Bot/1.0", number % 20);
        world.status_from(&format!("203.0.{}.7", number % 20), target, &name)
    };
    for number in 0..400 {
        assert_eq!(from(number, "//private/x"), 403, "request {number}");
    }
    assert!(open() < 0.1, "polite crawlers follow links");
    // They don't hide violations from the breaker either.
    let statuses: Vec<u16> = (0..201).map(|number| from(number, "/private/x")).collect();
    assert_eq!((statuses[198], statuses[200]), (403, 200));
    assert!(open() > 0.9);
    let response = world.get("//private/x", GPTBOT);
    let record = response.violation.expect("a record");
    assert_eq!((response.status, &*record.reason, &*record.action), (200, FORM, "log"));
}

#[test]
fn other_forms_move_no_crawler_up_the_ladder() {
    let world = World::of(&site(
        "mode: ladder, ladder: { min_violations: 2, throttle: 1/1s }, breaker: \"off\"",
    ));
    let steps = "beadle_ladder_steps_total{direction=\"up\",site=\"site.example\"}";
    for target in LINKS.iter().cycle().take(60) {
        assert_eq!(world.status(target, GPTBOT), 200, "{target}");
    }
    assert!(world.metric(steps) < 0.1);
}

#[test]
fn alerts_count_violations_without_other_forms() {
    let world = World::of(&site("mode: log"));
    LINKS.iter().for_each(|target| assert_eq!(world.status(target, GPTBOT), 200));
    let counted = || {
        let tallies = world.handles.state().tallies;
        let sum = |count: fn(&Tally) -> u64| tallies.iter().map(count).sum::<u64>();
        (sum(|one| one.requests), sum(|one| one.violations))
    };
    assert_eq!(counted(), (LINKS.len() as u64, 0));
    assert_eq!(world.status("/private/x", GPTBOT), 200);
    assert_eq!(counted(), (LINKS.len() as u64 + 1, 1));
}

#[test]
fn rfc9309_2_4_an_earlier_edition_that_closes_only_another_form_excuses() {
    let disallowing = |path: &str| {
        format!(
            "    robots_txt: {{ groups: [{{ user_agents: [\"*\"], disallow: [{path}] }}] }}\n    \
             enforcement: {{ mode: block }}\n"
        )
    };
    let mut world = World::of(&disallowing("/private/"));
    world.reload(&disallowing("//private/"));
    assert_eq!(world.get("//private/x", GPTBOT).status, 200);
    assert!((world.grace("GPTBot") - 1.0).abs() < 0.1);
}

#[test]
fn the_reasons_of_records_are_those_of_decisions() {
    assert_eq!(FORM, Reason::Form.as_str());
    let (earlier, present) = REASONS.split_last().expect("there are some");
    assert_eq!(*earlier, "robots.disallow.evasion");
    for reason in present {
        assert!(Reason::ALL.map(Reason::as_str).contains(reason), "{reason}");
    }
}
