//! The origin is asked how it reads paths, and forms that it does not make stop counting there alone.

use std::time::Duration;

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

/// An origin with one page, which knows it by no other path.
fn strict() -> Origin {
    Origin::playing(answer)
}

fn answer(exchange: &mut Exchange<'_>) -> After {
    exchange.read_body();
    match &*exchange.request.target {
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
    let origin = strict();
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

/// What an origin does with the first form, and what Beadle says of it.
type End = (&'static str, fn(&mut Exchange<'_>) -> After);

fn with_status(exchange: &mut Exchange<'_>, status: &str) -> After {
    exchange.answer(status, &[], b"blocked");
    After::Keep
}

#[test]
fn an_early_end_leaves_all_forms_in_force() {
    let ends: [End; 7] = [
        ("status 403", |exchange| with_status(exchange, "403 Forbidden")),
        ("status 429", |exchange| with_status(exchange, "429 Too Many Requests")),
        ("status 500", |exchange| with_status(exchange, "500 Internal Server Error")),
        ("status 503", |exchange| with_status(exchange, "503 Service Unavailable")),
        ("no answer in 2s", |_| {
            std::thread::sleep(Duration::from_secs(4));
            After::Close
        }),
        ("", |_| After::Close),
        ("", |exchange| {
            exchange.write(b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nthe");
            After::Close
        }),
    ];
    for (why, end) in ends {
        let form = "//docs/index.html";
        let origin = Origin::playing(move |exchange| match &*exchange.request.target {
            target if target == form.as_bytes() => end(exchange),
            _ => answer(exchange),
        });
        let beadle = setup(&origin, PROBE).start();
        beadle.wait_for_stderr(&format!("stopped at {form}: {why}"));
        assert_eq!(questions(&origin).pop().as_deref(), Some(form), "{why}");
        let metrics = beadle.admin_page("/metrics").text();
        let counts = metrics.lines().filter(|line| line.starts_with("beadle_requests_total{"));
        assert!(counts.map(str::to_owned).all(|line| line.ends_with(" 0")), "{metrics}");
        let site = desk(&beadle, "/robots/site.example");
        assert!(site.contains("Forms of paths: all: asked for /docs/index.html"), "{site}");
        assert_all_forms_count(&beadle, why);
    }
}

fn assert_all_forms_count(beadle: &Beadle, why: &str) {
    for target in ["/docs/private;x", "/docs//private", "/docs%2Fprivate"] {
        assert_eq!(status(beadle, target), 403, "{why}: {target}");
    }
}

#[test]
fn a_page_of_more_than_64_kib_ends_the_questions_and_a_form_of_that_size_says_nothing() {
    let large = vec![b'x'; (64 << 10) + 1];
    let page = large.clone();
    let origin = Origin::playing(move |exchange| match &*exchange.request.target {
        b"/docs/index.html" => {
            exchange.answer("200 OK", &[], &page);
            After::Keep
        }
        _ => answer(exchange),
    });
    let beadle = setup(&origin, PROBE).start();
    beadle.wait_for_stderr("the page has more than 64 KiB");
    assert_eq!(questions(&origin), [PAGE]);
    assert_all_forms_count(&beadle, "64 KiB");

    let origin = Origin::playing(move |exchange| match &*exchange.request.target {
        b"/docs/index.html;x=1" => {
            exchange.answer("200 OK", &[], &large);
            After::Keep
        }
        _ => answer(exchange),
    });
    let beadle = setup(&origin, PROBE).start();
    let narrowed = || (status(&beadle, "/docs//private") == 404).then_some(());
    wait_for("the answers in force", narrowed);
    assert_eq!(status(&beadle, "/docs/private;x"), 403);
}

#[test]
fn of_several_origins_each_step_counts_that_one_of_them_takes() {
    let of_parameters = || {
        Origin::playing(|exchange| match &*exchange.request.target {
            b"/docs/index.html;x=1" => {
                exchange.answer("200 OK", &[], b"the page");
                After::Keep
            }
            _ => answer(exchange),
        })
    };
    let first = strict();
    for (second, slashes) in [(Some(of_parameters()), 404), (None, 403)] {
        let port = second.as_ref().map_or_else(Origin::absent, |origin| origin.port);
        let url = format!("http://127.0.0.1:{}", first.port);
        let both = format!("['{url}', 'http://127.0.0.1:{port}']");
        let beadle =
            setup(&first, PROBE).replaced(&format!("url: '{url}'"), &format!("url: {both}"));
        let beadle = beadle.start();
        beadle.wait_for_stderr("the origin was asked for forms of paths");
        let is_in_force = || desk(&beadle, "/robots/site.example").contains("asked for /docs/");
        wait_for("the answers", || is_in_force().then_some(()));
        assert_eq!(status(&beadle, "/docs/private;x"), 403, "{slashes}");
        // Without an answer of one of them, nothing is known of both.
        let found = [1, 2, 3].map(|_| status(&beadle, "/docs//private"));
        assert!(found.iter().all(|one| *one == slashes), "{found:?}");
    }
}

#[test]
fn an_origin_that_wants_https_is_asked_40_times_at_most() {
    let origin = Origin::playing(|exchange| match exchange.request.header("x-forwarded-proto") {
        Some("https") => answer(exchange),
        _ => {
            let fields = ["Location: https://site.example/docs/index.html"];
            exchange.answer("301 Moved Permanently", &fields, b"");
            After::Keep
        }
    });
    let beadle = setup(&origin, PROBE).start();
    let narrowed = || (status(&beadle, "/docs//private") != 403).then_some(());
    wait_for("the answers in force", narrowed);
    let asked = questions(&origin);
    assert_eq!(asked[..3], [PAGE; 3]);
    assert!(asked.len() <= 40, "{asked:?}");
}

#[test]
fn a_change_of_the_policy_asks_again_and_another_does_not() {
    let origin = strict();
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

/// The line about forms of `beadle explain`, with the verdict.
fn explained(beadle: &Beadle, target: &str) -> (Option<String>, String) {
    let arguments = ["explain", "--user-agent", "BadBot/1.0", "--format", "json", target];
    let row = json_lines(&beadle.verb(&arguments)).pop().expect("a line");
    let text = |key: &str| row.get(key).and_then(Value::as_str).map(str::to_owned);
    (text("forms"), text("action").expect("an action"))
}

#[test]
fn explain_says_which_forms_count() {
    for (forms, says) in [
        ("forms: all", None),
        ("forms: [trim_slashes]", Some("dot segments and trim_slashes, as the policy says")),
        ("forms: []", Some("none but dot segments")),
    ] {
        let origin = strict();
        let beadle = setup(&origin, forms).start();
        assert_eq!(explained(&beadle, "/docs/private").0.as_deref(), says, "{forms}");
    }
}

#[test]
fn explain_says_what_the_running_server_was_answered_last() {
    let origin = strict();
    let beadle = setup(&origin, PROBE).start();
    let stored = || explained(&beadle, "/docs/x").0.filter(|forms| forms.starts_with("asked for"));
    let forms = wait_for("the answers in the database", stored);
    let (asked, found) = forms.split_once(", the origin takes ").expect("a result");
    let at = asked.strip_prefix("asked for /docs/index.html at ").expect("a time");
    assert!(at.parse::<jiff::Timestamp>().is_ok(), "{at}");
    assert!(found.contains("below /docs/, it does not take merge_slashes"), "{found}");
    for (target, action) in
        [("/docs/private", "block"), ("/docs//private", "pass"), ("/other//private", "block")]
    {
        assert_eq!(explained(&beadle, target).1, action, "{target}");
    }
    // Another page is another question, whose answer is not known.
    let other = PROBE.replace("index", "other");
    beadle.reload(&setup(&origin, &other));
    let unasked = "all, until the running server has asked the origin";
    let in_vain = "all: asked for /docs/other.html at ";
    let forms = explained(&beadle, "/docs/x").0.expect("forms");
    assert!(forms == unasked || forms.starts_with(in_vain), "{forms}");
    let stored = || explained(&beadle, "/docs/x").0.filter(|forms| forms.starts_with(in_vain));
    let forms = wait_for("the reason in the database", stored);
    assert!(forms.contains("the page answers 404"), "{forms}");
    assert_eq!(explained(&beadle, "/docs//private").1, "block");
}

#[test]
fn check_asks_the_origins_and_names_the_steps() {
    let origin = strict();
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
        let origin = strict();
        let beadle = setup(&origin, "forms: all").start();
        let output = beadle.verb(&["check", "--online", "--probe", "--format", "json"]);
        (json_lines(&output), beadle)
    };
    assert!(none.iter().any(|one| one["code"] == "probe.no_path"), "{none:?}");
}
