//! The forms of `Signature-Agent`, and the URLs in it.

use super::*;

const WHOLE: &str = r#"("@authority" "signature-agent")"#;
const AUTHORITY: &str = "\"@authority\": example.com";

/// The reason, or `verified`, for a request with this `Signature-Agent` and the components of `list`.
fn judged_with(agent: &str, list: &str, covered: &str) -> &'static str {
    let fields = fields(agent, list, &parameters(), &[AUTHORITY, covered]);
    judged(&message(&fields))
}

#[test]
fn draft_the_member_that_is_covered_names_the_agent() {
    for (agent, list, covered) in [
        (r#"k="https://crawler.example.net""#, USUAL, AGENT_LINE),
        (r#"j="https://a.example", k="https://crawler.example.net""#, USUAL, AGENT_LINE),
        // The member may have another name than the label of the signature.
        (
            r#"j="https://crawler.example.net""#,
            r#"("@authority" "signature-agent";key="j")"#,
            r#""signature-agent";key="j": "https://crawler.example.net""#,
        ),
    ] {
        assert_eq!(judged_with(agent, list, covered), "verified", "{agent}");
    }
}

#[test]
fn the_forms_of_older_drafts_are_accepted() {
    let whole = |agent: &str| format!("\"signature-agent\": {agent}");
    for agent in [
        r#""https://crawler.example.net""#,
        r#"k="https://crawler.example.net""#,
        r#"only="https://crawler.example.net""#,
        r#"j="https://a.example", k="https://crawler.example.net""#,
    ] {
        assert_eq!(judged_with(agent, WHOLE, &whole(agent)), "verified", "{agent}");
    }
    let unclear = r#"i="https://a.example", j="https://crawler.example.net""#;
    assert_eq!(judged_with(unclear, WHOLE, &whole(unclear)), "signature-agent-member-missing");

    for (parameters, result) in [
        (";type=directory", "verified"),
        (";type=jwks_uri", "verified"),
        (";type=\"directory\"", "verified"),
        (";type=cimd", "signature-agent-parameters"),
        (";type", "signature-agent-parameters"),
        (";other=1", "signature-agent-parameters"),
    ] {
        let agent = format!("k=\"{AGENT}\"{parameters}");
        let covered = format!("{AGENT_LINE}{parameters}");
        assert_eq!(judged_with(&agent, USUAL, &covered), result, "{agent}");
    }
}

#[test]
fn an_unusable_signature_agent_gives_its_reason() {
    for (agent, list, reason) in [
        ("https://crawler.example.net", WHOLE, "signature-agent-unquoted"),
        ("https://crawler.example.net/a?b=c%20", WHOLE, "signature-agent-unquoted"),
        ("https://crawler.example.net/[", WHOLE, "signature-agent-unquoted"),
        ("k=https://crawler.example.net", USUAL, "signature-agent-unquoted"),
        ("k=1", USUAL, "signature-agent-unreadable"),
        ("k", USUAL, "signature-agent-unreadable"),
        ("k=(\"https://a.example\")", USUAL, "signature-agent-unreadable"),
        ("\"https://a.example", WHOLE, "signature-agent-unreadable"),
        ("k=\"a\", k=\"b\"", USUAL, "duplicate-label"),
        ("j=\"https://a.example\"", USUAL, "signature-agent-member-missing"),
        ("\"https://a.example\"", USUAL, "signature-agent-member-missing"),
        ("", WHOLE, "signature-agent-member-missing"),
        ("k=\"http://a.example\"", USUAL, "signature-agent-not-https"),
        ("k=\"a.example\"", USUAL, "signature-agent-unusable"),
    ] {
        assert_eq!(judged_with(agent, list, ""), reason, "{agent}");
    }
}

#[test]
fn of_several_covered_members_the_signatures_own_counts() {
    let agent = r#"j="https://a.example", k="https://b.example""#;
    for (list, host) in [
        (r#"("@authority" "signature-agent";key="j" "signature-agent";key="k")"#, "b.example"),
        (r#"("@authority" "signature-agent";key="j" "signature-agent")"#, "a.example"),
    ] {
        let fields = fields(agent, list, &parameters(), &[]);
        let signatures = signatures(&message(&fields));
        assert_eq!(signatures[0].agent().map(AgentUrl::host), Ok(host));
    }
}

#[test]
fn an_agent_has_one_url_and_one_directory() {
    let well_known = "/.well-known/http-message-signatures-directory";
    for (text, url, directory) in [
        ("https://a.example", "https://a.example", None),
        ("https://a.example/", "https://a.example", None),
        ("HTTPS://A.Example:443", "https://a.example", None),
        ("https://a.example/keys", "https://a.example/keys", Some("https://a.example/keys")),
        ("https://a.example:443/Keys/", "https://a.example/Keys/", Some("https://a.example/Keys/")),
        ("https://a.example?k=1", "https://a.example/?k=1", Some("https://a.example/?k=1")),
        ("https://xn--bcher-kva.example", "https://xn--bcher-kva.example", None),
        (
            "https://id.keydirectory.signer.us-east-1.on.aws",
            "https://id.keydirectory.signer.us-east-1.on.aws",
            None,
        ),
    ] {
        let agent = AgentUrl::new(text).expect(text);
        assert_eq!(agent.as_str(), url);
        let expected = directory.map_or_else(|| format!("{url}{well_known}"), str::to_owned);
        assert_eq!(agent.directory_url(), expected);
        assert_eq!(agent.host(), url["https://".len()..].split('/').next().unwrap_or_default());
    }
}

#[test]
fn a_url_with_an_ambiguous_host_is_refused() {
    let long_label = format!("https://{}.example", "a".repeat(64));
    let long_url = format!("https://a.example/{}", "a".repeat(AgentUrl::MAX_LENGTH));
    for text in [
        "",
        "https://",
        "https:///keys",
        "//a.example",
        "a.example",
        "data:application/json,{}",
        "https://user@a.example",
        "https://user:word@a.example",
        "https://a.example@b.example",
        "https://127.0.0.1",
        "https://127.1",
        "https://0x7f.0.0.0x1",
        "https://2130706433",
        "https://[::1]",
        "https://[::ffff:127.0.0.1]/",
        "https://localhost",
        "https://a.example.",
        "https://.example",
        "https://a..example",
        "https://-a.example",
        "https://a-.example",
        "https://a_b.example",
        "https://a.example:80",
        "https://a.example:8443",
        "https://a.example:",
        "https://a.example:443:443",
        "https://a.example#keys",
        "https://a.example/#keys",
        "https://a.example\\@b.example",
        "https://a.example/a b",
        "https://a.example/\t",
        "https://b\u{fc}cher.example",
        "https://a%2eexample",
        "https://a.example:443@b.example/",
        &long_label,
        &long_url,
    ] {
        assert_eq!(AgentUrl::new(text), Err(Reason::SignatureAgentUnusable), "{text}");
    }
    for text in ["http://a.example", "ftp://a.example", "file:///etc/passwd", "h\u{0}://a.b"] {
        assert_eq!(AgentUrl::new(text), Err(Reason::SignatureAgentNotHttps), "{text}");
    }
}
