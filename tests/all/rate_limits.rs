//! Limits that keep a site up: crawlers beyond them get 429, and nobody else.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::support::{
    client::Request,
    origin::{After, Origin},
    program::{Setup, json_lines},
    wait_for,
};

const BROWSER: &str =
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:130.0) Gecko/20100101 Firefox/130.0";
const GPTBOT: &str = "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)";
const LIMITS: &str = "    robots_txt: { groups: [{ user_agents: [\"*\"], disallow: [/private/] }] }
    enforcement:
      rate_limits:
        - { user_agents: [\"purpose:ai-training\"], requests: 3/1h, burst: 3 }
        - { user_agents: [\"*\"], requests: 1000/1m, burst: 100, together: true, mode: log }
";

#[test]
fn a_crawler_beyond_its_limit_gets_429_and_no_record() {
    let origin = Origin::plain();
    let beadle = Setup::site(origin.port, LIMITS).start();
    let get = |target: &str, user_agent: &str| {
        Request::get(target).user_agent(user_agent).send(beadle.port)
    };
    let statuses: Vec<u16> = (0..6).map(|_| get("/page", GPTBOT).status).collect();
    assert_eq!(statuses, [200, 200, 200, 429, 429, 429]);
    assert_eq!(origin.received().iter().filter(|one| one.target == b"/page").count(), 3);
    let answer = get("/page", GPTBOT);
    assert_eq!(answer.header("ratelimit-policy"), Some("\"0\";q=3;w=3600"));
    let wait: u64 = answer.header("retry-after").expect("a time").parse().expect("a number");
    assert!((1_000..=1_200).contains(&wait), "{wait}");
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    assert!(answer.text().contains("GPTBot comes too fast."), "{}", answer.text());
    assert!(answer.text().contains("3 requests in 3600 s, each crawler"), "{}", answer.text());
    // Neither the rules nor people.
    assert_eq!(get("/robots.txt", GPTBOT).status, 200);
    assert!((0..10).all(|_| get("/page", BROWSER).status == 200));
    let limited = "beadle_limited_requests_total{mode=\"throttle\",product_token=\"GPTBot\",\
                   site=\"site.example\"}";
    beadle.wait_for_metric(limited, 4.0);
    let explained = beadle.verb(&["explain", "--user-agent", GPTBOT, "--format", "json", "/page"]);
    let explained: Vec<Value> = json_lines(&explained);
    let limits: Vec<&str> = explained[0]["rate_limits"]
        .as_array()
        .expect("limits")
        .iter()
        .filter_map(Value::as_str)
        .collect();
    assert_eq!(
        limits,
        [
            "3 requests in 3600 s, each crawler (throttle, rate_limits[0])",
            "1000 requests in 60 s, all of them together (log, rate_limits[1])"
        ]
    );
    // What was limited is counted, and no violation.
    let records = beadle.verb(&["violations", "--format", "json"]);
    assert_eq!(json_lines(&records).len(), 0, "{}", String::from_utf8_lossy(&records.stdout));
    beadle.wait_for_report("GPTBot", &[("requests", 8), ("violations", 0), ("limited", 4)]);
}

#[test]
fn check_says_what_a_search_engine_would_have_felt() {
    let origin = Origin::plain();
    let limits = "    robots_txt: { groups: [] }
    enforcement: { rate_limits: [{ user_agents: [\"*\"], requests: 5/1h, burst: 5, mode: log }] }
";
    let beadle = Setup::site(origin.port, limits).start();
    let check = || String::from_utf8(beadle.verb(&["check"]).stdout).expect("text");
    assert!(!check().contains("busiest hour"));
    for _ in 0..30 {
        let answer = Request::get("/page").user_agent("bingbot/2.0").send(beadle.port);
        assert_eq!(answer.status, 200);
    }
    // The hour may change meanwhile. Counts are written each second.
    let found = wait_for("the counts", || Some(check()).filter(|one| one.contains("busiest hour")));
    assert!(found.contains("bingbot made ") && found.contains(", and 5 may pass"), "{found}");
}

/// Six requests at once under a limit of one in two seconds: the first one goes, two have their turn within
/// four seconds, and the others are too early.
#[test]
fn a_crawlers_request_waits_for_its_turn() {
    let origin = Origin::plain();
    let limits = "    robots_txt: { groups: [] }
    enforcement: { rate_limits: [{ user_agents: [GPTBot], requests: 30/1m, wait: 4s }] }
";
    let beadle = Setup::site(origin.port, limits).start();
    let get = |user_agent: &str| {
        let started = Instant::now();
        let answer = Request::get("/page").user_agent(user_agent).send(beadle.port);
        (answer.status, started.elapsed())
    };
    let mut answers: Vec<(u16, Duration)> = std::thread::scope(|scope| {
        let crawls: Vec<_> = (0..6).map(|_| scope.spawn(|| get(GPTBOT))).collect();
        // People are served meanwhile.
        assert!((0..5).all(|_| get(BROWSER).0 == 200));
        crawls.into_iter().map(|one| one.join().expect("an answer")).collect()
    });
    answers.sort_unstable();
    let statuses: Vec<u16> = answers.iter().map(|(status, _)| *status).collect();
    assert_eq!(statuses, [200, 200, 200, 429, 429, 429], "{answers:?}");
    // The turns are 1.8 s and 3.8 s behind the first request. The others may have come a little later.
    let waited: Vec<Duration> = answers[..3].iter().map(|(_, time)| *time).collect();
    assert!(waited[1] >= Duration::from_millis(800), "{waited:?}");
    assert!(waited[2] >= Duration::from_millis(2_800), "{waited:?}");
    let pages = origin.received().iter().filter(|one| one.target == b"/page").count();
    assert_eq!(pages, 3 + 5);
    let limited = "beadle_limited_requests_total{mode=\"throttle\",product_token=\"GPTBot\",\
                   site=\"site.example\"}";
    beadle.wait_for_metric(limited, 3.0);
    // The turns have passed.
    std::thread::sleep(Duration::from_millis(2_200));
    assert_eq!(get(GPTBOT).0, 200);
}

/// A page takes 200 ms, and a crawler asks with twenty clients at once.
#[test]
fn a_crawler_has_so_many_requests_at_the_origin_at_a_time() {
    let (now, most) = (AtomicUsize::new(0), Arc::new(AtomicUsize::new(0)));
    let highest = Arc::clone(&most);
    let origin = Origin::playing(move |exchange| {
        if exchange.request.target == b"/page" {
            highest.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            std::thread::sleep(Duration::from_millis(200));
            now.fetch_sub(1, Ordering::SeqCst);
        }
        exchange.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
        After::Close
    });
    let limits = "    robots_txt: { groups: [] }\n    enforcement: { rate_limits: [{ user_agents: \
                  [\"*\"], concurrent: 2, together: true }] }\n";
    let beadle = Setup::site(origin.port, limits).start();
    let get = |user_agent: &str, target: &str| {
        Request::get(target).user_agent(user_agent).send(beadle.port).status
    };
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let crawl = || (0..4).map(|_| get(GPTBOT, "/page")).collect::<Vec<_>>();
        let crawlers: Vec<_> = (0..20).map(|_| scope.spawn(crawl)).collect();
        // People are served meanwhile.
        assert!((0..10).all(|_| get(BROWSER, "/") == 200));
        crawlers.into_iter().flat_map(|one| one.join().expect("an answer")).collect()
    });
    assert_eq!(most.load(Ordering::SeqCst), 2, "{statuses:?}");
    let passed = statuses.iter().filter(|status| **status == 200).count();
    assert!(passed >= 2 && statuses.contains(&429), "{statuses:?}");
    // The places are free again.
    assert_eq!(get(GPTBOT, "/page"), 200);
}
