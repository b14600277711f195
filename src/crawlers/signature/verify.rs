//! The verification of a signature (RFC 9421 §3.2), given the signer's keys and the time.

use super::{
    base::{self, Signed},
    keys::{Key, KeySet},
    message::Message,
    read::Signature,
    reason::{Outcome, Reason},
};

/// What is accepted of a signature beyond what makes it right.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How far a signer's clock may be ahead, in seconds.
    pub skew: i64,
    /// How long a signature may last, in seconds. Until then whoever sees it can send it again.
    pub lifetime: i64,
    /// Whether the two keys of RFC 9421's examples are accepted: in tests.
    pub test_keys: bool,
}

/// A minute of skew; a day, as the draft advises; no test keys.
impl Default for Limits {
    fn default() -> Self {
        Self { skew: 60, lifetime: 24 * 60 * 60, test_keys: false }
    }
}

/// Verifies a signature of a message with the keys of its agent's directory; `now` in seconds since
/// 1970.
///
/// The keys must be those that the signature's own agent publishes: a key found elsewhere under the
/// same name says nothing of this agent. Where the agent's directory could not be had, an empty set
/// says so, and the outcome is [`Reason::UnknownKey`] unless the signature is wrong by itself.
pub fn verify(
    signature: &Signature,
    message: &Message<'_>,
    keys: &KeySet,
    now: i64,
    limits: &Limits,
) -> Outcome {
    let judged = signature.check_time(now, limits).and_then(|()| {
        let base = signature_base(signature, message)?;
        let agent = signature.agent().map(drop);
        match find_key(signature, keys, now, limits) {
            // Without an agent nobody's keys are asked for, so it is no wonder that none is found.
            Err(Reason::UnknownKey) => agent.and(Err(Reason::UnknownKey)),
            Err(reason) => Err(reason),
            Ok(key) if !key.has_signed(&base, &signature.value) => Err(Reason::BadSignature),
            Ok(_) => agent,
        }
    });
    judged.map_or_else(Reason::outcome, |()| Outcome::Verified)
}

/// The octets that the signature is over (RFC 9421 §2.5).
///
/// # Errors
/// What keeps a covered component from being written.
pub fn signature_base(signature: &Signature, message: &Message<'_>) -> Result<Vec<u8>, Reason> {
    let signed = Signed { request: message, response: None };
    base::write(signed, &signature.components, &signature.parameters)
}

impl Signature {
    /// Whether the signature counts at this time; `now` in seconds since 1970. [`verify()`] sees to
    /// it too; to ask before spares a look for keys that could not help.
    ///
    /// # Errors
    /// [`Reason::ClockAhead`], [`Reason::Expired`] or [`Reason::LifetimeTooLong`].
    pub fn check_time(&self, now: i64, limits: &Limits) -> Result<(), Reason> {
        if self.created() > now.saturating_add(limits.skew) {
            Err(Reason::ClockAhead)
        } else if self.expires() <= now {
            Err(Reason::Expired)
        } else if self.expires().saturating_sub(self.created()) > limits.lifetime {
            Err(Reason::LifetimeTooLong)
        } else {
            Ok(())
        }
    }
}

/// The key that the signature names, fit for the algorithm that it names.
pub(super) fn find_key<'k>(
    signature: &Signature,
    keys: &'k KeySet,
    now: i64,
    limits: &Limits,
) -> Result<&'k Key, Reason> {
    let key = keys.find(signature.key_id(), now, limits.skew)?;
    if key.is_test_key() && !limits.test_keys {
        return Err(Reason::TestKey);
    }
    match signature.alg() {
        None => Ok(key),
        Some(alg) if alg == key.alg() => Ok(key),
        Some("ed25519" | "rsa-pss-sha512") => Err(Reason::AlgorithmMismatch),
        Some(_) => Err(Reason::UnsupportedAlgorithm),
    }
}
