//! The result of reading a piece of a message.

/// What comes after the octets that passed unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Nothing: all octets passed.
    More,
    /// The next part of the message.
    Done,
    /// An octet to percent-encode.
    Encode,
    /// Octets that mean one thing or another, depending on the octets after them.
    Wait,
    /// An octet that makes the message invalid.
    Refuse(Fault),
}

/// The reason to refuse a message before it is parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Occurs when a request line is not `method target HTTP/1.x` (RFC 9112 §3), or contains
    /// control octets.
    RequestLine,
    /// Occurs when a field line is not `name: value` (RFC 9112 §5), or contains control octets.
    Field,
    /// Occurs when `Content-Length` values are not numbers or differ (RFC 9110 §8.6).
    Length,
    /// Occurs when a chunk has no plain size, or not that size (RFC 9112 §7.1).
    Chunk,
    /// Occurs when a request line is longer than a head may be (RFC 9110 §15.5.15).
    LongLine,
    /// Occurs when the fields are larger than a head may be (RFC 6585 §5).
    LongFields,
    /// Occurs when there are more field lines than a head may have (RFC 6585 §5).
    ManyFields,
}

impl Fault {
    /// The stable name in logs and metrics.
    pub(crate) const fn code(self) -> &'static str {
        match self {
            Self::RequestLine => "proxy.bad_request_line",
            Self::Field => "proxy.bad_field",
            Self::Length => "proxy.bad_length",
            Self::Chunk => "proxy.bad_chunk",
            Self::LongLine | Self::LongFields => "proxy.header_size",
            Self::ManyFields => "proxy.header_fields",
        }
    }

    pub(crate) const fn status(self) -> u16 {
        match self {
            Self::RequestLine | Self::Field | Self::Length | Self::Chunk => 400,
            Self::LongLine => 414,
            Self::LongFields | Self::ManyFields => 431,
        }
    }
}
