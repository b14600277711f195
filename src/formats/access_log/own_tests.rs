use std::time::Duration;

use jiff::Timestamp;
use proptest::prelude::*;

use super::{Columns, Entry, Fault, Format, Line, REFUSE, detect};

fn line() -> Line<'static> {
    Line {
        time: Timestamp::from_microsecond(1_795_375_805_123_456).expect("a time"),
        site: Some("www.example.com"),
        client_ip: "192.0.2.7",
        method: Some("GET"),
        host: Some(b"www.example.com"),
        target: Some(b"/private/a?x=1"),
        protocol: Some("HTTP/1.1"),
        tls: true,
        user_agent: Some(b"GPTBot/1.2"),
        referer: None,
        status: 403,
        bytes: 512,
        duration: Duration::from_micros(1_234),
        class: Some("crawler"),
        product_token: Some("GPTBot"),
        standing: Some("unknown"),
        verdict: Some("disallow"),
        reason: Some("robots.disallow"),
        action: "block",
        violation: Some("0193"),
        origin: None,
    }
}

fn json(line: &Line<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    line.push_json(&mut out);
    out
}

fn combined(line: &Line<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    line.push_combined(&mut out);
    out
}

fn parse(written: &[u8]) -> Result<Option<Entry<'_>>, Fault> {
    let format = Format::of("beadle-access").expect("a format");
    format.parse(written.strip_suffix(b"\n").expect("an end"), &mut Columns::default())
}

#[test]
fn both_forms_of_a_line_are_a_contract() {
    assert_eq!(
        String::from_utf8(json(&line())).expect("UTF-8"),
        concat!(
            r#"{"schema":1,"kind":"access","time":"2026-11-22T19:30:05.123456Z","#,
            r#""site":"www.example.com","client_ip":"192.0.2.7","method":"GET","#,
            r#""host":"www.example.com","target":"/private/a?x=1","protocol":"HTTP/1.1","#,
            r#""tls":true,"user_agent":"GPTBot/1.2","referer":null,"status":403,"bytes":512,"#,
            r#""duration_ms":1.234,"class":"crawler","product_token":"GPTBot","#,
            r#""standing":"unknown","verdict":"disallow","reason":"robots.disallow","#,
            r#""action":"block","violation":"0193","origin":null}"#,
            "\n"
        )
    );
    assert_eq!(
        String::from_utf8(combined(&line())).expect("UTF-8"),
        concat!(
            r#"192.0.2.7 - - [22/Nov/2026:19:30:05 +0000] "GET /private/a?x=1 HTTP/1.1" 403 512 "#,
            r#""-" "GPTBot/1.2" "www.example.com" "block robots.disallow GPTBot""#,
            "\n"
        )
    );
}

#[test]
fn escapes_make_a_line_little_longer() {
    let (foreign, plain) = (vec![0x80; 100_000], vec![b'a'; 100_000]);
    let agent = |user_agent| Line { user_agent: Some(user_agent), ..line() };
    for write in [json, combined] {
        let written = write(&agent(&foreign));
        assert!(written.len() < 2_048 * 5 + 1_024, "{}", written.len());
        assert!(String::from_utf8_lossy(&written).contains("(+97952 bytes)"));
        let entry = parse(&written).expect("read").expect("an entry");
        assert!(entry.user_agent.is_some_and(|read| read.starts_with(&foreign[..2_048])));
        let entry = write(&agent(&plain));
        let entry = parse(&entry).expect("read").expect("an entry");
        assert_eq!(entry.user_agent.as_deref(), Some(&plain[..]), "it is whole");
    }
}

#[test]
fn its_lines_tell_the_format() {
    let refused = Line { action: REFUSE, reason: Some("proxy.unknown_host"), ..line() };
    for written in [json(&line()), combined(&line()), json(&refused), combined(&refused)] {
        let found = detect([written.trim_ascii_end()]).expect("a format");
        assert_eq!(found.name(), "beadle-access");
    }
    // The combined form of other servers, with other values behind it.
    let other =
        br#"192.0.2.7 - - [22/Nov/2026:19:30:05 +0000] "GET / HTTP/1.1" 200 5 "-" "a" "b" "c d e""#;
    assert_eq!(detect([&other[..]]).expect("a format").name(), "combined");
}

#[test]
fn the_combined_form_is_read_by_readers_of_the_combined_form() {
    let written = combined(&line());
    let format = Format::of("combined").expect("a format");
    let entry = format.parse(written.trim_ascii_end(), &mut Columns::default());
    let entry = entry.expect("read").expect("an entry");
    assert_eq!(entry.user_agent.as_deref(), Some(&b"GPTBot/1.2"[..]));
    assert_eq!((entry.status, &*entry.target), (403, &b"/private/a?x=1"[..]));
}

#[test]
fn a_line_that_is_no_request_is_not_guessed() {
    let refused = Line { method: None, target: None, action: REFUSE, ..line() };
    assert_eq!(parse(&json(&refused)), Err(Fault::NoRequest));
    assert_eq!(parse(&combined(&refused)), Err(Fault::Request));
    let hashed = Line { client_ip: "0f1e2d3c4b5a6978", ..line() };
    assert_eq!(parse(&json(&hashed)), Err(Fault::Address));
    assert_eq!(parse(&combined(&hashed)), Err(Fault::Address));
    assert_eq!(
        parse(b"{\"schema\":1,\"id\":\"a record of a violation\"}\n"),
        Err(Fault::NoRequest)
    );
    assert_eq!(parse(b"{\n"), Err(Fault::Json));
}

#[test]
fn a_network_stands_for_its_addresses() {
    for (client_ip, expected) in
        [("192.0.2.0/24", "192.0.2.0"), ("2001:db8:1::/48", "2001:db8:1::")]
    {
        let written = json(&Line { client_ip, ..line() });
        let entry = parse(&written).expect("read").expect("an entry");
        assert_eq!(entry.client, Some(expected.parse().expect("an address")));
    }
}

/// A value that a log can't tell from an absent one.
fn is_named(value: &[u8]) -> bool {
    !matches!(value, b"" | b"-")
}

proptest! {
    #[test]
    fn what_is_written_is_read_back_with_any_octets_in_it(
        target in prop::collection::vec(any::<u8>(), 1..60),
        host in prop::option::of(prop::collection::vec(any::<u8>(), 1..30)),
        user_agent in prop::option::of(prop::collection::vec(any::<u8>(), 0..60)),
        referer in prop::option::of(prop::collection::vec(any::<u8>(), 0..60)),
        micros in 0_i64..4_000_000_000_000_000,
        address in any::<std::net::IpAddr>(),
        status in 0_u16..1000,
        method in "[A-Z]{1,12}",
    ) {
        let (host, user_agent) = (host.as_deref(), user_agent.as_deref());
        let client_ip = address.to_string();
        // Octets of the request line that an edge never forwards would end the target.
        let target: Vec<u8> = [&b"/"[..], &target].concat();
        let line = Line {
            time: Timestamp::from_microsecond(micros).expect("a time"),
            client_ip: &client_ip,
            method: Some(&method),
            target: Some(&target),
            host,
            user_agent,
            referer: referer.as_deref(),
            status,
            ..line()
        };
        let written = (json(&line), combined(&line));
        let [json, combined] = [&written.0, &written.1].map(|one| {
            // A line is a line.
            assert_eq!(one.iter().filter(|&&b| b == b'\n').count(), 1);
            parse(one).expect("read").expect("an entry")
        });
        prop_assert_eq!(json.time, micros);
        prop_assert_eq!(combined.time, micros - micros % 1_000_000);
        for entry in [json, combined] {
            prop_assert_eq!(entry.client, Some(address));
            prop_assert_eq!(&*entry.method, method.as_bytes());
            prop_assert_eq!(&*entry.target, &target[..]);
            prop_assert_eq!(entry.host.as_deref(), host.filter(|host| is_named(host)));
            prop_assert_eq!(entry.user_agent.as_deref(), user_agent.filter(|one| is_named(one)));
            prop_assert_eq!(entry.status, status);
        }
    }
}
