//! `beadle test`: the policy's own tests, for CI, for `check`, at a start and before a reload.

use std::{
    path::Path,
    process::{Command, Output},
};

use serde_json::{Value, json};

use crate::support::{
    origin::Origin,
    program::{PROGRAM, Setup, json_lines},
};

const POLICY: &str = r#"sites:
  - hosts: [www.example.com]
    origin: http://127.0.0.1:3000
    robots_txt:
      groups:
        - { user_agents: ["*"], disallow: [/private/] }
        - { user_agents: [GPTBot], disallow: [/] }
    enforcement: { mode: block }
violations: { database: missing/violations.db }
"#;

const PASSING: &str = "tests:
  - { name: training is refused, product_token: GPTBot, url: /, expect: disallow, action: block }
  - { name: news, user_agent: GPTBot/1.2, url: /, after: 2h, reason: robots.disallow.grace }
";

const FAILING: &str = "  - name: search may read all
    product_token: bingbot
    url: https://www.example.com/private/x
    expect: allow
    line: 3
";

fn beadle(folder: &Path, args: &[&str]) -> Output {
    let program = || {
        let mut command = Command::new(PROGRAM);
        command.args(args).current_dir(folder).env_remove("BEADLE_CONFIG");
        command
    };
    program().output().expect("the program can be started")
}

fn folder(tests: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("beadle.yaml"), format!("{POLICY}{tests}")).expect("written");
    folder
}

fn text(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).expect("UTF-8")
}

#[test]
fn the_exit_code_and_the_lines_are_for_ci() {
    let passing = folder(PASSING);
    let output = beadle(passing.path(), &["test"]);
    assert_eq!(text(&output), "beadle.yaml: 2 tests, all passed\n");
    assert_eq!(output.status.code(), Some(0));
    // Neither the database nor its folder is made.
    assert_eq!(std::fs::read_dir(passing.path()).expect("a folder").count(), 1);

    let failing = folder(&format!("{PASSING}{FAILING}"));
    let output = beadle(failing.path(), &["test", "--config", "beadle.yaml"]);
    assert_eq!(
        text(&output),
        "beadle.yaml:13:5: FAILED: search may read all
    request      bingbot https://www.example.com/private/x
    expect       expected allow, found disallow
    line         expected 3, found 8
    rule         disallow /private/ (robots.txt line 8)
beadle.yaml: 3 tests, 1 failed
"
    );
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stderr.is_empty());

    let output = beadle(failing.path(), &["test", "--format", "json", "beadle.yaml"]);
    assert_eq!(output.status.code(), Some(1));
    let rows = json_lines(&output);
    let outcomes: Vec<_> = rows.iter().map(|row| &row["outcome"]).collect();
    assert_eq!(outcomes, ["passed", "passed", "failed"]);
    assert_eq!(
        rows[2],
        json!({
            "name": "search may read all",
            "outcome": "failed",
            "expected": { "expect": "allow", "line": 3 },
            "found": {
                "expect": "disallow",
                "action": "block",
                "line": 8,
                "reason": "robots.disallow",
                "robots_tag": "",
                "x_robots_tag": "",
                "rule": { "directive": "disallow", "pattern": "/private/", "line": 8 },
            },
            "place": "beadle.yaml:13:5",
        })
    );
    let keys: Vec<&String> = rows[2].as_object().expect("an object").keys().collect();
    assert_eq!(keys, ["name", "outcome", "expected", "found", "place"]);

    let output = beadle(failing.path(), &["test", "--format", "junit", "beadle.yaml"]);
    let xml = text(&output);
    assert!(xml.contains("<testsuite name=\"beadle.yaml\" tests=\"3\" failures=\"1\">"), "{xml}");
    assert!(xml.contains("<failure message=\"beadle.yaml:13:5\">request"), "{xml}");
    assert_eq!(xml.matches("<testcase ").count(), 3);
}

#[test]
fn a_policy_with_errors_can_not_be_tested() {
    let broken = folder("tests: [{ product_token: GPTBot, url: /, expct: allow }]\n");
    let output = beadle(broken.path(), &["test"]);
    assert_eq!(output.status.code(), Some(2));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("did you mean 'expect'?"), "{errors}");
    let missing = beadle(broken.path(), &["test", "missing.yaml"]);
    assert_eq!(missing.status.code(), Some(2));
    let none = folder("");
    let output = beadle(none.path(), &["test"]);
    assert_eq!(
        (output.status.code(), text(&output)),
        (Some(0), "beadle.yaml: 0 tests, all passed\n")
    );
}

#[test]
fn check_shows_a_failed_test_as_a_finding() {
    let findings = |tests: &str| {
        let folder = folder(tests);
        let output = beadle(folder.path(), &["check", "--format", "json", "beadle.yaml"]);
        let rows = json_lines(&output);
        let failed = rows.into_iter().filter(|row| row["code"] == "policy.test_failed");
        (failed.collect::<Vec<Value>>(), output.status.code())
    };
    let (failed, exit) = findings(&format!("{PASSING}{FAILING}"));
    assert_eq!(exit, Some(1));
    assert_eq!((&failed[0]["severity"], &failed[0]["line"]), (&json!("warning"), &json!(13)));
    assert_eq!(findings(PASSING), (Vec::new(), Some(0)));
    let (failed, exit) = findings(&format!("test_failures: refuse\n{PASSING}{FAILING}"));
    assert_eq!((&failed[0]["severity"], exit), (&json!("error"), Some(1)));
}

fn setup(origin: &Origin, rule: &str, tests: &str) -> Setup {
    let rules =
        format!("    robots_txt: {{ groups: [{{ user_agents: [\"*\"], disallow: [{rule}] }}] }}\n");
    Setup::site(origin.port, &rules).sections(tests)
}

const REFUSE: &str = "test_failures: refuse
tests: [{ product_token: AlphaBot, url: /private/x, expect: disallow }]
crawlers: [{ product_token: AlphaBot }]
";

#[test]
fn a_failed_test_refuses_a_reload_and_a_start_where_the_policy_says_so() {
    let origin = Origin::plain();
    let beadle = setup(&origin, "/private/", REFUSE).start();
    beadle.replace_policy(&beadle.text_of(&setup(&origin, "/privat/", REFUSE)));
    beadle.signal("HUP");
    beadle.wait_for_stderr("policy not reloaded");
    assert!(beadle.stderr().contains("policy.test_failed"), "{}", beadle.stderr());
    let robots = beadle.get("/robots.txt", "AlphaBot/1").text();
    assert!(robots.contains("Disallow: /private/\n"), "{robots}");
    let page = beadle.admin_page("/policy").text();
    assert!(page.contains("The tests in the file on disk fail."), "{page}");
    assert!(page.contains("[policy.test_failed]"), "{page}");
    assert!(beadle.admin_page("/").text().contains("policy.test_failed"), "health");

    let mut refused = setup(&origin, "/privat/", REFUSE).spawn();
    let (status, _) = refused.wait();
    assert_eq!(status.code(), Some(2));
    assert!(refused.stderr().contains("policy.test_failed"), "{}", refused.stderr());
}

#[test]
fn a_failed_test_is_a_warning_by_default() {
    let origin = Origin::plain();
    let warn = REFUSE.replace("test_failures: refuse\n", "");
    let beadle = setup(&origin, "/private/", &warn).start();
    assert!(!beadle.stderr().contains("policy.test_failed"));
    beadle.reload(&setup(&origin, "/privat/", &warn));
    beadle.wait_for_stderr("policy.test_failed");
    assert!(beadle.admin_page("/policy").text().contains("[policy.test_failed]"));
    let at_start = setup(&origin, "/privat/", &warn).start();
    at_start.wait_for_stderr("policy.test_failed");
}
