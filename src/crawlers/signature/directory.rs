//! The signature of a key directory over itself: its keys' holder serves it for this host
//! (draft-meunier-http-message-signatures-directory, and the appendix of the draft that took it in).
//!
//! Without it, a directory on one host could list the keys of another, and so claim its signatures.

use sfv::ListEntry;
use sha2::{Digest, Sha256};

use super::{
    base::{self, Signed},
    component::Source,
    keys::KeySet,
    message::{Fields, Message},
    read::{self, Signature},
    reason::Reason,
    verify::{Limits, find_key},
};

/// The tag of a directory's signatures.
const TAG: &str = "http-message-signatures-directory";

/// A directory as it was received.
#[derive(Clone, Copy)]
pub struct DirectoryResponse<'a> {
    /// The request that it answers.
    pub request: &'a Message<'a>,
    /// The fields of the response.
    pub fields: &'a dyn Fields,
    /// The content of the response, decoded.
    pub content: &'a [u8],
}

/// The thumbprints of the keys that signed the directory in which they stand, each once; `now` in
/// seconds since 1970. None where it is not signed, which is allowed.
///
/// # Errors
/// What is wrong with a signature: a directory that is signed wrongly is not to be used. How long
/// such a signature lasts is not limited.
pub fn proven_keys(
    response: &DirectoryResponse<'_>,
    keys: &KeySet,
    now: i64,
    limits: &Limits,
) -> Result<Vec<String>, Reason> {
    let inputs = read::inputs(response.fields, TAG)?;
    if inputs.is_empty() {
        return Ok(Vec::new());
    }
    let values = read::values(response.fields)?;
    let limits = Limits { lifetime: i64::MAX, ..*limits };
    let mut proven: Vec<String> = Vec::with_capacity(inputs.len());
    for (label, list) in &inputs {
        let signature = Signature::read(label, list, &values)?;
        signature.check_time(now, &limits)?;
        check_covered(&signature)?;
        check_digest(response)?;
        let signed = Signed { request: response.request, response: Some(response.fields) };
        let base = base::write(signed, &signature.components, &signature.parameters)?;
        let key = find_key(&signature, keys, now, &limits)?;
        if !key.has_signed(&base, &signature.value) {
            return Err(Reason::BadSignature);
        }
        if !proven.iter().any(|other| other == key.thumbprint()) {
            proven.push(key.thumbprint().to_owned());
        }
    }
    Ok(proven)
}

/// The host it was asked of, and the content.
fn check_covered(signature: &Signature) -> Result<(), Reason> {
    let covers_authority = signature
        .components
        .iter()
        .any(|component| component.of_request && component.source == Source::Authority);
    let covers_content = signature.components.iter().any(|component| {
        !component.of_request
            && (component.source == Source::Field("content-digest".to_owned())
                || component.source
                    == Source::Member {
                        field: "content-digest".to_owned(),
                        key: "sha-256".to_owned(),
                    })
    });
    if covers_authority && covers_content { Ok(()) } else { Err(Reason::TargetNotCovered) }
}

/// RFC 9530 §2: the digest is that of the content. One by sha-256 must be there; others are beside
/// it for those who know them.
fn check_digest(response: &DirectoryResponse<'_>) -> Result<(), Reason> {
    let digests = base::digests(response.fields)?;
    let claimed = match digests.get("sha-256") {
        Some(ListEntry::Item(item)) => item.bare_item.as_byte_sequence(),
        _ => None,
    };
    if claimed == Some(Sha256::digest(response.content).as_slice()) {
        Ok(())
    } else {
        Err(Reason::DigestMismatch)
    }
}
