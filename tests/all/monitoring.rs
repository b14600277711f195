//! The alert rules and the dashboard in `examples/`, with Debian's Prometheus.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use serde_json::Value;

use crate::support::{
    BROWSER,
    client::Request,
    free_port, need,
    origin::Origin,
    program::{Beadle, Setup},
    wait_for,
};

/// A running Prometheus; dropping it ends the process.
struct Prometheus {
    child: Child,
    port: u16,
    _folder: tempfile::TempDir,
}

impl Prometheus {
    /// Scrapes `beadle` as the job `beadle`, with the rules of `examples/`.
    fn start(program: &Path, beadle: &Beadle) -> Self {
        let folder = tempfile::tempdir().expect("a folder for temporary files");
        let (port, at) = (free_port(), folder.path());
        let configuration = format!(
            "global: {{ scrape_interval: 500ms, scrape_timeout: 500ms, evaluation_interval: 1s }}\n\
             rule_files: [\"{}\"]\n\
             scrape_configs:\n\
             - {{ job_name: beadle, static_configs: [{{ targets: [\"127.0.0.1:{}\"] }}] }}\n",
            example("prometheus/alerts.yaml").display(),
            beadle.admin
        );
        let file = at.join("prometheus.yml");
        std::fs::write(&file, configuration).expect("the folder is ours");
        let log = std::fs::File::create(at.join("log")).expect("the folder is ours");
        let child = Command::new(program)
            .arg(format!("--config.file={}", file.display()))
            .arg(format!("--storage.tsdb.path={}", at.join("data").display()))
            .arg(format!("--web.listen-address=127.0.0.1:{port}"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .expect("Prometheus can be started");
        let prometheus = Self { child, port, _folder: folder };
        wait_for("Prometheus", || {
            std::net::TcpStream::connect(("127.0.0.1", prometheus.port)).ok()
        });
        prometheus
    }

    /// The data of an answer of its API; `None` as long as it is not ready.
    fn ask(&self, path: &str) -> Option<Value> {
        let answer = Request::get(path).host("localhost").send(self.port);
        let text = answer.text();
        if answer.status == 503 {
            return None;
        }
        assert_eq!(answer.status, 200, "{path}: {text}");
        let answer: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(answer["status"], "success", "{path}: {text}");
        Some(answer["data"].clone())
    }

    /// The rows of a query; `None` as long as there are none.
    fn rows(&self, query: &str) -> Option<Vec<Value>> {
        let data = self.ask(&format!("/api/v1/query?query={}", encoded(query)))?;
        let rows = data["result"].as_array().expect("a list of rows").clone();
        (!rows.is_empty()).then_some(rows)
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn example(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples").join(file)
}

fn encoded(text: &str) -> String {
    let octet = |octet: u8| match octet {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' => char::from(octet).to_string(),
        _ => format!("%{octet:02X}"),
    };
    text.bytes().map(octet).collect()
}

/// A program with a site of every kind, and requests of every kind.
fn busy_beadle(origin: &Origin) -> Beadle {
    let sites = format!(
        "  - hosts: [site.example]\n    origin: http://127.0.0.1:{}\n    \
         robots_txt: {{ groups: [{{ user_agents: [\"*\"], disallow: [/private/], crawl_delay: 1 }}] }}\n    \
         enforcement: {{ mode: ladder, breaker: {{ share: 50% }} }}\n  \
         - hosts: [down.example]\n    origin: http://127.0.0.1:1\n    robots_txt: {{ source: merge }}\n",
        origin.port
    );
    let evidence = "evidence: { user_agents: [GPTBot], name_servers: [\"127.0.0.1:1\"] }\n";
    let setup = Setup::sites(&sites).sections(evidence);
    let beadle = setup.clone().start();
    for (target, user_agent) in [
        ("/", BROWSER),
        ("/private/x", "GPTBot/1.2"),
        ("/private/x", "bingbot/2.0"),
        ("/private/x", ""),
        ("/x", "GPTBot/1.2"),
        ("/x", "SomeUnknownBot/1.0"),
    ] {
        beadle.get(target, user_agent);
    }
    // A crawler climbs the ladder, and another one may not know the newest rule yet.
    (0..30).for_each(|_| drop(beadle.get("/private/x", "CCBot/2.0")));
    beadle.reload(&setup.replaced("[/private/]", "[/private/, /new/]"));
    beadle.get("/new/x", "AhrefsBot/7.0");
    assert_eq!(Request::get("/x").host("down.example").send(beadle.port).status, 502);
    Request::get("/x").host("unknown.example").send(beadle.port);
    beadle.signal("HUP");
    beadle.wait_for_stderr("policy unchanged");
    wait_for("a fetch of evidence", || {
        let page = beadle.admin_page("/metrics").text();
        page.contains("beadle_evidence_fetches_total{evidence=\"ip-range\"").then_some(())
    });
    beadle
}

/// The labels of each metric in an exposition. A histogram has a metric for each of its parts.
fn labels(exposition: &str) -> BTreeMap<String, BTreeSet<String>> {
    let mut labels: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in exposition.lines().filter(|line| !line.starts_with('#')) {
        let (series, _) = line.rsplit_once(' ').expect("a name and a value");
        let (name, rest) = series.split_once('{').unwrap_or((series, ""));
        let found = labels.entry(name.to_owned()).or_default();
        let pairs = rest.trim_end_matches('}').split("\",");
        found.extend(pairs.filter_map(|pair| Some(pair.split_once('=')?.0.to_owned())));
    }
    labels
}

/// The metrics that a query names, and the labels of each; labels for grouping belong to all.
fn names(query: &str) -> BTreeMap<String, BTreeSet<String>> {
    let parts: Vec<&str> = query.split('"').step_by(2).collect();
    let code = parts.join("\"\"");
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut grouping = BTreeSet::new();
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut rest = code.as_str();
    while let Some(start) = rest.find(is_word) {
        let word = &rest[start..];
        let (word, after) = word.split_at(word.find(|c| !is_word(c)).unwrap_or(word.len()));
        rest = after;
        let inside = |open: char, close: char| {
            let list = after.trim_start().strip_prefix(open)?;
            Some(list.split_once(close).expect("it is closed").0)
        };
        if word == "up" || word.starts_with("beadle_") || word.starts_with("process_") {
            let matchers = inside('{', '}').unwrap_or_default().split(',');
            let labels = matchers.filter_map(|one| one.split(['=', '!']).next());
            let labels = labels.map(|one| one.trim().to_owned()).filter(|one| !one.is_empty());
            found.entry(word.to_owned()).or_default().extend(labels);
            if let Some(matchers) = inside('{', '}') {
                rest = &after[after.find(matchers).unwrap_or_default() + matchers.len()..];
            }
        } else if ["by", "on", "without", "ignoring"].contains(&word)
            && let Some(list) = inside('(', ')')
        {
            grouping.extend(list.split(',').map(|one| one.trim().to_owned()));
            rest = &after[after.find(')').unwrap_or_default()..];
        }
    }
    assert!(!found.is_empty(), "{query}");
    found.values_mut().for_each(|labels| labels.extend(grouping.iter().cloned()));
    found
}

/// The queries of the dashboard, each with its legend.
fn dashboard() -> Vec<(String, String)> {
    let text = std::fs::read_to_string(example("grafana/beadle.json")).expect("readable");
    let dashboard: Value = serde_json::from_str(&text).expect("JSON");
    let panels = dashboard["panels"].as_array().expect("a list of panels");
    let targets = panels.iter().filter_map(|panel| panel["targets"].as_array()).flatten();
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    targets.map(|target| (text(&target["expr"]), text(&target["legendFormat"]))).collect()
}

/// A query with the variables of the dashboard filled in.
fn filled(query: &str) -> String {
    let filled = query
        .replace("$__rate_interval", "1m")
        .replace("$__range", "5m")
        .replace("$site", ".*")
        .replace("$job", ".*");
    assert!(!filled.contains('$'), "{query}");
    filled
}

#[test]
fn names_of_a_query_are_found() {
    let found = names("sum by (a, b) (rate(beadle_x{c=~\"d e\", f!=\"by (g)\"}[5m])) / up");
    let found: Vec<String> =
        found.iter().map(|(name, labels)| format!("{name} {labels:?}")).collect();
    assert_eq!(found, ["beadle_x {\"a\", \"b\", \"c\", \"f\"}", "up {\"a\", \"b\"}"]);
}

#[test]
fn every_alert_rule_is_explained() {
    let rules = std::fs::read_to_string(example("prometheus/alerts.yaml")).expect("readable");
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/src/records.md");
    let page = std::fs::read_to_string(page).expect("readable");
    let names: Vec<&str> =
        rules.lines().filter_map(|line| line.trim().strip_prefix("- alert: ")).collect();
    assert!(names.len() > 8, "{names:?}");
    for name in names {
        assert!(page.contains(&format!("`{name}`")), "{name}");
    }
}

#[test]
fn the_alert_rules_pass_promtool() {
    let Some(promtool) = need("promtool") else { return };
    for args in [["check", "rules", "alerts.yaml"], ["test", "rules", "alerts_test.yaml"]] {
        let output = Command::new(&promtool)
            .args(args)
            .current_dir(example("prometheus"))
            .output()
            .expect("it can be started");
        assert!(output.status.success(), "{args:?}: {output:?}");
    }
}

#[test]
fn a_real_prometheus_answers_every_query_of_the_examples() {
    let Some(program) = need("prometheus") else { return };
    let origin = Origin::plain();
    let beadle = busy_beadle(&origin);
    let prometheus = Prometheus::start(&program, &beadle);
    let rules = wait_for("the rules", || {
        let groups = prometheus.ask("/api/v1/rules")?;
        let rules = groups["groups"][0]["rules"].as_array()?.clone();
        rules.iter().all(|rule| rule["health"] == "ok").then_some(rules)
    });
    assert!(rules.len() > 8, "{rules:?}");
    let alerts = rules.iter().map(|rule| rule["query"].as_str().expect("a text").to_owned());
    let alerts: Vec<String> = alerts.collect();
    let panels = dashboard();
    assert!(panels.len() > 15, "{panels:?}");

    // Every name is a metric of the program, with these labels.
    let mut known = labels(&beadle.admin_page("/metrics").text());
    known.insert("up".to_owned(), BTreeSet::new());
    let shared = "  database: clickhouse://127.0.0.1:1/beadle\n  \
                  clickhouse: { local: $DIR/beadle.db, spool: $DIR/spool }\n";
    let shared = Setup::site(origin.port, "").violations(shared).start();
    known.extend(labels(&shared.admin_page("/metrics").text()));
    for query in alerts.iter().chain(panels.iter().map(|(query, _)| query)) {
        for (name, labels) in names(query) {
            let found = known.get(&name).unwrap_or_else(|| panic!("no metric {name}: {query}"));
            // Prometheus adds two labels.
            let added = ["job", "instance"].map(str::to_owned);
            let unknown: Vec<_> =
                labels.iter().filter(|one| !found.contains(*one) && !added.contains(one)).collect();
            assert!(unknown.is_empty(), "{name} has no {unknown:?}: {query}");
        }
    }
    // Every panel shows something, with the labels of its legend.
    for (query, legend) in &panels {
        let rows = wait_for(query, || prometheus.rows(&filled(query)));
        let names = legend.split("{{").skip(1).filter_map(|part| Some(part.split_once("}}")?.0));
        for name in names {
            assert!(rows.iter().all(|row| row["metric"][name].is_string()), "{legend}: {rows:?}");
        }
    }
    for query in &alerts {
        // An alert that is not due has no rows.
        wait_for(query, || prometheus.ask(&format!("/api/v1/query?query={}", encoded(query))));
    }
}
