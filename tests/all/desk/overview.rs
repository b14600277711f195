//! The overview: counts of a span, and the state of the program.

use super::{RULES, assert_guarded, crawlers::with_a_week, page};
use crate::support::{
    BROWSER,
    client::Request,
    free_port,
    origin::Origin,
    program::{Beadle, Setup},
    wait_for,
};

fn overview(beadle: &Beadle, query: &str) -> String {
    let answer = page(beadle, &format!("/{query}")).send(beadle.admin);
    assert_eq!(answer.status, 200, "{query}");
    assert_guarded(&answer, query);
    answer.text()
}

/// The part of a page from a heading to the next one.
fn part<'t>(text: &'t str, heading: &str) -> &'t str {
    let (_, rest) = text.split_once(&format!(">{heading}</h")).expect("the heading is there");
    rest.split("<h2").next().unwrap_or_default()
}

#[test]
fn the_overview_counts_what_the_rollups_hold() {
    let origin = Origin::plain();
    let beadle = Setup::site(origin.port, RULES).start();
    for days in ["", "?days=1", "?days=30", "?days=90", "?days=5", "?days=x"] {
        let text = overview(&beadle, days);
        assert!(text.contains("Who kept to the rules") && !text.contains("<script"), "{days}");
        assert!(part(&text, "Crawlers").contains("No crawler came in this time."), "{days}");
    }
    let beadle = with_a_week();
    let text = overview(&beadle, "");
    for (heading, known) in [
        ("New offenders", "<a href=\"/crawlers/Bytespider\">Bytespider</a>"),
        ("New offenders", "507"),
        ("Biggest change", "<a href=\"/crawlers/YandexBot\">YandexBot</a>"),
        ("Biggest change", "1,014 → 0"),
        ("Who behaves best", "<a href=\"/crawlers/Applebot\">Applebot</a>"),
        ("Crawlers", "<a href=\"/crawlers/GPTBot\">GPTBot</a>"),
        ("Crawlers", "<a href=\"/crawlers\">And 5 more</a>"),
        ("Crawlers", ">claims to be Googlebot</a>"),
        (
            "Rules",
            "<a href=\"/violations?site=www.example.com&#38;rule=Disallow%3A+%2Fprivate%2F&#38;since=20",
        ),
        ("Rules", "&#38;rule=Crawl-delay%3A+5&#38;since=20"),
        ("Rules", "&#38;rule=claim.contradicted&#38;since=20"),
        ("Paths", "<a href=\"/violations?exact_path=%2Fprivate%2Fprices&#38;since=20"),
        ("Traffic", "people"),
        ("Crawl to refer", "OpenAI"),
        ("Violations over time", "throttled"),
    ] {
        assert!(part(&text, heading).contains(known), "{heading}: {known}: {text}");
    }
    for (tile, value) in [
        ("Requests of people", "84,500"),
        ("Refused", "1"),
        ("Violations", "<a href=\"/violations?since=20"),
    ] {
        let (_, rest) = text.split_once(&format!("<dt>{tile}</dt><dd>")).expect("a tile");
        assert!(rest.starts_with(value), "{tile}: {text}");
    }
    // The list begins with the hour with which the counts begin.
    let (_, since) = text.split_once("<a href=\"/violations?since=").expect("a link");
    assert!(since.get(10..).is_some_and(|hour| hour.starts_with('T')), "{text}");
    assert!(since.contains("%3A00%3A00Z\">"), "{text}");
    let month = overview(&beadle, "?days=30");
    assert!(month.contains("<a href=\"/crawlers/GPTBot?days=30\">"), "{month}");
}

#[test]
fn each_trouble_is_told_with_its_repair() {
    let origin = Origin::plain();
    let closed = free_port();
    let sites = format!(
        "  - hosts: [site.example]\n    origin: http://127.0.0.1:{}\n{RULES}  - hosts: \
         [down.example]\n    origin: http://127.0.0.1:{closed}\n{RULES}  - hosts: \
         [lost.example]\n    origin: http://lost.invalid:1\n{RULES}",
        origin.port
    );
    let setup = Setup::sites(&sites);
    let beadle = setup.clone().start();
    let text = overview(&beadle, "");
    assert!(text.contains("lost.example: the name lost.invalid has no address"), "{text}");
    assert!(!text.contains("did not answer"), "{text}");
    for fact in ["file on disk", "written", "the policy has no section", "of the policy"] {
        assert!(part(&text, "Health").contains(fact), "{fact}: {text}");
    }
    let answer = Request::get("/").host("down.example").user_agent(BROWSER).send(beadle.port);
    assert_eq!(answer.status, 502);
    let text = overview(&beadle, "");
    let said = format!("down.example: http://127.0.0.1:{closed} did not answer a request at ");
    assert!(text.contains(&said), "{text}");

    beadle.replace_policy("sites: <b>nonsense\n");
    beadle.signal("HUP");
    let refused = "The policy file was refused at ";
    let text = wait_for("the refusal", || {
        Some(overview(&beadle, "")).filter(|text| text.contains(refused))
    });
    let (_, rest) = text.split_once(refused).expect("it is there");
    let sentence = rest.split("</li>").next().expect("an end");
    assert!(sentence.contains("beadle.yaml:1:8"), "the place: {sentence}");
    assert!(sentence.contains("<a href=\"/policy\">") && !sentence.contains("<b>"), "{sentence}");
    beadle.reload(&setup.replaced("/old/", "/older/"));
    assert!(!overview(&beadle, "").contains(refused));
}

#[test]
fn health_is_shown_without_a_database() {
    let origin = Origin::plain();
    let none = Setup::site(origin.port, "").violations("  log: $DIR/violations.jsonl\n").start();
    let text = overview(&none, "");
    assert!(text.contains("Set violations.database, and restart Beadle."), "{text}");
    assert!(part(&text, "Health").contains("fingerprint"), "{text}");
    assert!(!text.contains("Violations over time"), "{text}");
}
