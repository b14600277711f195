//! Answers in, findings out.

use super::{instructions::CRAWLERS, said::Answer, *};
use crate::{base::product_token::ProductToken, review::report, rules::policy::built_in_catalogue};

fn page(fields: &[(&str, &str)], body: &str) -> Page {
    let fields = fields.iter().map(|(name, value)| ((*name).to_owned(), value.as_bytes().to_vec()));
    Page {
        url: "https://a.example/drafts/1?x=y".to_owned(),
        status: 200,
        fields: fields.collect(),
        body: body.as_bytes().to_vec(),
    }
}

fn site(robots_txt: &str) -> Site {
    Site { robots_status: 200, robots_txt: robots_txt.as_bytes().to_vec(), ..Site::default() }
}

fn audit(token: &str, site: &Site, page: &Page) -> Audit {
    let token = ProductToken::new(token).expect("a token");
    Audit::of(&built_in_catalogue(), &token, site, page)
}

fn codes(audit: &Audit) -> Vec<&'static str> {
    audit.conflicts.iter().map(|conflict| conflict.code).collect()
}

#[test]
fn all_sources_together_tell_a_crawler_its_rules() {
    let site = site("User-agent: Googlebot\nDisallow: /drafts/\nUser-agent: *\nAllow: /\n");
    let page = page(
        &[("Robots-Tag", "*;noarchive"), ("X-Robots-Tag", "googlebot: nosnippet")],
        "<head><meta name=\"robots\" content=\"noindex\"></head>",
    );
    let found = audit("Googlebot-Image", &site, &page);
    assert_eq!(found.robots_txt.verdict, "disallow", "it obeys the group for Googlebot");
    let found = audit("Googlebot", &site, &page);
    assert_eq!(found.robots_txt.rule.as_deref(), Some("Disallow: /drafts/ (line 2)"));
    assert_eq!(found.rules, ["noarchive", "noindex", "nosnippet"]);
    assert_eq!(codes(&found), ["audit.noindex_unseen", "audit.fields_differ"]);
    let other = audit("bingbot", &site, &page);
    assert_eq!((other.robots_txt.verdict, codes(&other)), ("allow", vec![]));
    assert_eq!(other.rules, ["noarchive", "noindex"]);
}

#[test]
fn contradictions_are_found_and_near_misses_are_not() {
    let open = site("");
    for (fields, body, expected) in [
        (
            &[("X-Robots-Tag", "index")][..],
            "<meta name=robots content=noindex>",
            Some("audit.rules_contradict"),
        ),
        (&[("X-Robots-Tag", "noindex")][..], "<meta name=robots content=noindex>", None),
        (&[("Robots-Tag", "*;max-snippet=20"), ("X-Robots-Tag", "max-snippet:20")][..], "", None),
        (
            &[("Content-Usage", "train-ai=n"), ("Content-Signal", "ai-train=yes")][..],
            "",
            Some("audit.training_contradicts"),
        ),
        (&[("Content-Usage", "train-ai=n"), ("Content-Signal", "ai-train=no")][..], "", None),
        (
            &[("Content-Usage", "train-ai=n"), ("Content-Usage", "train-ai=y")][..],
            "<meta name=tdm-reservation content=0>",
            None,
        ),
        (&[("X-Robots-Tag", "noai")][..], "<meta name=tdm-reservation content=1>", None),
        (
            &[("X-Robots-Tag", "noai"), ("Content-Signal", "ai-train=yes")][..],
            "",
            Some("audit.training_contradicts"),
        ),
        (
            &[("X-Robots-Tag", "noindex"), ("Content-Usage", "search=y")][..],
            "",
            Some("audit.search_contradicts"),
        ),
        (&[("X-Robots-Tag", "noindex"), ("Content-Signal", "search=no")][..], "", None),
        (
            &[("tdm-reservation", "1"), ("Content-Signal", "search=yes, ai-train=yes")][..],
            "",
            Some("audit.training_contradicts"),
        ),
    ] {
        let found = audit("Googlebot", &open, &page(fields, &format!("<head>{body}</head>")));
        assert_eq!(codes(&found), expected.into_iter().collect::<Vec<_>>(), "{fields:?} {body}");
    }
    let closed = site("User-agent: *\nDisallow: /\nContent-Signal: search=yes\n");
    let found = audit("Googlebot", &closed, &page(&[], ""));
    assert_eq!(codes(&found), ["audit.signal_for_closed_page"]);
    let down = Site { robots_status: 503, ..Site::default() };
    let found = audit("Googlebot", &down, &page(&[], ""));
    assert_eq!(
        (found.robots_txt.verdict, codes(&found)),
        ("disallow", vec!["audit.robots_unreachable"])
    );
}

#[test]
fn signals_about_ai_are_listed_with_their_places() {
    let site = Site {
        ai_txt: Some(b"User-Agent: *\n".to_vec()),
        tdmrep: Some(b"[{ \"location\": \"/\", \"tdm-reservation\": 1 }]".to_vec()),
        ..site(
            "License: https://a.example/license.xml\nUser-agent: GPTBot\nContent-Signal: ai-train=no\n\
             Disallow: /x\nUser-agent: *\nContent-Usage: train-ai=n\nDisallow: /y\n",
        )
    };
    let page = page(
        &[
            ("Link", "</license.xml>; rel=\"license\"; type=\"application/rsl+xml\""),
            ("X-Robots-Tag", "noai"),
        ],
        "<head><meta name=\"tdm-reservation\" content=\"1\"></head>",
    );
    let shown = |token: &str| -> Vec<String> {
        let signals = audit(token, &site, &page).signals;
        signals.iter().map(|signal| format!("{}: {}", signal.name, signal.place)).collect()
    };
    assert_eq!(
        shown("GPTBot"),
        [
            "Content-Signal: robots.txt line 3",
            "RSL: robots.txt line 1",
            "RSL: header field",
            "TDMRep: document",
            "TDMRep: /.well-known/tdmrep.json",
            "ai.txt: /ai.txt",
            "robots tag: this page",
        ]
    );
    assert_eq!(
        shown("Googlebot").first().map(String::as_str),
        Some("Content-Usage: robots.txt line 6")
    );
    let document = document(&[audit("GPTBot", &site, &page)]);
    assert_eq!(document.title, "What 1 page tells GPTBot");
    assert!(report::html(&document).contains("a.example/drafts/1?x=y"));
}

fn row(token: &str, site: &Site, page: &Page) -> Row {
    let token = ProductToken::new(token).expect("a token");
    Row::of(&built_in_catalogue(), &token, site, page)
}

#[test]
fn the_matrix_names_the_answers_and_the_carrier_that_decides() {
    let noai = &[("X-Robots-Tag", "noai")][..];
    let usage = &[("Content-Usage", "search=y, train-ai=n")][..];
    let none: &[(&str, &str)] = &[];
    for (robots_txt, fields, token, crawl, train, search) in [
        ("", none, "GPTBot", "yes", "unsaid", "unsaid"),
        // What may not be fetched is not used.
        (
            "User-agent: GPTBot\nDisallow: /drafts\n",
            noai,
            "GPTBot",
            "no, line 2",
            "no, line 2",
            "no, line 2",
        ),
        (
            "User-agent: GPTBot\nDisallow: /other\n",
            noai,
            "GPTBot",
            "yes",
            "no, X-Robots-Tag",
            "unsaid",
        ),
        // A line of robots.txt, by path and by group.
        (
            "User-agent: *\nContent-Usage: train-ai=n\nContent-Usage: /drafts/ train-ai=y\nAllow: /\n",
            none,
            "ClaudeBot",
            "yes, line 4",
            "yes, Content-Usage line 3",
            "unsaid",
        ),
        (
            "User-agent: *\nContent-Usage: train-ai=n\nAllow: /\nUser-agent: CCBot\nAllow: /\n",
            none,
            "CCBot",
            "yes, line 5",
            "unsaid",
            "unsaid",
        ),
        (
            "User-agent: *\nAllow: /\nContent-Signal: search=yes, ai-train=no\n",
            none,
            "bingbot",
            "yes, line 2",
            "no, Content-Signal line 3",
            "yes, Content-Signal line 3",
        ),
        // The first of equal statements decides, and the stricter of different ones.
        (
            "User-agent: *\nAllow: /\nContent-Signal: search=no, ai-train=no\n",
            usage,
            "bingbot",
            "yes, line 2",
            "no, Content-Signal line 3",
            "no, Content-Signal line 3",
        ),
        ("", usage, "bingbot", "yes", "no, Content-Usage", "yes, Content-Usage"),
        ("", &[("Content-Usage", "search=Y, train-ai")], "bingbot", "yes", "unsaid", "unsaid"),
        // Tags.
        ("", &[("Robots-Tag", "*;noindex")], "Googlebot", "yes", "unsaid", "no, Robots-Tag"),
        ("", &[("X-Robots-Tag", "bingbot: none")], "Googlebot", "yes", "unsaid", "unsaid"),
        ("", &[("X-Robots-Tag", "bingbot: none")], "bingbot", "yes", "unsaid", "no, X-Robots-Tag"),
        // TDMRep.
        ("", &[("tdm-reservation", "1")], "GPTBot", "yes", "no, TDMRep", "unsaid"),
        ("", &[("tdm-reservation", "0")], "GPTBot", "yes", "yes, TDMRep", "unsaid"),
        // Control tokens govern training with the copies of their operator's crawlers.
        (
            "User-agent: Google-Extended\nDisallow: /\n",
            none,
            "Googlebot",
            "yes",
            "no, Google-Extended line 2",
            "unsaid",
        ),
        (
            "User-agent: Google-Extended\nDisallow: /\n",
            none,
            "Google-Extended",
            "-",
            "no, Google-Extended line 2",
            "-",
        ),
        ("User-agent: Google-Extended\nDisallow: /\n", none, "Applebot", "yes", "unsaid", "unsaid"),
        (
            "User-agent: Google-Extended\nAllow: /\n",
            none,
            "Googlebot",
            "yes",
            "yes, Google-Extended line 2",
            "unsaid",
        ),
        ("User-agent: *\nAllow: /\n", none, "Google-Extended", "-", "unsaid", "-"),
        (
            "User-agent: *\nDisallow: /\nUser-agent: Googlebot\nAllow: /\n",
            none,
            "Googlebot",
            "yes, line 4",
            "no, Google-Extended line 2",
            "unsaid",
        ),
        ("", none, "UnheardOfBot", "yes", "unsaid", "unsaid"),
    ] {
        let row = row(token, &site(robots_txt), &page(fields, ""));
        let shown = [Use::Crawl, Use::TrainAi, Use::Search].map(|about| row.shown(about));
        assert_eq!(shown, [crawl, train, search], "{token} {robots_txt} {fields:?}");
    }
    let down = Site { robots_status: 503, ..Site::default() };
    let row = row("GPTBot", &down, &page(&[], ""));
    assert_eq!((row.shown(Use::Crawl), row.train_ai), ("no".to_owned(), Answer::No));
    assert_eq!(row.carriers[0].said.place, "status 503");
}

#[test]
fn a_rule_of_tdmrep_applies_below_its_location() {
    for (file, expected) in [
        ("[{ \"location\": \"/\", \"tdm-reservation\": 1 }]", Answer::No),
        ("[{ \"location\": \"/press/\", \"tdm-reservation\": 1 }]", Answer::Unsaid),
        (
            "[{ \"location\": \"/\", \"tdm-reservation\": 1 }, \
              { \"location\": \"/drafts/*\", \"tdm-reservation\": \"0\" }]",
            Answer::Yes,
        ),
        ("[{ \"location\": 7 }, 3]", Answer::Unsaid),
        ("{ \"location\": \"/\", \"tdm-reservation\": 1 }", Answer::Unsaid),
        ("<html>", Answer::Unsaid),
    ] {
        let site = Site { tdmrep: Some(file.as_bytes().to_vec()), ..site("") };
        assert_eq!(row("CCBot", &site, &page(&[], "")).train_ai, expected, "{file}");
    }
}

#[test]
fn control_tokens_contradict_statements() {
    let site = site(
        "User-agent: *\nAllow: /\nContent-Usage: train-ai=y\n\
         User-agent: Google-Extended\nDisallow: /\n",
    );
    let found = row("Googlebot", &site, &page(&[], ""));
    let conflict = found.conflicts.first().expect("a contradiction");
    assert_eq!(conflict.code, "audit.training_contradicts");
    assert_eq!(
        conflict.message,
        "Content-Usage (robots.txt line 3) permits training, Google-Extended (robots.txt line 5) forbids it"
    );
    assert!(row("GPTBot", &site, &page(&[], "")).conflicts.is_empty());
}

#[test]
fn the_matrix_fits_a_screen_of_100_columns() {
    let catalogue = built_in_catalogue();
    for name in CRAWLERS {
        assert!(
            catalogue.find(name).is_some_and(|one| one.product_token().as_str() == name),
            "{name}"
        );
    }
    let lines = "\n".repeat(900);
    let site = site(&format!(
        "{lines}User-agent: *\nContent-Signal: search=no, ai-train=no\nDisallow: /x\n\
         User-agent: Applebot-Extended\nDisallow: /\n\
         User-agent: Applebot\nAllow: /\nContent-Usage: train-ai=y\n"
    ));
    let page = page(&[("X-Robots-Tag", "noindex")], "");
    let rows: Vec<Row> = CRAWLERS.iter().map(|name| row(name, &site, &page)).collect();
    let screen = report::Screen { width: Some(100), has_colours: false };
    let text = report::text(&matrix_document(&[(200, rows)]), screen);
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    for shown in [
        "What 20 crawlers may do, on 1 page",
        "no, Applebot-Extended line 905",
        "no, Content-Signal line 902",
        "Contradiction for Applebot: Content-Usage (robots.txt line 908)",
    ] {
        let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains(shown), "{shown}\n{text}");
    }
    assert!(!text.contains('…') && !text.contains("never sees"), "{text}");
}
