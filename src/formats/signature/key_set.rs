//! A signer's key directory: a JWK Set (RFC 7517) of keys, by thumbprint.

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use ring::signature::{
    ED25519, RSA_PSS_2048_8192_SHA512, RsaPublicKeyComponents, UnparsedPublicKey,
};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::reason::Reason;

/// The thumbprints of test-key-ed25519 and test-key-rsa-pss. RFC 9421 §B.1 prints their private
/// halves too.
pub(super) const TEST_KEYS: [&str; 2] =
    ["poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U", "oD0HwocPBSfpNy5W3bpJeyFGY_IQ_YpqxSjQ3Yd-CLA"];

/// The first time that must be in milliseconds: in seconds it would be after the year 5000.
const FIRST_MILLISECONDS: i64 = 100_000_000_000;

/// The usable keys of a directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeySet {
    keys: Vec<Key>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Key {
    pub(super) thumbprint: String,
    material: Material,
    not_before: Option<i64>,
    expires: Option<i64>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Material {
    Ed25519([u8; 32]),
    Rsa { modulus: Vec<u8>, exponent: Vec<u8> },
}

impl KeySet {
    /// The largest directory, in octets.
    pub const MAX_OCTETS: usize = 64 * 1024;
    /// The most keys of a directory.
    pub const MAX_KEYS: usize = 100;

    /// Reads a directory: a JWK Set, not a single JWK as some sites publish.
    ///
    /// Ignores a key that is of another type, not for signatures, or malformed (RFC 7517 §5). Ignores
    /// `kid` too: the name of a key is its thumbprint (RFC 7638). Does not read private members.
    ///
    /// # Errors
    /// [`Reason::DirectoryTooLarge`] and [`Reason::DirectoryMalformed`].
    pub fn read(directory: &[u8]) -> Result<Self, Reason> {
        if directory.len() > Self::MAX_OCTETS {
            return Err(Reason::DirectoryTooLarge);
        }
        let read: Value =
            serde_json::from_slice(directory).map_err(|_| Reason::DirectoryMalformed)?;
        let Some(Value::Array(keys)) = read.get("keys") else {
            return Err(Reason::DirectoryMalformed);
        };
        if keys.len() > Self::MAX_KEYS {
            return Err(Reason::DirectoryTooLarge);
        }
        Ok(Self { keys: keys.iter().filter_map(Key::read).collect() })
    }

    /// Checks that `fresh` may replace these keys. It may not if it is empty, has lost more than half of
    /// them without as many new ones, or has none of them.
    ///
    /// # Errors
    /// [`Reason::DirectoryEmpty`], [`Reason::DirectoryShrunk`] and [`Reason::DirectoryReplaced`].
    pub(crate) fn check_successor(&self, fresh: &Self) -> Result<(), Reason> {
        let kept = self.thumbprints().filter(|name| fresh.has(name)).count();
        if fresh.is_empty() {
            Err(Reason::DirectoryEmpty)
        } else if fresh.len().max(kept) * 2 < self.len() {
            Err(Reason::DirectoryShrunk)
        } else if kept == 0 && !self.is_empty() {
            Err(Reason::DirectoryReplaced)
        } else {
            Ok(())
        }
    }

    /// These keys and the further keys of `other`.
    #[must_use]
    pub fn with(&self, other: &Self) -> Self {
        let further = other.keys.iter().filter(|key| !self.has(&key.thumbprint));
        Self { keys: self.keys.iter().chain(further).cloned().collect() }
    }

    /// Whether there is a key with this thumbprint.
    pub fn has(&self, thumbprint: &str) -> bool {
        self.thumbprints().any(|own| own == thumbprint)
    }

    /// The number of usable keys.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether no key is usable.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// The thumbprints of the keys, in base64url: the `keyid` of signatures.
    pub fn thumbprints(&self) -> impl Iterator<Item = &str> {
        self.keys.iter().map(|key| key.thumbprint.as_str())
    }

    /// The key with this id that is valid now, with a tolerance of `skew` seconds at its start.
    pub(super) fn find(&self, key_id: &str, now: i64, skew: i64) -> Result<&Key, Reason> {
        let mut refusal = Reason::UnknownKey;
        for key in self.keys.iter().filter(|key| key.thumbprint == key_id) {
            if key.not_before.is_some_and(|start| start > now.saturating_add(skew)) {
                refusal = Reason::KeyNotYetValid;
            } else if key.expires.is_some_and(|end| end <= now) {
                refusal = Reason::KeyExpired;
            } else {
                return Ok(key);
            }
        }
        Err(refusal)
    }
}

impl Key {
    /// The key of a JWK; `None` if it is not usable.
    fn read(jwk: &Value) -> Option<Self> {
        let jwk = jwk.as_object()?;
        let is_for_signatures = match jwk.get("use") {
            None => true,
            Some(purpose) => purpose == "sig",
        } && match jwk.get("key_ops") {
            None => true,
            Some(operations) => operations.as_array()?.iter().any(|name| name == "verify"),
        };
        if !is_for_signatures {
            return None;
        }
        let alg = jwk.get("alg").map(|alg| alg.as_str().unwrap_or_default());
        let (material, required) = match text(jwk, "kty")? {
            // RFC 8037 §2; the thumbprint is over the members of §2 too (Appendix A.3).
            "OKP" if text(jwk, "crv")? == "Ed25519" && alg.is_none_or(is_ed25519) => {
                let x = decoded(jwk, "x")?;
                let thumbed = format!(r#"{{"crv":"Ed25519","kty":"OKP","x":"{}"}}"#, encoded(&x));
                (Material::Ed25519(x.try_into().ok()?), thumbed)
            }
            // RFC 7518 §6.3.1 and RFC 7638 §3.2.
            "RSA" if alg.is_none_or(|alg| alg == "PS512") => {
                let (modulus, exponent) = (decoded(jwk, "n")?, decoded(jwk, "e")?);
                let thumbed = format!(
                    r#"{{"e":"{}","kty":"RSA","n":"{}"}}"#,
                    encoded(&exponent),
                    encoded(&modulus)
                );
                if !is_modulus(&modulus) || !is_exponent(&exponent) {
                    return None;
                }
                (Material::Rsa { modulus, exponent }, thumbed)
            }
            _ => return None,
        };
        Some(Self {
            thumbprint: encoded(&Sha256::digest(required)),
            material,
            not_before: time(jwk, "nbf")?,
            expires: time(jwk, "exp")?,
        })
    }

    /// The name of the key's one algorithm (RFC 9421 §6.2.2).
    pub(super) fn alg(&self) -> &'static str {
        match self.material {
            Material::Ed25519(_) => "ed25519",
            Material::Rsa { .. } => "rsa-pss-sha512",
        }
    }

    /// Whether the key signed these octets (RFC 9421 §3.3.1 and §3.3.6).
    pub(super) fn has_signed(&self, base: &[u8], signature: &[u8]) -> bool {
        match &self.material {
            Material::Ed25519(key) => {
                UnparsedPublicKey::new(&ED25519, key).verify(base, signature).is_ok()
            }
            Material::Rsa { modulus, exponent } => {
                RsaPublicKeyComponents { n: modulus.as_slice(), e: exponent.as_slice() }
                    .verify(&RSA_PSS_2048_8192_SHA512, base, signature)
                    .is_ok()
            }
        }
    }
}

fn text<'j>(jwk: &'j Map<String, Value>, name: &str) -> Option<&'j str> {
    jwk.get(name)?.as_str()
}

fn decoded(jwk: &Map<String, Value>, name: &str) -> Option<Vec<u8>> {
    BASE64_URL_SAFE_NO_PAD.decode(text(jwk, name)?).ok()
}

fn encoded(octets: &[u8]) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(octets)
}

/// Whether this is a name of Ed25519: RFC 8037 §3.1 has `EdDSA`, RFC 9864 has `Ed25519`, and some
/// signers use the name of RFC 9421.
fn is_ed25519(alg: &str) -> bool {
    matches!(alg, "EdDSA" | "Ed25519" | "ed25519")
}

/// Whether a modulus has 2048 to 8192 bits and no leading zeros, so that a key has one thumbprint.
fn is_modulus(octets: &[u8]) -> bool {
    let least_first = if octets.len() == 256 { 0x80 } else { 1 };
    (256..=1024).contains(&octets.len())
        && octets.first().is_some_and(|first| *first >= least_first)
}

/// Whether an exponent is odd, larger than one and small: a large one only costs time.
fn is_exponent(octets: &[u8]) -> bool {
    (1..=4).contains(&octets.len())
        && octets.first() != Some(&0)
        && octets.last().is_some_and(|last| last % 2 == 1)
        && octets != [1]
}

/// A time in seconds, or in milliseconds as some signers write it. `Some(None)` if it is absent;
/// `None` if it is unreadable, which makes the key unusable.
#[allow(clippy::option_option, reason = "absent and unreadable are different here")]
fn time(jwk: &Map<String, Value>, name: &str) -> Option<Option<i64>> {
    let Some(value) = jwk.get(name) else { return Some(None) };
    // The conversion of a float saturates.
    let time = value.as_i64().or_else(|| value.as_f64().map(|time| time as i64))?;
    Some(Some(if time > FIRST_MILLISECONDS { time / 1000 } else { time }))
}
