use super::*;
use crate::{base::diagnostic::Severity, rules::policy};

/// The listener, or the refusals.
fn decide(server: &str) -> Result<Option<Decide>, Vec<String>> {
    let text = format!(
        "server: {{ {server} }}\nsites: [{{ hosts: [a.example], origin: \"http://127.0.0.1:3\" }}]"
    );
    let (policy, findings) = policy::read("test.yaml", text.as_bytes());
    policy.map(|policy| policy.server.decide).ok_or_else(|| {
        let errors = findings.into_iter().filter(|one| one.severity == Severity::Error);
        errors.map(|one| one.message).collect()
    })
}

#[test]
fn a_listener_for_questions_is_an_address_or_a_mapping() {
    let at = |address: &str, refuse_status| {
        Ok(Some(Decide { address: address.parse().expect("an address"), refuse_status }))
    };
    let refused = |text: &str| Err(vec![text.to_owned()]);
    let nobody = ": no server may ask here: only 'trusted_proxies' may";
    for (server, expected) in [
        ("", Ok(None)),
        ("decide: 127.0.0.1:1, trusted_proxies: [127.0.0.1]", at("127.0.0.1:1", None)),
        ("decide: \"[::1]:1\", trusted_proxies: [\"::1\"]", at("[::1]:1", None)),
        ("decide: 127.0.0.1:1, trusted_proxies: [127.0.0.9]", at("127.0.0.1:1", None)),
        ("decide: 0.0.0.0:1, trusted_proxies: [10.0.0.0/8]", at("0.0.0.0:1", None)),
        (
            "decide: { address: 127.0.0.1:1, refuse_status: 403 }, trusted_proxies: [127.0.0.1]",
            at("127.0.0.1:1", Some(403)),
        ),
        ("decide: 127.0.0.1:1", refused(&format!("server.decide{nobody}"))),
        ("decide: 0.0.0.0:1", refused(&format!("server.decide{nobody}"))),
        (
            "decide: { address: 127.0.0.1:1 }, trusted_proxies: [10.0.0.0/8]",
            refused(&format!("server.decide.address{nobody}")),
        ),
        (
            "decide: { address: 127.0.0.1:1, refuse_status: 500 }, trusted_proxies: [127.0.0.1]",
            refused("server.decide.refuse_status: 500 is out of range"),
        ),
        (
            "decide: 127.0.0.1:8080, trusted_proxies: [127.0.0.1]",
            refused("server.decide: another listener has this address"),
        ),
        (
            "decide: 127.0.0.1:9090, trusted_proxies: [127.0.0.1]",
            refused("server.decide: another listener has this address"),
        ),
        (
            "decide: { refuse_status: 403 }, trusted_proxies: [127.0.0.1]",
            refused("'server.decide.address' is missing"),
        ),
    ] {
        assert_eq!(decide(server), expected, "{server}");
    }
}
