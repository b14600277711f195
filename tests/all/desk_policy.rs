//! The policy's page: what the file on disk would change, before it is in force.

use crate::support::{
    origin::Origin,
    program::{Beadle, Setup},
};

fn setup(origin: &Origin, source: &str, closed: &str, more: &str) -> Setup {
    Setup::site(
        origin.port,
        &format!(
            "    robots_txt: {{ source: {source}, cache_window: 0s, groups: [{{ user_agents: [BadBot], \
             disallow: [{closed}] }}] }}\n{more}"
        ),
    )
}

/// The rows of the table, each as the text of its cells.
fn changes(beadle: &Beadle) -> Vec<Vec<String>> {
    let page = beadle.admin_page("/policy").text();
    let Some((_, table)) = page.split_once("What the file would change") else { return Vec::new() };
    let (table, _) = table.split_once("</div>").expect("the sheet ends");
    let text = |cell: &str| {
        let mut text = String::new();
        let mut is_tag = false;
        for c in cell.replace("<br>", " ").chars() {
            match c {
                '<' => is_tag = true,
                '>' => is_tag = false,
                c if !is_tag => text.push(c),
                _ => {}
            }
        }
        text.replace("&#39;", "'").replace("&gt;", ">")
    };
    let rows = table.split("<tr><td").skip(1);
    rows.map(|row| row.split("</td><td").map(|cell| text(&format!("<td{cell}"))).collect())
        .collect()
}

/// Replaces the file with one that needs a restart, so that it is refused.
fn refuse(beadle: &Beadle, setup: &Setup) {
    beadle.replace_policy(&beadle.text_of(&setup.clone().server("  threads: 3\n")));
    beadle.signal("HUP");
    beadle.wait_for_stderr("policy not reloaded");
}

#[test]
fn the_page_shows_what_a_refused_file_would_change() {
    let origin = Origin::plain();
    let beadle = setup(&origin, "policy", "/old/", "").start();
    assert_eq!(changes(&beadle), Vec::<Vec<String>>::new(), "the file is in force");

    let more =
        "    robots_tag: [{ rules: { '*': [noarchive] } }]\n    enforcement: { mode: block }\n";
    refuse(&beadle, &setup(&origin, "policy", "/new/", more));
    let rows = changes(&beadle);
    let has = |parts: &[&str]| {
        let is_there = |row: &Vec<String>| {
            let row = row.join(" | ");
            parts.iter().all(|part| row.contains(part))
        };
        assert!(rows.iter().any(is_there), "{parts:?} in {rows:#?}");
    };
    has(&["site.example", "BadBot", "/old/", "disallow", "allow", "Disallow: /old/"]);
    has(&["site.example", "BadBot", "/new/", "disallow (block)"]);
    has(&["tags", "noarchive"]);
    // Nothing is in force of it.
    assert_eq!(beadle.get("/new/x", "BadBot/1.0").status, 200);

    // The file as it is in force: nothing to show.
    beadle.replace_policy(&beadle.policy_text());
    assert_eq!(changes(&beadle), Vec::<Vec<String>>::new());
}

#[test]
fn a_file_without_a_change_of_meaning_says_so() {
    let origin = Origin::plain();
    let beadle = setup(&origin, "policy", "/old/", "").start();
    refuse(&beadle, &setup(&origin, "policy", "/old/", ""));
    let page = beadle.admin_page("/policy").text();
    assert!(page.contains("No request would be treated differently."), "{page}");
    // A file with errors would change nothing.
    beadle.replace_policy("sites: 7\n");
    let page = beadle.admin_page("/policy").text();
    assert!(!page.contains("What the file would change"), "{page}");
}

#[test]
fn the_origins_own_rules_count_in_what_would_change() {
    let file = "User-agent: *\nDisallow: /origin/\n";
    let origin = Origin::answering(format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {}\r\n\r\n{file}",
        file.len()
    ));
    let beadle = setup(&origin, "merge", "/old/", "").start();
    refuse(&beadle, &setup(&origin, "merge", "/new/", ""));
    let rows = changes(&beadle);
    let paths: Vec<&str> = rows.iter().filter_map(|row| Some(row.get(2)?.as_str())).collect();
    assert!(paths.iter().any(|path| path.contains("/new/")), "{rows:#?}");
    assert!(paths.iter().any(|path| path.contains("/old/")), "{rows:#?}");
    assert!(!paths.iter().any(|path| path.contains("/origin/")), "{rows:#?}");
}
