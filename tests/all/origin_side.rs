//! What the proxy does towards the origin: redirects to its own address, `Via`, time limits of a
//! site, and fields and framing of one hop.

use std::{thread::sleep, time::Duration};

use crate::support::{
    BROWSER,
    client::{Client, Request},
    nginx::Nginx,
    origin::{After, Origin},
    program::{Beadle, Setup},
};

fn site(port: u16, settings: &str) -> Beadle {
    Setup::site(port, settings).start()
}

#[test]
fn a_redirect_to_the_origins_address_leads_to_the_site() {
    let origin = Origin::playing(|exchange| {
        let at = exchange.request.header("x-location").unwrap_or_default().to_owned();
        exchange.answer(
            "302 Found",
            &[&format!("Location: {at}"), &format!("Content-Location: {at}")],
            b"",
        );
        After::Keep
    });
    let own = format!("http://127.0.0.1:{}", origin.port);
    let beadle = site(origin.port, "");
    let locations = |beadle: &Beadle, location: &str| {
        let request = Request::get("/x").host("site.example:8080").user_agent(BROWSER);
        let answer = request.field("X-Location", location).send(beadle.port);
        assert_eq!(answer.status, 302);
        let of = |name| answer.all(name).join(" ");
        (of("location"), of("content-location"))
    };
    for (location, expected) in [
        (format!("{own}/next?a#b"), "http://site.example:8080/next?a#b"),
        (format!("{own}/"), "http://site.example:8080/"),
        ("/next".to_owned(), "/next"),
        ("https://elsewhere.example/".to_owned(), "https://elsewhere.example/"),
    ] {
        let both = (expected.to_owned(), expected.to_owned());
        assert_eq!(locations(&beadle, &location), both, "{location}");
    }
    beadle.reload(&Setup::site(origin.port, "    rewrite_location: false\n"));
    assert_eq!(locations(&beadle, &own).0, own);
}

#[test]
fn nginx_compresses_for_a_site_without_via() {
    let Some(nginx) = Nginx::start_without_gzip_proxied() else { return };
    nginx.put("/text.txt", &b"compressible\n".repeat(1_000));
    let beadle = site(nginx.port, "");
    let encoding = || {
        let request = Request::get("/text.txt").user_agent(BROWSER);
        let answer = request.field("Accept-Encoding", "gzip").send(beadle.port);
        answer.header("content-encoding").map(str::to_owned)
    };
    assert_eq!(encoding(), None);
    beadle.reload(&Setup::site(nginx.port, "    via: false\n"));
    assert_eq!(encoding().as_deref(), Some("gzip"));
}

#[test]
fn a_site_has_its_own_time_limits_that_a_reload_changes() {
    let origin = Origin::playing(|exchange| {
        sleep(Duration::from_millis(2_500));
        exchange.answer("200 OK", &[], b"late");
        After::Keep
    });
    let at = |limit: &str| {
        let url = format!("origin: http://127.0.0.1:{}", origin.port);
        Setup::sites(&format!(
            "  - hosts: [site.example]\n    {url}\n    timeouts: {{ origin_read: {limit} }}\n  \
             - hosts: [patient.example]\n    {url}\n"
        ))
    };
    let beadle = at("1s").start();
    let status = |host: &str| Request::get("/x").host(host).user_agent(BROWSER).send(beadle.port);
    assert_eq!(status("site.example").status, 504);
    assert_eq!(status("patient.example").status, 200);
    beadle.reload(&at("30s"));
    assert_eq!(status("site.example").status, 200);
    // The limits of all sites, too.
    let of_server = Setup::sites(&format!(
        "  - hosts: [site.example]\n    origin: http://127.0.0.1:{}\n",
        origin.port
    ));
    beadle.reload(&of_server.server("  timeouts: { origin_read: 1s }\n"));
    assert_eq!(status("site.example").status, 504);
}

#[test]
fn rfc9112_6_1_a_client_of_http_1_0_gets_no_chunks() {
    let origin = Origin::answering(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n\
         5\r\nhello\r\n6\r\n world\r\n0\r\nX-Sum: 1\r\n\r\n",
    );
    let beadle = site(origin.port, "");
    for connection in ["", "Connection: keep-alive\r\n"] {
        let mut client = Client::connect(beadle.port);
        let head = format!("GET /x HTTP/1.0\r\nHost: site.example\r\n{connection}\r\n");
        client.write(head.as_bytes());
        let answer = String::from_utf8(client.rest()).expect("ASCII");
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
        assert!(!head.to_ascii_lowercase().contains("transfer-encoding"), "{head}");
        assert_eq!(body, "hello world", "{head}");
    }
}

#[test]
fn rfc9110_7_6_1_connection_names_fields_on_several_lines() {
    let origin = Origin::playing(|exchange| {
        exchange.read_body();
        exchange.write(
            b"HTTP/1.1 200 OK\r\nConnection: X-One\r\nConnection: keep-alive, X-Two\r\nX-One: 1\r\n\
              X-Two: 2\r\nX-Three: 3\r\nTrailer: X-Sum\r\nTransfer-Encoding: chunked\r\n\r\n\
              2\r\nok\r\n0\r\nX-Sum: 1\r\n\r\n",
        );
        After::Keep
    });
    let beadle = site(origin.port, "");
    let mut client = Client::connect(beadle.port);
    client.write(
        b"POST /x HTTP/1.1\r\nHost: site.example\r\nConnection: X-One\r\nConnection: X-Two\r\n\
          X-One: 1\r\nX-Two: 2\r\nX-Three: 3\r\nTE: trailers\r\nTrailer: X-Sum\r\n\
          Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-Sum: 1\r\n\r\n",
    );
    let answer = client.response("POST").expect("an answer");
    let received = origin.last();
    for name in ["x-one", "x-two", "trailer", "te"] {
        assert!(received.all(name).is_empty(), "{name} reaches the origin");
        assert!(answer.all(name).is_empty(), "{name} reaches the client");
    }
    assert_eq!((received.all("x-three"), answer.all("x-three")), (vec!["3"], vec!["3"]));
    assert_eq!((received.body.as_slice(), answer.text().as_str()), (&b"ok"[..], "ok"));
}
