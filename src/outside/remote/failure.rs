//! The reasons why there is no document, as findings with a repair.

use derive_more::Display;

use crate::base::{diagnostic::Diagnostic, fetch};

use super::document::MAX_BYTES;

/// The reason why there is no document.
#[derive(Clone, Debug, Display, PartialEq, Eq)]
pub enum Failure {
    /// Occurs when the text is no address of a policy.
    #[display("not the address of a policy")]
    Address,
    /// Occurs when the client can't be set up; has the error as text.
    #[display("the policy can't be fetched: {_0}")]
    Client(String),
    /// Occurs when the address is HTTP on another machine, or redirects to such a one.
    #[display("the policy is not fetched over HTTP")]
    Insecure,
    /// Occurs when the server does not send the policy.
    #[display("the policy can't be fetched: {_0}")]
    Fetch(fetch::Failure),
    /// Occurs when the policy is larger than [`MAX_BYTES`].
    #[display("the policy is larger than {} MiB", MAX_BYTES >> 20)]
    TooLarge,
    /// Occurs when the policy has a content coding that nobody asked for.
    #[display("the policy can't be fetched: it has a content coding")]
    Encoded,
    /// Occurs when the server does not send the signature.
    #[display("the signature of the policy can't be fetched: {_0}")]
    NoSignature(fetch::Failure),
    /// Occurs when the signature is not an Ed25519 signature, raw or in Base64.
    #[display("the signature of the policy is not 64 octets, raw or in Base64")]
    UnreadableSignature,
    /// Occurs when the signature is not that of the key over these bytes.
    #[display("the signature of the policy is not that of the key")]
    WrongSignature,
    /// Occurs when the serial of a signed policy does not rise. 0 is no serial.
    #[display("{}", older(*found, *last))]
    Older {
        /// The serial of the policy; `None` if it is no number.
        found: Option<u64>,
        /// The serial of the last good policy.
        last: u64,
    },
}

impl Failure {
    /// The stable code for findings and logs.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Address | Self::Insecure => "policy.address",
            Self::Client(_) | Self::Fetch(_) | Self::Encoded => "policy.unreachable",
            Self::TooLarge => "policy.too_large",
            Self::NoSignature(_) | Self::UnreadableSignature | Self::WrongSignature => {
                "policy.signature"
            }
            Self::Older { .. } => "policy.serial",
        }
    }

    /// Whether the server has a policy that is refused. Otherwise it may have none, or be away.
    pub const fn is_refusal(&self) -> bool {
        matches!(
            self,
            Self::TooLarge | Self::UnreadableSignature | Self::WrongSignature | Self::Older { .. }
        )
    }

    /// The finding about the policy of this name.
    pub fn finding(&self, name: &str) -> Diagnostic {
        Diagnostic::error(self.code(), self.to_string()).in_file(name).help(self.help())
    }

    const fn help(&self) -> &'static str {
        match self {
            Self::Address => "write https://HOST/PATH, or the name of a file",
            Self::Client(_) => "check the system's certificate authorities",
            Self::Insecure => "use https://; http:// is for this machine alone",
            Self::Fetch(_) => "check the address, the server and its certificate",
            Self::TooLarge => {
                "split the sites over several instances, or check that this is the right address"
            }
            Self::Encoded => "let the server send the file without a Content-Encoding",
            Self::NoSignature(_) => "publish the signature beside the policy, as PATH.sig",
            Self::UnreadableSignature => {
                "write it by 'openssl pkeyutl -sign -rawin -inkey key.pem -in FILE -out FILE.sig'"
            }
            Self::WrongSignature => "sign the policy again, and check the file of --config-key",
            Self::Older { .. } => {
                "raise the number in '# serial: NUMBER' and sign the policy; to begin anew, delete \
                 the last good copy"
            }
        }
    }
}

fn older(found: Option<u64>, last: u64) -> String {
    match found {
        None => "the line '# serial:' of the policy has no number".to_owned(),
        Some(0) => format!("the policy has no serial, and the last good one has {last}"),
        Some(found) => format!(
            "the serial {found} of the policy is not above {last}, that of the last good one"
        ),
    }
}
