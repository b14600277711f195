//! The messages of an HTTP/1 connection (RFC 9112), strictly, and the frames of an HTTP/2 connection.
//!
//! ```text
//! octets ─▶ Reader: line ─▶ fields ─▶ body (length or chunks) ─▶ trailers ─▶ line …
//! ```
//!
//! A reader tells which octets pass unchanged, which pass percent-encoded, and which make a message
//! invalid. It takes octets in pieces of any size, and copies nothing.
//!
//! May use: nothing. Must not know: connections, pingora.

mod field_lines; // header fields and trailers
mod frames; // where a client of HTTP/2 is
mod octets; // classes of octets, and the octets of a target
mod progress; // the result of reading a piece
mod reader; // one message after another, and the chunks of a body
mod request_line; // method, target, version

pub(crate) use self::{
    frames::Multiplex,
    octets::TargetOctet,
    progress::{Fault, Step},
    reader::{Bounds, Reader},
};
