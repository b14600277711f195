//! Crawlers take what people leave of the origin.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    time::Duration,
};

use parking_lot::Mutex;

use crate::support::{
    client::{Request, Response},
    origin::{After, Origin},
    program::{Beadle, Setup, json_lines},
    wait_for,
};

const BROWSER: &str =
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:130.0) Gecko/20100101 Firefox/130.0";
const GPTBOT: &str = "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)";
const PEOPLE_FIRST: &str =
    "    robots_txt: { groups: [{ user_agents: [\"*\"], disallow: [/private/] }] }
    enforcement: { people_first: {} }
";

fn get(beadle: &Beadle, target: &str, user_agent: &str) -> Response {
    Request::get(target).user_agent(user_agent).send(beadle.port)
}

/// An origin that keeps requests for `/slow` until the end is told, and counts them.
fn keeping() -> (Origin, Arc<AtomicUsize>, mpsc::Sender<()>) {
    let (end, ended) = mpsc::channel::<()>();
    let (kept, ended) = (Arc::new(AtomicUsize::new(0)), Mutex::new(ended));
    let there = Arc::clone(&kept);
    let ended = Arc::new(ended);
    let origin = Origin::playing(move |exchange| {
        if exchange.request.target == b"/slow" {
            there.fetch_add(1, Ordering::SeqCst);
            // The sender is dropped at the end.
            while ended.lock().try_recv() != Err(mpsc::TryRecvError::Disconnected) {
                std::thread::sleep(Duration::from_millis(5));
            }
        }
        let status = if exchange.request.target == b"/broken" { "503 Busy" } else { "200 OK" };
        exchange.answer(status, &[], b"ok");
        After::Close
    });
    (origin, kept, end)
}

#[test]
fn a_crawler_beyond_what_people_leave_gets_503_and_no_record() {
    let (origin, kept, end) = keeping();
    let beadle = Setup::site(origin.port, PEOPLE_FIRST).start();
    std::thread::scope(|scope| {
        // A bounded start: four at a time.
        let crawlers: Vec<_> =
            (0..4).map(|_| scope.spawn(|| get(&beadle, "/slow", GPTBOT).status)).collect();
        wait_for("four requests at the origin", || {
            (kept.load(Ordering::SeqCst) == 4).then_some(())
        });
        let answer = get(&beadle, "/page", GPTBOT);
        assert_eq!((answer.status, answer.header("retry-after")), (503, Some("5")));
        assert_eq!(answer.header("cache-control"), Some("no-store"));
        assert!(answer.text().contains("People come first at this site"), "{}", answer.text());
        // People and robots.txt pass.
        assert_eq!(get(&beadle, "/page", BROWSER).status, 200);
        assert_eq!(get(&beadle, "/robots.txt", GPTBOT).status, 200);
        beadle.wait_for_metric(r#"beadle_people_first_active{site="site.example"}"#, 1.0);
        beadle.wait_for_metric(r#"beadle_people_first_limit{site="site.example"}"#, 4.0);
        let there = r#"beadle_people_first_requests{of="crawler",site="site.example"}"#;
        beadle.wait_for_metric(there, 4.0);
        drop(end);
        assert!(crawlers.into_iter().all(|one| one.join().expect("an answer") == 200));
    });
    // There is room again.
    assert_eq!(get(&beadle, "/page", GPTBOT).status, 200);
    let put_off = "beadle_put_off_requests_total{product_token=\"GPTBot\",site=\"site.example\"}";
    beadle.wait_for_metric(put_off, 1.0);
    beadle.wait_for_stderr("people_first.began");
    let records = beadle.verb(&["violations", "--format", "json"]);
    assert_eq!(json_lines(&records).len(), 0, "{}", String::from_utf8_lossy(&records.stdout));
    beadle.wait_for_report("GPTBot", &[("violations", 0), ("limited", 1)]);
}

#[test]
fn the_limit_falls_when_the_origin_fails_and_a_policy_can_answer_429() {
    let (origin, kept, end) = keeping();
    let settings = PEOPLE_FIRST.replace("{}", "{ status: 429 }");
    let beadle = Setup::site(origin.port, &settings).start();
    std::thread::scope(|scope| {
        let person = scope.spawn(|| get(&beadle, "/slow", BROWSER).status);
        wait_for("a person at the origin", || (kept.load(Ordering::SeqCst) == 1).then_some(()));
        // It falls to seven tenths of the two that were there. One crawler is always left.
        assert_eq!(get(&beadle, "/broken", GPTBOT).status, 503);
        beadle.wait_for_metric(r#"beadle_people_first_limit{site="site.example"}"#, 1.0);
        // One a second, as people take everything.
        let crawler = scope.spawn(|| {
            wait_for("a turn", || {
                Some(get(&beadle, "/slow", GPTBOT).status).filter(|one| *one != 429)
            })
        });
        wait_for("a crawler beside the person", || {
            (kept.load(Ordering::SeqCst) == 2).then_some(())
        });
        let answer = get(&beadle, "/page", GPTBOT);
        assert_eq!((answer.status, answer.header("retry-after")), (429, Some("5")));
        drop(end);
        assert_eq!([person, crawler].map(|one| one.join().expect("an answer")), [200, 200]);
    });
}

#[test]
fn a_crawler_may_wait_for_room() {
    let (origin, kept, end) = keeping();
    let settings = PEOPLE_FIRST.replace("{}", "{ crawlers_at_once: 1, wait: 10s }");
    let beadle = Setup::site(origin.port, &settings).start();
    std::thread::scope(|scope| {
        let first = scope.spawn(|| get(&beadle, "/slow", GPTBOT).status);
        wait_for("one at the origin", || (kept.load(Ordering::SeqCst) == 1).then_some(()));
        let others: Vec<_> =
            (0..5).map(|_| scope.spawn(|| get(&beadle, "/page", GPTBOT).status)).collect();
        let waiting = r#"beadle_people_first_requests{of="waiting",site="site.example"}"#;
        beadle.wait_for_metric(waiting, 5.0);
        assert_eq!(get(&beadle, "/page", BROWSER).status, 200);
        drop(end);
        assert_eq!(first.join().expect("an answer"), 200);
        assert!(others.into_iter().all(|one| one.join().expect("an answer") == 200));
        beadle.wait_for_metric(waiting, 0.0);
    });
    // Each of them counts once.
    beadle.wait_for_report("GPTBot", &[("requests", 6), ("limited", 0)]);
    let explained = beadle.verb(&["explain", "--user-agent", GPTBOT, "/page"]);
    let explained = String::from_utf8_lossy(&explained.stdout).into_owned();
    assert!(
        explained.contains("makes room for people, then for crawlers of search"),
        "{explained}"
    );
}

#[test]
fn a_request_that_ends_without_a_response_makes_room() {
    let beadle = Setup::site(Origin::absent(), PEOPLE_FIRST).start();
    // The limit falls to one, so the next one may come too early.
    assert!((0..10).all(|_| [502, 503].contains(&get(&beadle, "/page", GPTBOT).status)));
    for of in ["crawler", "people"] {
        let there = format!("beadle_people_first_requests{{of=\"{of}\",site=\"site.example\"}}");
        beadle.wait_for_metric(&there, 0.0);
    }
}
