//! `beadle tags`: the rules in headers and a document for one crawler, with their places.

use std::{
    io::Write,
    process::{Command, Output, Stdio},
};

use serde_json::{Value, json};

use crate::support::program::PROGRAM;

/// Runs the verb in a folder with `page.html` and these octets on standard input.
fn tags(args: &[&str], input: &[u8]) -> Output {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("page.html"), PAGE).expect("it is writable");
    let mut child = Command::new(PROGRAM)
        .arg("tags")
        .args(args)
        .current_dir(folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program can be started");
    let mut stdin = child.stdin.take().expect("it is a pipe");
    // The program may end without reading its input.
    let _ = stdin.write_all(input);
    drop(stdin);
    child.wait_with_output().expect("it ends")
}

fn text(args: &[&str], input: &str) -> String {
    let output = tags(args, input.as_bytes());
    let wrong = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), wrong.as_ref()), (Some(0), ""), "{args:?}");
    String::from_utf8(output.stdout).expect("it is UTF-8")
}

fn row(args: &[&str], input: &str) -> Value {
    let args = [&["--format", "json"], args].concat();
    serde_json::from_str(&text(&args, input)).expect("one object")
}

const HEADERS: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\
    Robots-Tag: *;nosnippet\r\nX-ROBOTS-TAG: googlebot: nofollow, hm\r\n";
const PAGE: &str = "<!doctype html>\n<title>A page</title>\n\
    <meta name=\"robots\" content=\"max-snippet:20\">\n<META NAME=Googlebot CONTENT=NOINDEX>\n\
    <meta name=otherbot content=noarchive>\n\
    <body><meta name=robots content=noimageindex>\n";

#[test]
fn headers_are_read_line_by_line() {
    assert_eq!(
        text(&["-t", "Googlebot"], &format!("{HEADERS}\r\n{PAGE}")),
        "Googlebot: hm, nofollow, nosnippet\n  Robots-Tag: nosnippet\n  \
         X-Robots-Tag: hm, nofollow\n\
         X-Robots-Tag: note: unknown rule 'hm', kept as it is [robots_tag.unknown_rule]\n"
    );
    assert_eq!(text(&["-t", "*"], "Robots-Tag: googlebot;noindex"), "*: no rule\n");
    assert_eq!(text(&["-t", "x"], ""), "x: no rule\n");
}

#[test]
fn headers_and_the_document_behind_them_are_united() {
    assert_eq!(
        text(&["-t", "googlebot", "--html"], &format!("{HEADERS}\r\n{PAGE}")),
        "googlebot: hm, max-snippet:20, nofollow, noindex, nosnippet\n  \
         Robots-Tag: nosnippet\n  X-Robots-Tag: hm, nofollow\n  \
         document:3: <meta name=\"robots\">: max-snippet:20\n  \
         document:4: <meta name=\"Googlebot\">: noindex\n\
         X-Robots-Tag: note: unknown rule 'hm', kept as it is [robots_tag.unknown_rule]\n\
         document:6:7: warning: <meta name=\"robots\"> stands outside the head and is ignored \
         [robots_tag.meta_outside_head]\n    \
         help: move it into the head; only some crawlers read it in the body\n"
    );
    // `--product-token` accepts a crawler outside the catalogue.
    let found = row(&["-t", "OtherBot", "--html", "-"], &format!("{HEADERS}\r\n{PAGE}"));
    assert_eq!(found["rules"], json!(["max-snippet:20", "noarchive", "nosnippet"]));
}

#[test]
fn a_document_is_read_from_a_file() {
    let found = row(&["-t", "Googlebot", "--html", "page.html"], "X-Robots-Tag: nofollow\n");
    let finding = found["diagnostics"][0].clone();
    assert_eq!(
        found,
        json!({
            "product_token": "Googlebot",
            "rules": ["max-snippet:20", "noindex"],
            "sources": [
                {
                    "source": "document", "name": "robots", "file": "page.html", "line": 3,
                    "rules": ["max-snippet:20"],
                },
                {
                    "source": "document", "name": "Googlebot", "file": "page.html", "line": 4,
                    "rules": ["noindex"],
                },
            ],
            "diagnostics": [finding],
        })
    );
    let place = ["source", "file", "line", "column"].map(|key| finding[key].clone());
    assert_eq!(json!(place), json!(["document", "page.html", 6, 7]));
    let shown = text(&["-t", "*", "--html", "page.html"], "");
    let begin = "*: max-snippet:20\n  page.html:3: <meta name=\"robots\">: max-snippet:20\n\
        page.html:6:7: warning: ";
    assert!(shown.starts_with(begin), "{shown}");
}

#[test]
fn the_beginning_of_the_document_is_found() {
    const META: &str = "<meta name=robots content=noindex>";
    for (input, rules) in [
        (format!("{META}\n"), &["noindex"][..]),
        (format!("\n\n{META}"), &["noindex"]),
        (format!("<!-- a: b -->\n\n{META}"), &["noindex"]),
        (format!("Robots-Tag: *;nofollow\n\n{META}"), &["nofollow", "noindex"]),
        (format!("HTTP/2 200 \r\nx-robots-tag: nofollow\r\n\r\n{META}"), &["nofollow", "noindex"]),
        // A document that looks like headers.
        (format!("HTTP/2 200 \r\n\r\n{META}\nX-Robots-Tag: nofollow"), &["noindex"]),
        // The output of curl with a redirect that it follows: the last answer counts.
        (
            format!(
                "HTTP/1.1 301 Moved\r\nX-Robots-Tag: none\r\n\r\nHTTP/1.1 200 OK\r\n\r\n{META}"
            ),
            &["noindex"],
        ),
        ("HTTP/1.1 200 OK\r\nX-Robots-Tag: none".to_owned(), &["nofollow", "noindex"]),
        (String::new(), &[]),
    ] {
        assert_eq!(row(&["-t", "a", "--html"], &input)["rules"], json!(rules), "{input}");
    }
}

#[test]
fn a_long_document_is_read_to_its_end_and_no_further_than_its_head() {
    let mut input = format!("HTTP/1.1 200 OK\r\n\r\n{PAGE}").into_bytes();
    input.resize(5 << 20, b'x');
    let output = tags(&["-t", "Googlebot", "--html"], &input);
    assert_eq!(output.status.code(), Some(0));
    let found = String::from_utf8_lossy(&output.stdout);
    assert!(found.starts_with("Googlebot: max-snippet:20, noindex\n"), "{found}");
    assert!(!found.contains("head_cut"), "{found}");
}

#[test]
fn unreadable_input_is_refused() {
    for (args, sentence) in [
        (&["-t", "a:b"][..], "'a:b' is not a product token"),
        (&["-t", "a", "--html", "none.html"], "beadle: none.html: No such file"),
        (&["-t", "a", "--html", "."], "beadle: .: not a regular file"),
        (&["--rules", "--html"], "cannot be used with"),
    ] {
        let output = tags(args, b"");
        let wrong = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(wrong.contains(sentence), "{args:?}: {wrong}");
    }
}
