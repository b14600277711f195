//! Ladder, breaker and pace of an enforcement, as tables.

use std::time::Duration;

use super::*;
use crate::rules::policy::{self, Share};

fn enforcement(text: &str) -> (Option<Enforcement>, Vec<String>) {
    let text = format!(
        "evidence: {{ folder: x }}\nsites: [{{ hosts: [a.example], origin: \
         \"http://127.0.0.1:1\", enforcement: {{ {text} }} }}]"
    );
    let (policy, findings) = policy::read("test.yaml", text.as_bytes());
    let shown = findings
        .into_iter()
        .filter(|one| !one.code.starts_with("policy.no_") && one.code != "policy.open_site")
        .map(|one| format!("{} ({})", one.message, one.help.unwrap_or_default()))
        .collect();
    (policy.map(|policy| policy.sites[0].enforcement.clone()), shown)
}

#[test]
fn the_breaker_is_on_by_default_only_on_the_ladder() {
    let on = Some(Breaker::default());
    let some = Breaker { share: Share::parse("25%").expect("a share"), ..Breaker::default() };
    for (text, mode, ladder, breaker) in [
        ("mode: log", Mode::Log, None, None),
        ("mode: throttle", Mode::Throttle, None, None),
        ("mode: block", Mode::Block, None, None),
        ("mode: block, breaker: {}", Mode::Block, None, on),
        ("mode: ladder", Mode::Log, Some(Ladder::default()), on),
        ("mode: ladder, breaker: off", Mode::Log, Some(Ladder::default()), None),
        ("mode: ladder, breaker: { share: 25% }", Mode::Log, Some(Ladder::default()), Some(some)),
    ] {
        let (found, findings) = enforcement(text);
        let found = found.unwrap_or_else(|| panic!("{text}: {findings:?}"));
        assert_eq!((found.mode, found.ladder, found.breaker), (mode, ladder, breaker), "{text}");
    }
}

#[test]
fn every_value_of_the_ladder_can_be_set() {
    let (found, findings) = enforcement(
        "mode: ladder, crawl_delay: log, \
         ladder: { period: 30m, share: 5.5%, min_violations: 3, throttle: 2/1m }, \
         breaker: { share: 60%, min_requests: 5, window: 10s, pause: 1m }",
    );
    let found = found.unwrap_or_else(|| panic!("{findings:?}"));
    let ladder = found.ladder.expect("it is set");
    let shown = (ladder.period.as_secs(), ladder.share.to_string(), ladder.min_violations);
    assert_eq!(shown, (1_800, "5.5%".to_owned(), 3));
    assert_eq!(ladder.throttle.to_string(), "2 requests every 60 s");
    let breaker = found.breaker.expect("it is set");
    let seconds = Duration::from_secs;
    assert_eq!((breaker.window, breaker.pause), (seconds(10), seconds(60)));
    assert_eq!((breaker.share.to_string(), breaker.min_requests), ("60%".to_owned(), 5));
    assert_eq!(found.crawl_delay, Some(PaceMode::Log));
}

#[test]
fn a_bad_value_is_refused_with_its_repair() {
    for (text, message) in [
        ("mode: ladder, ladder: { share: 10 }", "share: 10 has no '%' (write a percentage from"),
        ("mode: ladder, ladder: { share: 110% }", "'110%' is not a share (write a percentage"),
        ("mode: ladder, ladder: { throttle: fast }", "'fast' is not a pace (write requests"),
        ("mode: ladder, ladder: { throttle: 5 }", "5 is not a pace (write requests"),
        ("mode: ladder, ladder: { throttle: 0/1s }", "'0/1s' is not a pace (write requests"),
        (
            "mode: ladder, ladder: { throttle: 2000/1s }",
            "'2000/1s' is faster than a thousand requests a second (write requests",
        ),
        ("mode: ladder, ladder: { min_violations: 0 }", "0 is out of range (write a number"),
        ("mode: ladder, ladder: { period: 1s }", "'1s' is out of range (write a time"),
        ("mode: block, breaker: on", "breaker: neither off nor a mapping (write off"),
        ("mode: log, crawl_delay: block", "unknown value 'block' (write one of log, throttle)"),
        ("mode: block, ladder: {}", "no crawler is on the ladder (set 'mode: ladder'"),
        ("mode: ladders", "unknown value 'ladders' (did you mean 'ladder'?"),
        (
            "block: { status: 401 }",
            "(RFC 9110 §15.5.2) (add 'fields: { WWW-Authenticate: License }'",
        ),
        (
            "block: { status: 401, fields: { Link: <https://a.example/> } }",
            "status: 401 without WWW",
        ),
        (
            "block: { status: 407 }",
            "407 does not tell a crawler that it is refused (write 401, 402",
        ),
        ("block: { fields: [Link] }", "fields: expected a mapping of keys to values, found a list"),
    ] {
        let (_, findings) = enforcement(text);
        assert!(findings.iter().any(|one| one.contains(message)), "{text}: {findings:?}");
    }
}

#[test]
fn rfc9110_5_a_field_of_a_refusal_is_a_token_with_a_value() {
    let good = "block: { status: 402, fields: { Link: \"<https://a.example/l.xml>; rel=license\", \
                WWW-Authenticate: 'License realm=\"a\"', crawler-price: 0.25, Retry-After: 86400, \
                x!#$%&'*+-.^_`|~9: \"a: b, c\" } }";
    let (found, findings) = enforcement(good);
    let block = found.unwrap_or_else(|| panic!("{findings:?}")).block;
    let fields: Vec<_> = block.fields.iter().map(|(name, text)| (&**name, &**text)).collect();
    assert_eq!(block.status, 402);
    assert_eq!(
        fields,
        [
            ("link", "<https://a.example/l.xml>; rel=license"),
            ("www-authenticate", "License realm=\"a\""),
            ("crawler-price", "0.25"),
            ("retry-after", "86400"),
            ("x!#$%&'*+-.^_`|~9", "a: b, c"),
        ]
    );
    for (field, message) in [
        ("'': x", "'' can't be set: it is no name of a field (write letters"),
        ("'a b': x", "'a b' can't be set: it is no name of a field"),
        ("'a:': x", "'a:' can't be set: it is no name of a field"),
        ("':status': 200", "':status' can't be set: it is no name of a field"),
        ("Größe: x", "can't be set: it is no name of a field"),
        ("'a\\r\\nb': x", "can't be set: it is no name of a field"),
        ("a: ''", "fields.a: no value of a field (write printable ASCII"),
        ("a: ' x'", "fields.a: no value of a field"),
        ("a: \"x\\r\\nSet-Cookie: b=c\"", "fields.a: no value of a field"),
        ("a: \"x\\ty\"", "fields.a: no value of a field"),
        ("a: 5 €", "fields.a: no value of a field"),
        ("a: true", "fields.a: expected text, found a boolean"),
        ("a: [x]", "fields.a: expected text, found a list"),
        ("a: x, A: y", "'A' can't be set: it stands here twice (keep one line"),
        ("Content-Length: 0", "it frames the message or rules the connection"),
        ("transfer-encoding: chunked", "it frames the message or rules the connection"),
        ("CONNECTION: close", "it frames the message or rules the connection"),
        ("Upgrade: h2c", "it frames the message or rules the connection"),
        ("Content-Encoding: gzip", "the body is whole, and as the policy writes it (remove it)"),
        ("Content-Type: text/html", "it has a key of its own (write 'content_type' beside"),
        ("Set-Cookie: a=b", "it would change what the client sends with later requests"),
        ("Cache-Control: public", "a cache could give the refusal to people (remove it: each"),
        ("CDN-Cache-Control: max-age=1", "a cache could give the refusal to people"),
        ("X-Accel-Expires: 60", "a cache could give the refusal to people"),
        ("Vary: Accept", "a cache could give the refusal to people"),
        ("X-Robots-Tag: none", "it has a section of its own (write a rule of 'robots_tag'"),
        ("X-Beadle-Refusal: a", "Beadle writes it (remove it)"),
        ("Retry-After: 'Fri, 27 Nov 2026 10:00:00 GMT'", "a date goes by (write the seconds"),
        ("Retry-After: -1", "no other number than seconds"),
        ("WWW-Authenticate: 'realm=\"a\"'", "a challenge begins with its scheme"),
        ("Link: https://a.example/", "a link begins with a URL in angle brackets"),
    ] {
        let (_, findings) = enforcement(&format!("block: {{ fields: {{ {field} }} }}"));
        assert!(findings.iter().any(|one| one.contains(message)), "{field}: {findings:?}");
    }
    let long = format!("block: {{ fields: {{ a: {} }} }}", "x".repeat(2_100));
    let (_, findings) = enforcement(&long);
    assert!(
        findings.concat().contains("2105 octets are too many for some servers"),
        "{findings:?}"
    );
}
