//! Tests of the whole folder. They sign requests themselves, over bases that each case writes out, or
//! use the signatures in `vectors`.

mod agents;
mod bases;
mod directories;
mod keys;
mod laws;
mod requests;
mod vectors;

use base64::{Engine, prelude::BASE64_STANDARD};
use ring::signature::Ed25519KeyPair;

use super::*;

pub(super) const CREATED: i64 = 1_800_000_000;
pub(super) const NOW: i64 = CREATED + 100;
pub(super) const AGENT: &str = "https://crawler.example.net";
pub(super) const AGENT_LINE: &str = r#""signature-agent";key="k": "https://crawler.example.net""#;
pub(super) const USUAL: &str = r#"("@authority" "signature-agent";key="k")"#;

/// Name and value of a field line.
pub(super) type Line = (String, Vec<u8>);

pub(super) fn line(name: &str, value: impl AsRef<[u8]>) -> Line {
    (name.to_owned(), value.as_ref().to_vec())
}

pub(super) fn key_pair() -> Ed25519KeyPair {
    Ed25519KeyPair::from_seed_unchecked(&[7; 32]).expect("32 octets are a seed")
}

/// The value of `Signature`'s member over these octets.
pub(super) fn signed(base: &[u8]) -> String {
    format!(":{}:", BASE64_STANDARD.encode(key_pair().sign(base)))
}

/// The parameters of an ordinary signature, without the list of what it covers.
pub(super) fn parameters() -> String {
    let key_id = vectors::ED25519_THUMBPRINT;
    let expires = CREATED + 300;
    format!(r#";created={CREATED};expires={expires};keyid="{key_id}";tag="web-bot-auth""#)
}

/// The three fields with one signature, labelled `k`: over `lines`, which `list` covers.
pub(super) fn fields(agent: &str, list: &str, parameters: &str, lines: &[&str]) -> Vec<Line> {
    let base = format!("{}\n\"@signature-params\": {list}{parameters}", lines.join("\n"));
    vec![
        line("Signature-Agent", agent),
        line("Signature-Input", format!("k={list}{parameters}")),
        line("Signature", format!("k={}", signed(base.as_bytes()))),
    ]
}

/// The fields of an ordinary request.
pub(super) fn usual_fields() -> Vec<Line> {
    usual_fields_with(&parameters())
}

pub(super) fn usual_fields_with(parameters: &str) -> Vec<Line> {
    let agent = format!("k=\"{AGENT}\"");
    fields(&agent, USUAL, parameters, &["\"@authority\": example.com", AGENT_LINE])
}

pub(super) fn message(fields: &dyn Fields) -> Message<'_> {
    Message {
        method: "GET",
        scheme: Scheme::Https,
        authority: b"example.com",
        target: b"/path?a=1",
        fields,
    }
}

/// The signatures of a request that has some.
pub(super) fn signatures(message: &Message<'_>) -> Vec<Signature> {
    match read(message) {
        Signatures::Signed(signatures) => signatures,
        Signatures::Unsigned => panic!("the request is unsigned"),
        Signatures::Invalid(reason) => panic!("{reason}"),
    }
}

/// A directory with the Ed25519 key.
pub(super) fn directory() -> KeySet {
    KeySet::read(directory_of(vectors::ED25519_X).as_bytes()).expect("a JWK Set")
}

pub(super) fn directory_of(x: &str) -> String {
    format!(r#"{{"keys":[{{"crv":"Ed25519","kty":"OKP","x":"{x}"}}]}}"#)
}

/// The reason why a request is not verified, from any step; `verified` if it is.
pub(super) fn judged(message: &Message<'_>) -> &'static str {
    judged_at(message, NOW, &directory())
}

pub(super) fn judged_at(message: &Message<'_>, now: i64, keys: &KeySet) -> &'static str {
    match read(message) {
        Signatures::Unsigned => "unsigned",
        Signatures::Invalid(reason) => {
            assert_eq!(
                reason.verification(),
                Verification::Invalid(reason),
                "read only reports invalid signatures"
            );
            reason.as_str()
        }
        Signatures::Signed(signatures) => {
            let [signature] = &signatures[..] else { panic!("there is one signature") };
            let result = verify(signature, message, keys, now, &Limits::default());
            result.reason().map_or("verified", Reason::as_str)
        }
    }
}

#[test]
fn every_reason_has_a_code_of_its_own_and_a_sentence() {
    let mut codes: Vec<&str> = Reason::ALL.iter().map(|reason| reason.as_str()).collect();
    codes.sort_unstable();
    codes.dedup();
    assert_eq!(codes.len(), Reason::ALL.len());
    for reason in Reason::ALL {
        let code = reason.as_str();
        assert!(code.bytes().all(|b| b.is_ascii_lowercase() || b == b'-'), "{code}");
        let sentence = reason.to_string();
        assert!(!sentence.ends_with('.') && sentence.len() > 20, "{sentence}");
        assert_eq!(reason.verification().reason(), Some(reason));
    }
}
