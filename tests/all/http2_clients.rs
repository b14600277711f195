//! HTTP/2 from clients that others wrote: nghttp and h2load.

use std::process::Command;

use crate::support::{
    conditions::need,
    origin::{After, Origin},
    program::{Beadle, Setup},
};

const RULES: &str = "
    robots_txt: { groups: [{ user_agents: [BadBot], disallow: [/private/] }] }
    enforcement: { mode: block }
";

/// Answers `/large` with a mebibyte, and a POST with the size of its body.
fn started() -> (Origin, Beadle, u16) {
    let origin = Origin::playing(|exchange| {
        exchange.read_body();
        let request = &exchange.request;
        let body = match (request.method.as_str(), request.target.as_slice()) {
            ("POST", _) => request.body.len().to_string().into_bytes(),
            (_, b"/large") => vec![b'x'; 1 << 20],
            _ => b"page".to_vec(),
        };
        exchange.answer("200 OK", &["Content-Type: text/plain"], &body);
        After::Keep
    });
    let (setup, port) = Setup::site(origin.port, RULES).tls_listener();
    let beadle = setup.start();
    (origin, beadle, port)
}

#[test]
fn nghttp_gets_pages_and_sends_bodies_over_one_connection() {
    let Some(nghttp) = need("nghttp") else { return };
    let (_origin, _beadle, port) = started();
    let url = |path: &str| format!("https://127.0.0.1:{port}{path}");
    let run = |args: &[&str]| {
        let output = Command::new(&nghttp)
            .args(["--no-verify-peer", "-H:authority: site.example"])
            .args(args)
            .output()
            .expect("nghttp starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    // Two streams at a time; windows of the client's usual size, of which the large page takes sixteen.
    let stat = run(&["--null-out", "--stat", &url("/a"), &url("/large")]);
    for path in ["/a", "/large"] {
        let line = stat.lines().find(|line| line.ends_with(path)).expect("a line for each");
        assert!(line.contains(" 200 "), "{line}");
    }
    assert!(stat.lines().any(|line| line.ends_with("/large") && line.contains(" 1M ")), "{stat}");
    // A body of many frames, with and without its length, and with trailers.
    let folder = tempfile::tempdir().expect("a folder");
    let body = folder.path().join("body");
    std::fs::write(&body, vec![b'y'; 300_000]).expect("the folder is ours");
    let data = format!("--data={}", body.display());
    assert_eq!(run(&[&data, &url("/form")]), "300000");
    assert_eq!(run(&[&data, "--no-content-length", "--trailer=x-sum: 1", &url("/form")]), "300000");
    // The smallest windows that nghttp offers: 1 octet less than 2 to the 10th.
    let small = ["--window-bits=10", "--connection-window-bits=16", "--null-out", "--stat"];
    let stat = run(&[&small[..], &[&url("/large")]].concat());
    assert!(stat.contains(" 1M "), "{stat}");
}

#[test]
fn h2load_has_each_of_many_streams_answered_and_a_crawler_refused() {
    let Some(h2load) = need("h2load") else { return };
    let (_origin, _beadle, port) = started();
    for (path, user_agent, succeeded, codes) in [
        ("/a", "Mozilla/5.0 (X11; Linux x86_64) Firefox/145.0", "2000 succeeded", "2000 2xx"),
        ("/private/a", "BadBot/1.0", "0 succeeded", "2000 4xx"),
    ] {
        let output = Command::new(&h2load)
            .args(["-n2000", "-c4", "-m50", "-H:authority: site.example"])
            .arg(format!("-Huser-agent: {user_agent}"))
            .arg(format!("https://127.0.0.1:{port}{path}"))
            .output()
            .expect("h2load starts");
        let text = String::from_utf8_lossy(&output.stdout);
        for expected in ["2000 done", succeeded, "0 errored, 0 timeout", codes] {
            assert!(text.contains(expected), "{expected}: {text}");
        }
    }
}
