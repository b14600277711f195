//! Why a signature proves nothing: a code for labels and logs, a sentence for people.

use std::fmt;

/// What a signature says in the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The holder of the key signed this request.
    Verified,
    /// The signature is wrong: made for something else, altered, out of date or malformed.
    Invalid(Reason),
    /// Nothing can be said: what is needed to judge is missing.
    Unverified(Reason),
}

/// Everything that can keep a signature, an agent's URL or a directory from being accepted. Each
/// reason always leads to the same [`Outcome`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// Occurs when one of the three fields, or a covered one, is longer than what is read.
    FieldTooLarge,
    /// Occurs when `Signature-Input` is no dictionary of inner lists.
    SignatureInputUnreadable,
    /// Occurs when `Signature` has no octets under the label, or is no dictionary.
    SignatureValueUnreadable,
    /// Occurs when a name stands twice in one of the three fields, or in a covered dictionary.
    DuplicateLabel,
    /// Occurs when a request carries more signatures than are looked at.
    TooManySignatures,
    /// Occurs when a signature covers more components than are looked at.
    TooManyComponents,
    /// Occurs when `created`, `expires` or `keyid` is absent or of the wrong type.
    MissingFields,
    /// Occurs when a signature expires before, or as soon as, it was created.
    BadWindow,
    /// Occurs when a signature was created in the future.
    ClockAhead,
    /// Occurs when a signature is past its time.
    Expired,
    /// Occurs when a signature may be used for longer than the limit.
    LifetimeTooLong,
    /// Occurs when neither `@authority` nor `@target-uri` is covered.
    TargetNotCovered,
    /// Occurs when `Signature-Agent` is sent and not covered.
    SignatureAgentNotCovered,
    /// Occurs when a signature names no agent, and the request none.
    SignatureAgentAbsent,
    /// Occurs when `Signature-Agent` is neither a dictionary nor a string.
    SignatureAgentUnreadable,
    /// Occurs when the URL in `Signature-Agent` stands without quotation marks.
    SignatureAgentUnquoted,
    /// Occurs when `Signature-Agent` has no member of the name that is covered.
    SignatureAgentMemberMissing,
    /// Occurs when the member of `Signature-Agent` has parameters that are not understood.
    SignatureAgentParameters,
    /// Occurs when the agent's URL is of another scheme.
    SignatureAgentNotHttps,
    /// Occurs when the agent's URL is no plain absolute URL of a named host.
    SignatureAgentUnusable,
    /// Occurs when the same component is covered twice.
    DuplicateComponent,
    /// Occurs when a component is covered that is not known, or with unknown parameters.
    UnsupportedComponent,
    /// Occurs when a covered component is not in the message.
    ComponentAbsent,
    /// Occurs when a covered component cannot be a line of the signature base.
    ComponentUnreadable,
    /// Occurs when all that is covered is more than what is hashed.
    BaseTooLarge,
    /// Occurs when the algorithm is one of shared secrets.
    HmacForbidden,
    /// Occurs when the algorithm is none that is verified here.
    UnsupportedAlgorithm,
    /// Occurs when the algorithm is not that of the key.
    AlgorithmMismatch,
    /// Occurs when the key verifies something else than this.
    BadSignature,
    /// Occurs when the key's private half stands in RFC 9421.
    TestKey,
    /// Occurs when the directory does not have the key.
    UnknownKey,
    /// Occurs when the directory says that the key is for later.
    KeyNotYetValid,
    /// Occurs when the directory says that the key's time is over.
    KeyExpired,
    /// Occurs when a directory has more octets or more keys than are read.
    DirectoryTooLarge,
    /// Occurs when a directory is no JWK Set.
    DirectoryMalformed,
    /// Occurs when the digest of a directory is not that of its content.
    DigestMismatch,
}

impl Reason {
    /// All reasons, in the order of their declaration.
    pub const ALL: [Self; 36] = [
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
        Self::DigestMismatch,
    ];

    /// The code: stable, few, fit for a metric's label.
    pub const fn as_str(self) -> &'static str {
        self.words().0
    }

    /// The outcome that follows.
    pub const fn outcome(self) -> Outcome {
        match self {
            // The draft only advises to keep signatures short-lived, and to send the agent's URL.
            Self::LifetimeTooLong
            | Self::SignatureAgentAbsent
            | Self::SignatureAgentParameters
            | Self::UnsupportedAlgorithm
            | Self::UnknownKey
            | Self::KeyNotYetValid
            | Self::KeyExpired
            | Self::DirectoryTooLarge
            | Self::DirectoryMalformed => Outcome::Unverified(self),
            _ => Outcome::Invalid(self),
        }
    }

    /// Code and sentence; the sentence names the repair where the signer has one.
    const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::FieldTooLarge => (
                "field-too-large",
                "a signature field or a covered one is longer than 8 KiB (send or cover less)",
            ),
            Self::SignatureInputUnreadable => (
                "signature-input-unreadable",
                "Signature-Input is no dictionary of inner lists (see RFC 9421 §4.1)",
            ),
            Self::SignatureValueUnreadable => (
                "signature-value-unreadable",
                "Signature has no byte sequence under the label of Signature-Input (see RFC 9421 §4.2)",
            ),
            Self::DuplicateLabel => (
                "duplicate-label",
                "a name stands twice in a dictionary (give each member its own)",
            ),
            Self::TooManySignatures => {
                ("too-many-signatures", "there are more than 4 signatures (send fewer)")
            }
            Self::TooManyComponents => {
                ("too-many-components", "a signature covers more than 32 components (cover fewer)")
            }
            Self::MissingFields => (
                "missing-fields",
                "created, expires or keyid is missing (send the first two as integers, the last as a string)",
            ),
            Self::BadWindow => ("bad-window", "the signature expires before it was created"),
            Self::ClockAhead => {
                ("clock-ahead", "the signature was created in the future (set the signer's clock)")
            }
            Self::Expired => ("expired", "the signature has expired (sign each request anew)"),
            Self::LifetimeTooLong => (
                "lifetime-too-long",
                "the signature lasts longer than is accepted (let it expire within a day)",
            ),
            Self::TargetNotCovered => (
                "target-not-covered",
                "the signature is good for any site (cover @authority or @target-uri)",
            ),
            Self::SignatureAgentNotCovered => {
                ("signature-agent-not-covered", "Signature-Agent is not signed (cover its member)")
            }
            Self::SignatureAgentAbsent => (
                "signature-agent-absent",
                "there is no Signature-Agent, so nobody knows whose key it is (send and cover it)",
            ),
            Self::SignatureAgentUnreadable => (
                "signature-agent-unreadable",
                "Signature-Agent is no dictionary of strings (send label=\"https://…\")",
            ),
            Self::SignatureAgentUnquoted => (
                "signature-agent-unquoted",
                "the URL in Signature-Agent is not quoted (send label=\"https://…\")",
            ),
            Self::SignatureAgentMemberMissing => (
                "signature-agent-member-missing",
                "Signature-Agent has no member of the name that is covered",
            ),
            Self::SignatureAgentParameters => (
                "signature-agent-parameters",
                "the member of Signature-Agent has parameters that are not understood (leave them out)",
            ),
            Self::SignatureAgentNotHttps => (
                "signature-agent-not-https",
                "the URL in Signature-Agent is not https (publish the keys over TLS)",
            ),
            Self::SignatureAgentUnusable => (
                "signature-agent-unusable",
                "the URL in Signature-Agent is not that of a named host on port 443, or has a user or a fragment",
            ),
            Self::DuplicateComponent => {
                ("duplicate-component", "a component is covered twice (see RFC 9421 §2)")
            }
            Self::UnsupportedComponent => (
                "unsupported-component",
                "a covered component or its parameter is not known here (cover others)",
            ),
            Self::ComponentAbsent => {
                ("component-absent", "a covered component is not in the message")
            }
            Self::ComponentUnreadable => (
                "component-unreadable",
                "the value of a covered component cannot be signed (see RFC 9421 §2.1 and §2.5)",
            ),
            Self::BaseTooLarge => {
                ("base-too-large", "more than 16 KiB are covered (cover fewer fields)")
            }
            Self::HmacForbidden => {
                ("hmac-forbidden", "an HMAC proves nothing to a site (sign with a private key)")
            }
            Self::UnsupportedAlgorithm => (
                "unsupported-algorithm",
                "the algorithm is not verified here (use ed25519 or rsa-pss-sha512)",
            ),
            Self::AlgorithmMismatch => {
                ("algorithm-mismatch", "the algorithm is not that of the key")
            }
            Self::BadSignature => ("bad-signature", "the key did not sign this"),
            Self::TestKey => (
                "test-key",
                "the key is one of RFC 9421's examples, which anybody can sign with (make one)",
            ),
            Self::UnknownKey => (
                "unknown-key",
                "the directory has no key with this thumbprint (publish it before signing with it)",
            ),
            Self::KeyNotYetValid => {
                ("key-not-yet-valid", "the directory says that the key is for later")
            }
            Self::KeyExpired => ("key-expired", "the directory says that the key is out of date"),
            Self::DirectoryTooLarge => {
                ("directory-too-large", "the directory has more than 64 KiB or 100 keys")
            }
            Self::DirectoryMalformed => ("directory-malformed", "the directory is no JWK Set"),
            Self::DigestMismatch => {
                ("digest-mismatch", "Content-Digest is not that of the directory received")
            }
        }
    }
}

/// The sentence.
impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words().1)
    }
}

impl std::error::Error for Reason {}

impl From<Reason> for Outcome {
    fn from(reason: Reason) -> Self {
        reason.outcome()
    }
}

impl Outcome {
    /// The outcome in a word, for labels and logs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Verified => "verified",
            Self::Invalid(_) => "invalid",
            Self::Unverified(_) => "unverified",
        }
    }

    /// Why not, where it is not verified.
    pub const fn reason(self) -> Option<Reason> {
        match self {
            Self::Verified => None,
            Self::Invalid(reason) | Self::Unverified(reason) => Some(reason),
        }
    }
}
