//! Several origins of one site: who gets a request, and what happens while some are down.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread::JoinHandle,
};

use parking_lot::Mutex;

use crate::support::{
    BROWSER,
    client::{Client, Request, Response},
    free_port,
    nginx::Nginx,
    origin::{After, Origin},
    program::{Beadle, Setup},
    wait_for,
};

/// A site with these settings of its origins; `$URLS` are their URLs.
fn setup(settings: &str, ports: &[u16]) -> Setup {
    let urls: Vec<String> =
        ports.iter().map(|port| format!("\"http://127.0.0.1:{port}\"")).collect();
    let origin = settings.replace("$URLS", &format!("[{}]", urls.join(", ")));
    Setup::sites(&format!("  - hosts: [site.example]\n    origin: {origin}\n"))
}

fn up(port: u16) -> String {
    format!("beadle_origin_up{{origin=\"http://127.0.0.1:{port}\",site=\"site.example\"}}")
}

/// Waits until the metrics say that an origin is up (1) or down (0).
fn wait_until(beadle: &Beadle, port: u16, is_up: f64) {
    wait_for("the health of an origin", || (beadle.metric(&up(port)) == is_up).then_some(()));
}

fn get(beadle: &Beadle, target: &str) -> Response {
    Request::get(target).user_agent(BROWSER).send(beadle.port)
}

/// Clients that send GET after GET and count the answers by their texts.
struct Load {
    stop: Arc<AtomicBool>,
    texts: Arc<Mutex<Vec<String>>>,
    failures: Arc<Mutex<Vec<String>>>,
    count: Arc<AtomicUsize>,
    clients: Vec<JoinHandle<()>>,
}

impl Load {
    fn on(port: u16) -> Self {
        let (stop, count) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let (texts, failures) = (Arc::<Mutex<Vec<_>>>::default(), Arc::<Mutex<Vec<_>>>::default());
        let client = || {
            let (stop, count) = (Arc::clone(&stop), Arc::clone(&count));
            let (texts, failures) = (Arc::clone(&texts), Arc::clone(&failures));
            std::thread::spawn(move || {
                let mut client = Client::connect(port);
                while !stop.load(Ordering::Acquire) {
                    client.write(&Request::get("/name.txt").user_agent(BROWSER).bytes());
                    match client.response("GET") {
                        Ok(answer) if answer.status == 200 => texts.lock().push(answer.text()),
                        other => {
                            failures.lock().push(format!("{other:?}"));
                            client = Client::connect(port);
                        }
                    }
                    count.fetch_add(1, Ordering::AcqRel);
                }
            })
        };
        let clients = (0..4).map(|_| client()).collect();
        Self { stop, texts, failures, count, clients }
    }

    /// Waits for this many more requests.
    fn wait_for(&self, more: usize) {
        let enough = self.count.load(Ordering::Acquire) + more;
        wait_for("requests", || (self.count.load(Ordering::Acquire) >= enough).then_some(()));
    }

    /// Waits for an answer of this origin from now on.
    fn wait_for_answer_of(&self, text: &str) {
        self.texts.lock().clear();
        wait_for(text, || self.texts.lock().iter().any(|one| one == text).then_some(()));
    }

    /// Ends the clients. Returns what failed.
    fn end(self) -> Vec<String> {
        self.stop.store(true, Ordering::Release);
        self.clients.into_iter().for_each(|client| client.join().expect("a client ends"));
        std::mem::take(&mut self.failures.lock())
    }
}

#[test]
fn an_origin_that_is_killed_and_comes_back_costs_no_request() {
    let Some(first) = Nginx::start() else { return };
    let [Some(second), Some(third)] = [Nginx::start(), Nginx::start()] else { return };
    for (nginx, name) in [(&first, "first"), (&second, "second"), (&third, "third")] {
        nginx.put("/name.txt", name.as_bytes());
    }
    let ports = [first.port, second.port, third.port];
    let beadle = setup("{ urls: $URLS, health: { pause: 1s } }", &ports).start();
    let load = Load::on(beadle.port);
    ["first", "second", "third"].iter().for_each(|name| load.wait_for_answer_of(name));
    drop(second);
    wait_until(&beadle, ports[1], 0.0);
    load.wait_for(500);
    let second = Nginx::start_on(ports[1]).expect("it started before");
    second.put("/name.txt", b"second");
    load.wait_for_answer_of("second");
    assert_eq!(beadle.metric(&up(ports[1])), 1.0);
    assert_eq!(load.end(), Vec::<String>::new());
}

#[test]
fn a_reload_with_other_origins_costs_no_request() {
    let named = |name: &'static str| {
        Origin::playing(move |exchange| {
            exchange.answer("200 OK", &[], name.as_bytes());
            After::Keep
        })
    };
    let (first, second, third) = (named("first"), named("second"), named("third"));
    let beadle = setup("$URLS", &[first.port, second.port]).start();
    let load = Load::on(beadle.port);
    ["first", "second"].iter().for_each(|name| load.wait_for_answer_of(name));
    beadle.reload(&setup("$URLS", &[third.port, second.port]));
    ["third", "second"].iter().for_each(|name| load.wait_for_answer_of(name));
    load.texts.lock().clear();
    load.wait_for(100);
    assert!(!load.texts.lock().iter().any(|text| text == "first"));
    beadle.reload(&setup("$URLS", &[third.port]));
    load.wait_for_answer_of("third");
    assert_eq!(load.end(), Vec::<String>::new());
    let metrics = beadle.admin_page("/metrics").text();
    assert!(!metrics.contains(&up(first.port)), "an origin that is gone has no series");
}

#[test]
fn the_origin_with_the_fewest_requests_in_progress_is_next() {
    let release = Arc::new(AtomicBool::new(false));
    let held = Arc::clone(&release);
    let slow = Origin::playing(move |exchange| {
        wait_for("the end of the test", || held.load(Ordering::Acquire).then_some(()));
        exchange.answer("200 OK", &[], b"slow");
        After::Keep
    });
    let fast = Origin::plain();
    let settings = "{ urls: $URLS, balance: least-connections }";
    let beadle = setup(settings, &[slow.port, fast.port]).start();
    let port = beadle.port;
    // The first one goes to the first origin.
    let waiting = std::thread::spawn(move || Request::get("/").user_agent(BROWSER).send(port));
    slow.wait_for_requests(1);
    // On one connection, each request ends before the next one begins.
    let mut client = Client::connect(beadle.port);
    for _ in 0..20 {
        let answer = Request::get("/x").user_agent(BROWSER).send_over(&mut client);
        assert_eq!(answer.text(), "origin: /x");
    }
    assert_eq!((slow.received().len(), fast.received().len()), (1, 20));
    release.store(true, Ordering::Release);
    assert_eq!(waiting.join().expect("it ends").text(), "slow");
}

#[test]
fn without_any_origin_the_answer_is_503_with_the_time_to_come_back() {
    let beadle =
        setup("{ urls: $URLS, health: { pause: 7s } }", &[free_port(), free_port()]).start();
    for method in ["GET", "POST", "GET", "HEAD"] {
        let answer = Request::new(method, "/x").user_agent(BROWSER).send(beadle.port);
        assert_eq!(answer.status, 503, "{method}");
        let seconds = answer.header("retry-after").and_then(|text| text.parse::<u64>().ok());
        assert!(seconds.is_some_and(|seconds| (1..=7).contains(&seconds)), "{answer:?}");
    }
    assert_eq!(beadle.get("/robots.txt", BROWSER).status, 200);
    // One alone is asked each time.
    beadle.reload(&setup("$URLS", &[free_port()]));
    let answer = get(&beadle, "/x");
    assert_eq!((answer.status, answer.header("retry-after")), (502, None));
}

#[test]
fn rfc9110_9_2_2_only_an_idempotent_request_is_sent_again() {
    let broken = Origin::playing(|exchange| {
        exchange.read_body();
        After::Close
    });
    let sound = Origin::plain();
    for (method, status) in
        [("GET", 200), ("HEAD", 200), ("PUT", 200), ("DELETE", 200), ("POST", 502), ("PATCH", 502)]
    {
        broken.forget();
        sound.forget();
        // The first request goes to the first origin.
        let beadle = setup("$URLS", &[broken.port, sound.port]).start();
        let request = Request::new(method, "/x").user_agent(BROWSER);
        let has_body = matches!(method, "PUT" | "POST" | "PATCH");
        let request = if has_body { request.body("the body") } else { request };
        assert_eq!(request.send(beadle.port).status, status, "{method}");
        assert_eq!(broken.received().len(), 1, "{method}");
        assert_eq!(sound.received().len(), usize::from(status == 200), "{method}");
        if status == 200 && has_body {
            assert_eq!(sound.last().body, b"the body", "{method}");
        }
    }
    // A refused connection has none of the request.
    let beadle = setup("$URLS", &[free_port(), sound.port]).start();
    let answer = Request::new("POST", "/x").user_agent(BROWSER).body("a").send(beadle.port);
    assert_eq!(answer.status, 200);
}

#[test]
fn checks_leave_an_origin_out_that_says_it_is_down() {
    let is_well = Arc::new(AtomicBool::new(true));
    let well = Arc::clone(&is_well);
    let first = Origin::playing(move |exchange| {
        let status = match (exchange.request.target.as_slice(), well.load(Ordering::Acquire)) {
            (b"/up?full", false) => "503 Service Unavailable",
            _ => "200 OK",
        };
        exchange.answer(status, &[], b"first");
        After::Keep
    });
    let second = Origin::plain();
    let settings =
        "{ urls: $URLS, health: { path: \"/up?full\", interval: 1s, timeout: 1s, failures: 2 } }";
    let beadle = setup(settings, &[first.port, second.port]).start();
    let check =
        wait_for("a check", || first.received().into_iter().find(|one| one.target == b"/up?full"));
    assert_eq!(check.header("host"), Some("site.example"));
    is_well.store(false, Ordering::Release);
    wait_until(&beadle, first.port, 0.0);
    for _ in 0..6 {
        assert_eq!(get(&beadle, "/x").text(), "origin: /x");
    }
    let page = beadle.admin_page("/").text();
    assert!(page.contains("1 of 2 up"), "the desk shows it");
    is_well.store(true, Ordering::Release);
    wait_until(&beadle, first.port, 1.0);
    let texts: Vec<String> = (0..4).map(|_| get(&beadle, "/x").text()).collect();
    assert_eq!(texts.iter().filter(|text| *text == "first").count(), 2, "{texts:?}");
    let faults = format!(
        "beadle_origin_faults_total{{origin=\"http://127.0.0.1:{}\",reason=\"check\",\
         site=\"site.example\"}}",
        first.port
    );
    assert!(beadle.metric(&faults) >= 2.0);
}

#[test]
fn the_origins_robots_txt_comes_from_one_that_answers() {
    let second = Origin::playing(|exchange| {
        exchange.answer("200 OK", &["Content-Type: text/plain"], b"User-agent: *\nDisallow: /x\n");
        After::Keep
    });
    let site = "$URLS\n    robots_txt: { source: origin }";
    let beadle = setup(site, &[free_port(), second.port]).start();
    assert!(beadle.get("/robots.txt", BROWSER).text().contains("Disallow: /x"));
}
