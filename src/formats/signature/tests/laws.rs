//! Properties of any octets.

use proptest::prelude::*;

use super::*;

/// Parts of field values.
const PIECES: [&str; 12] = [
    "k=",
    r#"("@authority" "signature-agent";key="k")"#,
    r#""@query-param";name="a""#,
    ";created=1800000000;expires=1800000300",
    r#";keyid="x""#,
    r#";tag="web-bot-auth""#,
    ":AAAA:",
    r#""https://crawler.example.net""#,
    "https://",
    ", ",
    "(",
    ")",
];

/// Octets that often resemble a signature field, so that they pass the first step.
fn value() -> impl Strategy<Value = Vec<u8>> {
    let known = prop::sample::select(&PIECES[..]).prop_map(|piece| piece.as_bytes().to_vec());
    let piece = prop_oneof![4 => known, 1 => prop::collection::vec(any::<u8>(), 0..12)];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_octets_are_read_without_a_panic_and_never_verified(
        agent in value(),
        input in value(),
        signature in value(),
        authority in value(),
        target in value(),
    ) {
        let fields = vec![
            line("signature-agent", agent),
            line("signature-input", input),
            line("signature", signature),
        ];
        let message = Message { authority: &authority, target: &target, ..message(&fields) };
        if let Signatures::Signed(signatures) = read(&message) {
            for signature in signatures {
                let result = verify(&signature, &message, &directory(), NOW, &Limits::default());
                prop_assert_ne!(result, Verification::Verified);
            }
        }
    }

    #[test]
    fn any_octets_are_a_directory_or_none(octets in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(keys) = KeySet::read(&octets) {
            prop_assert!(keys.thumbprints().all(|thumbprint| thumbprint.len() == 43));
        }
    }

    #[test]
    fn an_accepted_url_is_normalised(rest in "[a-zA-Z0-9.:/?@#-]{0,24}") {
        if let Ok(agent) = AgentUrl::new(&format!("https://{rest}")) {
            prop_assert_eq!(AgentUrl::new(agent.as_str()), Ok(agent.clone()));
            let directory = agent.directory_url();
            let again = AgentUrl::new(&directory).map(|agent| agent.directory_url());
            prop_assert_eq!(again, Ok(directory));
        }
    }

    #[test]
    fn one_wrong_bit_of_the_signature_or_its_base_is_invalid(at in any::<prop::sample::Index>(), bit in 0_u32..8) {
        let fields = usual_fields();
        let message = message(&fields);
        let mut signature = signatures(&message).remove(0);
        let base = signature_base(&signature, &message).expect("all components are present");
        let keys = directory();
        let key = keys.find(signature.key_id(), NOW, 0).expect("a known key");
        prop_assert!(key.has_signed(&base, &signature.value));

        let mut other = base.clone();
        other[at.index(base.len())] ^= 1_u8 << bit;
        prop_assert!(!key.has_signed(&other, &signature.value));

        let length = signature.value.len();
        signature.value[at.index(length)] ^= 1_u8 << bit;
        let result = verify(&signature, &message, &keys, NOW, &Limits::default());
        prop_assert_eq!(result, Verification::Invalid(Reason::BadSignature));
    }

    #[test]
    fn one_wrong_octet_of_the_request_is_invalid(line_at in 0_usize..3, at in any::<prop::sample::Index>()) {
        let mut fields = usual_fields();
        let original = signatures(&message(&fields)).remove(0);
        let length = fields[line_at].1.len();
        let octet = &mut fields[line_at].1[at.index(length)];
        *octet = if *octet == b'q' { b'p' } else { b'q' };
        let message = message(&fields);
        if let Signatures::Signed(signatures) = read(&message) {
            for signature in signatures {
                let result = verify(&signature, &message, &directory(), NOW, &Limits::default());
                // The last digit of base64 has unused bits (RFC 9651 §4.2.7).
                let is_same_value = original.value == signature.value;
                prop_assert!(result != Verification::Verified || is_same_value);
            }
        }
    }
}
