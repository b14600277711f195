//! The way of each octet of a target from a client to the judgement.
//!
//! A client may send octets that no URI has (RFC 3986). Most of them pass percent-encoded.

/// The way of one octet of a target through an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TargetOctet {
    Unchanged,
    /// It passes percent-encoded: it is in no URI (RFC 3986).
    Encoded,
    /// No request line has it: a control character.
    Refused,
}

impl TargetOctet {
    /// The way of this octet.
    pub(crate) const fn of(octet: u8) -> Self {
        match octet {
            b' ' | b'"' | b'<' | b'>' | b'`' | 0x80.. => Self::Encoded,
            // `\ ^ { | }` are in no URI either. Parsers take them, so they stay as written.
            b'!'..=b'~' => Self::Unchanged,
            _ => Self::Refused,
        }
    }
}
