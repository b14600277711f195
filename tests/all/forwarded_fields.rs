//! Request fields that an origin may take for something else: for the client's address, for another
//! target, for a field that Beadle judges. They stay away from the origin, and `Connection` removes
//! no field that the origin needs.

use std::{
    net::{Ipv4Addr, TcpStream},
    process::{Child, Command, Stdio},
};

use crate::support::{
    client::Request,
    conditions::is_full_size,
    free_port, need,
    origin::{Origin, Received},
    program::{Beadle, Setup},
    wait_for,
};

const RULES: &str = "
    robots_txt: { groups: [{ user_agents: [BadBot], disallow: [/private/] }] }
    enforcement: { mode: block }
";
const TRUSTING: &str = "  trusted_proxies: [127.0.0.1]\n";
const KEEPING: &str = "    underscore_fields: true\n";

fn with(port: u16, server: &str, site: &str) -> Beadle {
    Setup::site(port, &format!("{RULES}{site}")).server(server).start()
}

/// The request at the origin for these fields.
fn received(origin: &Origin, beadle: &Beadle, fields: &[(&str, &str)]) -> Received {
    let request = fields
        .iter()
        .fold(Request::get("/page"), |request, (name, value)| request.field(name, value));
    assert_eq!(request.send(beadle.port).status, 200, "{fields:?}");
    origin.last()
}

#[test]
fn names_with_an_underscore_reach_the_origin_only_if_the_site_keeps_them() {
    let origin = Origin::plain();
    let own = ["script_name", "path_info", "session_id", "_", "x_"];
    // Also with `underscore_fields`: CGI gives them the names of fields that Beadle judges or sets.
    let taken = [
        "user_agent",
        "content_length",
        "signature_input",
        "x_forwarded_for",
        "x_forwarded-host",
        "x_rewrite_url",
        "cf_connecting_ip",
    ];
    for (server, site, keeps) in [("", "", false), (TRUSTING, "", false), (TRUSTING, KEEPING, true)]
    {
        let beadle = with(origin.port, server, site);
        for name in own.into_iter().chain(taken) {
            let fields = [(name, "value"), ("X-Other", "kept")];
            let received = received(&origin, &beadle, &fields);
            let expected = (keeps && own.contains(&name)).then_some("value");
            assert_eq!(received.header(name), expected, "{name} {server} {site}");
            assert_eq!(received.header("x-other"), Some("kept"), "{name}");
        }
    }
}

#[test]
fn a_report_about_the_client_reaches_the_origin_from_trusted_peers_only() {
    let origin = Origin::plain();
    let reports = [
        "CF-Connecting-IP",
        "CF-Connecting-IPv6",
        "True-Client-IP",
        "X-Client-IP",
        "X-ClientIP",
        "Client-IP",
        "X-Real-IP",
        "X-Cluster-Client-IP",
        "Fastly-Client-IP",
        "Fly-Client-IP",
        "Any-New-CDN-Client-IP",
        "X-Remote-IP",
        "X-Remote-Addr",
        "X-Originating-IP",
        "X-Azure-ClientIP",
        "X-Envoy-External-Address",
        "X-Host",
        "X-HTTP-Host-Override",
        "X-Forwarded-Server",
        "X-Forwarded",
        "X-Original-Host",
        "Forwarded",
        "Forwarded-For",
    ];
    for (server, believes) in [("", false), (TRUSTING, true)] {
        let beadle = with(origin.port, server, "");
        for name in reports {
            let fields = [(name, "198.51.100.7"), ("X-Forwarded-For", "192.0.2.7")];
            let received = received(&origin, &beadle, &fields);
            assert_eq!(received.header(name), believes.then_some("198.51.100.7"), "{name}");
            let chain = if believes { "192.0.2.7, 127.0.0.1" } else { "127.0.0.1" };
            assert_eq!(received.header("x-forwarded-for"), Some(chain), "{name}");
        }
        for name in ["X-Camera-IP", "X-Shipping-Address", "X-Ghost", "Relationship", "Tulip"] {
            let received = received(&origin, &beadle, &[(name, "value")]);
            assert_eq!(received.header(name), Some("value"), "an application's own field");
        }
    }
}

#[test]
fn h79_a_field_that_replaces_the_target_never_reaches_the_origin() {
    let origin = Origin::plain();
    for server in ["", TRUSTING] {
        let beadle = with(origin.port, server, KEEPING);
        for name in ["X-Original-URL", "X-Rewrite-URL", "x_original_url", "X.Rewrite.URL"] {
            let received = received(&origin, &beadle, &[(name, "/private/x")]);
            assert_eq!(received.header(name), None, "{name} {server}");
        }
    }
}

#[test]
fn h115_connection_removes_no_field_that_beadle_judges_or_adds() {
    let origin = Origin::plain();
    let beadle = with(origin.port, TRUSTING, "");
    for lines in [
        &["Via"][..],
        &["User-Agent"],
        &["uSER-aGENT"],
        &["close, Via,User-Agent"],
        &["keep-alive", "Via", "X-Hop", "User-Agent"],
        &["X-Hop, Signature, Signature-Input, Content-Length"],
        &["X-Real-IP, X-Forwarded-Proto, Forwarded"],
        &["Host"],
    ] {
        let kept = [
            ("User-Agent", "Mozilla/5.0 Firefox/130.0"),
            ("Signature", "a=:eA==:"),
            ("Signature-Input", "a=()"),
            ("X-Real-IP", "192.0.2.7"),
            ("Forwarded", "for=192.0.2.7"),
            ("X-Hop", "1"),
        ];
        let nominated = lines.iter().map(|line| ("Connection", *line));
        let fields: Vec<_> = kept.into_iter().chain(nominated).collect();
        let received = received(&origin, &beadle, &fields);
        for (name, value) in &kept[..5] {
            assert_eq!(received.header(name), Some(*value), "{lines:?}");
        }
        assert_eq!(received.all("via"), ["1.1 beadle"], "{lines:?}");
        assert_eq!(received.header("x-forwarded-proto"), Some("http"), "{lines:?}");
        assert_eq!(received.header("host"), Some("site.example"), "{lines:?}");
        assert_eq!(received.header("connection"), None, "{lines:?}");
        let is_nominated = lines.iter().any(|line| line.contains("X-Hop"));
        assert_eq!(received.header("x-hop"), (!is_nominated).then_some("1"), "{lines:?}");
    }
    let blocked = Request::get("/private/x").user_agent("BadBot/1.0");
    assert_eq!(blocked.field("Connection", "User-Agent").send(beadle.port).status, 403);
}

/// A real gunicorn whose pages contain the path that the application gets.
struct Gunicorn {
    child: Child,
    port: u16,
    _folder: tempfile::TempDir,
}

impl Gunicorn {
    fn start() -> Option<Self> {
        if !is_full_size() && !std::path::Path::new("/usr/bin/gunicorn").is_file() {
            return None;
        }
        let program = need("gunicorn")?;
        let port = free_port();
        let folder = tempfile::tempdir().expect("a folder for temporary files");
        let application = "def pages(environ, start):\n    \
            start('200 OK', [('Content-Type', 'text/plain')])\n    \
            return [environ['PATH_INFO'].encode('latin-1')]\n";
        std::fs::write(folder.path().join("pages.py"), application).expect("the folder is ours");
        let child = Command::new(program)
            .args(["--bind", &format!("127.0.0.1:{port}"), "--workers", "1", "pages:pages"])
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("gunicorn can be started");
        wait_for("gunicorn", || TcpStream::connect((Ipv4Addr::LOCALHOST, port)).ok());
        Some(Self { child, port, _folder: folder })
    }
}

impl Drop for Gunicorn {
    fn drop(&mut self) {
        // SIGTERM, so that it ends its workers.
        let pid = self.child.id().to_string();
        let _ = Command::new("kill").args(["-s", "TERM", &pid]).status();
        let _ = self.child.wait();
    }
}

#[test]
fn gunicorn_serves_the_judged_path_whatever_script_name_says() {
    let Some(gunicorn) = Gunicorn::start() else { return };
    let request = Request::get("/pub/private/x").field("SCRIPT_NAME", "/pub");
    assert_eq!(request.send(gunicorn.port).text(), "/private/x", "the field moves its path");
    let beadle = with(gunicorn.port, "", "");
    assert_eq!(request.send(beadle.port).text(), "/pub/private/x");
    let beadle = with(gunicorn.port, "", KEEPING);
    assert_eq!(request.send(beadle.port).text(), "/private/x", "the site keeps the field");
}
