//! The reasons why a signature proves nothing: a code for labels and logs, a sentence for people.

use std::fmt;

/// The reason why a signature, an agent's URL or a directory is not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// Occurs when one of the three fields, or a covered one, is longer than the limit.
    FieldTooLarge,
    /// Occurs when `Signature-Input` is not a dictionary of inner lists.
    SignatureInputUnreadable,
    /// Occurs when `Signature` has no octets with the label, or is not a dictionary.
    SignatureValueUnreadable,
    /// Occurs when one of the three fields, or a covered dictionary, contains a name twice.
    DuplicateLabel,
    /// Occurs when a request has more signatures than the limit.
    TooManySignatures,
    /// Occurs when a signature covers more components than the limit.
    TooManyComponents,
    /// Occurs when `created`, `expires` or `keyid` is absent or of the wrong type.
    MissingFields,
    /// Occurs when a signature does not expire after its creation.
    BadWindow,
    /// Occurs when the creation of a signature is in the future.
    ClockAhead,
    /// Occurs when a signature has expired.
    Expired,
    /// Occurs when the lifetime of a signature is longer than the limit.
    LifetimeTooLong,
    /// Occurs when a signature covers neither `@authority` nor `@target-uri`.
    TargetNotCovered,
    /// Occurs when a signature does not cover the request's `Signature-Agent`.
    SignatureAgentNotCovered,
    /// Occurs when a request has no `Signature-Agent`.
    SignatureAgentAbsent,
    /// Occurs when `Signature-Agent` is neither a dictionary nor a string.
    SignatureAgentUnreadable,
    /// Occurs when the URL in `Signature-Agent` has no quotation marks.
    SignatureAgentUnquoted,
    /// Occurs when `Signature-Agent` has no member with the covered name.
    SignatureAgentMemberMissing,
    /// Occurs when the member of `Signature-Agent` has unknown parameters.
    SignatureAgentParameters,
    /// Occurs when the agent's URL is not `https`.
    SignatureAgentNotHttps,
    /// Occurs when the agent's URL is not a plain absolute URL with a host name.
    SignatureAgentUnusable,
    /// Occurs when a signature covers a component twice.
    DuplicateComponent,
    /// Occurs when a covered component, or its parameter, is not supported.
    UnsupportedComponent,
    /// Occurs when a covered component is not in the message.
    ComponentAbsent,
    /// Occurs when a covered component cannot be a line of the signature base.
    ComponentUnreadable,
    /// Occurs when the covered components together are longer than the limit.
    BaseTooLarge,
    /// Occurs when the algorithm is one with shared secrets.
    HmacForbidden,
    /// Occurs when the algorithm is not supported.
    UnsupportedAlgorithm,
    /// Occurs when the algorithm does not fit the key.
    AlgorithmMismatch,
    /// Occurs when the key did not sign this request.
    BadSignature,
    /// Occurs when RFC 9421 contains the key's private half.
    TestKey,
    /// Occurs when the directory does not have the key.
    UnknownKey,
    /// Occurs when the key is not valid yet, by its directory.
    KeyNotYetValid,
    /// Occurs when the key has expired, by its directory.
    KeyExpired,
    /// Occurs when a directory has more octets or more keys than the limit.
    DirectoryTooLarge,
    /// Occurs when a directory is not a JWK Set.
    DirectoryMalformed,
    /// Occurs when a directory has no usable key.
    DirectoryEmpty,
    /// Occurs when a fresh directory has lost more than half of the keys in use.
    DirectoryShrunk,
    /// Occurs when a fresh directory has none of the keys in use.
    DirectoryReplaced,
    /// Occurs when the content of a directory differs from its signed digest.
    DigestMismatch,
}

impl Reason {
    /// All reasons, in the order of their declaration.
    pub const ALL: [Self; 39] = [
        Self::FieldTooLarge,
        Self::SignatureInputUnreadable,
        Self::SignatureValueUnreadable,
        Self::DuplicateLabel,
        Self::TooManySignatures,
        Self::TooManyComponents,
        Self::MissingFields,
        Self::BadWindow,
        Self::ClockAhead,
        Self::Expired,
        Self::LifetimeTooLong,
        Self::TargetNotCovered,
        Self::SignatureAgentNotCovered,
        Self::SignatureAgentAbsent,
        Self::SignatureAgentUnreadable,
        Self::SignatureAgentUnquoted,
        Self::SignatureAgentMemberMissing,
        Self::SignatureAgentParameters,
        Self::SignatureAgentNotHttps,
        Self::SignatureAgentUnusable,
        Self::DuplicateComponent,
        Self::UnsupportedComponent,
        Self::ComponentAbsent,
        Self::ComponentUnreadable,
        Self::BaseTooLarge,
        Self::HmacForbidden,
        Self::UnsupportedAlgorithm,
        Self::AlgorithmMismatch,
        Self::BadSignature,
        Self::TestKey,
        Self::UnknownKey,
        Self::KeyNotYetValid,
        Self::KeyExpired,
        Self::DirectoryTooLarge,
        Self::DirectoryMalformed,
        Self::DirectoryEmpty,
        Self::DirectoryShrunk,
        Self::DirectoryReplaced,
        Self::DigestMismatch,
    ];

    /// The code: stable and low in number, so that it can be a metric label.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::FieldTooLarge => "field-too-large",
            Self::SignatureInputUnreadable => "signature-input-unreadable",
            Self::SignatureValueUnreadable => "signature-value-unreadable",
            Self::DuplicateLabel => "duplicate-label",
            Self::TooManySignatures => "too-many-signatures",
            Self::TooManyComponents => "too-many-components",
            Self::MissingFields => "missing-fields",
            Self::BadWindow => "bad-window",
            Self::ClockAhead => "clock-ahead",
            Self::Expired => "expired",
            Self::LifetimeTooLong => "lifetime-too-long",
            Self::TargetNotCovered => "target-not-covered",
            Self::SignatureAgentNotCovered => "signature-agent-not-covered",
            Self::SignatureAgentAbsent => "signature-agent-absent",
            Self::SignatureAgentUnreadable => "signature-agent-unreadable",
            Self::SignatureAgentUnquoted => "signature-agent-unquoted",
            Self::SignatureAgentMemberMissing => "signature-agent-member-missing",
            Self::SignatureAgentParameters => "signature-agent-parameters",
            Self::SignatureAgentNotHttps => "signature-agent-not-https",
            Self::SignatureAgentUnusable => "signature-agent-unusable",
            Self::DuplicateComponent => "duplicate-component",
            Self::UnsupportedComponent => "unsupported-component",
            Self::ComponentAbsent => "component-absent",
            Self::ComponentUnreadable => "component-unreadable",
            Self::BaseTooLarge => "base-too-large",
            Self::HmacForbidden => "hmac-forbidden",
            Self::UnsupportedAlgorithm => "unsupported-algorithm",
            Self::AlgorithmMismatch => "algorithm-mismatch",
            Self::BadSignature => "bad-signature",
            Self::TestKey => "test-key",
            Self::UnknownKey => "unknown-key",
            Self::KeyNotYetValid => "key-not-yet-valid",
            Self::KeyExpired => "key-expired",
            Self::DirectoryTooLarge => "directory-too-large",
            Self::DirectoryMalformed => "directory-malformed",
            Self::DirectoryEmpty => "directory-empty",
            Self::DirectoryShrunk => "directory-shrunk",
            Self::DirectoryReplaced => "directory-replaced",
            Self::DigestMismatch => "digest-mismatch",
        }
    }
}

/// The sentence. It names the repair if the signer has one.
impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::FieldTooLarge => "a signature field or a covered one is longer than 8 KiB (send or cover less)",
            Self::SignatureInputUnreadable => "Signature-Input is not a dictionary of inner lists (see RFC 9421 §4.1)",
            Self::SignatureValueUnreadable => "Signature has no byte sequence with the label of Signature-Input (see RFC 9421 §4.2)",
            Self::DuplicateLabel => "a dictionary contains a name twice (give each member its own name)",
            Self::TooManySignatures => "the request has more than 4 signatures (send fewer)",
            Self::TooManyComponents => "a signature covers more than 32 components (cover fewer)",
            Self::MissingFields => "created, expires or keyid is missing (send the first two as integers, the last as a string)",
            Self::BadWindow => "the signature expires before its creation",
            Self::ClockAhead => "the creation of the signature is in the future (set the signer's clock)",
            Self::Expired => "the signature has expired (sign each request anew)",
            Self::LifetimeTooLong => "the lifetime of the signature is too long (let it expire within a day)",
            Self::TargetNotCovered => "the signature is valid for any site (cover @authority or @target-uri)",
            Self::SignatureAgentNotCovered => "the signature does not cover Signature-Agent (cover its member)",
            Self::SignatureAgentAbsent => "the request has no Signature-Agent, so the owner of the key is unknown (send and cover it)",
            Self::SignatureAgentUnreadable => "Signature-Agent is not a dictionary of strings (send label=\"https://…\")",
            Self::SignatureAgentUnquoted => "the URL in Signature-Agent is not quoted (send label=\"https://…\")",
            Self::SignatureAgentMemberMissing => "Signature-Agent has no member with the covered name",
            Self::SignatureAgentParameters => "the member of Signature-Agent has unknown parameters (omit them)",
            Self::SignatureAgentNotHttps => "the URL in Signature-Agent is not https (publish the keys over TLS)",
            Self::SignatureAgentUnusable => "the URL in Signature-Agent has no host name, another port than 443, a user or a fragment",
            Self::DuplicateComponent => "the signature covers a component twice (see RFC 9421 §2)",
            Self::UnsupportedComponent => "a covered component or its parameter is not supported (cover others)",
            Self::ComponentAbsent => "the request does not have a covered component",
            Self::ComponentUnreadable => "the value of a covered component cannot be signed (see RFC 9421 §2.1 and §2.5)",
            Self::BaseTooLarge => "the signature covers more than 16 KiB (cover fewer fields)",
            Self::HmacForbidden => "an HMAC proves nothing to a site (sign with a private key)",
            Self::UnsupportedAlgorithm => "the algorithm is not supported (use ed25519 or rsa-pss-sha512)",
            Self::AlgorithmMismatch => "the algorithm does not fit the key",
            Self::BadSignature => "the key did not sign this request",
            Self::TestKey => "the key is an example of RFC 9421, and its private half is public (create a key)",
            Self::UnknownKey => "the directory has no key with this thumbprint (publish the key before use)",
            Self::KeyNotYetValid => "the key is not valid yet, by its directory",
            Self::KeyExpired => "the key has expired, by its directory",
            Self::DirectoryTooLarge => "the directory has more than 64 KiB or 100 keys",
            Self::DirectoryMalformed => "the directory is not a JWK Set",
            Self::DirectoryEmpty => "the directory has no usable key",
            Self::DirectoryShrunk => "the directory has lost more than half of the keys in use (it is accepted if it stays so)",
            Self::DirectoryReplaced => "the directory has none of the keys in use (it is accepted if it says the same an hour later)",
            Self::DigestMismatch => "the digest is not that of the content (sign the response as it is sent)",
        })
    }
}

impl std::error::Error for Reason {}
