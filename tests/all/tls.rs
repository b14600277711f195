//! Certificates by name, taken anew without a restart; and the way from plain HTTP to HTTPS.

use std::{
    io::{Read, Write},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use rcgen::KeyPair;

use crate::support::{
    client::{Client, Request, connected, presented},
    free_port,
    origin::Origin,
    program::{Beadle, Setup},
    tls::{self, certificate_in, issue, issue_with, replace},
    wait_for,
};

const TAKEN: &str = "beadle_certificate_reads_total{outcome=\"taken\"}";
const REFUSED: &str = "beadle_certificate_reads_total{outcome=\"refused\"}";

/// A program with a TLS listener on `port`, for these names of files in `folder`.
fn serving(origin: &Origin, port: u16, folder: &Path, names: &[&str]) -> Beadle {
    let at = folder.display();
    let pairs: Vec<String> = names
        .iter()
        .map(|name| format!("{{ certificate: {at}/{name}.pem, key: {at}/{name}.key }}"))
        .collect();
    let tls = match pairs.as_slice() {
        [one] => one.clone(),
        several => format!("{{ certificates: [{}] }}", several.join(", ")),
    };
    let listener = format!("{{ address: \"127.0.0.1:{port}\", tls: {tls} }}");
    Setup::site(origin.port, "    robots_txt: { groups: [] }\n").listener(&listener).start()
}

#[test]
fn a_client_gets_the_certificate_for_the_name_that_it_asks_for() {
    let (origin, folder, port) = (Origin::plain(), tempfile::tempdir().unwrap(), free_port());
    let names = [
        ("first", &["first.example"][..]),
        ("site", &["site.example", "www.site.example"]),
        ("star", &["*.site.example"]),
    ];
    let issued = names.map(|(file, hosts)| {
        let one = issue(hosts);
        one.write(folder.path(), file);
        one.der
    });
    let beadle = serving(&origin, port, folder.path(), &["first", "site", "star"]);
    for (name, expected) in [
        (Some("site.example"), 1),
        (Some("www.site.example"), 1),
        (Some("shop.site.example"), 2),
        (Some("a.shop.site.example"), 0),
        (Some("other.example"), 0),
        (None, 0),
    ] {
        assert!(presented(port, name) == issued[expected], "{name:?}");
    }
    let mut client = Client::connect_tls(port);
    assert_eq!(Request::get("/a").send_over(&mut client).text(), "origin: /a");
    // The certificates of these tests end with the year 4095.
    let series = format!(
        "beadle_certificate_end_timestamp_seconds{{file=\"{}\"}}",
        folder.path().join("star.pem").display()
    );
    assert_eq!(beadle.metric(&series), 67_090_118_400.0);
}

#[test]
fn a_renewed_certificate_is_taken_while_requests_go_on() {
    let (origin, folder, port) = (Origin::plain(), tempfile::tempdir().unwrap(), free_port());
    let old = issue(&["site.example"]);
    old.write(folder.path(), "site");
    let beadle = serving(&origin, port, folder.path(), &["site"]);
    let (stop, served) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let clients: Vec<_> = (0..4)
        .map(|_| {
            let (stop, served) = (Arc::clone(&stop), Arc::clone(&served));
            std::thread::spawn(move || {
                while !stop.load(Ordering::Acquire) {
                    let mut client = Client::connect_tls(port);
                    for _ in 0..3 {
                        assert_eq!(Request::get("/a").send_over(&mut client).status, 200);
                        served.fetch_add(1, Ordering::Relaxed);
                    }
                }
            })
        })
        .collect();
    let requests = |more| {
        let before = served.load(Ordering::Relaxed);
        wait_for("requests", || (served.load(Ordering::Relaxed) >= before + more).then_some(()));
    };
    // A connection from before the renewal goes on.
    let mut open = Client::connect_tls(port);
    requests(10);
    let mut last = old.der;
    for _ in 0..3 {
        let new = issue(&["site.example"]);
        new.write(folder.path(), "site");
        wait_for("the new certificate", || {
            let found = presented(port, Some("site.example"));
            assert!(found == new.der || found == last, "one of the two");
            (found == new.der).then_some(())
        });
        last = new.der;
        requests(10);
    }
    assert_eq!(Request::get("/b").send_over(&mut open).status, 200);
    stop.store(true, Ordering::Release);
    clients.into_iter().for_each(|client| client.join().expect("no request failed"));
    beadle.wait_for_metric(TAKEN, 3.0);
}

#[test]
fn a_bad_renewal_leaves_the_last_good_certificate() {
    let (origin, folder, port) = (Origin::plain(), tempfile::tempdir().unwrap(), free_port());
    let old = issue(&["site.example"]);
    old.write(folder.path(), "site");
    let beadle = serving(&origin, port, folder.path(), &["site"]);
    let certificate = folder.path().join("site.pem");
    let is_old = || presented(port, Some("site.example")) == old.der;

    replace(&certificate, "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
    beadle.wait_for_metric(REFUSED, 1.0);
    beadle.wait_for_stderr("certificate refused: the last good one stays");
    assert!(is_old());
    assert!(beadle.admin_page("/").text().contains("site.pem is not renewed"));

    // The certificate is new, the key is still the old one.
    let new = issue(&["site.example"]);
    replace(&certificate, &new.certificate);
    beadle.wait_for_metric(REFUSED, 2.0);
    beadle.wait_for_stderr("the key is not of this certificate");
    assert!(is_old());
    std::fs::remove_file(&certificate).unwrap();
    beadle.wait_for_metric(REFUSED, 3.0);
    assert!(is_old());

    new.write(folder.path(), "site");
    wait_for("the new certificate", || {
        (presented(port, Some("site.example")) == new.der).then_some(())
    });
    assert!(!beadle.admin_page("/").text().contains("is not renewed"));
    beadle.assert_healthy("bad certificates");
}

#[test]
fn sighup_takes_a_certificate_whose_change_can_not_be_seen() {
    let (origin, folder, port) = (Origin::plain(), tempfile::tempdir().unwrap(), free_port());
    let key = KeyPair::generate().unwrap();
    let old = issue_with(&key, &["site.example"]);
    old.write(folder.path(), "site");
    let beadle = serving(&origin, port, folder.path(), &["site"]);
    // The same length, the same time, the same place.
    let new = wait_for("a certificate of the same length", || {
        let new = issue_with(&key, &["site.example"]);
        (new.certificate.len() == old.certificate.len()).then_some(new)
    });
    let file = folder.path().join("site.pem");
    let modified = file.metadata().unwrap().modified().unwrap();
    let mut opened = std::fs::File::options().write(true).open(&file).unwrap();
    opened.write_all(new.certificate.as_bytes()).unwrap();
    opened.set_modified(modified).unwrap();
    drop(opened);
    assert!(certificate_in(&file) == new.der);
    beadle.signal("HUP");
    wait_for("the new certificate", || {
        (presented(port, Some("site.example")) == new.der).then_some(())
    });
}

#[test]
fn tls_1_2_and_1_3_are_spoken_and_nothing_older() {
    let (origin, port) = (Origin::plain(), free_port());
    let folder = tempfile::tempdir().unwrap();
    issue(&["site.example"]).write(folder.path(), "site");
    let _beadle = serving(&origin, port, folder.path(), &["site"]);
    for version in [&rustls::version::TLS12, &rustls::version::TLS13] {
        let stream = tls::over_as(connected(port), Some("site.example"), &[version]);
        let answer = Request::get("/a").send_over(&mut Client::over_tls(stream));
        assert_eq!(answer.status, 200, "{version:?}");
    }
    // RFC 8446 §4.1.2: a hello without supported_versions names its version in the old field. The
    // last one is TLS 1.2, and is answered by a hello.
    for (minor, expected) in [(0, None), (1, None), (2, None), (3, Some(0x16))] {
        let mut hello = vec![3, minor];
        hello.extend([7; 32]); // random
        hello.push(0); // no session
        hello.extend([0, 6, 0xC0, 0x2B, 0xC0, 0x09, 0x00, 0x2F]); // ciphers of these versions
        hello.extend([1, 0]); // no compression
        hello.extend([0, 22]); // extensions: algorithms of signatures, curves and their formats
        hello.extend([0, 13, 0, 4, 0, 2, 4, 3, 0, 10, 0, 4, 0, 2, 0, 23, 0, 11, 0, 2, 1, 0]);
        let length = u16::try_from(hello.len()).unwrap();
        let mut record = vec![0x16, 3, 1];
        record.extend((length + 4).to_be_bytes());
        record.extend([1, 0]);
        record.extend(length.to_be_bytes());
        record.extend(hello);
        let mut stream = connected(port);
        stream.write_all(&record).unwrap();
        let mut answer = [0; 7];
        stream.read_exact(&mut answer).unwrap();
        match expected {
            Some(kind) => assert_eq!(answer[0], kind, "{answer:?}"),
            // A fatal alert: protocol_version.
            None => assert_eq!((answer[0], &answer[5..]), (0x15, &[2, 70][..]), "3.{minor}"),
        }
    }
}

#[test]
fn a_start_names_every_unusable_certificate() {
    let folder = tempfile::tempdir().unwrap();
    issue(&["a.example"]).write(folder.path(), "a");
    issue(&["b.example"]).write(folder.path(), "b");
    let at = folder.path().display();
    let pairs = format!(
        "{{ certificate: {at}/a.pem, key: {at}/b.key }}, {{ certificate: {at}/c.pem, key: {at}/b.key }}"
    );
    let port = free_port();
    let listener =
        format!("{{ address: \"127.0.0.1:{port}\", tls: {{ certificates: [{pairs}] }} }}");
    let mut beadle = Setup::site(1, "").listener(&listener).spawn();
    let (status, _) = beadle.wait();
    assert_eq!(status.code(), Some(2));
    beadle.wait_for_stderr("a.pem: the key is not of this certificate");
    beadle.wait_for_stderr("c.pem: No such file");
}

#[test]
fn a_plain_listener_redirects_to_https() {
    let (origin, folder, port) = (Origin::plain(), tempfile::tempdir().unwrap(), free_port());
    issue(&["site.example"]).write(folder.path(), "site");
    let (at, plain) = (folder.path().display(), free_port());
    let beadle = Setup::sites(&format!(
        "  - hosts: [site.example, \"*.site.example\", \"::1\"]\n    origin: http://127.0.0.1:{}\n",
        origin.port
    ))
    .listener(&format!("{{ address: \"127.0.0.1:{plain}\", redirect: https }}"))
    .listener(&format!(
        "{{ address: \"127.0.0.1:{port}\", tls: {{ certificate: {at}/site.pem, key: {at}/site.key }} }}"
    ))
    .start();
    for (method, target, host, status, location) in [
        ("GET", "/a?b=c", "site.example", 301, "https://site.example/a?b=c"),
        ("HEAD", "/", "site.example:8080", 301, "https://site.example/"),
        ("GET", "/robots.txt", "SITE.example.", 301, "https://site.example/robots.txt"),
        ("POST", "/form", "www.site.example", 308, "https://www.site.example/form"),
        ("GET", "/", "[::1]", 301, "https://[::1]/"),
        ("GET", "//evil.example/x", "site.example", 301, "https://site.example//evil.example/x"),
        ("GET", "/caf\u{e9}", "site.example", 301, "https://site.example/caf%C3%A9"),
        ("GET", "http://site.example/x", "site.example", 301, "https://site.example/x"),
        ("OPTIONS", "*", "site.example", 308, "https://site.example/"),
        ("GET", "/", "other.example", 421, ""),
        ("GET", "/", "a b", 400, ""),
    ] {
        let answer = Request::new(method, target).host(host).send(plain);
        assert_eq!(answer.status, status, "{method} {host} {target}");
        assert_eq!(answer.header("location").unwrap_or_default(), location, "{method} {host}");
    }
    assert!(origin.received().is_empty(), "no request went on");
    // The other listeners serve the site.
    assert_eq!(beadle.get("/a", "Mozilla/5.0").text(), "origin: /a");
    let mut client = Client::connect_tls(port);
    assert_eq!(Request::get("/a").send_over(&mut client).text(), "origin: /a");
}

#[test]
fn authorities_that_the_environment_names_wrong_are_refused_before_the_start() {
    let origin = Origin::plain();
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let missing = folder.path().join("missing.pem");
    for variable in ["SSL_CERT_FILE", "SSL_CERT_DIR"] {
        let setup = Setup::site(origin.port, "").environment(variable, missing.clone());
        let mut beadle = setup.spawn();
        let (status, _) = beadle.wait();
        assert_eq!(status.code(), Some(2), "{variable}: {}", beadle.stderr());
        let says = format!("beadle: {variable}: '{}': ", missing.display());
        beadle.wait_for_stderr(&says);
        assert!(!beadle.stderr().contains("panicked"), "{}", beadle.stderr());
    }
}
