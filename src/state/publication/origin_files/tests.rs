//! Tests of the fetches, against servers on loopback.

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

use bytes::Bytes;
use flate2::{Compression, write::GzEncoder};
use tokio::sync::mpsc;

use super::{
    access_result::AccessResult,
    destination::{Caution, Destination},
    fetcher::{Condition, Fetched},
    *,
};
use crate::{base::fetch::Reach, formats::robots::OriginFile, rules::policy};

const FILE: &str = "User-agent: *\nDisallow: /private/\n";
const CLOSED: &str = "User-agent: *\nDisallow: /\n";
const PATIENCE: Duration = Duration::from_secs(20);

/// A server that runs its script for each request and then closes the connection. It keeps the head
/// of each request. Its threads end with the test program.
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

    fn with_response(answer: impl Into<Vec<u8>>) -> Self {
        let answer = answer.into();
        Self::new(move |stream, _| drop(stream.write_all(&answer)))
    }

    fn origin(&self) -> policy::Origin {
        policy::Origin { tls: false, host: "127.0.0.1".to_owned(), port: self.port }
    }

    fn site(&self) -> WatchedSite {
        site(self.origin())
    }

    fn heads(&self) -> Vec<String> {
        self.heads.lock().expect("no script panics").clone()
    }
}

fn site(origin: policy::Origin) -> WatchedSite {
    let name = "a.example".to_owned();
    WatchedSite {
        name: name.clone(),
        origins: vec![origin],
        host: name,
        scheme: "http",
        caution: Caution::default(),
        catalogue: Arc::new(policy::built_in_catalogue()),
    }
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

fn hosts(of: &[(&str, &policy::Origin)]) -> KnownHosts {
    let sites: String = of
        .iter()
        .map(|(host, origin)| format!("  - hosts: [\"{host}\"]\n    origin: \"{origin}\"\n"))
        .collect();
    let policy: policy::Policy = format!("sites:\n{sites}").parse().unwrap();
    KnownHosts::of(&policy.sites)
}

/// Clients for which this machine is a public address.
fn clients() -> Clients {
    Clients::reaching("robots.txt of the origin", Reach::Elsewhere { is_public: |_| true })
        .expect("TLS can be set up")
}

async fn fetch(server: &Server, hosts: KnownHosts) -> Fetched {
    let fetcher = Fetcher::new(clients(), hosts);
    fetcher.fetch(Destination::of(&server.site()), None).await
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
        (answer("403 Forbidden", "Content-Type: text/html\r\n", "<h1>Nothing</h1>"), "no_rules"),
        (answer("401 Unauthorized", "", ""), "no_rules"),
        (answer("400 Bad", "", ""), "no_rules"),
        (answer("429 Too Many Requests", "", ""), "origin_robots.unreachable"),
        (answer("500 Internal Server Error", "", FILE), "origin_robots.unreachable"),
        (answer("503 Service Unavailable", "", ""), "origin_robots.unreachable"),
        (answer("204 No Content", "", ""), "origin_robots.status"),
        (answer("304 Not Modified", "", ""), "origin_robots.status"),
        (answer("302 Found", "", ""), "origin_robots.no_location"),
        (answer("200 OK", plain, "<!DOCTYPE html>"), "origin_robots.html"),
        (answer("200 OK", "Content-Type: text/html; charset=utf-8\r\n", FILE), "rules"),
        (answer("200 OK", plain, vec![b'#'; 600 << 10]), "rules"),
        (answer("200 OK", zipped, &bomb), "rules"),
        (answer("200 OK", "Content-Encoding: br\r\n", FILE), "origin_robots.binary"),
        (answer("200 OK", plain, "User-agent: *\0"), "origin_robots.binary"),
        // A connection that ends early leaves no partial file.
        (chunked(FILE).into_bytes(), "origin_robots.transport"),
        (answer("200 OK", plain, FILE)[..70].to_vec(), "origin_robots.transport"),
        (answer("200 OK", zipped, &cut[..cut.len() / 2]), "origin_robots.transport"),
        (b"HTTP/1.1 200 OK\r\n".to_vec(), "origin_robots.transport"),
        (b"SSH-2.0-OpenSSH_9.9\r\n".to_vec(), "origin_robots.transport"),
        (Vec::new(), "origin_robots.transport"),
    ] {
        let start = String::from_utf8_lossy(&given[..given.len().min(90)]).into_owned();
        let fetched = fetch(&Server::with_response(given), KnownHosts::default()).await;
        assert_eq!(fetched.result.code(), code, "{start}\n{:?}", fetched.result);
        if let AccessResult::File(body) = fetched.result {
            assert!(body.is_empty() || body == FILE.as_bytes(), "{start}");
        }
    }
}

#[tokio::test]
async fn a_fetch_has_the_host_of_its_site() {
    let server = Server::with_response(answer("200 OK", "Cache-Control: max-age=90\r\n", FILE));
    let fetched = fetch(&server, KnownHosts::default()).await;
    assert_eq!(fetched.fresh_for, Some(Duration::from_secs(90)));
    let heads = server.heads();
    let head = heads.first().expect("there was a request");
    let agent = format!("\r\nuser-agent: beadle/{} (+robots.txt", env!("CARGO_PKG_VERSION"));
    for part in [
        "get /robots.txt http/1.1\r\n",
        "\r\nhost: a.example\r\n",
        "accept-encoding: gzip",
        "\r\nx-forwarded-proto: http\r\n",
        "\r\nx-forwarded-host: a.example\r\n",
        &agent,
    ] {
        assert!(head.contains(part), "{part} is not in\n{head}");
    }
    assert_eq!(head.matches("\r\nhost:").count(), 1);
}

#[tokio::test]
async fn a_closed_port_and_an_endless_response_fail_in_time() {
    let closed = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    let port = closed.expect("a port is free").port();
    let origin = policy::Origin { tls: false, host: "127.0.0.1".to_owned(), port };
    let fetcher = Fetcher::new(clients(), KnownHosts::default());
    let fetched = fetcher.fetch(Destination::of(&site(origin)), None).await;
    assert_eq!(fetched.result.code(), "origin_robots.transport", "{}", fetched.result);

    let slow = Server::new(|stream, _| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n");
        // An endless body in small steps.
        while stream.write_all(b"#").is_ok() {
            thread::sleep(Duration::from_millis(20));
        }
    });
    let fetcher = Fetcher::new(clients(), KnownHosts::default());
    let fetcher = fetcher.within(Duration::from_millis(300));
    let start = Instant::now();
    let fetched = fetcher.fetch(Destination::of(&slow.site()), None).await;
    assert_eq!(fetched.result.code(), "origin_robots.timeout");
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
        let fetched = fetch(&server, KnownHosts::default()).await;
        assert_eq!(fetched.result.code(), code);
        assert_eq!(server.heads().len(), 6);
    }
}

#[tokio::test]
async fn a_redirect_leads_only_to_the_origins_of_hosts_in_the_policy() {
    let other = Server::with_response(answer("200 OK", "", FILE));
    let to = |location: &str| {
        Server::with_response(answer(
            "307 Temporary Redirect",
            &format!("Location: {location}\r\n"),
            "",
        ))
    };
    for (location, part) in [
        ("https://b.example/robots-b.txt?x", "get /robots-b.txt?x http/1.1\r\n"),
        ("http://www.c.example/r", "\r\nhost: www.c.example\r\n"),
        ("https://b.example/r", "\r\nx-forwarded-proto: https\r\n"),
    ] {
        let server = to(location);
        let (own, theirs) = (server.origin(), other.origin());
        let hosts = hosts(&[("a.example", &own), ("b.example", &theirs), ("*.c.example", &theirs)]);
        assert_eq!(fetch(&server, hosts).await.result.code(), "rules", "{location}");
        let heads = other.heads();
        let head = heads.last().expect("there was a request");
        assert!(head.contains(part), "{part} is not in\n{head}");
    }
    let count = other.heads().len();
    for location in ["/robots.txt", "http://a.example/robots.txt"] {
        let server = to(location);
        let fetched = fetch(&server, hosts(&[("a.example", &server.origin())])).await;
        assert_eq!(fetched.result.code(), "origin_robots.redirect_loop", "{location}");
    }
    assert_eq!(other.heads().len(), count, "there is no request to another server");
}

#[tokio::test]
async fn rfc9309_2_3_1_2_a_foreign_authority_is_followed_at_public_addresses_alone() {
    let foreign = Server::with_response(answer("200 OK", "", FILE));
    let to = |location: &str| {
        Server::with_response(answer("302 Found", &format!("Location: {location}\r\n"), ""))
    };
    let url = format!("http://127.0.0.1:{}/robots-of-a.txt", foreign.port);
    let server = to(&url);
    let own = hosts(&[("a.example", &server.origin())]);
    assert_eq!(fetch(&server, own.clone()).await.result.code(), "rules");
    let head = foreign.heads().pop().expect("there was a request");
    assert!(head.contains(&format!("\r\nhost: 127.0.0.1:{}\r\n", foreign.port)), "{head}");
    assert!(!head.contains("x-forwarded"), "another's server learns nothing:\n{head}");
    let count = foreign.heads().len();
    for location in [
        &*url,
        &format!("http://localhost:{}/robots.txt", foreign.port),
        &format!("http://[::ffff:127.0.0.1]:{}/robots.txt", foreign.port),
        "http://169.254.169.254/latest/meta-data/",
        "https://10.0.0.1/robots.txt",
        "http://elsewhere.invalid/robots.txt",
        "ftp://elsewhere.example/robots.txt",
    ] {
        let fetcher = Fetcher::new(
            Clients::new("robots.txt of the origin").expect("TLS can be set up"),
            own.clone(),
        );
        let fetched = fetcher.fetch(Destination::of(&to(location).site()), None).await;
        assert_eq!(fetched.result.code(), "origin_robots.redirect_away", "{location}");
        assert!(fetched.result.to_string().contains(location), "{}", fetched.result);
    }
    assert_eq!(foreign.heads().len(), count, "there is no request to this machine");
}

#[tokio::test]
async fn an_origin_that_redirects_to_https_learns_that_the_client_uses_https() {
    let server = Server::new(|stream, head| {
        let given = if head.contains("x-forwarded-proto: https") {
            answer("200 OK", "", FILE)
        } else {
            answer("301 Moved", "Location: https://a.example/robots.txt\r\n", "")
        };
        let _ = stream.write_all(&given);
    });
    assert_eq!(fetch(&server, KnownHosts::default()).await.result.code(), "rules");
    // An origin that ignores X-Forwarded-Proto redirects without end.
    let to_https = answer("301 Moved", "Location: https://a.example/robots.txt\r\n", "");
    let fetched = fetch(&Server::with_response(to_https), KnownHosts::default()).await;
    assert_eq!(fetched.result.code(), "origin_robots.redirect_loop");
}

#[tokio::test]
async fn rfc9110_13_an_unchanged_file_is_not_sent_again() {
    let server = Server::new(|stream, head| {
        let is_known = head.contains("if-none-match: \"v1\"");
        let given = if is_known {
            b"HTTP/1.1 304 Not Modified\r\nCache-Control: max-age=70\r\n\r\n".to_vec()
        } else {
            answer("200 OK", "ETag: \"v1\"\r\n", FILE)
        };
        let _ = stream.write_all(&given);
    });
    let fetcher = Fetcher::new(clients(), KnownHosts::default());
    let fetch =
        |condition: Option<Condition>| fetcher.fetch(Destination::of(&server.site()), condition);
    let first = fetch(None).await;
    assert_eq!(first.result.code(), "rules");
    let second = fetch(first.condition.clone()).await;
    assert_eq!(
        (second.result.code(), second.fresh_for),
        ("unchanged", Some(Duration::from_secs(70)))
    );
    // A condition is for one destination only.
    let mut elsewhere = server.site();
    elsewhere.host = "b.example".to_owned();
    let third = fetcher.fetch(Destination::of(&elsewhere), first.condition).await;
    assert_eq!(third.result.code(), "rules");
}

/// The news so far, in short. Each change has the present file. Sorted by site.
fn drained(origins: &OriginFiles, news: &mut mpsc::UnboundedReceiver<News>) -> Vec<String> {
    let mut all = Vec::new();
    while let Ok((site, event)) = news.try_recv() {
        all.push(match event {
            Event::Changed | Event::GivenUp { .. } => {
                match origins.known(&site).unwrap_or_default().file {
                    OriginFile::Present(file) => {
                        format!("{site} {}", String::from_utf8_lossy(&file))
                    }
                    file => format!("{site} {file:?}"),
                }
            }
            Event::Held { id, .. } => format!("{site} held {id}"),
            Event::Released { .. } => format!("{site} released"),
            Event::StillHeld { .. }
            | Event::Remarked(_)
            | Event::Failed { .. }
            | Event::Recovered { .. } => continue,
        });
    }
    all.sort();
    all
}

#[tokio::test]
async fn every_site_is_fetched_at_the_start_and_a_successor_continues() {
    let count = Arc::new(AtomicUsize::new(0));
    let changing = {
        let count = Arc::clone(&count);
        Server::new(move |stream, _| {
            let file = if count.fetch_add(1, Ordering::Relaxed) == 0 { FILE } else { CLOSED };
            let _ = stream.write_all(&answer("200 OK", "", file));
        })
    };
    let (without, failing) = (
        Server::with_response(answer("404 Not Found", "", "")),
        Server::with_response(answer("503 -", "", "")),
    );
    let named =
        |server: &Server, name: &str| WatchedSite { name: name.to_owned(), ..server.site() };
    let sites = [
        named(&changing, "a.example"),
        named(&without, "b.example"),
        named(&failing, "c.example"),
        named(&failing, "d.example"),
    ];
    let (metrics, reports) = (Arc::new(Metrics::new()), OriginReports::default());
    let (sender, mut news) = mpsc::unbounded_channel();
    let known = |name: &str| match name {
        "d.example" => {
            let file = OriginFile::Present(Bytes::from_static(FILE.as_bytes()));
            KnownFile { file, ..KnownFile::default() }
        }
        _ => KnownFile::default(),
    };
    let start = |known: &dyn Fn(&str) -> KnownFile| {
        let (client, hosts) = (clients(), KnownHosts::default());
        let shown = (&metrics, &reports);
        let sites = sites.iter().map(|site| (site.clone(), known(&site.name))).collect();
        OriginFiles::start(client, sites, hosts, sender.clone(), shown)
    };
    let first = start(&known);
    assert!(first.wait_for_first_results(PATIENCE).await);
    let expected = [
        &format!("a.example {FILE}"),
        "b.example Absent",
        "c.example Unknown",
        &format!("d.example {FILE}"),
    ];
    assert_eq!(drained(&first, &mut news), expected);

    let continued = |name: &str| first.known(name).unwrap_or_default();
    first.retire();
    let second = start(&continued);
    assert!(second.wait_for_first_results(PATIENCE).await);
    let id = hold::id(&OriginFile::Present(Bytes::from_static(CLOSED.as_bytes())));
    let mut expected = expected.map(str::to_owned).to_vec();
    expected.insert(1, format!("a.example held {id}"));
    assert_eq!(drained(&second, &mut news), expected);
    let exposition = || metrics.exposition(|_| ());
    for line in [
        r#"beadle_origin_robots_held{site="a.example"} 1"#,
        r#"beadle_origin_robots_held{site="b.example"} 0"#,
        r#"beadle_origin_robots_fetches_total{outcome="rules",site="a.example"} 2"#,
        r#"beadle_origin_robots_fetches_total{outcome="no_rules",site="b.example"} 2"#,
    ] {
        assert!(exposition().contains(line), "{line} is missing in\n{}", exposition());
    }

    drop(first);
    assert_eq!(reports.held(), [("a.example".to_owned(), Hold::Closing)]);
    assert_eq!(second.accept("a.example", "0000000000000000"), None);
    assert_eq!(second.accept("x.example", &id), None);
    assert!(second.accept("a.example", &id).is_some());
    assert_eq!(reports.held(), []);
    let accepted = [format!("a.example {CLOSED}"), "a.example released".to_owned()];
    assert_eq!(drained(&second, &mut news), accepted);
    assert!(exposition().contains(r#"beadle_origin_robots_held{site="a.example"} 0"#));
    second.retire();
    assert_eq!(second.accept("a.example", &id), None);
    assert!(!exposition().contains("beadle_origin_robots_held{"));
    assert!(drained(&second, &mut news).is_empty());
}

#[tokio::test]
async fn a_start_waits_for_silent_origins_up_to_its_limit() {
    let silent = Server::new(|_, _| thread::sleep(PATIENCE));
    let (sender, mut news) = mpsc::unbounded_channel();
    let metrics = Arc::new(Metrics::new());
    let start = |sites: Vec<WatchedSite>| {
        let sites = sites.into_iter().map(|site| (site, KnownFile::default())).collect();
        let (client, hosts) = (clients(), KnownHosts::default());
        let reports = OriginReports::default();
        OriginFiles::start(client, sites, hosts, sender.clone(), (&metrics, &reports))
    };
    let origins = start(vec![silent.site()]);
    assert!(!origins.wait_for_first_results(Duration::from_millis(50)).await);
    assert!(drained(&origins, &mut news).is_empty());
    origins.retire();
    while !origins.task.is_finished() {
        tokio::task::yield_now().await;
    }
    assert!(
        start(Vec::new()).wait_for_first_results(PATIENCE).await,
        "without sites there is nothing to wait for"
    );
}
