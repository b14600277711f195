//! Certificates that the program orders itself: from pebble, and renewal by ARI from a stub.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{Ipv4Addr, TcpListener, TcpStream},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    sync::Arc,
};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use parking_lot::Mutex;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::{
    ServerConfig, ServerConnection, StreamOwned,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};
use serde_json::{Value, json};

use crate::support::{
    client::{Client, Request, presented},
    free_port,
    origin::Origin,
    pebble::Pebble,
    program::Setup,
    tls::{certificate_in, issue},
    wait_for,
};

const HOST: &str = "site.example";
const ISSUED: &str = "beadle_acme_orders_total{outcome=\"issued\"}";
const FAILED: &str = "beadle_acme_orders_total{outcome=\"failed\"}";
/// A site that refuses everything to everyone that is no browser.
const CLOSED: &str = "    robots_txt: { groups: [{ user_agents: [\"*\"], disallow: [/] }] }
    enforcement: { mode: block, allow_block_all: true }\n";

/// A policy with a TLS listener on `port` that orders its certificates.
fn ordering(origin: &Origin, port: u16, settings: &str) -> Setup {
    let listener =
        format!("{{ address: \"127.0.0.1:{port}\", tls: {{ acme: {{ {settings} }} }} }}");
    Setup::site(origin.port, CLOSED).listener(&listener)
}

/// The file of the host's certificate below the folder of the state.
fn state_file(folder: &Path, directory: &str) -> PathBuf {
    let authority = directory.trim_start_matches("https://").replace([':', '/'], "-");
    folder.join(authority).join(format!("{HOST}.pem"))
}

/// What a listener presents.
fn now_presented(port: u16) -> Vec<u8> {
    presented(port, Some(HOST))
}

fn wait_for_issued(port: u16, file: &Path) {
    wait_for("the issued certificate", || {
        (file.is_file() && now_presented(port) == certificate_in(file)).then_some(())
    });
}

/// A certificate of an authority for the host, with its key as one PEM text. It began so many days
/// ago and ends in so many.
fn aged(folder: &Path, began: i64, ends: i64) -> (String, CertificateDer<'static>) {
    let authority_key = KeyPair::generate().expect("it is valid");
    let mut authority = CertificateParams::new(Vec::new()).expect("it is valid");
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = Issuer::new(authority, authority_key);
    let key = KeyPair::generate().expect("it is valid");
    let mut parameters = CertificateParams::new(vec![HOST.to_owned()]).expect("it is valid");
    let day = |days: i64| {
        let at = jiff::Timestamp::now().as_second() + days * 86_400;
        let date = jiff::Timestamp::from_second(at)
            .expect("it is valid")
            .to_zoned(jiff::tz::TimeZone::UTC);
        let (month, day) = (date.month().unsigned_abs(), date.day().unsigned_abs());
        rcgen::date_time_ymd(i32::from(date.year()), month, day)
    };
    (parameters.not_before, parameters.not_after) = (day(-began), day(ends));
    parameters.serial_number = Some(vec![0x7A, 0x01, 0x02].into());
    parameters.use_authority_key_identifier_extension = true;
    let certificate = parameters.signed_by(&key, &authority).expect("it is valid");
    std::fs::create_dir_all(folder).expect("it is valid");
    (format!("{}{}", key.serialize_pem(), certificate.pem()), certificate.der().clone())
}

#[test]
fn a_certificate_is_ordered_presented_and_kept_for_the_next_start() {
    let (origin, port, plain) = (Origin::plain(), free_port(), free_port());
    let Some(pebble) = Pebble::start(plain) else { return };
    let (folder, directory) = (tempfile::tempdir().expect("it is valid"), pebble.directory());
    let state = folder.path().join("state");
    let root = folder.path().join("root.pem");
    pebble.copy_root(&root);
    let beadle = ordering(
        &origin,
        port,
        &format!(
            "contact: admin@site.example, directory: \"{directory}\", root: {}, folder: {}",
            root.display(),
            state.display()
        ),
    )
    .spawn_on(plain, free_port());
    beadle.wait_until_ready();
    // The proof passes although the site refuses everything, and the origin sees nothing of it.
    let file = state_file(&state, &directory);
    wait_for_issued(port, &file);
    beadle.wait_for_metric(ISSUED, 1.0);
    assert!(origin.received().is_empty());
    let mode = |path: &Path| path.metadata().expect("it is valid").permissions().mode() & 0o777;
    let below = file.parent().expect("it is valid");
    assert_eq!((mode(&state), mode(below)), (0o700, 0o700));
    assert_eq!((mode(&file), mode(&below.join("account.json"))), (0o600, 0o600));
    let series = format!("beadle_certificate_end_timestamp_seconds{{file=\"{}\"}}", file.display());
    assert!(beadle.metric(&series) > 0.0);
    // A token that nobody ordered is the site's.
    let unknown = "/.well-known/acme-challenge/unknown";
    assert_eq!(beadle.get(unknown, "curl/8").status, 403);

    // The next start needs no authority.
    let before = now_presented(port);
    drop(pebble);
    let beadle = beadle.restarted();
    assert!(now_presented(port) == before);
    assert_eq!((beadle.metric(ISSUED), beadle.metric(FAILED)), (0.0, 0.0));
}

/// An authority that is not there yet, and the folder of what is known of it.
struct LateAuthority {
    folder: tempfile::TempDir,
    port: u16,
}

impl LateAuthority {
    fn new() -> Self {
        let late = Self { folder: tempfile::tempdir().expect("it is valid"), port: free_port() };
        std::fs::write(late.root(), issue(&["127.0.0.1"]).certificate).expect("it is valid");
        late
    }

    /// Once pebble is there, its certificate is in this file.
    fn root(&self) -> PathBuf {
        self.folder.path().join("root.pem")
    }

    fn directory(&self) -> String {
        format!("https://127.0.0.1:{}/dir", self.port)
    }

    fn state_file(&self) -> PathBuf {
        state_file(&self.folder.path().join("state"), &self.directory())
    }

    fn settings(&self) -> String {
        let (root, folder) = (self.root(), self.folder.path().join("state"));
        let directory = self.directory();
        format!(
            "directory: \"{directory}\", root: {}, folder: {}",
            root.display(),
            folder.display()
        )
    }
}

#[test]
fn a_failed_order_takes_no_listener_down_and_is_tried_again() {
    let (origin, port, plain) = (Origin::plain(), free_port(), free_port());
    let late = LateAuthority::new();
    let beadle = ordering(&origin, port, &late.settings()).spawn_on(plain, free_port());
    beadle.wait_until_ready();
    beadle.wait_for_metric(FAILED, 1.0);
    beadle.wait_for_stderr("certificate not issued: there is none yet");
    // A stand-in, so that the listener answers.
    let mut client = Client::connect_tls(port);
    let browser = Request::get("/a").user_agent(crate::support::BROWSER);
    assert_eq!(browser.send_over(&mut client).text(), "origin: /a");
    let stand_in = now_presented(port);
    assert!(beadle.admin_page("/").text().contains("site.example.pem is not renewed"));

    let Some(pebble) = Pebble::start_on(late.port, plain) else { return };
    pebble.copy_root(&late.root());
    beadle.signal("HUP");
    let file = late.state_file();
    wait_for_issued(port, &file);
    assert!(now_presented(port) != stand_in);
    assert!(!beadle.admin_page("/").text().contains("is not renewed"));
}

#[test]
fn an_old_certificate_is_renewed_and_stays_until_then() {
    let (origin, port, plain) = (Origin::plain(), free_port(), free_port());
    let late = LateAuthority::new();
    let file = late.state_file();
    // More than two thirds of its lifetime are over.
    let (text, old) = aged(file.parent().expect("it is valid"), 70, 20);
    std::fs::write(&file, text).expect("it is valid");
    let beadle = ordering(&origin, port, &late.settings()).spawn_on(plain, free_port());
    beadle.wait_until_ready();
    beadle.wait_for_metric(FAILED, 1.0);
    beadle.wait_for_stderr("certificate not issued: the present one stays");
    assert!(now_presented(port) == old.as_ref());

    let Some(pebble) = Pebble::start_on(late.port, plain) else { return };
    pebble.copy_root(&late.root());
    beadle.signal("HUP");
    beadle.wait_for_metric(ISSUED, 1.0);
    wait_for_issued(port, &file);
    assert!(now_presented(port) != old.as_ref());
}

/// The authority asks a listener that redirects everything else.
#[test]
fn a_new_host_of_the_sites_gets_a_certificate_without_a_restart() {
    let (origin, port, plain) = (Origin::plain(), free_port(), free_port());
    let Some(pebble) = Pebble::start(plain) else { return };
    let (folder, directory) = (tempfile::tempdir().expect("it is valid"), pebble.directory());
    let settings = format!(
        "directory: \"{directory}\", root: {}, folder: {}",
        pebble.root().display(),
        folder.path().display()
    );
    let setup = ordering(&origin, port, &settings)
        .listener(&format!("{{ address: \"127.0.0.1:{plain}\", redirect: https }}"));
    let beadle = setup.clone().start();
    beadle.wait_for_metric(ISSUED, 1.0);
    let unknown = Request::get("/.well-known/acme-challenge/unknown").send(plain);
    assert_eq!(unknown.status, 301);
    beadle.reload(&setup.replaced("[site.example]", "[site.example, new.example]"));
    beadle.wait_for_metric(ISSUED, 2.0);
    let file = state_file(folder.path(), &directory).with_file_name("new.example.pem");
    assert!(presented(port, Some("new.example")) == certificate_in(&file));
    assert!(presented(port, Some(HOST)) != certificate_in(&file));
}

/// An authority that knows ARI (RFC 9773), and refuses every order.
struct Authority {
    port: u16,
    seen: Arc<Mutex<Vec<(String, Value)>>>,
}

impl Authority {
    fn start(root: &Path) -> Self {
        let own = issue(&["127.0.0.1"]);
        std::fs::write(root, &own.certificate).expect("it is valid");
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("it is valid")
            .with_no_client_auth()
            .with_single_cert(
                vec![CertificateDer::from(own.der)],
                PrivateKeyDer::from_pem_slice(own.key.as_bytes()).expect("it is valid"),
            );
        let config = Arc::new(config.expect("it is valid"));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, free_port())).expect("it is valid");
        let port = listener.local_addr().expect("it is valid").port();
        let seen: Arc<Mutex<Vec<(String, Value)>>> = Arc::default();
        let noted = Arc::clone(&seen);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let connection = ServerConnection::new(Arc::clone(&config)).expect("it is valid");
                let (stream, noted) = (
                    StreamOwned::new(connection, stream.expect("it is valid")),
                    Arc::clone(&noted),
                );
                // A client may leave in the middle.
                std::thread::spawn(move || drop(answer(stream, port, &noted)));
            }
        });
        Self { port, seen }
    }

    fn requests(&self, start: &str) -> Vec<(String, Value)> {
        let seen = self.seen.lock();
        seen.iter().filter(|(line, _)| line.starts_with(start)).cloned().collect()
    }
}

/// Answers the requests of one connection.
fn answer(
    stream: StreamOwned<ServerConnection, TcpStream>,
    port: u16,
    seen: &Mutex<Vec<(String, Value)>>,
) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    loop {
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            if stream.read_line(&mut line)? == 0 {
                return Ok(());
            }
            let line = line.trim_end().to_owned();
            if line.is_empty() {
                break;
            }
            lines.push(line);
        }
        let length = lines.iter().find_map(|line| {
            let (name, value) = line.split_once(": ")?;
            name.eq_ignore_ascii_case("content-length").then(|| value.parse().ok())?
        });
        let mut body = vec![0; length.unwrap_or(0)];
        stream.read_exact(&mut body)?;
        let payload = serde_json::from_slice::<Value>(&body).ok().and_then(|signed| {
            let payload = URL_SAFE_NO_PAD.decode(signed["payload"].as_str()?).ok()?;
            serde_json::from_slice(&payload).ok()
        });
        let line = lines.first().cloned().unwrap_or_default();
        seen.lock().push((line.clone(), payload.unwrap_or_default()));
        let url = |path: &str| format!("https://127.0.0.1:{port}{path}");
        let (status, body) = match line.as_str() {
            line if line.starts_with("GET /dir") => (
                "200 OK",
                json!({
                    "newNonce": url("/nonce"), "newAccount": url("/account"),
                    "newOrder": url("/order"), "renewalInfo": url("/renewal"),
                }),
            ),
            line if line.starts_with("GET /renewal/") => (
                "200 OK",
                json!({ "suggestedWindow": {
                    "start": "2026-01-02T04:00:00Z", "end": "2026-01-03T04:00:00Z",
                } }),
            ),
            line if line.starts_with("POST /account") => {
                ("201 Created", json!({ "status": "valid" }))
            }
            line if line.starts_with("HEAD /nonce") => ("200 OK", Value::Null),
            _ => (
                "403 Forbidden",
                json!({
                    "type": "urn:ietf:params:acme:error:rateLimited",
                    "detail": "too many certificates",
                }),
            ),
        };
        let body = if body.is_null() { String::new() } else { body.to_string() };
        write!(
            stream.get_mut(),
            "HTTP/1.1 {status}\r\nReplay-Nonce: bm9uY2U\r\nRetry-After: 21600\r\n\
             Location: {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            url("/account/1"),
            body.len()
        )?;
    }
}

#[test]
fn rfc9773_a_young_certificate_is_renewed_when_its_authority_says() {
    let (origin, port) = (Origin::plain(), free_port());
    let folder = tempfile::tempdir().expect("it is valid");
    let (state, root) = (folder.path().join("state"), folder.path().join("root.pem"));
    let authority = Authority::start(&root);
    let directory = format!("https://127.0.0.1:{}/dir", authority.port);
    let file = state_file(&state, &directory);
    let (text, young) = aged(file.parent().expect("it is valid"), 2, 88);
    std::fs::write(&file, text).expect("it is valid");
    let beadle = ordering(
        &origin,
        port,
        &format!(
            "directory: \"{directory}\", root: {}, folder: {}",
            root.display(),
            state.display()
        ),
    )
    .start();
    beadle.wait_for_metric(FAILED, 1.0);
    beadle.wait_for_stderr("too many certificates");
    // RFC 9773 §4.1: the identifier is made of the authority's key and the serial number.
    let asked = authority.requests("GET /renewal/");
    assert_eq!(asked.len(), 1, "{asked:?}");
    let identifier = asked[0].0.split(['/', ' ']).nth(3).unwrap_or_default().to_owned();
    assert!(identifier.ends_with(".egEC"), "{identifier}");
    // §5: the order says what it replaces. After a refusal it is tried without.
    let orders = authority.requests("POST /order");
    let replaced: Vec<&Value> = orders.iter().map(|(_, order)| &order["replaces"]).collect();
    assert_eq!(replaced, [&json!(identifier), &Value::Null]);
    assert!(now_presented(port) == young.as_ref(), "the present one stays");
}
