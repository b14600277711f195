//! Answers in, findings out.

use super::*;
use crate::{base::product_token::ProductToken, rules::policy::built_in_catalogue};

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
    assert!(crate::review::report::html(&document).contains("a.example/drafts/1?x=y"));
}
