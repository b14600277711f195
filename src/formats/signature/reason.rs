//! The reasons why a signature proves nothing: a code for labels and logs, a sentence for people.

use std::fmt;

use crate::base::text::words;

words! {
    /// The reason why a signature, an agent's URL or a directory is not accepted.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Reason {
        /// Occurs when one of the three fields, or a covered one, is longer than the limit.
        FieldTooLarge = "field-too-large",
        /// Occurs when `Signature-Input` is not a dictionary of inner lists.
        SignatureInputUnreadable = "signature-input-unreadable",
        /// Occurs when `Signature` has no octets with the label, or is not a dictionary.
        SignatureValueUnreadable = "signature-value-unreadable",
        /// Occurs when one of the three fields, or a covered dictionary, contains a name twice.
        DuplicateLabel = "duplicate-label",
        /// Occurs when a request has more signatures than the limit.
        TooManySignatures = "too-many-signatures",
        /// Occurs when a signature covers more components than the limit.
        TooManyComponents = "too-many-components",
        /// Occurs when `created`, `expires` or `keyid` is absent or of the wrong type.
        MissingFields = "missing-fields",
        /// Occurs when a signature does not expire after its creation.
        BadWindow = "bad-window",
        /// Occurs when the creation of a signature is in the future.
        ClockAhead = "clock-ahead",
        /// Occurs when a signature has expired.
        Expired = "expired",
        /// Occurs when the lifetime of a signature is longer than the limit.
        LifetimeTooLong = "lifetime-too-long",
        /// Occurs when a signature covers neither `@authority` nor `@target-uri`.
        TargetNotCovered = "target-not-covered",
        /// Occurs when a signature does not cover the request's `Signature-Agent`.
        SignatureAgentNotCovered = "signature-agent-not-covered",
        /// Occurs when a request has no `Signature-Agent`.
        SignatureAgentAbsent = "signature-agent-absent",
        /// Occurs when `Signature-Agent` is neither a dictionary nor a string.
        SignatureAgentUnreadable = "signature-agent-unreadable",
        /// Occurs when the URL in `Signature-Agent` has no quotation marks.
        SignatureAgentUnquoted = "signature-agent-unquoted",
        /// Occurs when `Signature-Agent` has no member with the covered name.
        SignatureAgentMemberMissing = "signature-agent-member-missing",
        /// Occurs when the member of `Signature-Agent` has unknown parameters.
        SignatureAgentParameters = "signature-agent-parameters",
        /// Occurs when the agent's URL is not `https`.
        SignatureAgentNotHttps = "signature-agent-not-https",
        /// Occurs when the agent's URL is not a plain absolute URL with a host name.
        SignatureAgentUnusable = "signature-agent-unusable",
        /// Occurs when a signature covers a component twice.
        DuplicateComponent = "duplicate-component",
        /// Occurs when a covered component, or its parameter, is not supported.
        UnsupportedComponent = "unsupported-component",
        /// Occurs when a covered component is not in the message.
        ComponentAbsent = "component-absent",
        /// Occurs when a covered component cannot be a line of the signature base.
        ComponentUnreadable = "component-unreadable",
        /// Occurs when the covered components together are longer than the limit.
        BaseTooLarge = "base-too-large",
        /// Occurs when the algorithm is one with shared secrets.
        HmacForbidden = "hmac-forbidden",
        /// Occurs when the algorithm is not supported.
        UnsupportedAlgorithm = "unsupported-algorithm",
        /// Occurs when the algorithm does not fit the key.
        AlgorithmMismatch = "algorithm-mismatch",
        /// Occurs when the key did not sign this request.
        BadSignature = "bad-signature",
        /// Occurs when RFC 9421 contains the key's private half.
        TestKey = "test-key",
        /// Occurs when the directory does not have the key.
        UnknownKey = "unknown-key",
        /// Occurs when the key is not valid yet, by its directory.
        KeyNotYetValid = "key-not-yet-valid",
        /// Occurs when the key has expired, by its directory.
        KeyExpired = "key-expired",
        /// Occurs when a directory has more octets or more keys than the limit.
        DirectoryTooLarge = "directory-too-large",
        /// Occurs when a directory is not a JWK Set.
        DirectoryMalformed = "directory-malformed",
        /// Occurs when a directory has no usable key.
        DirectoryEmpty = "directory-empty",
        /// Occurs when a fresh directory has lost more than half of the keys in use.
        DirectoryShrunk = "directory-shrunk",
        /// Occurs when a fresh directory has none of the keys in use.
        DirectoryReplaced = "directory-replaced",
        /// Occurs when the content of a directory differs from its signed digest.
        DigestMismatch = "digest-mismatch",
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
