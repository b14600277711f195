//! Questions, findings and their ends, by tables.

use std::time::Duration;

use super::*;
use crate::{formats::robots, rules::policy::AlertKind};

const FILE: &[u8] = b"User-agent: *\nDisallow: /private/\n";
const HOUR: Duration = Duration::from_secs(3_600);

fn asked(asker: Asker, target: &str) -> Question {
    Question { asker, target: target.to_owned() }
}

fn as_crawler(target: &str) -> Question {
    asked(Asker::Crawler("GPTBot".to_owned()), target)
}

fn seen(status: u16, fields: &[(&str, &str)], body: &[u8]) -> Seen {
    let fields = fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Seen { status, fields: fields.collect(), body: body.to_vec(), has_arrived: Some(false) }
}

fn kind(question: &Question, expected: &Expected, seen: &Seen) -> Option<&'static str> {
    judge(question, expected, seen).map(|finding| finding.kind.as_str())
}

#[test]
fn robots_txt_is_what_was_published_byte_for_byte() {
    let file = |replaced: Option<u64>| Expected::RobotsTxt {
        file: FILE.to_vec(),
        replaced: replaced.map(Duration::from_secs),
        max_age: HOUR,
    };
    let other: &[u8] = b"User-agent: *\n";
    for (status, body, replaced, expected) in [
        (200, FILE, None, None),
        (200, other, None, Some("robots_rewritten")),
        (200, b"", None, Some("robots_rewritten")),
        (200, b"User-agent: *\r\nDisallow: /private/\r\n", None, Some("robots_rewritten")),
        (200, other, Some(0), None),
        (200, other, Some(3_600), None),
        (200, other, Some(3_660), None),
        (200, other, Some(3_661), Some("stale")),
        (403, FILE, None, Some("robots_refused")),
        (404, other, None, Some("robots_refused")),
        (500, b"", None, Some("robots_refused")),
        (301, b"", None, Some("robots_refused")),
        (0, b"", None, Some("robots_refused")),
    ] {
        for asker in [Asker::Browser, Asker::Crawler("GPTBot".to_owned())] {
            let question = asked(asker, "/robots.txt");
            assert!(question.is_robots_txt());
            let found = kind(&question, &file(replaced), &seen(status, &[], body));
            assert_eq!(found, expected, "{status} {body:?} {replaced:?}");
        }
    }
}

#[test]
fn a_rewritten_robots_txt_is_shown_by_its_lines() {
    let expected =
        Expected::RobotsTxt { file: FILE.to_vec(), replaced: None, max_age: Duration::ZERO };
    let difference = |body: &[u8]| {
        let finding = judge(&as_crawler("/robots.txt"), &expected, &seen(200, &[], body));
        finding.map(|one| (one.text, one.added, one.removed)).expect("a finding")
    };
    let (text, added, removed) =
        difference(b"# Managed\nUser-agent: *\nDisallow: /\nDisallow: /\n\n\x1b\n");
    assert_eq!(text, "robots.txt comes changed: 4 lines put in, 1 taken out");
    assert_eq!(added, ["# Managed", "Disallow: /", "Disallow: /", "\\x1b"]);
    assert_eq!(removed, ["Disallow: /private/"]);
    let (text, added, removed) = difference(&b"Disallow: /x\n".repeat(1_000));
    assert_eq!(text, "robots.txt comes changed: 1000 lines put in, 2 taken out");
    assert_eq!((added.len(), removed.len()), (10, 2));
    let (text, ..) = difference(b"Disallow: /private/\nUser-agent: *\n");
    assert_eq!(text, "robots.txt comes changed: 0 lines put in, 0 taken out");
}

#[test]
fn a_page_is_refused_by_beadle_or_comes_with_its_tags() {
    let tags = vec!["robots-tag", "x-robots-tag"];
    let both = &[("robots-tag", "*;noindex"), ("x-robots-tag", "noindex")][..];
    for (is_refused, status, fields, arrived, expected) in [
        (false, 200, both, Some(true), None),
        (false, 200, both, Some(false), None),
        (false, 200, &both[..1], Some(true), Some("tags_lost")),
        (false, 200, &[], None, Some("tags_lost")),
        (false, 404, &[], Some(true), None),
        (false, 301, &[], Some(false), None),
        (false, 403, &[], Some(false), Some("edge_refuses")),
        (false, 403, &[], None, Some("edge_refuses")),
        // The origin refuses.
        (false, 403, &[], Some(true), None),
        (false, 429, &[], Some(false), Some("edge_refuses")),
        (false, 503, &[], Some(false), Some("edge_refuses")),
        (false, 0, &[], Some(false), Some("edge_refuses")),
        (false, 502, &[], Some(false), None),
        (true, 403, &[], Some(true), None),
        (true, 403, &[], Some(false), None),
        (true, 404, &[], Some(false), None),
        (true, 200, both, Some(false), Some("edge_ignores")),
        (true, 200, &[], Some(true), Some("edge_ignores")),
        (true, 304, &[], Some(false), None),
    ] {
        let expectation = Expected::Page { is_refused, tags: tags.clone() };
        let came = Seen { has_arrived: arrived, ..seen(status, fields, b"") };
        let found = kind(&as_crawler("/x"), &expectation, &came);
        assert_eq!(found, expected, "{is_refused} {status} {arrived:?}");
    }
    let page = Expected::Page { is_refused: false, tags: Vec::new() };
    let browser = asked(Asker::Browser, "/x");
    assert_eq!(kind(&browser, &page, &seen(403, &[], b"")), None, "people are no crawlers");
    assert_eq!(kind(&as_crawler("/x"), &page, &seen(200, &[], b"")), None, "no tags to lose");
}

#[test]
fn a_round_asks_first_as_a_browser_and_finds_a_refused_page_by_the_rules() {
    let rules = b"User-agent: *\nDisallow: /open\nDisallow: /*.pdf\nDisallow: /private/x$\n\
                  Disallow: /later/\nDisallow: /\n";
    let (rules, _) = robots::parse(rules);
    let targets = |pages: &[&str], refused: &[&str]| {
        let pages: Vec<String> = pages.iter().map(|page| (*page).to_owned()).collect();
        let all = questions("GPTBot", &pages, &rules, |path| refused.contains(&path));
        let (browser, crawler) = all.split_at(all.len() / 2);
        assert!(browser.iter().all(|one| one.asker == Asker::Browser));
        let targets = |part: &[Question]| -> Vec<String> {
            part.iter().map(|one| one.target.clone()).collect()
        };
        assert_eq!(targets(browser), targets(crawler));
        assert!(crawler.iter().all(|one| one.asker == Asker::Crawler("GPTBot".to_owned())));
        targets(browser)
    };
    assert_eq!(targets(&[], &[]), ["/robots.txt", "/"]);
    assert_eq!(targets(&[], &["/"]), ["/robots.txt", "/"]);
    let refused = ["/", "/private/x", "/later/"];
    assert_eq!(targets(&[], &refused), ["/robots.txt", "/", "/private/x"]);
    assert_eq!(targets(&["/a", "/b?c"], &refused), ["/robots.txt", "/a", "/b?c"]);
}

#[test]
fn crawlers_are_those_of_the_policy_else_the_usual_ones_and_the_first_of_the_groups() {
    let of = |wanted: &[&'static str], named: &[&'static str]| {
        crawlers(wanted.iter().copied(), named.iter().copied())
    };
    let usual = ["Googlebot", "bingbot", "GPTBot", "ClaudeBot"];
    assert_eq!(of(&["CCBot"], &["AcmeBot"]), ["CCBot"]);
    assert_eq!(of(&[], &["gptbot", "AcmeBot", "acmebot"]), [&usual[..], &["AcmeBot"]].concat());
    assert_eq!(of(&[], &["a", "b", "c", "d", "e"]).len(), 8);
    for asker in [Asker::Browser, Asker::Crawler("GPTBot".to_owned())] {
        let is_named = asker.user_agent("beadle/1").contains("GPTBot/1.0; beadle/1");
        assert_eq!(is_named, asker != Asker::Browser);
    }
}

#[test]
fn a_finding_holds_until_everyone_who_met_it_gets_the_right_answer() {
    let page = Expected::Page { is_refused: false, tags: vec!["robots-tag"] };
    let (browser, crawler) = (asked(Asker::Browser, "/"), as_crawler("/"));
    let refused = || judge(&crawler, &page, &seen(403, &[("server", "nginx/1.26")], b""));
    let lost = || judge(&browser, &page, &seen(200, &[], b""));
    let mut held = Held::default();
    let says = |held: &Held| -> Vec<String> {
        held.troubles("a.example").iter().map(Trouble::to_string).collect()
    };
    held.take(&crawler, refused());
    let text = "a.example: /, which the rules allow, is refused with 403, asked as GPTBot \
                (Server: nginx/1.26)";
    assert_eq!(says(&held), [text]);
    held.take(&browser, lost());
    held.take(&as_crawler("/other"), None);
    assert_eq!(says(&held).len(), 2);
    held.take(&crawler, lost());
    let both = "a.example: / comes without robots-tag, asked as a browser, GPTBot";
    assert_eq!(says(&held), [both], "the refusal has ended");
    held.take(&browser, None);
    assert_eq!(says(&held), ["a.example: / comes without robots-tag, asked as GPTBot"]);
    held.forget(&[as_crawler("/")], &["GPTBot".to_owned()]);
    held.forget(&[asked(Asker::Browser, "/x")], &["GPTBot".to_owned()]);
    assert_eq!(says(&held).len(), 1, "it is asked yet");
    for (round, crawlers) in [(as_crawler("/x"), "GPTBot"), (browser, "CCBot")] {
        let mut held = held.clone();
        held.forget(&[round], &[crawlers.to_owned()]);
        assert!(says(&held).is_empty());
    }
}

#[test]
fn a_repair_is_for_the_product_that_answered() {
    for (fields, starts) in [
        (&[("server", "cloudflare")][..], "Cloudflare: allow the crawler in AI"),
        (&[("cf-ray", "8a"), ("server", "nginx")], "Cloudflare: "),
        (&[("x-served-by", "cache-fra-1"), ("via", "1.1 varnish")], "Fastly: "),
        (&[("server", "nginx/1.26.3")], "nginx: remove the 'if' or 'map'"),
        (&[("server", "Apache")], "Cloudflare: "),
    ] {
        let page = Expected::Page { is_refused: false, tags: Vec::new() };
        let mut held = Held::default();
        held.take(&as_crawler("/"), judge(&as_crawler("/"), &page, &seen(403, fields, b"")));
        let trouble = held.troubles("a").pop().expect("a finding");
        let repair = trouble.repair();
        assert!(repair.starts_with(starts), "{repair}");
        let is_unknown = fields == [("server", "Apache")];
        assert_eq!(repair.contains("Fastly: ") && repair.contains("nginx: "), is_unknown);
        assert_eq!(trouble.cause(), "a bot rule of the front refuses this crawler");
    }
    for kind in AlertKind::ALL.into_iter().skip(12) {
        for product in [None, Some(finding::Product::Fastly)] {
            assert!(!finding::repair(kind, product).is_empty(), "{kind:?}");
        }
    }
}
