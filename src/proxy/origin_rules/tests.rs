//! The fetching against servers on loopback.

use std::{
    io::{Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use flate2::{Compression, write::GzEncoder};
use tokio::sync::mpsc;

use super::{
    answer::Answer,
    fetch::{Condition, Fetched},
    route::Place,
    *,
};
use crate::metrics::RecordCounts;

const FILE: &str = "User-agent: *\nDisallow: /private/\n";
const CLOSED: &str = "User-agent: *\nDisallow: /\n";
const PATIENCE: Duration = Duration::from_secs(20);

/// A server that gives what its script says to each request, and hangs up. What it is asked is
/// there to be looked at, head by head. Its threads end with the test program.
#[derive(Clone)]
struct Server {
    port: u16,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn new(script: impl Fn(&mut TcpStream, &str) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let port = listener.local_addr().expect("it is bound").port();
        let server = Self { port, heads: Arc::default() };
        let (heads, script) = (Arc::clone(&server.heads), Arc::new(script));
        thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let (heads, script) = (Arc::clone(&heads), Arc::clone(&script));
                thread::spawn(move || {
                    let (mut head, mut octet) = (Vec::new(), [0]);
                    while !head.ends_with(b"\r\n\r\n") && stream.read_exact(&mut octet).is_ok() {
                        head.extend(octet);
                    }
                    let head = String::from_utf8_lossy(&head).to_ascii_lowercase();
                    heads.lock().expect("no script panics").push(head.clone());
                    script(&mut stream, &head);
                    let _ = stream.shutdown(Shutdown::Both);
                });
            }
        });
        server
    }

    fn giving(answer: impl Into<Vec<u8>>) -> Self {
        let answer = answer.into();
        Self::new(move |stream, _| drop(stream.write_all(&answer)))
    }

    fn origin(&self) -> policy::Origin {
        policy::Origin { tls: false, host: "127.0.0.1".to_owned(), port: self.port }
    }

    fn site(&self) -> Site {
        site(self.origin())
    }

    fn heads(&self) -> Vec<String> {
        self.heads.lock().expect("no script panics").clone()
    }
}

fn site(origin: policy::Origin) -> Site {
    let name = "a.example".to_owned();
    Site { name: name.clone(), origin, host: name, accept_full_disallow: false }
}

fn answer(status: &str, fields: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let head = format!("HTTP/1.1 {status}\r\n{fields}Content-Length: {}\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

fn gzip(body: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(body).expect("memory takes all");
    encoder.finish().expect("memory takes all")
}

fn hosts(of: &[(&str, &policy::Origin)]) -> Hosts {
    let sites: String = of
        .iter()
        .map(|(host, origin)| format!("  - hosts: [\"{host}\"]\n    origin: \"{origin}\"\n"))
        .collect();
    let (policy, findings) = policy::read("test.yaml", format!("sites:\n{sites}").as_bytes());
    Hosts::of(&policy.unwrap_or_else(|| panic!("{findings:?}")).sites)
}

async fn fetch(server: &Server, hosts: Hosts) -> Fetched {
    let fetcher = Fetcher::new(hosts).expect("TLS can be set up");
    fetcher.fetch(Place::of(&server.site()), None).await
}

#[tokio::test]
async fn rfc9309_2_3_1_each_access_has_its_result() {
    let bomb = gzip(&vec![b'#'; 64 << 20]);
    let (gzipped, cut) = (gzip(FILE.as_bytes()), gzip(&FILE.as_bytes().repeat(99)));
    let chunked = |chunk: &str| {
        format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{chunk}", chunk.len())
    };
    let plain = "Content-Type: text/plain\r\n";
    let zipped = "Content-Encoding: gzip\r\n";
    for (given, code) in [
        (answer("200 OK", plain, FILE), "rules"),
        (answer("200 OK", "", ""), "rules"),
        (answer("200 OK", zipped, &gzipped), "rules"),
        (chunked(FILE).into_bytes().into_iter().chain(*b"\r\n0\r\n\r\n").collect(), "rules"),
        (answer("404 Not Found", "", "<html>"), "no_rules"),
        (answer("410 Gone", "", ""), "no_rules"),
        (answer("403 Forbidden", "", ""), "no_rules"),
        (answer("429 Too Many Requests", "", ""), "origin_robots.unreachable"),
        (answer("500 Internal Server Error", "", FILE), "origin_robots.unreachable"),
        (answer("503 Service Unavailable", "", ""), "origin_robots.unreachable"),
        (answer("204 No Content", "", ""), "origin_robots.status"),
        (answer("304 Not Modified", "", ""), "origin_robots.status"),
        (answer("302 Found", "", ""), "origin_robots.no_location"),
        (answer("200 OK", plain, "<!DOCTYPE html>"), "origin_robots.html"),
        (
            answer("200 OK", "Content-Type: text/html; charset=utf-8\r\n", FILE),
            "origin_robots.html",
        ),
        (answer("200 OK", plain, vec![b'#'; 600 << 10]), "origin_robots.too_large"),
        (answer("200 OK", zipped, &bomb), "origin_robots.too_large"),
        (answer("200 OK", "Content-Encoding: br\r\n", FILE), "origin_robots.binary"),
        (answer("200 OK", plain, "User-agent: *\0"), "origin_robots.binary"),
        // A connection that dies before the end leaves no half of a file.
        (chunked(FILE).into_bytes(), "origin_robots.transport"),
        (answer("200 OK", plain, FILE)[..70].to_vec(), "origin_robots.transport"),
        (answer("200 OK", zipped, &cut[..cut.len() / 2]), "origin_robots.transport"),
        (b"HTTP/1.1 200 OK\r\n".to_vec(), "origin_robots.transport"),
        (b"SSH-2.0-OpenSSH_9.9\r\n".to_vec(), "origin_robots.transport"),
        (Vec::new(), "origin_robots.transport"),
    ] {
        let start = String::from_utf8_lossy(&given[..given.len().min(90)]).into_owned();
        let fetched = fetch(&Server::giving(given), Hosts::default()).await;
        assert_eq!(fetched.answer.code(), code, "{start}\n{:?}", fetched.answer);
        if let Answer::Rules(body) = fetched.answer {
            assert!(body.is_empty() || body == FILE.as_bytes(), "{start}");
        }
    }
}

#[tokio::test]
async fn ours_the_origin_is_asked_in_the_name_of_its_site() {
    let server = Server::giving(answer("200 OK", "Cache-Control: max-age=90\r\n", FILE));
    let fetched = fetch(&server, Hosts::default()).await;
    assert_eq!(fetched.fresh_for, Some(Duration::from_secs(90)));
    let heads = server.heads();
    let head = heads.first().expect("it was asked");
    let agent = format!("\r\nuser-agent: beadle/{} (+robots.txt", env!("CARGO_PKG_VERSION"));
    for part in
        ["get /robots.txt http/1.1\r\n", "\r\nhost: a.example\r\n", "accept-encoding: gzip", &agent]
    {
        assert!(head.contains(part), "{part} is not in\n{head}");
    }
    assert_eq!(head.matches("\r\nhost:").count(), 1);
}

#[tokio::test]
async fn ours_nobody_at_the_port_and_an_answer_that_never_ends_are_found_out_in_time() {
    let nobody = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    let port = nobody.expect("a port is free").port();
    let origin = policy::Origin { tls: false, host: "127.0.0.1".to_owned(), port };
    let fetcher = Fetcher::new(Hosts::default()).expect("TLS can be set up");
    let fetched = fetcher.fetch(Place::of(&site(origin)), None).await;
    assert_eq!(fetched.answer.code(), "origin_robots.transport", "{}", fetched.answer);

    let slow = Server::new(|stream, _| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n");
        // Never silent for long, and never done.
        while stream.write_all(b"#").is_ok() {
            thread::sleep(Duration::from_millis(20));
        }
    });
    let fetcher = Fetcher::within(Duration::from_millis(300), Hosts::default());
    let fetcher = fetcher.expect("TLS can be set up");
    let start = Instant::now();
    let fetched = fetcher.fetch(Place::of(&slow.site()), None).await;
    assert_eq!(fetched.answer.code(), "origin_robots.timeout");
    assert!(start.elapsed() < PATIENCE / 2);
}

#[tokio::test]
async fn rfc9309_2_3_1_2_five_redirects_are_followed_and_a_sixth_is_not() {
    for (last, code) in [(5, "rules"), (6, "origin_robots.redirects")] {
        let server = Server::new(move |stream, head| {
            let number = head.strip_prefix("get /").and_then(|rest| rest.chars().next());
            let number = number.and_then(|digit| digit.to_digit(10)).unwrap_or(0);
            let given = match number {
                number if number == last => answer("200 OK", "", FILE),
                number => answer("301 Moved", &format!("Location: /{}.txt\r\n", number + 1), ""),
            };
            let _ = stream.write_all(&given);
        });
        let fetched = fetch(&server, Hosts::default()).await;
        assert_eq!(fetched.answer.code(), code);
        assert_eq!(server.heads().len(), 6);
    }
}

#[tokio::test]
async fn ours_a_redirect_leads_to_hosts_of_the_policy_at_their_origins_and_nowhere_else() {
    let other = Server::giving(answer("200 OK", "", FILE));
    let to = |location: &str| {
        Server::giving(answer("307 Temporary Redirect", &format!("Location: {location}\r\n"), ""))
    };
    for (location, asked) in [
        ("https://b.example/robots-b.txt?x", "get /robots-b.txt?x http/1.1\r\n"),
        ("http://www.c.example/r", "\r\nhost: www.c.example\r\n"),
        ("https://b.example/r", "\r\nx-forwarded-proto: https\r\n"),
    ] {
        let server = to(location);
        let (own, theirs) = (server.origin(), other.origin());
        let hosts = hosts(&[("a.example", &own), ("b.example", &theirs), ("*.c.example", &theirs)]);
        assert_eq!(fetch(&server, hosts).await.answer.code(), "rules", "{location}");
        let heads = other.heads();
        let head = heads.last().expect("it was asked");
        assert!(head.contains(asked), "{asked} is not in\n{head}");
    }
    let asked = other.heads().len();
    for (location, code) in [
        ("http://elsewhere.example/robots.txt", "origin_robots.redirect_away"),
        (&*format!("http://127.0.0.1:{}/robots.txt", other.port), "origin_robots.redirect_away"),
        ("/robots.txt", "origin_robots.redirect_loop"),
        ("http://a.example/robots.txt", "origin_robots.redirect_loop"),
    ] {
        let server = to(location);
        let fetched = fetch(&server, hosts(&[("a.example", &server.origin())])).await;
        assert_eq!(fetched.answer.code(), code, "{location}");
    }
    assert_eq!(other.heads().len(), asked, "nobody asks what is no origin of the policy");
}

#[tokio::test]
async fn ours_an_origin_that_sends_everybody_to_https_is_told_that_this_is_https() {
    let server = Server::new(|stream, head| {
        let given = if head.contains("x-forwarded-proto: https") {
            answer("200 OK", "", FILE)
        } else {
            answer("301 Moved", "Location: https://a.example/robots.txt\r\n", "")
        };
        let _ = stream.write_all(&given);
    });
    assert_eq!(fetch(&server, Hosts::default()).await.answer.code(), "rules");
    // One that looks at nothing but its own socket can't be helped.
    let to_https = answer("301 Moved", "Location: https://a.example/robots.txt\r\n", "");
    let fetched = fetch(&Server::giving(to_https), Hosts::default()).await;
    assert_eq!(fetched.answer.code(), "origin_robots.redirect_loop");
}

#[tokio::test]
async fn rfc9110_13_what_is_unchanged_is_not_sent_again() {
    let server = Server::new(|stream, head| {
        let is_known = head.contains("if-none-match: \"v1\"");
        let given = if is_known {
            b"HTTP/1.1 304 Not Modified\r\nCache-Control: max-age=70\r\n\r\n".to_vec()
        } else {
            answer("200 OK", "ETag: \"v1\"\r\n", FILE)
        };
        let _ = stream.write_all(&given);
    });
    let fetcher = Fetcher::new(Hosts::default()).expect("TLS can be set up");
    let ask = |condition: Option<Condition>| fetcher.fetch(Place::of(&server.site()), condition);
    let first = ask(None).await;
    assert_eq!(first.answer.code(), "rules");
    let second = ask(first.condition.clone()).await;
    assert_eq!(
        (second.answer.code(), second.fresh_for),
        ("unchanged", Some(Duration::from_secs(70)))
    );
    // What one place has says nothing of another.
    let mut elsewhere = server.site();
    elsewhere.host = "b.example".to_owned();
    let third = fetcher.fetch(Place::of(&elsewhere), first.condition).await;
    assert_eq!(third.answer.code(), "rules");
}

/// The news that have come, in short.
fn drained(news: &mut mpsc::UnboundedReceiver<News>) -> Vec<String> {
    let mut all = Vec::new();
    while let Ok(one) = news.try_recv() {
        all.push(match one {
            News::InForce { site, state: State::Rules(file), .. } => {
                format!("{site} {}", String::from_utf8_lossy(&file))
            }
            News::InForce { site, state, .. } => format!("{site} {state:?}"),
            News::Held { site, id, .. } => format!("{site} held {id}"),
            News::Released { site, id, .. } => format!("{site} released {id}"),
        });
    }
    all.sort();
    all
}

#[tokio::test]
async fn ours_every_site_is_asked_at_the_start_and_a_successor_goes_on() {
    let count = Arc::new(AtomicUsize::new(0));
    let changing = {
        let count = Arc::clone(&count);
        Server::new(move |stream, _| {
            let file = if count.fetch_add(1, Ordering::Relaxed) == 0 { FILE } else { CLOSED };
            let _ = stream.write_all(&answer("200 OK", "", file));
        })
    };
    let (without, failing) =
        (Server::giving(answer("404 Not Found", "", "")), Server::giving(answer("503 -", "", "")));
    let named = |server: &Server, name: &str| Site { name: name.to_owned(), ..server.site() };
    let sites = vec![
        named(&changing, "a.example"),
        named(&without, "b.example"),
        named(&failing, "c.example"),
        named(&failing, "d.example"),
    ];
    let metrics = Arc::new(Metrics::new());
    let (sender, mut news) = mpsc::unbounded_channel();
    let known = |name: &str| match name {
        "d.example" => Remembered::new(State::Rules(Bytes::from_static(FILE.as_bytes())), None),
        _ => Remembered::default(),
    };
    let start = |known: &dyn Fn(&str) -> Remembered| {
        OriginRules::start(sites.clone(), Hosts::default(), known, sender.clone(), &metrics)
            .expect("TLS can be set up")
    };
    let first = start(&known);
    assert!(first.first_round(PATIENCE).await);
    let in_force = [
        &format!("a.example {FILE}"),
        "b.example NoRules",
        "c.example Unknown",
        &format!("d.example {FILE}"),
    ];
    assert_eq!(drained(&mut news), in_force);

    let remembered = |name: &str| first.remembered(name).unwrap_or_default();
    first.retire();
    let second = start(&remembered);
    assert!(second.first_round(PATIENCE).await);
    let id = watch::id(CLOSED.as_bytes());
    let mut expected = in_force.map(str::to_owned).to_vec();
    expected.insert(1, format!("a.example held {id}"));
    assert_eq!(drained(&mut news), expected);
    let counted = || metrics.exposition(RecordCounts::default());
    for line in [
        r#"beadle_origin_robots_held{site="a.example"} 1"#,
        r#"beadle_origin_robots_held{site="b.example"} 0"#,
        r#"beadle_origin_robots_fetches_total{outcome="rules",site="a.example"} 2"#,
        r#"beadle_origin_robots_fetches_total{outcome="no_rules",site="b.example"} 2"#,
    ] {
        assert!(counted().contains(line), "{line} is missing in\n{}", counted());
    }

    drop(first);
    assert!(!second.accept("a.example", "0000000000000000"));
    assert!(!second.accept("x.example", &id));
    assert!(second.accept("a.example", &id));
    let accepted = [format!("a.example {CLOSED}"), format!("a.example released {id}")];
    assert_eq!(drained(&mut news), accepted);
    assert!(counted().contains(r#"beadle_origin_robots_held{site="a.example"} 0"#));
    second.retire();
    assert!(!second.accept("a.example", &id));
    assert!(!counted().contains("beadle_origin_robots_held{"));
    assert!(drained(&mut news).is_empty());
}

#[tokio::test]
async fn ours_a_start_waits_for_silent_origins_no_longer_than_it_is_told_to() {
    let silent = Server::new(|_, _| thread::sleep(PATIENCE));
    let (sender, mut news) = mpsc::unbounded_channel();
    let metrics = Arc::new(Metrics::new());
    let start = |sites: Vec<Site>| {
        let known = |_: &str| Remembered::default();
        OriginRules::start(sites, Hosts::default(), known, sender.clone(), &metrics)
            .expect("TLS can be set up")
    };
    let rules = start(vec![silent.site()]);
    assert!(!rules.first_round(Duration::from_millis(50)).await);
    assert!(drained(&mut news).is_empty());
    rules.retire();
    while !rules.task.is_finished() {
        tokio::task::yield_now().await;
    }
    assert!(
        start(Vec::new()).first_round(PATIENCE).await,
        "of no site there is nothing to wait for"
    );
}
