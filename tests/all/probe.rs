//! The origin is asked how it reads paths, and forms that it does not make stop counting there alone.

use serde_json::Value;

use crate::support::{
    client::Request,
    origin::{After, Exchange, Origin},
    program::{Beadle, Setup, json_lines},
    wait_for,
};

const PAGE: &str = "/docs/index.html";
const RULES: &str = "
    robots_txt:
      groups: [{ user_agents: [BadBot], disallow: [/docs/private$, /other/private$] }]
    enforcement: { mode: block }
";
const PROBE: &str = "forms: probe, probe_path: /docs/index.html";

/// An origin with one page, which knows it by no other path. `refused` gets 403.
fn strict(refused: &'static [u8]) -> Origin {
    Origin::playing(move |exchange| answer(exchange, refused))
}

fn answer(exchange: &mut Exchange<'_>, refused: &[u8]) -> After {
    exchange.read_body();
    let target = exchange.request.target.clone();
    match &*target {
        path if path == refused => exchange.answer("403 Forbidden", &[], b"blocked"),
        b"/docs/index.html" => exchange.answer("200 OK", &[], b"the page"),
        _ => exchange.answer("404 Not Found", &[], b"none"),
    }
    After::Keep
}

fn setup(origin: &Origin, forms: &str) -> Setup {
    let url = format!("http://127.0.0.1:{}", origin.port);
    let mapping = format!("origin: {{ url: '{url}', {forms} }}");
    Setup::site(origin.port, RULES).replaced(&format!("origin: {url}"), &mapping)
}

fn status(beadle: &Beadle, target: &str) -> u16 {
    beadle.get(target, "BadBot/1.0").status
}

fn desk(beadle: &Beadle, path: &str) -> String {
    let answer = Request::get(path).host("localhost").send(beadle.admin);
    assert_eq!(answer.status, 200, "{path}");
    answer.text()
}

/// The questions among the requests of an origin.
fn questions(origin: &Origin) -> Vec<String> {
    let received = origin.received().into_iter();
    let asked = received.filter(|one| one.header("beadle-probe") == Some(PAGE));
    let asked = asked.inspect(|one| {
        let user_agent = one.header("user-agent").unwrap_or_default();
        assert!(user_agent.starts_with("beadle/") && user_agent.contains("(probe"), "{user_agent}");
    });
    asked.map(|one| String::from_utf8_lossy(&one.target).into_owned()).collect()
}

#[test]
fn a_step_that_the_origin_does_not_take_stops_counting_below_the_folder_alone() {
    let origin = strict(b"");
    let beadle = setup(&origin, PROBE).start();
    beadle.wait_for_stderr("the origin was asked for forms of paths");
    let asked = questions(&origin);
    assert!((20..=40).contains(&asked.len()), "{asked:?}");
    assert_eq!(asked[..2], [PAGE, PAGE]);
    for form in ["//docs/index.html", "/docs/no-such%2F..%2Findex.html", "/docs/index.html?"] {
        assert!(asked.iter().any(|target| target == form), "{form} in {asked:?}");
    }
    let narrowed = || (status(&beadle, "/docs/private;x") == 404).then_some(());
    wait_for("the answers in force", narrowed);
    for (target, expected) in [
        ("/docs/private", 403),
        ("/docs//private", 404),
        ("/docs%2Fprivate", 403),
        ("/docs/x/../private", 403),
        ("/docs/..%2Fother/private", 403),
        ("//docs/private", 403),
        ("/other/private;x", 403),
        ("/other//private", 403),
    ] {
        assert_eq!(status(&beadle, target), expected, "{target}");
    }
    let site = desk(&beadle, "/robots/site.example");
    assert!(site.contains("Forms of paths: asked for /docs/index.html at "), "{site}");
    assert!(site.contains("below /docs/, it does not take merge_slashes"), "{site}");
    let tried = |path: &str| desk(&beadle, &format!("/try?user_agent=BadBot%2F1.0&url={path}"));
    assert!(tried("%2Fdocs%2Fa").contains("it does not take merge_slashes"));
    assert!(tried("%2Fother%2Fa").contains("this path lies elsewhere: all"));
}

#[test]
fn an_answer_of_a_firewall_ends_the_questions_and_all_forms_count() {
    let origin = strict(b"//docs/index.html");
    let beadle = setup(&origin, PROBE).start();
    beadle.wait_for_stderr("stopped at //docs/index.html: status 403");
    assert_eq!(questions(&origin).pop().as_deref(), Some("//docs/index.html"));
    let metrics = beadle.admin_page("/metrics").text();
    let counts = metrics.lines().filter(|line| line.starts_with("beadle_requests_total{"));
    assert!(counts.map(str::to_owned).all(|line| line.ends_with(" 0")), "{metrics}");
    let explained = desk(&beadle, "/robots/site.example");
    assert!(explained.contains("Forms of paths: all: asked for /docs/index.html"), "{explained}");
    for target in ["/docs/private;x", "/docs//private", "/docs%2Fprivate"] {
        assert_eq!(status(&beadle, target), 403, "{target}");
    }
}

#[test]
fn a_change_of_the_policy_asks_again_and_another_does_not() {
    let origin = strict(b"");
    let beadle = setup(&origin, "forms: all, probe_path: /docs/index.html").start();
    assert_eq!(status(&beadle, "/docs/private;x"), 403);
    assert!(questions(&origin).is_empty(), "nothing is asked without 'forms: probe'");
    beadle.reload(&setup(&origin, PROBE));
    let narrowed = || (status(&beadle, "/docs/private;x") == 404).then_some(());
    wait_for("the answers in force", narrowed);
    let asked = questions(&origin).len();
    let other = setup(&origin, PROBE).replaced("mode: block", "mode: block, grace: enforce");
    beadle.reload(&other);
    assert_eq!(status(&beadle, "/docs/private;x"), 404, "what is known stays known");
    assert_eq!(questions(&origin).len(), asked);
    beadle.reload(&setup(&origin, "forms: [merge_slashes]"));
    assert_eq!(status(&beadle, "/other/private;x"), 404);
    assert_eq!(status(&beadle, "/other//private"), 403);
    assert_eq!(status(&beadle, "/x/../other/private"), 403, "dot segments belong to the letter");
}

#[test]
fn explain_says_which_forms_count() {
    for (forms, says) in [
        ("forms: all", None),
        (PROBE, Some("all, until the running server has asked the origin")),
        ("forms: [trim_slashes]", Some("dot segments and trim_slashes, as the policy says")),
        ("forms: []", Some("none but dot segments")),
    ] {
        let origin = strict(b"");
        let beadle = setup(&origin, forms).start();
        let arguments = ["--user-agent", "BadBot/1.0", "--format", "json", "/docs/private"];
        let output = beadle.verb(&[&["explain"][..], &arguments].concat());
        let row = json_lines(&output).pop().expect("a line");
        assert_eq!(row.get("forms").and_then(Value::as_str), says, "{forms}");
    }
}

#[test]
fn check_asks_the_origins_and_names_the_steps() {
    let origin = strict(b"");
    let beadle = setup(&origin, "probe_path: /docs/index.html").start();
    let run = || beadle.verb(&["check", "--online", "--probe", "--format", "json"]);
    let finding = |code: &str| {
        let output = run();
        let found = json_lines(&output).into_iter().find(|one| one["code"] == code);
        (found.unwrap_or_else(|| panic!("{output:?}")), output.status.code())
    };
    let (found, status) = finding("probe.found");
    assert_eq!(status, Some(0));
    let message = found["message"].as_str().expect("text");
    assert!(message.contains("it does not take merge_slashes, drop_authority"), "{message}");
    let help = found["help"].as_str().expect("text");
    assert!(help.contains("'forms: [leave_root, read_backslash, decode_reserved,"), "{help}");
    drop(origin);
    let (stopped, status) = finding("probe.no_answer");
    assert_eq!(status, Some(1), "{stopped}");
    let (none, _) = {
        let origin = strict(b"");
        let beadle = setup(&origin, "forms: all").start();
        let output = beadle.verb(&["check", "--online", "--probe", "--format", "json"]);
        (json_lines(&output), beadle)
    };
    assert!(none.iter().any(|one| one["code"] == "probe.no_path"), "{none:?}");
}
