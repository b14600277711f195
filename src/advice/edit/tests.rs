//! Edits as tables, and as random sequences that leave no trace.

use std::{fs, path::PathBuf, sync::LazyLock};

use proptest::prelude::*;

use super::{layout::Node, *};
use crate::rules::policy::{Mode, Policy};

fn block(name: &str) -> Entry {
    Entry { list: List::Overrides, name: name.to_owned(), rest: "mode: block".to_owned() }
}

fn limit(name: &str) -> Entry {
    Entry { list: List::RateLimits, name: name.to_owned(), rest: "requests: 60/1m".to_owned() }
}

fn quiet(name: &str) -> Entry {
    Entry { list: List::Quiet, name: name.to_owned(), rest: String::new() }
}

/// The place of the only site of a text.
fn place(text: &str) -> (u32, u32) {
    places(text)[0]
}

const HEAD: &str = "sites:\n  - hosts: [a.example]\n    origin: http://127.0.0.1:1\n";

#[test]
fn an_entry_goes_to_the_head_of_its_list() {
    let entry = "{ user_agents: [GPTBot], mode: block }";
    let flow = "{ \"user_agents\": [GPTBot], mode: block }";
    let mark = "  # beadle block";
    for (before, after) in [
        // Neither list nor section.
        ("", format!("    enforcement:\n      overrides:\n        - {entry}{mark}\n")),
        (
            "\n# end\n",
            format!("    enforcement:\n      overrides:\n        - {entry}{mark}\n\n# end\n"),
        ),
        // A section without the list, in both styles.
        (
            "    enforcement:\n        mode: log # for now\n\n    default: true\n",
            format!(
                "    enforcement:\n        mode: log # for now\n        overrides:\n          - \
                 {entry}{mark}\n\n    default: true\n"
            ),
        ),
        ("    enforcement: {}\n", format!("    enforcement: {{ overrides: [{flow}] }}\n")),
        (
            "    enforcement: { mode: log, }\n",
            format!("    enforcement: {{ mode: log, overrides: [{flow}], }}\n"),
        ),
        (
            "    enforcement: {\n      mode: log # for now\n    }\n",
            format!(
                "    enforcement: {{\n      mode: log, overrides: [{flow}] # for now\n    }}\n"
            ),
        ),
        // A list, in both styles.
        (
            "    enforcement:\n      overrides:\n      # first\n      - { user_agents: [CCBot], mode: log }\n",
            format!(
                "    enforcement:\n      overrides:\n      # first\n      - {entry}{mark}\n      - {{ \
                 user_agents: [CCBot], mode: log }}\n"
            ),
        ),
        (
            "    enforcement:\n      overrides: [ { user_agents: [CCBot], mode: log } ]\n",
            format!(
                "    enforcement:\n      overrides: [ {flow}, {{ user_agents: [CCBot], mode: log }} ]\n"
            ),
        ),
        (
            "    enforcement: { overrides: [] }\n",
            format!("    enforcement: {{ overrides: [ {flow} ] }}\n"),
        ),
        // The last value is a text of several lines.
        (
            "    enforcement:\n      block:\n        body: |+\n          no\n\n\n# end\n",
            format!(
                "    enforcement:\n      block:\n        body: |+\n          no\n\n\n      overrides:\n        \
                 - {entry}{mark}\n# end\n"
            ),
        ),
    ] {
        let before = format!("{HEAD}{before}");
        let found = put(&before, place(&before), &block("GPTBot")).expect("an edit");
        assert_eq!(found, format!("{HEAD}{after}"));
        let back = take(&found, place(&found), List::Overrides, "GPTBot").expect("an edit");
        assert_eq!(back.as_deref(), Some(&*before));
    }
}

#[test]
fn what_is_shared_with_other_places_is_refused() {
    for (rest, line, why) in [
        ("    enforcement: *e\n", 5, "alias or an anchor"),
        ("    enforcement:\n      overrides: *o\n", 6, "alias or an anchor"),
        ("    enforcement: &x { mode: log }\n    y: *x\n", 5, "alias or an anchor"),
        ("    <<: *e\n", 5, "a merge key may bring 'enforcement'"),
        ("    enforcement:\n      <<: *e\n", 6, "a merge key may bring 'overrides'"),
        ("    enforcement:\n", 5, "has no value"),
    ] {
        let text = format!("x: [&e {{}}, &o []]\n{HEAD}{rest}");
        let refusal = put(&text, place(&text), &block("GPTBot")).expect_err(rest);
        assert_eq!(refusal.line, line, "{rest}");
        assert!(refusal.why.contains(why), "{rest}: {}", refusal.why);
    }
    let text = "x:\n  - &s\n    hosts: [a.example]\n    origin: http://127.0.0.1:1\nsites: [*s]\n";
    assert!(put(text, (3, 5), &block("GPTBot")).is_err());
}

#[test]
fn what_the_operator_wrote_is_not_taken() {
    for own in [
        "      overrides: [{ user_agents: [GPTBot], mode: block }]\n",
        "      overrides:\n        - { user_agents: [GPTBot], mode: block }\n",
        "      overrides:\n        - { user_agents: [GPTBot], mode: block } # since May\n",
        "      overrides:\n        - user_agents: [GPTBot]\n          mode: block\n",
    ] {
        let text = format!("{HEAD}    enforcement:\n{own}");
        let at = place(&text);
        assert_eq!(take(&text, at, List::Overrides, "GPTBot"), Ok(None), "{own}");
        let put = put(&text, at, &block("GPTBot")).expect("an edit");
        let policy: Policy = put.parse().expect("a policy");
        assert_eq!(policy.sites[0].enforcement.overrides.len(), 2, "{own}");
        let back = take(&put, at, List::Overrides, "GPTBot").expect("an edit");
        assert_eq!(back.as_deref(), Some(&*text));
    }
}

#[test]
fn a_second_entry_for_a_crawler_takes_the_place_of_the_first() {
    let at = place(HEAD);
    let once = put(HEAD, at, &block("GPTBot")).expect("an edit");
    let two = put(&once, at, &block("CCBot")).expect("an edit");
    let log = Entry { rest: "mode: log".to_owned(), ..block("GPTBot") };
    let changed = put(&two, at, &log).expect("an edit");
    let lines: Vec<&str> = changed.lines().skip(5).map(str::trim).collect();
    let expected = [
        "- { user_agents: [GPTBot], mode: log }  # beadle block",
        "- { user_agents: [CCBot], mode: block }  # beadle block",
    ];
    assert_eq!(lines, expected);
}

#[test]
fn a_list_that_the_operator_commented_stays() {
    let at = place(HEAD);
    let text = put(HEAD, at, &block("GPTBot")).expect("an edit");
    let text = text.replace("overrides:", "overrides: # ours");
    let taken = take(&text, at, List::Overrides, "GPTBot").expect("an edit").expect("a change");
    assert_eq!(taken, format!("{HEAD}    enforcement:\n      overrides: [] # ours\n"));
}

#[test]
fn names_are_quoted_where_yaml_needs_it() {
    for (name, written) in [
        ("GPTBot", "GPTBot"),
        ("Baiduspider-render", "Baiduspider-render"),
        ("purpose:ai-training", "\"purpose:ai-training\""),
        ("*", "\"*\""),
        ("No", "\"No\""),
        ("360Spider", "\"360Spider\""),
        ("a\"b\\", "\"a\\\"b\\\\\""),
        ("/x/*?y=", "\"/x/*?y=\""),
        ("/x.html", "/x.html"),
    ] {
        assert_eq!(quoted(name), written);
    }
}

/// The policies of the project, each with its name.
static EXAMPLES: LazyLock<Vec<(String, String)>> = LazyLock::new(|| {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let files = ["examples", "examples/presets", "config"].map(|folder| root.join(folder));
    let files = files.iter().flat_map(|folder| fs::read_dir(folder).expect("a folder"));
    let files = files.map(|entry| entry.expect("a file").path());
    let texts = files.filter(|file| file.extension().is_some_and(|ending| ending == "yaml"));
    let texts = texts.map(|file| (file.display().to_string(), fs::read_to_string(file).unwrap()));
    let mut texts: Vec<_> = texts.filter(|(_, text)| text.parse::<Policy>().is_ok()).collect();
    texts.sort();
    assert!(texts.len() > 10, "{}", texts.len());
    texts
});

/// A text in one of the ways in which editors write it.
fn written(text: &str, way: u8) -> String {
    match way {
        0 => text.to_owned(),
        1 => text.replace('\n', "\r\n"),
        2 => format!("\u{feff}{text}"),
        _ => text.trim_end().to_owned(),
    }
}

/// The places of the sites of a text.
fn places(text: &str) -> Vec<(u32, u32)> {
    let root = Node::read(text.trim_start_matches('\u{feff}')).expect("YAML");
    root.get("sites").expect("sites").items().iter().map(|site| site.place).collect()
}

#[test]
fn every_example_is_blocked_and_unblocked_to_the_byte() {
    for (name, text) in &*EXAMPLES {
        for way in 0..4 {
            let text = written(text, way);
            for (number, at) in places(&text).into_iter().enumerate() {
                for entry in [block("SomeBot"), limit("SomeBot")] {
                    let edited = put(&text, at, &entry)
                        .unwrap_or_else(|refusal| panic!("{name} {way}: {refusal:?}"));
                    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
                    let added = lines(&edited).len() - lines(&text).len();
                    assert!(added <= 3, "{name} {way}: {added}");
                    // The places of the sites are those of findings.
                    if way == u8::from(entry.list == List::Overrides) {
                        let after: Policy = edited.parse().expect("a policy");
                        let site = after.written_sites().nth(number).expect("the site");
                        assert_eq!((site.at.line, site.at.column), at);
                        let (modes, limits) =
                            (&site.enforcement.overrides, &site.enforcement.rate_limits);
                        match entry.list {
                            List::Overrides => assert_eq!(modes[0].mode, Mode::Block, "{name}"),
                            _ => assert_eq!(limits[0].tokens.len(), 1, "{name}"),
                        }
                    }
                    let back = take(&edited, at, entry.list, "SomeBot").expect("an edit");
                    assert_eq!(back.as_deref(), Some(&*text), "{name} {way}");
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    /// Whatever is put, and in which order it is taken, nothing is left at the end.
    #[test]
    fn random_edits_leave_no_trace(
        example in 0usize..100,
        way in 0u8..4,
        edits in prop::collection::vec((0usize..8, 0usize..4, 0usize..3, any::<bool>()), 1..12),
    ) {
        let (name, text) = &EXAMPLES[example % EXAMPLES.len()];
        let text = written(text, way);
        let names = ["GPTBot", "purpose:ai-training", "Some Bot", "*"];
        let number = places(&text).len();
        let mut now = text.clone();
        let at = |text: &str, site: usize| places(text)[site];
        let mut written = Vec::new();
        for (site, who, what, is_taken) in edits {
            let (site, who) = (site % number, names[who]);
            let entry = [block, limit, quiet][what](who);
            let place = at(&now, site);
            if is_taken {
                now = take(&now, place, entry.list, who).expect("an edit").unwrap_or(now);
            } else {
                now = put(&now, place, &entry).unwrap_or_else(|one| panic!("{name}: {one:?}"));
                written.push((site, entry.list, who));
            }
        }
        for (site, list, who) in written {
            now = take(&now, at(&now, site), list, who).expect("an edit").unwrap_or(now);
        }
        prop_assert_eq!(&now, &text, "{}", name);
    }
}
