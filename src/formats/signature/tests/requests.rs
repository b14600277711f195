//! Requests, from their fields to the verification.

use super::*;

#[test]
fn rfc9421_vectors_of_another_implementation_verify() {
    let rsa = format!(r#"{{"keys":[{{"e":"AQAB","kty":"RSA","n":"{}"}}]}}"#, vectors::RSA_N);
    for (alg, key_id, value, keys) in [
        (
            "ed25519",
            vectors::ED25519_THUMBPRINT,
            vectors::ED25519_SIGNATURE,
            directory_of(vectors::ED25519_X),
        ),
        ("rsa-pss-sha512", vectors::RSA_THUMBPRINT, vectors::RSA_SIGNATURE, rsa),
    ] {
        let expires = CREATED + 300;
        let fields = vec![
            line("signature-agent", format!("k=\"{AGENT}\"")),
            line(
                "signature-input",
                format!(
                    r#"k={USUAL};created={CREATED};expires={expires};keyid="{key_id}";alg="{alg}";tag="web-bot-auth""#
                ),
            ),
            line("signature", format!("k=:{value}:")),
        ];
        let keys = KeySet::read(keys.as_bytes()).expect("a JWK Set");
        assert_eq!(judged_at(&message(&fields), NOW, &keys), "verified", "{alg}");
        assert_eq!(judged_at(&message(&fields), NOW, &KeySet::default()), "unknown-key", "{alg}");
    }
}

/// RFC 9421 §B.2.6, with the key of §B.1.4.
#[test]
fn rfc9421_b_2_6_the_example_signed_with_ed25519_verifies() {
    let fields = vec![
        line("Host", "example.com"),
        line("Date", "Tue, 20 Apr 2021 02:07:55 GMT"),
        line("Content-Type", "application/json"),
        line("Content-Length", "18"),
        line(
            "Signature-Input",
            "sig-b26=(\"date\" \"@method\" \"@path\" \"@authority\" \"content-type\" \
             \"content-length\");created=1618884473;keyid=\"test-key-ed25519\"",
        ),
    ];
    let message =
        Message { method: "POST", target: b"/foo?param=Value&Pet=dog", ..message(&fields) };
    // Without tag and expires, the example is not a signature of Web Bot Auth.
    assert!(matches!(read(&message), Signatures::Unsigned));
    let value = BASE64_STANDARD
        .decode("wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw==")
        .expect("valid base64");
    let list = r#"k=("date" "@method" "@path" "@authority" "content-type" "content-length");created=1618884473;expires=1618884474;keyid="x";tag="web-bot-auth""#;
    let fields =
        [&fields[..4], &[line("signature-input", list), line("signature", "k=:AA==:")]].concat();
    let message = Message { fields: &fields, ..message };
    let written =
        signature_base(&signatures(&message)[0], &message).expect("all components are present");
    let written = String::from_utf8(written).expect("a base is ASCII");
    let (components, _) =
        written.split_once("\"@signature-params\"").expect("a base ends in its parameters");
    let base = format!(
        "{components}\"@signature-params\": (\"date\" \"@method\" \"@path\" \"@authority\" \
         \"content-type\" \"content-length\");created=1618884473;keyid=\"test-key-ed25519\""
    );
    let keys = KeySet::read(directory_of("JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs").as_bytes())
        .expect("a JWK Set");
    let name = keys.thumbprints().next().expect("a directory with a key").to_owned();
    assert_eq!(name, "poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U");
    assert!(keys.find(&name, 0, 0).expect("a known key").has_signed(base.as_bytes(), &value));
}

#[test]
fn a_signature_has_the_values_of_its_fields() {
    let parameters = format!(r#"{};nonce="n0";alg="ed25519""#, parameters());
    let fields = usual_fields_with(&parameters);
    let signatures = signatures(&message(&fields));
    let [signature] = &signatures[..] else { panic!("there is one signature") };
    assert_eq!(signature.key_id(), vectors::ED25519_THUMBPRINT);
    assert_eq!((signature.created(), signature.expires), (CREATED, CREATED + 300));
    assert_eq!(signature.alg.as_deref(), Some("ed25519"));
    assert_eq!(signature.agent().map(AgentUrl::as_str), Ok(AGENT));
    let covered: Vec<&str> = signature.components().collect();
    assert_eq!(covered, [r#""@authority""#, r#""signature-agent";key="k""#]);
}

#[test]
fn a_request_without_the_tag_of_web_bot_auth_is_unsigned() {
    let value = line("signature", "a=:AAAA:");
    for fields in [
        vec![],
        vec![value.clone()],
        vec![line("signature-agent", "https://crawler.example.net")],
        // An older protocol of signatures.
        vec![line(
            "signature",
            r#"keyId="x",algorithm="rsa-sha256",headers="date",signature="AA""#,
        )],
        vec![line("signature-input", r#"a=("@authority");created=1;keyid="x""#), value],
        vec![line("signature-input", r#"a=();tag="agent-browser-auth""#)],
        vec![line("signature-input", "a=();tag=web-bot-auth")],
        vec![line("signature-input", "")],
    ] {
        assert_eq!(judged(&message(&fields)), "unsigned", "{fields:?}");
    }
}

#[test]
fn a_malformed_signature_gives_its_reason() {
    let tag = r#";created=1;expires=2;keyid="k";tag="web-bot-auth""#;
    let long = format!("k={USUAL}{tag}, x=\"{}\"", "x".repeat(1 << 20));
    let many: Vec<String> = (0..5).map(|n| format!("k{n}={USUAL}{tag}")).collect();
    let wide: Vec<String> = (0..33).map(|n| format!("\"x-{n}\"")).collect();
    for (input, value, reason) in [
        ("k=(", "k=:AA==:", "signature-input-unreadable"),
        ("k=1", "k=:AA==:", "signature-input-unreadable"),
        (&format!("k={USUAL}{tag};alg=1"), "k=:AA==:", "signature-input-unreadable"),
        (&long, "k=:AA==:", "field-too-large"),
        (&many.join(", "), "k=:AA==:", "too-many-signatures"),
        (&format!("k=({}){tag}", wide.join(" ")), "k=:AA==:", "too-many-components"),
        (&format!("k={USUAL}{tag}, k={USUAL}{tag}"), "k=:AA==:", "duplicate-label"),
        (&format!("k={USUAL}{tag}"), "k=:AA==:, k=:AA==:", "duplicate-label"),
        (&format!("k={USUAL}{tag}"), "j=:AA==:", "signature-value-unreadable"),
        (&format!("k={USUAL}{tag}"), "k=:A", "signature-value-unreadable"),
        (&format!("k={USUAL}{tag}"), "k=\"AA==\"", "signature-value-unreadable"),
        (&format!("k={USUAL}{tag}"), "k=(:AA==:)", "signature-value-unreadable"),
        (
            &format!(r#"k={USUAL};created=1;expires=2;tag="web-bot-auth""#),
            "k=:AA==:",
            "missing-fields",
        ),
        (
            &format!(r#"k={USUAL};created=1;keyid="k";tag="web-bot-auth""#),
            "k=:AA==:",
            "missing-fields",
        ),
        (
            &format!(r#"k={USUAL};expires=1;keyid="k";tag="web-bot-auth""#),
            "k=:AA==:",
            "missing-fields",
        ),
        (&format!(r#"k={USUAL}{tag};created=@1"#), "k=:AA==:", "missing-fields"),
        (&format!(r#"k={USUAL}{tag};keyid=k"#), "k=:AA==:", "missing-fields"),
        (&format!(r#"k={USUAL}{tag};created=2"#), "k=:AA==:", "bad-window"),
        (&format!(r#"k={USUAL}{tag};alg="hmac-sha256""#), "k=:AA==:", "hmac-forbidden"),
        (
            &format!(r#"k=("@path" "signature-agent";key="k"){tag}"#),
            "k=:AA==:",
            "target-not-covered",
        ),
        (&format!(r#"k=("@authority"){tag}"#), "k=:AA==:", "signature-agent-not-covered"),
        (&format!(r#"k=("@authority" "@authority"){tag}"#), "k=:AA==:", "duplicate-component"),
        (&format!(r#"k=("x";key="a" "x";key="a"){tag}"#), "k=:AA==:", "duplicate-component"),
    ] {
        let agent = line("signature-agent", format!("k=\"{AGENT}\""));
        let fields = vec![agent, line("signature-input", input), line("signature", value)];
        let shown: String = input.chars().take(200).collect();
        assert_eq!(judged(&message(&fields)), reason, "{shown}");
    }
}

#[test]
fn an_unsupported_component_is_invalid() {
    for component in [
        r#""@status""#,
        r#""@signature-params""#,
        r#""@new""#,
        r#""@query-param""#,
        r#""@method";name="a""#,
        r#""@authority";key="a""#,
        r#""x";sf"#,
        r#""x";bs"#,
        r#""x";tr"#,
        r#""x";key=a"#,
        r#""x";req=?0"#,
        r#""Host""#,
        r#""a b""#,
        r#""""#,
        "host",
        "1",
    ] {
        let list = format!(r#"("@authority" "signature-agent";key="k" {component})"#);
        let fields = fields(&format!("k=\"{AGENT}\""), &list, &parameters(), &[]);
        assert_eq!(judged(&message(&fields)), "unsupported-component", "{component}");
    }
    // `req` is for responses only.
    let list = r#"("@authority" "signature-agent";key="k" "@path";req)"#;
    let fields = fields(&format!("k=\"{AGENT}\""), list, &parameters(), &[]);
    assert_eq!(judged(&message(&fields)), "unsupported-component");
}

#[test]
fn draft_a_signature_counts_from_its_creation_to_its_end() {
    let fields = usual_fields();
    let message = message(&fields);
    for (now, result) in [
        (CREATED - 61, "clock-ahead"),
        (CREATED - 60, "verified"),
        (CREATED, "verified"),
        (CREATED + 299, "verified"),
        (CREATED + 300, "expired"),
        (i64::MIN, "clock-ahead"),
        (i64::MAX, "expired"),
    ] {
        assert_eq!(judged_at(&message, now, &directory()), result, "{now}");
    }
}

#[test]
fn a_signature_with_a_long_lifetime_is_unverified() {
    for (lifetime, result) in [(86_400, "verified"), (86_401, "lifetime-too-long")] {
        let expires = format!("expires={}", CREATED + lifetime);
        let parameters = parameters().replace(&format!("expires={}", CREATED + 300), &expires);
        let fields = usual_fields_with(&parameters);
        assert_eq!(judged(&message(&fields)), result);
    }
}

#[test]
fn rfc9421_3_2_the_algorithm_agrees_with_the_key() {
    for (alg, result) in [
        ("ed25519", "verified"),
        ("rsa-pss-sha512", "algorithm-mismatch"),
        ("rsa-v1_5-sha256", "unsupported-algorithm"),
        ("ecdsa-p256-sha256", "unsupported-algorithm"),
        ("none", "unsupported-algorithm"),
        ("hmac-sha256", "hmac-forbidden"),
    ] {
        let fields = usual_fields_with(&format!("{};alg=\"{alg}\"", parameters()));
        assert_eq!(judged(&message(&fields)), result, "{alg}");
    }
}

#[test]
fn a_request_other_than_the_signed_one_is_invalid() {
    let fields = usual_fields();
    let signed = message(&fields);
    for other in [
        Message { authority: b"example.org", ..signed },
        Message { authority: b"example.com:8443", ..signed },
        Message { authority: b"", ..signed },
    ] {
        assert_eq!(judged(&other), "bad-signature", "{:?}", other.authority);
    }
    // Parts that are not covered may change.
    assert_eq!(judged(&Message { method: "PUT", target: b"/other", ..signed }), "verified");
    let mut moved = fields.clone();
    moved[0] = line("signature-agent", "k=\"https://thief.example.net\"");
    assert_eq!(judged(&message(&moved)), "bad-signature");
}

#[test]
fn draft_several_signatures_are_verified_one_by_one() {
    let mut fields = usual_fields();
    let other = r#"other=("@authority");tag="something-else""#;
    let broken = r#"broken=("@nothing");created=1;expires=2;keyid="x";tag="web-bot-auth""#;
    fields.push(line("Signature-Input", format!("{other}, {broken}")));
    assert_eq!(judged(&message(&fields)), "verified");

    let second = usual_fields()[1].1.clone();
    let second = String::from_utf8(second).expect("a base is ASCII").replacen("k=", "z=", 1);
    fields.push(line("signature-input", second));
    fields.push(line("signature", "z=:AAAA:"));
    let message = message(&fields);
    let results: Vec<Verification> = signatures(&message)
        .iter()
        .map(|signature| verify(signature, &message, &directory(), NOW, &Limits::default()))
        .collect();
    assert_eq!(results, [Verification::Verified, Verification::Invalid(Reason::BadSignature)]);
}

#[test]
fn a_right_signature_without_an_agent_does_not_identify_the_signer() {
    let list = r#"("@authority")"#;
    let mut fields = fields("", list, &parameters(), &["\"@authority\": example.com"]);
    fields.remove(0);
    assert_eq!(judged(&message(&fields)), "signature-agent-absent");
    assert_eq!(judged_at(&message(&fields), NOW, &KeySet::default()), "signature-agent-absent");
    let other = Message { authority: b"example.org", ..message(&fields) };
    assert_eq!(judged(&other), "bad-signature");
    // A signature cannot cover an absent field.
    let mut fields = usual_fields();
    fields.remove(0);
    assert_eq!(judged(&message(&fields)), "component-absent");
}
