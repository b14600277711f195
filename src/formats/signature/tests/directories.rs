//! Signed directories.

use super::*;

const HOST: &[u8] = b"crawler.example.net";

fn input(list: &str, more: &str) -> String {
    let key_id = vectors::ED25519_THUMBPRINT;
    let expires = CREATED + 300;
    format!(
        r#"d={list};created={CREATED};expires={expires};keyid="{key_id}";tag="http-message-signatures-directory"{more}"#
    )
}

fn usual() -> Vec<Line> {
    vec![
        line("Content-Digest", format!("sha-256=:{}:", vectors::DIRECTORY_DIGEST)),
        line("Signature-Input", input(r#"("@authority";req "content-digest")"#, "")),
        line("Signature", format!("d=:{}:", vectors::DIRECTORY_SIGNATURE)),
    ]
}

fn proven(
    fields: &[Line],
    authority: &[u8],
    content: &str,
    now: i64,
) -> Result<Vec<String>, Reason> {
    let nothing: Vec<Line> = Vec::new();
    let request = Message { authority, ..message(&nothing) };
    let fields = fields.to_vec();
    let response =
        DirectoryResponse { request: &request, fields: &fields, content: content.as_bytes() };
    proven_keys(&response, &directory(), now, &Limits::default())
}

#[test]
fn draft_a_directory_signed_by_another_implementation_is_proven() {
    let content = directory_of(vectors::ED25519_X);
    let key = vec![vectors::ED25519_THUMBPRINT.to_owned()];
    assert_eq!(proven(&usual(), HOST, &content, NOW), Ok(key));
    assert_eq!(proven(&[], HOST, &content, NOW), Ok(vec![]));
}

#[test]
fn a_signature_of_the_host_alone_is_enough() {
    let content = directory_of(vectors::ED25519_X);
    let input = input(r#"("@authority";req)"#, "");
    let (_, parameters) = input.split_once('=').expect("it has a label");
    let base =
        format!("\"@authority\";req: crawler.example.net\n\"@signature-params\": {parameters}");
    let signature = format!("d={}", signed(base.as_bytes()));
    let fields = vec![line("Signature-Input", &input), line("Signature", signature)];
    let key = vec![vectors::ED25519_THUMBPRINT.to_owned()];
    assert_eq!(proven(&fields, HOST, &content, NOW), Ok(key));
    let other = proven(&fields, b"other.example", &content, NOW);
    assert_eq!(other, Err(Reason::BadSignature), "it is for one host");
}

#[test]
fn a_wrong_signature_has_its_reason() {
    let content = directory_of(vectors::ED25519_X);
    let with = |at: usize, name: &str, value: &str| {
        let mut fields = usual();
        fields[at] = line(name, value);
        fields
    };
    let other_digest = "sha-256=:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=:";
    let only_512 = "sha-512=:AAAA:";
    let input_of = |list: &str| with(1, "signature-input", &input(list, ""));
    for (fields, reason) in [
        (with(0, "x", ""), Reason::ComponentAbsent),
        (with(0, "content-digest", other_digest), Reason::DigestMismatch),
        (with(0, "content-digest", only_512), Reason::DigestMismatch),
        (with(0, "content-digest", "sha-256"), Reason::DigestMismatch),
        (with(0, "content-digest", "="), Reason::ComponentUnreadable),
        (with(2, "signature", "d=:AAAA:"), Reason::BadSignature),
        (with(2, "x", ""), Reason::SignatureValueUnreadable),
        (input_of(r#"("@authority";req)"#), Reason::BadSignature),
        (input_of(r#"("content-digest")"#), Reason::TargetNotCovered),
        (input_of(r#"("@authority" "content-digest")"#), Reason::TargetNotCovered),
        (input_of(r#"("@authority";req "content-digest";req)"#), Reason::ComponentAbsent),
        (
            input_of(r#"("@authority";req "@method" "content-digest")"#),
            Reason::UnsupportedComponent,
        ),
        (
            with(
                1,
                "signature-input",
                &input(r#"("@authority";req "content-digest")"#, ";keyid=\"x\""),
            ),
            Reason::UnknownKey,
        ),
    ] {
        assert_eq!(proven(&fields, HOST, &content, NOW), Err(reason), "{fields:?}");
    }
    assert_eq!(proven(&usual(), b"other.example", &content, NOW), Err(Reason::BadSignature));
    assert_eq!(proven(&usual(), HOST, &content, CREATED - 61), Err(Reason::ClockAhead));
    assert_eq!(proven(&usual(), HOST, &content, CREATED + 300), Err(Reason::Expired));
    assert_eq!(proven(&usual(), HOST, "{}", NOW), Err(Reason::DigestMismatch));
}
