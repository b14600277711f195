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
