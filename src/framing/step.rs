//! The result of reading a piece of a message.

/// What comes after the octets that passed unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
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
pub enum Fault {
    /// Occurs when a request line is not `method target HTTP/1.x` (RFC 9112 §3), or contains
    /// control octets.
    RequestLine,
    /// Occurs when a field line is not `name: value` (RFC 9112 §5), or contains control octets.
    Field,
    /// Occurs when `Content-Length` values are not numbers or differ (RFC 9110 §8.6).
    Length,
    /// Occurs when a chunk has no plain size, or not that size (RFC 9112 §7.1).
    Chunk,
}

impl Fault {
    /// The stable name in logs and metrics.
    pub const fn code(self) -> &'static str {
        match self {
            Self::RequestLine => "proxy.bad_request_line",
            Self::Field => "proxy.bad_field",
            Self::Length => "proxy.bad_length",
            Self::Chunk => "proxy.bad_chunk",
        }
    }
}
