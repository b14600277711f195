//! The signature of an event, in the form of Standard Webhooks: HMAC-SHA256 over id, time and body.

use base64::{Engine, engine::general_purpose::STANDARD};
use ring::hmac;

/// The least bytes of a secret: what a signature is worth.
const LEAST: usize = 16;

#[derive(Clone, PartialEq)]
pub(super) struct Secret(Vec<u8>);

impl Secret {
    /// The secret in a file: `whsec_` and base64, else the text itself. Spaces and line ends around
    /// it are no part of it.
    pub(super) fn read(file: &[u8]) -> Result<Self, &'static str> {
        let text = file.trim_ascii();
        let bytes = match text.strip_prefix(b"whsec_") {
            Some(encoded) => STANDARD.decode(encoded).map_err(|_| "no base64 follows 'whsec_'")?,
            None => text.to_vec(),
        };
        if bytes.len() < LEAST {
            return Err("the secret has less than 16 bytes");
        }
        Ok(Self(bytes))
    }

    /// The value of `webhook-signature`. `second` is the time of the attempt.
    pub(super) fn sign(&self, id: &str, second: i64, body: &str) -> String {
        let key = hmac::Key::new(hmac::HMAC_SHA256, &self.0);
        let signed = format!("{id}.{second}.{body}");
        format!("v1,{}", STANDARD.encode(hmac::sign(&key, signed.as_bytes())))
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a secret")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_standard_webhooks_is_signed_alike() {
        let secret = Secret::read(b"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n").expect("usable");
        let signature =
            secret.sign("msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, r#"{"test": 2432232314}"#);
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn a_weak_secret_is_refused() {
        for (file, part) in [
            (&b""[..], "16 bytes"),
            (b"  short \n", "16 bytes"),
            (b"whsec_c2hvcnQ=", "16 bytes"),
            (b"whsec_not base64 at all", "base64"),
        ] {
            assert!(Secret::read(file).expect_err("it is weak").contains(part), "{file:?}");
        }
        assert!(Secret::read(b"sixteen bytes ok").is_ok());
    }
}
