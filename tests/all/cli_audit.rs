//! `beadle audit` tells what a page and its site say together.

use std::process::{Command, Output};

use crate::support::{
    origin::{After, Origin},
    program::{PROGRAM, json_lines},
};

fn run(args: &[&str]) -> Output {
    Command::new(PROGRAM).args(args).output().expect("the program can be started")
}

#[test]
fn contradictions_and_signals_of_a_running_site_are_shown() {
    let origin = Origin::playing(|exchange| {
        match &exchange.request.target[..] {
            b"/robots.txt" => exchange.answer(
                "200 OK",
                &[],
                b"User-agent: *\nDisallow: /drafts/\nContent-Signal: ai-train=no\n",
            ),
            b"/ai.txt" => exchange.answer("200 OK", &[], b"<html>every path is a page</html>"),
            b"/.well-known/tdmrep.json" => exchange.answer("404 Not Found", &[], b""),
            _ => exchange.answer("200 OK", &["X-Robots-Tag: noindex"], b"<p>hello</p>"),
        }
        After::Close
    });
    let url = |path: &str| format!("http://127.0.0.1:{}{path}", origin.port);
    let (draft, open) = (url("/drafts/1"), url("/"));
    let found = run(&["audit", "--format", "json", "--product-token", "GPTBot", &draft, &open]);
    assert_eq!(found.status.code(), Some(1), "{found:?}");
    let rows = json_lines(&found);
    assert_eq!(rows[0]["robots_txt"]["verdict"], "disallow");
    assert_eq!(rows[0]["conflicts"][0]["code"], "audit.noindex_unseen");
    assert_eq!(rows[0]["signals"][0]["name"], "Content-Signal");
    assert_eq!(rows[0]["signals"].as_array().map(Vec::len), Some(1), "a page is no ai.txt");
    assert_eq!(rows[1]["robots_txt"]["verdict"], "allow");
    assert_eq!(rows[1]["rules"], serde_json::json!(["noindex"]));
    let is_named = |line: &(String, String)| {
        line.0.eq_ignore_ascii_case("user-agent") && line.1.contains("GPTBot")
    };
    assert!(origin.received().iter().all(|request| request.headers.iter().any(is_named)));
    // One page without a contradiction; text and HTML.
    let text = run(&["audit", &open]);
    assert_eq!(text.status.code(), Some(0), "{text:?}");
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    assert!(text.contains("What 1 page tells Googlebot") && text.contains("noindex"), "{text}");
    let html = run(&["audit", "--format", "html", &draft]);
    let html = String::from_utf8_lossy(&html.stdout).into_owned();
    assert!(html.contains("<html") && html.contains("audit.noindex_unseen"), "{html}");
    let refused = run(&["audit", "www.example.com"]);
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
}

#[test]
fn the_matrix_of_a_running_site_tells_who_may_do_what_and_why() {
    let origin = Origin::playing(|exchange| {
        match &exchange.request.target[..] {
            b"/robots.txt" => exchange.answer(
                "200 OK",
                &[],
                b"User-agent: *\nDisallow: /drafts/\nContent-Usage: train-ai=n, search=y\n\
                  Content-Usage: /press/ train-ai=y\nUser-agent: CCBot\nDisallow: /\n\
                  User-agent: Google-Extended\nDisallow: /\n",
            ),
            b"/press/1" => {
                exchange.answer("200 OK", &["Content-Usage: train-ai=y"], b"<p>press</p>")
            }
            b"/" => exchange.answer("200 OK", &[], b"<p>hello</p>"),
            _ => exchange.answer("404 Not Found", &[], b""),
        }
        After::Close
    });
    let url = |path: &str| format!("http://127.0.0.1:{}{path}", origin.port);
    let args = ["audit", "--matrix", "--format", "json", &url("/press/1")];
    let found = run(&args);
    assert_eq!(found.status.code(), Some(1), "{found:?}");
    let rows = json_lines(&found);
    assert_eq!(rows.len(), 40, "20 crawlers, the first page and this one");
    let row = |path: &str, token: &str| {
        let is_it =
            |row: &&serde_json::Value| row["url"] == url(path) && row["product_token"] == token;
        rows.iter().find(is_it).expect("a row").clone()
    };
    for (path, token, expected) in [
        ("/", "GPTBot", serde_json::json!(["yes", "no", "yes"])),
        ("/press/1", "GPTBot", serde_json::json!(["yes", "yes", "unsaid"])),
        ("/", "CCBot", serde_json::json!(["no", "no", "no"])),
        ("/press/1", "Googlebot", serde_json::json!(["yes", "no", "unsaid"])),
        ("/", "Google-Extended", serde_json::json!([null, "no", null])),
    ] {
        let row = row(path, token);
        let answers = serde_json::json!([row["crawl"], row["train_ai"], row["search"]]);
        assert_eq!(answers, expected, "{path} {token}");
    }
    let googlebot = row("/press/1", "Googlebot");
    assert_eq!(googlebot["purpose"], "search");
    assert_eq!(googlebot["conflicts"][0]["code"], "audit.training_contradicts");
    assert_eq!(
        googlebot["carriers"][1],
        serde_json::json!({
            "use": "train-ai", "says": "yes", "carrier": "Content-Usage",
            "place": "robots.txt line 4", "line": 4, "decides": false,
        })
    );
    let control = &googlebot["carriers"][3];
    assert_eq!(
        (&control["carrier"], &control["decides"]),
        (&"Google-Extended".into(), &true.into())
    );
    // The pages and files are fetched once, under Beadle's own name.
    let is_named = |line: &(String, String)| line.0 == "user-agent" && line.1.contains("Googlebot");
    let received = origin.received();
    assert_eq!(received.len(), 5);
    assert!(!received.iter().any(|request| request.headers.iter().any(is_named)));

    let text = run(&["audit", "--matrix", "--user-agent", "GPTBot", &url("/")]);
    assert_eq!(text.status.code(), Some(0), "{text:?}");
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    assert!(text.contains("What 1 crawler may do, on 1 page"), "{text}");
    let words: Vec<&str> = text.split_whitespace().collect();
    let shown = "GPTBot yes no, Content-Usage line 3 yes, Content-Usage line 3";
    assert!(words.join(" ").contains(shown), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    let search = run(&["audit", "--matrix", "--purpose", "search", "--format", "json", &url("/")]);
    assert!(json_lines(&search).iter().all(|row| row["purpose"] == "search"), "{search:?}");
    for (refused, why) in [
        (&["--matrix", "--purpose", "serch"][..], "search"),
        (&["--matrix", "--user-agent", "a:b"], "product token"),
        (&["--user-agent", "GPTBot"], "--matrix"),
        (&["--matrix", "--product-token", "GPTBot"], "cannot be used"),
    ] {
        let found = run(&[&["audit", &url("/")], refused].concat());
        let message = String::from_utf8_lossy(&found.stderr).into_owned();
        assert!(found.status.code() == Some(2) && message.contains(why), "{refused:?} {message}");
    }
}
