//! `docs/src/records.md` explains every field of a record and every metric.

use crate::{
    page::{Page, page},
    support::{origin::Origin, program::Setup, program::json_lines, wait_for},
};

/// The names in the first cells of the tables.
fn explained(page: &Page) -> Vec<&str> {
    let rows = page.text.lines().filter_map(|line| line.strip_prefix("| `"));
    let cells = rows.filter_map(|row| row.split(" | ").next());
    cells.flat_map(|cell| cell.split(", ")).map(|name| name.trim_matches('`')).collect()
}

#[test]
fn every_field_of_the_access_log_is_explained() {
    let origin = Origin::plain();
    let beadle = Setup::site(origin.port, "").server("  access_log: stdout\n").start();
    beadle.get("/x", "GPTBot/1.2");
    let line = wait_for("a line", || beadle.stdout().lines().next().map(str::to_owned));
    let page = page("access-log.md");
    let explained = explained(&page);
    let line: serde_json::Value = serde_json::from_str(&line).expect("JSON");
    let fields = line.as_object().expect("an object");
    assert_eq!(fields.len(), explained.len(), "{explained:?}");
    for name in fields.keys() {
        assert!(explained.contains(&name.as_str()), "the field {name}");
    }
}

#[test]
fn every_field_of_a_record_and_every_metric_is_explained() {
    let origin = Origin::plain();
    let rules = "    robots_txt: { groups: [{ user_agents: [GPTBot], disallow: [/] }] }\n";
    let beadle = Setup::site(origin.port, rules).start();
    beadle.get("/x", "GPTBot/1.2");
    beadle.wait_for_metric("beadle_records_stored_total", 1.0);
    let page = page("records.md");
    let explained = explained(&page);
    let records = json_lines(&beadle.verb(&["violations", "--format", "json"]));
    let record = records[0].as_object().expect("a record is an object");
    for (key, value) in record {
        let names: Vec<String> = match value.as_object() {
            Some(inner) => inner.keys().map(|name| format!("{key}.{name}")).collect(),
            None => vec![key.clone()],
        };
        for name in names {
            assert!(explained.contains(&name.as_str()), "the field {name}");
        }
    }
    let exposition = beadle.admin_page("/metrics").text();
    let names = exposition.lines().filter_map(|line| line.strip_prefix("# TYPE "));
    let names: Vec<&str> = names.filter_map(|line| line.split(' ').next()).collect();
    assert!(names.len() > 10, "{names:?}");
    for name in names {
        assert!(explained.contains(&name), "the metric {name}");
    }
}
