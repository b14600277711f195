//! The picture of the README: what `beadle demo` prints, as an SVG of a terminal.

use std::{
    io::{BufRead, BufReader},
    process::{Command, Stdio},
};

use crate::{
    page::{is_update, root},
    support::{ports::free_ports, program::PROGRAM},
};

const PICTURE: &str = "docs/src/images/demo.svg";

/// What the demo prints, with its usual addresses and names.
fn record() -> String {
    let folder = tempfile::tempdir().expect("a temporary folder");
    // The admin listener takes the port after the proxy's, which must be no other test's.
    let port = free_ports(2);
    let mut child = Command::new(PROGRAM)
        .args(["demo", "--port", &port.to_string()])
        .env("TMPDIR", folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program can be started");
    let pid = child.id().to_string();
    let mut text = String::new();
    for line in BufReader::new(child.stdout.take().expect("it is piped")).lines() {
        let line = line.expect("the demo prints UTF-8");
        let is_last = line.contains("Ctrl-C");
        text.push_str(&line);
        text.push('\n');
        if is_last {
            break;
        }
    }
    let interrupted = Command::new("kill").args(["-s", "INT", &pid]).status();
    assert!(interrupted.is_ok_and(|status| status.success()), "the demo still runs");
    let ended = child.wait().expect("it is our child");
    assert!(ended.success(), "{ended}: {text}");
    let own = folder.path().join(format!("beadle-demo-{pid}"));
    assert!(!own.exists(), "the demo removes its folder");
    let text = text
        .replace(PROGRAM, "beadle")
        .replace(&own.display().to_string(), "/tmp/beadle-demo")
        .replace(&format!("127.0.0.1:{port}"), "127.0.0.1:8080");
    usual(&text)
}

/// The text with 9090 as the port of every other listener.
fn usual(text: &str) -> String {
    const ADDRESS: &str = "127.0.0.1:";
    let mut parts = text.split(ADDRESS);
    let mut usual = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.trim_start_matches(|c: char| c.is_ascii_digit());
        let port = if part.starts_with("8080") { "8080" } else { "9090" };
        usual.extend([ADDRESS, port, rest]);
    }
    usual
}

const FONT: f64 = 13.0;
const COLUMN: f64 = 7.8;
const LINE: f64 = 18.0;
const MARGIN: f64 = 18.0;
const BAR: f64 = 34.0;

/// The lines in a window.
fn draw(lines: &[&str]) -> String {
    let columns = lines.iter().map(|line| line.chars().count()).max().unwrap_or_default();
    let width = 2.0 * MARGIN + columns as f64 * COLUMN;
    let height = BAR + MARGIN + lines.len() as f64 * LINE;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" \
         width=\"{width:.0}\" height=\"{height:.0}\" role=\"img\" aria-labelledby=\"title\">\n\
         <title id=\"title\">beadle demo in a terminal</title>\n\
         <style>\n\
         text {{ font: {FONT}px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; \
         white-space: pre; fill: #c9d1d9; }}\n\
         .prompt {{ fill: #7ee787; }}\n.command {{ fill: #79c0ff; }}\n\
         .good {{ fill: #7ee787; }}\n.refused {{ fill: #ffa198; }}\n\
         </style>\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#0d1117\"/>\n\
         <circle cx=\"20\" cy=\"17\" r=\"6\" fill=\"#ff5f56\"/>\n\
         <circle cx=\"40\" cy=\"17\" r=\"6\" fill=\"#ffbd2e\"/>\n\
         <circle cx=\"60\" cy=\"17\" r=\"6\" fill=\"#27c93f\"/>\n"
    );
    for (number, line) in lines.iter().enumerate().filter(|(_, line)| !line.is_empty()) {
        let y = BAR + FONT + number as f64 * LINE;
        let indent = line.chars().take_while(|c| *c == ' ').count();
        let x = MARGIN + indent as f64 * COLUMN;
        let (text, ending, class) = match status(line) {
            _ if line.starts_with("$ ") => (*line, "", "prompt"),
            _ if indent == 4 => (*line, "", "command"),
            Some((before, ending, class)) => (before, ending, class),
            None => (*line, "", "plain"),
        };
        let (text, ending) = (escaped(text.trim_start()), escaped(ending));
        let element = if ending.is_empty() {
            format!("<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.0}\">{text}</text>")
        } else {
            format!(
                "<text x=\"{x:.1}\" y=\"{y:.0}\" xml:space=\"preserve\">{text}<tspan \
                 class=\"{class}\">{ending}</tspan></text>"
            )
        };
        svg.extend([element.as_str(), "\n"]);
    }
    svg.push_str("</svg>\n");
    svg
}

/// A line with a status at its end: the text before it, the status, its colour.
fn status(line: &str) -> Option<(&str, &str, &'static str)> {
    [("200 OK", "good"), ("403 Forbidden", "refused")].into_iter().find_map(|(status, class)| {
        let before = line.strip_suffix(status)?;
        Some((before, &line[before.len()..], class))
    })
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[test]
fn the_picture_of_the_demo_is_what_it_prints() {
    let text = record();
    let lines: Vec<&str> = std::iter::once("$ beadle demo").chain(text.lines()).collect();
    let (drawn, file) = (draw(&lines), root().join(PICTURE));
    if is_update() {
        std::fs::write(&file, &drawn).expect("the picture is writable");
    } else {
        let picture = std::fs::read_to_string(&file).unwrap_or_default();
        assert!(picture == drawn, "BEADLE_UPDATE=1 rewrites {PICTURE}; the demo prints\n{text}");
    }
}
