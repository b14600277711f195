//! Directories and the keys in them.

use super::*;

const EXPONENT: &str = r#""e":"AQAB""#;

fn read_one(members: &str) -> KeySet {
    KeySet::read(format!(r#"{{"keys":[{{{members}}}]}}"#).as_bytes()).expect("a JWK Set")
}

fn ed25519(more: &str) -> KeySet {
    read_one(&format!(r#""kty":"OKP","crv":"Ed25519","x":"{}"{more}"#, vectors::ED25519_X))
}

fn rsa(n: &str, e: &str) -> KeySet {
    read_one(&format!(r#""kty":"RSA","n":"{n}",{e}"#))
}

fn base64url(octets: &[u8]) -> String {
    base64::prelude::BASE64_URL_SAFE_NO_PAD.encode(octets)
}

#[test]
fn rfc7638_a_key_is_named_by_its_thumbprint() {
    assert_eq!(ed25519("").thumbprints().collect::<Vec<_>>(), [vectors::ED25519_THUMBPRINT]);
    let rsa = rsa(vectors::RSA_N, EXPONENT);
    assert_eq!(rsa.thumbprints().collect::<Vec<_>>(), [vectors::RSA_THUMBPRINT]);
    // RFC 8037 Appendix A.3.
    let keys = KeySet::read(directory_of("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo").as_bytes())
        .expect("a JWK Set");
    let thumbprints: Vec<&str> = keys.thumbprints().collect();
    assert_eq!(thumbprints, ["kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"]);
}

#[test]
fn a_kid_is_ignored() {
    let fields = usual_fields_with(&parameters().replace(vectors::ED25519_THUMBPRINT, "mine"));
    assert_eq!(judged_at(&message(&fields), NOW, &ed25519(r#","kid":"mine""#)), "unknown-key");
    let fields = usual_fields();
    assert_eq!(judged_at(&message(&fields), NOW, &ed25519(r#","kid":"mine""#)), "verified");
}

#[test]
fn rfc7517_an_unusable_key_is_ignored() {
    for more in [
        r#","use":"enc""#,
        r#","use":1"#,
        r#","key_ops":["sign"]"#,
        r#","key_ops":"verify""#,
        r#","alg":"ES256""#,
        r#","alg":1"#,
        r#","nbf":"soon""#,
        r#","exp":null"#,
    ] {
        let keys = ed25519(more);
        assert_eq!(keys.len(), 0, "{more}");
    }
    for more in [
        "",
        r#","use":"sig""#,
        r#","key_ops":["sign","verify"]"#,
        r#","alg":"EdDSA""#,
        r#","alg":"Ed25519""#,
        r#","kid":7,"d":"private","x5c":[]"#,
        r#","nbf":1,"exp":2.5e9"#,
    ] {
        let keys = ed25519(more);
        assert_eq!(keys.len(), 1, "{more}");
    }
    for members in [
        "",
        r#""kty":"OKP""#,
        r#""kty":"OKP","crv":"Ed25519""#,
        r#""kty":"OKP","crv":"Ed25519","x":"AAAA""#,
        r#""kty":"OKP","crv":"Ed25519","x":"6kpsY+KcUgq+9VB7Ey7F+ZVHdq6+vnuSQh7qaRRG0iw=""#,
        r#""kty":"OKP","crv":"X25519","x":"6kpsY-KcUgq-9VB7Ey7F-ZVHdq6-vnuSQh7qaRRG0iw""#,
        r#""kty":"oct","k":"AAAA""#,
        r#""kty":"EC","crv":"P-256","x":"AA","y":"AA""#,
    ] {
        assert!(read_one(members).is_empty(), "{members}");
    }
}

#[test]
fn an_rsa_key_has_2048_to_8192_bits_and_a_small_odd_exponent() {
    let modulus = |length: usize, first: u8| {
        let mut octets = vec![0xff; length];
        octets[0] = first;
        base64url(&octets)
    };
    for (n, e, usable) in [
        (modulus(256, 0x80), EXPONENT, true),
        (modulus(257, 0x01), EXPONENT, true),
        (modulus(1024, 0xff), EXPONENT, true),
        (modulus(256, 0x80), r#""e":"Aw""#, true),
        (modulus(256, 0x7f), EXPONENT, false),
        (modulus(255, 0xff), EXPONENT, false),
        (modulus(128, 0xff), EXPONENT, false),
        (modulus(257, 0x00), EXPONENT, false),
        (modulus(1025, 0x01), EXPONENT, false),
        (modulus(256, 0x80), r#""e":"AQ""#, false),
        (modulus(256, 0x80), r#""e":"""#, false),
        (modulus(256, 0x80), r#""e":"AgAA""#, false),
        (modulus(256, 0x80), r#""e":"AAEAAQ""#, false),
        (modulus(256, 0x80), r#""e":"AQAAAAE""#, false),
        (modulus(256, 0x80), r#""e":"AQAB","alg":"RS256""#, false),
        (modulus(256, 0x80), r#""e":"AQAB","alg":"PS512""#, true),
    ] {
        assert_eq!(!rsa(&n, e).is_empty(), usable, "{} {e}", n.len());
    }
}

#[test]
fn a_directory_is_a_set_of_keys() {
    let bare = format!(r#"{{"kty":"OKP","crv":"Ed25519","x":"{}"}}"#, vectors::ED25519_X);
    assert_eq!(KeySet::read(bare.as_bytes()).err(), Some(Reason::DirectoryMalformed));
    assert_eq!(KeySet::read(br#"{"keys":[]}"#).map(|keys| keys.len()), Ok(0));
    let deep = format!("{{\"keys\":{}{}}}", "[".repeat(10_000), "]".repeat(10_000));
    for text in ["", "[]", "{}", "null", r#"{"keys":{}}"#, r#"{"keys":[]}x"#, "{\"keys\":[", &deep]
    {
        let read = KeySet::read(text.as_bytes()).map(|keys| keys.len());
        let shown: String = text.chars().take(40).collect();
        assert_eq!(read, Err(Reason::DirectoryMalformed), "{shown}");
    }
    assert_eq!(KeySet::read(b"{\"keys\":[]}\xff").err(), Some(Reason::DirectoryMalformed));
    let strange = KeySet::read(br#"{"keys":[1,[],{"kty":"new"}],"more":1}"#);
    assert_eq!(strange.map(|keys| keys.len()), Ok(0));
}

#[test]
fn a_directory_is_bounded() {
    let of = |count: usize| format!(r#"{{"keys":[{}]}}"#, vec!["{}"; count].join(","));
    assert!(KeySet::read(of(100).as_bytes()).is_ok());
    assert_eq!(KeySet::read(of(101).as_bytes()).err(), Some(Reason::DirectoryTooLarge));
    let long = format!("{}{}", of(1), " ".repeat(KeySet::MAX_OCTETS));
    assert_eq!(KeySet::read(long.as_bytes()).err(), Some(Reason::DirectoryTooLarge));
}

#[test]
fn a_key_counts_within_its_validity() {
    let fields = usual_fields();
    let message = message(&fields);
    for (times, result) in [
        (format!(r#","nbf":{NOW},"exp":{}"#, NOW + 1), "verified"),
        (format!(r#","nbf":{}"#, NOW + 60), "verified"),
        (format!(r#","nbf":{}"#, NOW + 61), "key-not-yet-valid"),
        (format!(r#","exp":{NOW}"#), "key-expired"),
        // In milliseconds.
        (format!(r#","nbf":{}"#, (NOW + 61) * 1000), "key-not-yet-valid"),
        (format!(r#","exp":{}"#, NOW * 1000), "key-expired"),
        (format!(r#","exp":{}"#, (NOW + 1) * 1000), "verified"),
        (r#","exp":0"#.to_owned(), "key-expired"),
        (r#","exp":1e300"#.to_owned(), "verified"),
        (r#","exp":-1e300"#.to_owned(), "key-expired"),
    ] {
        assert_eq!(judged_at(&message, NOW, &ed25519(&times)), result, "{times}");
    }
    // One key twice, with two validities.
    let one = |times: &str| {
        format!(r#"{{"kty":"OKP","crv":"Ed25519","x":"{}"{times}}}"#, vectors::ED25519_X)
    };
    let both = format!(r#"{{"keys":[{},{}]}}"#, one(r#","exp":1"#), one(""));
    let both = KeySet::read(both.as_bytes()).expect("a JWK Set");
    assert_eq!(judged_at(&message, NOW, &both), "verified");
}

#[test]
fn draft_the_example_keys_of_the_rfc_prove_nothing() {
    let x = "JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs";
    let thumbprint = "poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U";
    let fields = usual_fields_with(&parameters().replace(vectors::ED25519_THUMBPRINT, thumbprint));
    let message = message(&fields);
    let keys = KeySet::read(directory_of(x).as_bytes()).expect("a JWK Set");
    assert_eq!(judged_at(&message, NOW, &keys), "test-key");
    // With test keys accepted, it is an ordinary key that did not sign this request.
    let limits = Limits { test_keys: true, ..Limits::default() };
    let result = verify(&signatures(&message)[0], &message, &keys, NOW, &limits);
    assert_eq!(result, Verification::Invalid(Reason::BadSignature));
}
