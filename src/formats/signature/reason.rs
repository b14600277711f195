//! The reasons why a signature proves nothing: a code for labels and logs, a sentence for people.

use derive_more::Display;

use crate::base::text::words;

/// An enum of words, each with the sentence that is its text and its documentation. It names the repair
/// if the signer has one.
macro_rules! reasons {
    ($($variant:ident = $word:literal $sentence:literal,)+) => {
        words! {
            /// The reason why a signature, an agent's URL or a directory is not accepted.
            #[derive(Clone, Copy, Debug, Display, PartialEq, Eq, Hash)]
            pub enum Reason { $(#[doc = $sentence] #[display($sentence)] $variant = $word,)+ }
        }
    };
}

reasons! {
    FieldTooLarge = "field-too-large" "a signature field or a covered one is longer than 8 KiB (send or cover less)",
    SignatureInputUnreadable = "signature-input-unreadable" "Signature-Input is not a dictionary of inner lists (see RFC 9421 §4.1)",
    SignatureValueUnreadable = "signature-value-unreadable" "Signature has no byte sequence with the label of Signature-Input (see RFC 9421 §4.2)",
    DuplicateLabel = "duplicate-label" "a dictionary contains a name twice (give each member its own name)",
    TooManySignatures = "too-many-signatures" "the request has more than 4 signatures (send fewer)",
    TooManyComponents = "too-many-components" "a signature covers more than 32 components (cover fewer)",
    MissingFields = "missing-fields" "created, expires or keyid is missing (send the first two as integers, the last as a string)",
    BadWindow = "bad-window" "the signature expires before its creation",
    ClockAhead = "clock-ahead" "the creation of the signature is in the future (set the signer's clock)",
    Expired = "expired" "the signature has expired (sign each request anew)",
    LifetimeTooLong = "lifetime-too-long" "the lifetime of the signature is too long (let it expire within a day)",
    TargetNotCovered = "target-not-covered" "the signature is valid for any site (cover @authority or @target-uri)",
    SignatureAgentNotCovered = "signature-agent-not-covered" "the signature does not cover Signature-Agent (cover its member)",
    SignatureAgentAbsent = "signature-agent-absent" "the request has no Signature-Agent, so the owner of the key is unknown (send and cover it)",
    SignatureAgentUnreadable = "signature-agent-unreadable" "Signature-Agent is not a dictionary of strings (send label=\"https://…\")",
    SignatureAgentUnquoted = "signature-agent-unquoted" "the URL in Signature-Agent is not quoted (send label=\"https://…\")",
    SignatureAgentMemberMissing = "signature-agent-member-missing" "Signature-Agent has no member with the covered name",
    SignatureAgentParameters = "signature-agent-parameters" "the member of Signature-Agent has unknown parameters (omit them)",
    SignatureAgentNotHttps = "signature-agent-not-https" "the URL in Signature-Agent is not https (publish the keys over TLS)",
    SignatureAgentUnusable = "signature-agent-unusable" "the URL in Signature-Agent has no host name, another port than 443, a user or a fragment",
    DuplicateComponent = "duplicate-component" "the signature covers a component twice (see RFC 9421 §2)",
    UnsupportedComponent = "unsupported-component" "a covered component or its parameter is not supported (cover others)",
    ComponentAbsent = "component-absent" "the request does not have a covered component",
    ComponentUnreadable = "component-unreadable" "the value of a covered component cannot be signed (see RFC 9421 §2.1 and §2.5)",
    BaseTooLarge = "base-too-large" "the signature covers more than 16 KiB (cover fewer fields)",
    HmacForbidden = "hmac-forbidden" "an HMAC proves nothing to a site (sign with a private key)",
    UnsupportedAlgorithm = "unsupported-algorithm" "the algorithm is not supported (use ed25519 or rsa-pss-sha512)",
    AlgorithmMismatch = "algorithm-mismatch" "the algorithm does not fit the key",
    BadSignature = "bad-signature" "the key did not sign this request",
    TestKey = "test-key" "the key is an example of RFC 9421, and its private half is public (create a key)",
    UnknownKey = "unknown-key" "the directory has no key with this thumbprint (publish the key before use)",
    KeyNotYetValid = "key-not-yet-valid" "the key is not valid yet, by its directory",
    KeyExpired = "key-expired" "the key has expired, by its directory",
    DirectoryTooLarge = "directory-too-large" "the directory has more than 64 KiB or 100 keys",
    DirectoryMalformed = "directory-malformed" "the directory is not a JWK Set",
    DirectoryEmpty = "directory-empty" "the directory has no usable key",
    DirectoryShrunk = "directory-shrunk" "the directory has lost more than half of the keys in use (it is accepted if it stays so)",
    DirectoryReplaced = "directory-replaced" "the directory has none of the keys in use (it is accepted if it says the same an hour later)",
    DigestMismatch = "digest-mismatch" "the digest is not that of the content (sign the response as it is sent)",
}

impl std::error::Error for Reason {}
