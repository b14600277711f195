//! The verification of a signature (RFC 9421 §3.2) with the signer's keys at a time.

use super::{
    fields::Message,
    key_set::{Key, KeySet, TEST_KEYS},
    reason::Reason,
    signature_base::{self, Signed},
    signatures::Signature,
};

/// The result of a verification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verification {
    /// The owner of the key signed this request.
    Verified,
    /// The signature is wrong: it is for another request, altered, out of date or malformed.
    Invalid(Reason),
    /// The signature may be right or wrong: data for its verification is missing.
    Unverified(Reason),
}

/// The limits for an accepted signature.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How far a signer's clock may be ahead, in seconds.
    pub skew: i64,
    /// How long a signature may last, in seconds. Until then, anyone who sees it can send it again.
    pub lifetime: i64,
    /// Whether to accept the two example keys of RFC 9421, for tests.
    pub test_keys: bool,
}

/// A skew of a minute, a lifetime of a day as the draft advises, no test keys.
impl Default for Limits {
    fn default() -> Self {
        Self { skew: 60, lifetime: 24 * 60 * 60, test_keys: false }
    }
}

/// Verifies a signature of a message with the keys of its agent's directory; `now` in seconds since
/// 1970.
///
/// The keys must come from the directory of the signature's own agent. Without that directory, pass
/// an empty set: the result is [`Reason::UnknownKey`] unless the signature itself is wrong.
pub fn verify(
    signature: &Signature,
    message: &Message<'_>,
    keys: &KeySet,
    now: i64,
    limits: &Limits,
) -> Verification {
    let result = signature.check_time(now, limits).and_then(|()| {
        let base = signature_base(signature, message)?;
        let agent = signature.agent().map(drop);
        match find_key(signature, keys, now, limits) {
            // Without an agent, its absence is the reason, because no keys were fetched.
            Err(Reason::UnknownKey) => agent.and(Err(Reason::UnknownKey)),
            Err(reason) => Err(reason),
            Ok(key) if !key.has_signed(&base, &signature.value) => Err(Reason::BadSignature),
            Ok(_) => agent,
        }
    });
    result.map_or_else(Reason::verification, |()| Verification::Verified)
}

/// The octets that the signature signs (RFC 9421 §2.5).
///
/// # Errors
/// The reason why the base has no line for a covered component.
pub fn signature_base(signature: &Signature, message: &Message<'_>) -> Result<Vec<u8>, Reason> {
    let signed = Signed { request: message, response: None };
    signature_base::write(signed, &signature.components, &signature.parameters)
}

impl Reason {
    /// The result of a verification that ends with this reason.
    pub const fn verification(self) -> Verification {
        match self {
            // The draft only advises a short lifetime and an agent.
            Self::LifetimeTooLong
            | Self::SignatureAgentAbsent
            | Self::SignatureAgentParameters
            | Self::UnsupportedAlgorithm
            | Self::UnknownKey
            | Self::KeyNotYetValid
            | Self::KeyExpired
            | Self::DirectoryTooLarge
            | Self::DirectoryMalformed
            | Self::DirectoryEmpty
            | Self::DirectoryShrunk
            | Self::DirectoryReplaced => Verification::Unverified(self),
            _ => Verification::Invalid(self),
        }
    }
}

impl Verification {
    /// The reason of a failed verification.
    pub const fn reason(self) -> Option<Reason> {
        match self {
            Self::Verified => None,
            Self::Invalid(reason) | Self::Unverified(reason) => Some(reason),
        }
    }
}

impl Signature {
    /// Checks the signature's time; `now` in seconds since 1970. [`verify()`] checks it too.
    pub(super) fn check_time(&self, now: i64, limits: &Limits) -> Result<(), Reason> {
        if self.created > now.saturating_add(limits.skew) {
            Err(Reason::ClockAhead)
        } else if self.expires <= now {
            Err(Reason::Expired)
        } else if self.expires.saturating_sub(self.created) > limits.lifetime {
            Err(Reason::LifetimeTooLong)
        } else {
            Ok(())
        }
    }
}

/// The key with the signature's key id, if it fits the signature's algorithm.
pub(super) fn find_key<'k>(
    signature: &Signature,
    keys: &'k KeySet,
    now: i64,
    limits: &Limits,
) -> Result<&'k Key, Reason> {
    let key = keys.find(&signature.key_id, now, limits.skew)?;
    if TEST_KEYS.contains(&key.thumbprint.as_str()) && !limits.test_keys {
        return Err(Reason::TestKey);
    }
    match signature.alg.as_deref() {
        None => Ok(key),
        Some(alg) if alg == key.alg() => Ok(key),
        Some("ed25519" | "rsa-pss-sha512") => Err(Reason::AlgorithmMismatch),
        Some(_) => Err(Reason::UnsupportedAlgorithm),
    }
}
