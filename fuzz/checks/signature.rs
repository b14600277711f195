//! A signed request and a key directory: parsing and verifying do not panic. No value passes for
//! another line of the signature base, and a signature verifies for one host only.
//!
//! The first line has the method, the target and the authority. Field lines follow up to the first
//! empty line, then the directory.

use beadle::formats::signature::{
    AgentUrl, KeySet, Limits, Message, Scheme, Signature, Signatures, Verification, read,
    signature_base, verify,
};

pub(crate) fn holds_for(octets: &[u8]) {
    let mut lines = octets.split(|&octet| octet == b'\n');
    let first = lines.next().unwrap_or_default();
    let mut words = first.splitn(3, |&octet| octet == b' ').map(<[u8]>::to_vec);
    let method = String::from_utf8_lossy(&words.next().unwrap_or_default()).into_owned();
    let target = words.next().unwrap_or_default();
    let authority = words.next().unwrap_or_default();
    let mut fields = Vec::new();
    let mut taken = first.len() + 1;
    for line in lines {
        taken += line.len() + 1;
        if line.is_empty() {
            break;
        }
        let mut halves = line.splitn(2, |&octet| octet == b':');
        let name = String::from_utf8_lossy(halves.next().unwrap_or_default()).into_owned();
        fields.push((name, halves.next().unwrap_or_default().to_vec()));
    }
    let keys = KeySet::read(octets.get(taken..).unwrap_or_default()).unwrap_or_default();
    assert!(keys.len() <= KeySet::MAX_KEYS);
    assert!(keys.thumbprints().all(|thumbprint| thumbprint.len() == 43));

    let message = Message {
        method: &method,
        scheme: Scheme::Https,
        authority: &authority,
        target: &target,
        fields: &fields,
    };
    let signatures = match read(&message) {
        Signatures::Unsigned => return,
        Signatures::Invalid(reason) => {
            return assert_eq!(reason.verification(), Verification::Invalid(reason));
        }
        Signatures::Signed(signatures) => signatures,
    };
    assert!(!signatures.is_empty());
    for signature in &signatures {
        holds_for_signature(signature, &message, &keys);
    }
}

fn holds_for_signature(signature: &Signature, message: &Message<'_>, keys: &KeySet) {
    if let Ok(base) = signature_base(signature, message) {
        assert!(base.is_ascii());
        assert_eq!(base.split(|&octet| octet == b'\n').count(), signature.components().count() + 1);
    }
    if let Ok(agent) = signature.agent() {
        assert_eq!(AgentUrl::new(agent.as_str()).as_ref(), Ok(agent));
        assert!(agent.directory_url().starts_with(&format!("https://{}/", agent.host())));
    }
    let limits = Limits { lifetime: i64::MAX, test_keys: true, ..Limits::default() };
    let judge = |message: &Message<'_>, keys: &KeySet| {
        verify(signature, message, keys, signature.created(), &limits)
    };
    assert_ne!(judge(message, &KeySet::default()), Verification::Verified);
    if judge(message, keys) == Verification::Verified {
        let other_authority = [b"x", message.authority].concat();
        let other = Message { authority: &other_authority, ..*message };
        assert_ne!(judge(&other, keys), Verification::Verified);
    }
}
