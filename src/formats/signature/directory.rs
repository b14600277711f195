//! The signature of a key directory over itself: the holder of its keys serves it for this host
//! (draft-meunier-http-message-signatures-directory, and the appendix of the draft that contains it).

use sfv::ListEntry;
use sha2::{Digest, Sha256};

use super::{
    fields::{self, Fields, Message},
    key_set::KeySet,
    reason::Reason,
    signature_base::{self, Component, Signed, Source},
    signatures::{self, Signature},
    verification::{Limits, find_key},
};

const TAG: &str = "http-message-signatures-directory";
/// The field with the digest of the content (RFC 9530).
const DIGEST: &str = "content-digest";

/// A directory as received.
#[derive(Clone, Copy)]
pub struct DirectoryResponse<'a> {
    /// The request that it answers.
    pub request: &'a Message<'a>,
    /// The fields of the response.
    pub fields: &'a dyn Fields,
    /// The content of the response.
    pub content: &'a [u8],
}

/// The thumbprints of the keys that signed the directory that lists them, each once; `now` in seconds
/// since 1970. None if it is not signed, which the draft allows. The lifetime of such a signature has
/// no limit.
///
/// # Errors
/// The fault of a signature. A directory with a wrong signature is not usable.
pub fn proven_keys(
    response: &DirectoryResponse<'_>,
    keys: &KeySet,
    now: i64,
    limits: &Limits,
) -> Result<Vec<String>, Reason> {
    let inputs = signatures::inputs(response.fields, TAG)?;
    if inputs.is_empty() {
        return Ok(Vec::new());
    }
    let values = signatures::values(response.fields)?;
    let limits = Limits { lifetime: i64::MAX, ..*limits };
    let mut proven: Vec<String> = Vec::with_capacity(inputs.len());
    for input in &inputs {
        let signature = Signature::read(input, &values)?;
        signature.check_time(now, &limits)?;
        check_covered(&signature.components, response)?;
        let signed = Signed { request: response.request, response: Some(response.fields) };
        let base = signature_base::write(signed, &signature.components, &signature.parameters)?;
        let key = find_key(&signature, keys, now, &limits)?;
        if !key.has_signed(&base, &signature.value) {
            return Err(Reason::BadSignature);
        }
        if !proven.contains(&key.thumbprint) {
            proven.push(key.thumbprint.clone());
        }
    }
    Ok(proven)
}

/// Checks that a signature covers the host of the request, and that a digest that it covers is that
/// of the content. Signers of the first drafts cover no digest.
fn check_covered(components: &[Component], response: &DirectoryResponse<'_>) -> Result<(), Reason> {
    let is_authority = |one: &Component| one.of_request && one.source == Source::Authority;
    if !components.iter().any(is_authority) {
        return Err(Reason::TargetNotCovered);
    }
    let is_digest = |one: &Component| !one.of_request && one.is_of_field(DIGEST);
    if components.iter().any(is_digest) { check_digest(response) } else { Ok(()) }
}

/// RFC 9530 §2: checks the digest of the content. There must be one by sha-256.
fn check_digest(response: &DirectoryResponse<'_>) -> Result<(), Reason> {
    let value = fields::value(response.fields, DIGEST)?.ok_or(Reason::ComponentAbsent)?;
    let digests = fields::dictionary(&value, Reason::ComponentUnreadable)?;
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
