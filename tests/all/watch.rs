//! Beadle looks at its sites from outside, through a real nginx in front: it names what the nginx does to
//! its answers, and nothing where the nginx does nothing.

use std::{
    fs,
    time::{Duration, Instant},
};

use crate::support::{
    BROWSER,
    client::Request,
    conditions::is_full_size,
    free_port,
    nginx::Nginx,
    origin::{After, Origin},
    program::{Beadle, Setup, json_lines},
    receiver::Receiver,
    wait_for,
};

const RULES: &str = "
    robots_txt:
      max_age: 1s
      groups: [{ user_agents: ['*'], disallow: [/private/] }]
    robots_tag: [{ rules: { '*': [noarchive] } }]
    enforcement: { mode: block }
    watch: $WATCH
";

/// An origin whose pages may be cached.
fn origin() -> Origin {
    Origin::playing(|exchange| {
        exchange.read_body();
        exchange.answer("200 OK", &["Content-Type: text/html"], b"a page");
        After::Keep
    })
}

/// A site that clients reach at `localhost` through a front on this port.
fn setup(origin: &Origin, front: u16, more: &str) -> Setup {
    let watch = format!("{{ url: 'http://localhost:{front}', {more} }}");
    let hosts = "hosts: [site.example, localhost]";
    Setup::site(origin.port, RULES)
        .replaced("$WATCH", &watch)
        .replaced("hosts: [site.example]", hosts)
}

/// The value of a series of the site.
fn metric(beadle: &Beadle, name: &str, label: &str) -> Option<f64> {
    let answer = Request::get("/metrics").host("localhost").send(beadle.admin);
    let text = answer.text();
    let is_it = |line: &&str| {
        line.starts_with(&format!("{name}{{"))
            && line.contains("site=\"site.example\"")
            && line.contains(label)
    };
    text.lines().find(is_it)?.rsplit_once(' ')?.1.parse().ok()
}

fn holds(beadle: &Beadle, kind: &str) -> bool {
    metric(beadle, "beadle_watch_findings", &format!("kind=\"{kind}\"")) == Some(1.0)
}

fn wait_for_finding(beadle: &Beadle, kind: &str) {
    wait_for(kind, || holds(beadle, kind).then_some(()));
}

fn desk(beadle: &Beadle) -> String {
    Request::get("/").host("localhost").send(beadle.admin).text()
}

#[test]
fn each_fault_of_a_front_is_named_within_one_interval_and_ends_with_its_repair() {
    let receiver = Receiver::start();
    let alert = receiver.alerts();
    let (origin, front, every) = (origin(), free_port(), Duration::from_secs(4));
    let more = "every: 4s, user_agents: [GPTBot], pages: [/open, /plain, /private/page]";
    let (port, admin) = (free_port(), free_port());
    let proxy = format!("proxy_pass http://127.0.0.1:{port};");
    let locations = format!(
        "location = /robots.txt {{ return 200 'User-agent: *\\nDisallow: /\\n'; }}\n\
         location = /open {{ if ($http_user_agent ~ GPTBot) {{ return 403; }} {proxy} }}\n\
         location = /plain {{ {proxy} proxy_hide_header Robots-Tag; proxy_hide_header X-Robots-Tag; }}\n\
         location = /private/page {{ {proxy} proxy_cache all; proxy_cache_valid 200 1h; }}\n"
    );
    // The front is there first: a round that begins without it sees only a part of its faults.
    let Some(nginx) = Nginx::in_front_of(port, front, &locations) else { return };
    let start = Instant::now();
    let beadle = setup(&origin, front, more).sections(&alert).spawn_on(port, admin);
    beadle.wait_until_ready();
    for kind in ["robots_rewritten", "edge_refuses", "tags_lost", "edge_ignores"] {
        wait_for_finding(&beadle, kind);
    }
    let elapsed = start.elapsed();
    assert!(elapsed < every + Duration::from_secs(3), "{elapsed:?}");
    let rewritten = receiver.event("robots_rewritten");
    assert_eq!(rewritten["added"], serde_json::json!(["Disallow: /"]));
    assert!(rewritten["removed"].to_string().contains("Disallow: /private/"), "{rewritten}");
    assert_eq!(rewritten["asked_as"], serde_json::json!(["a browser", "GPTBot"]));
    let refuses = receiver.event("edge_refuses");
    assert_eq!((&refuses["page"], &refuses["status"]), (&"/open".into(), &403.into()));
    assert!(refuses["server"].as_str().is_some_and(|one| one.starts_with("nginx/")));
    assert!(refuses["repair"].as_str().is_some_and(|one| one.starts_with("nginx: ")));
    assert_eq!(receiver.event("tags_lost")["page"], "/plain");
    let ignores = receiver.event("edge_ignores");
    assert_eq!(ignores["page"], "/private/page");
    let summary = ignores["summary"].as_str().unwrap_or_default();
    assert!(summary.contains("comes from a cache or around Beadle"), "{summary}");
    let page = desk(&beadle);
    assert!(page.contains("robots.txt comes changed: 1 lines put in"), "{page}");
    assert!(beadle.stderr().contains("a front changes answers"));

    drop(nginx);
    let refusal = "location = /robots.txt { return 403; }";
    let _nginx = Nginx::in_front_of(beadle.port, front, refusal).expect("it was there");
    wait_for_finding(&beadle, "robots_refused");
    for kind in ["robots_rewritten", "edge_refuses", "tags_lost", "edge_ignores"] {
        wait_for("the end", || (!holds(&beadle, kind)).then_some(()));
    }
    assert_eq!(receiver.event("robots_refused")["status"], 403);
    assert!(beadle.stderr().contains("no more at the front"));
    let without = Setup::site(origin.port, &RULES.replace("watch: $WATCH", "")).sections(&alert);
    beadle.reload(&without);
    wait_for("the end", || (!desk(&beadle).contains("is refused with 403")).then_some(()));
}

#[test]
fn a_cache_that_keeps_an_old_edition_is_stale_after_its_max_age() {
    let (origin, front) = (origin(), free_port());
    let setup = setup(&origin, front, "every: 1s");
    let beadle = setup.clone().start();
    let cache = format!(
        "location = /robots.txt {{ proxy_pass http://127.0.0.1:{}; proxy_cache all;\n\
         proxy_ignore_headers Cache-Control; proxy_cache_valid 200 1h; }}",
        beadle.port
    );
    let Some(_nginx) = Nginx::in_front_of(beadle.port, front, &cache) else { return };
    assert_eq!(Request::get("/robots.txt").host("localhost").send(front).status, 200);
    beadle.reload(&setup.replaced("/private/", "/other/"));
    wait_for_finding(&beadle, "stale");
    assert!(!holds(&beadle, "robots_rewritten"));
    assert!(beadle.stderr().contains("robots.txt is an old edition, replaced "));
}

#[test]
fn a_clean_front_has_no_finding_and_own_requests_leave_no_trace() {
    let most = if is_full_size() { 1_000.0 } else { 40.0 };
    let (origin, front) = (origin(), free_port());
    let setup = setup(&origin, front, "every: 1s");
    let beadle = setup.clone().server("  access_log: $DIR/access.log\n").start();
    let Some(_nginx) = Nginx::in_front_of(beadle.port, front, "") else { return };
    let fine = || metric(&beadle, "beadle_watch_requests_total", "outcome=\"fine\"").unwrap_or(0.0);
    let mut changes = 0;
    let start = Instant::now();
    while fine() < most && start.elapsed() < Duration::from_secs(600) {
        changes += 1;
        if changes % 8 == 0 {
            let path = format!("/private/{changes}/");
            let changed = setup.clone().server("  access_log: $DIR/access.log\n");
            beadle.reload(
                &changed.replaced("disallow: [/private/", &format!("disallow: [{path}, /private/")),
            );
        }
        std::thread::sleep(Duration::from_millis(500));
    }
    assert!(fine() >= most, "{} in {:?}", fine(), start.elapsed());
    let requests = |label: &str| metric(&beadle, "beadle_watch_requests_total", label);
    assert_eq!(requests("outcome=\"finding\""), None, "{}", beadle.stderr());
    assert!(!beadle.stderr().contains("a front changes answers"), "{}", beadle.stderr());
    // The origin gets the pages, as those of people and of crawlers.
    let received = origin.received();
    let is_of = |name: &str| {
        received.iter().any(|one| one.header("user-agent").is_some_and(|ua| ua.contains(name)))
    };
    assert!(is_of("Chrome/") && is_of("Googlebot/1.0; beadle/"), "{received:?}");
    for name in
        ["beadle_requests_total", "beadle_crawler_requests_total", "beadle_violations_total"]
    {
        let count = metric(&beadle, name, "").unwrap_or(0.0);
        assert_eq!(count, 0.0, "{name}");
    }
    for arguments in [["violations"], ["report"]] {
        let output = beadle.verb(&[arguments[0], "--format", "json"]);
        let rows = json_lines(&output);
        let named = rows.iter().find(|row| row.get("product_token").is_some());
        assert_eq!(named, None, "{arguments:?}");
    }
    let log = fs::read_to_string(beadle.folder().join("access.log")).unwrap_or_default();
    assert_eq!(log, "");
    // A stranger's mark is worth nothing.
    let stranger = |target: &str, user_agent: &str, mark: &str| {
        let request = Request::get(target).host("localhost").user_agent(user_agent);
        request.field("beadle-watch", mark).send(front).status
    };
    let forged = format!("1795341600.0.{}", "0".repeat(64));
    assert_eq!(stranger("/private/x", "GPTBot/1.0", &forged), 403);
    assert_eq!(stranger("/", BROWSER, &forged), 200);
    let counted = || metric(&beadle, "beadle_violations_total", "").filter(|count| *count == 1.0);
    wait_for("the violation", counted);
}
