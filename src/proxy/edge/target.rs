//! The target of a request: from the octets that a client sends to those that the gate judges and
//! the origin gets.
//!
//! The edge encodes some octets, pingora's parser cuts a fragment and limits the length, and the gate
//! admits one form.

use std::fmt;

use http::Method;
use pingora::http::RequestHeader;

use crate::gate::{self, Refusal};

use super::octets::encode_target;

/// The reason why a request with this target gets 400.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadTarget {
    /// Occurs when a target contains this control character.
    ControlCharacter(u8),
    /// Occurs when a target is longer than pingora's parser takes.
    TooLong,
    /// Occurs when a target is neither a path nor an `http` or `https` URL.
    NoPath,
}

/// The fault with its repair, for a target that an operator has written.
impl fmt::Display for BadTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ControlCharacter(octet) => {
                write!(f, "it has a control character (write it as %{octet:02X})")
            }
            Self::TooLong => f.write_str("it is too long (64 KiB is the limit)"),
            Self::NoPath => {
                f.write_str("it is neither a path nor a URL (begin with '/' or 'https://')")
            }
        }
    }
}

/// The target that the gate gets of a GET with the target `sent`.
///
/// # Errors
/// The reason why it gets none.
pub fn received_target(sent: &[u8]) -> Result<Vec<u8>, BadTarget> {
    if sent.is_empty() {
        return Err(BadTarget::NoPath);
    }
    let encoded = encode_target(sent).map_err(BadTarget::ControlCharacter)?;
    let header = RequestHeader::build(Method::GET, &encoded, None);
    let mut header = header.map_err(|_| BadTarget::TooLong)?;
    admit(&mut header).map_err(|_| BadTarget::NoPath)?;
    Ok(header.raw_path().to_vec())
}

/// Brings a request into the form that the gate judges.
pub(in crate::proxy) fn admit(header: &mut RequestHeader) -> Result<(), Refusal> {
    let admission = gate::admit(&header.method, header.raw_path(), &header.headers)?;
    if let Some(length) = admission.content_length {
        header.insert_header("Content-Length", length).map_err(|_| Refusal::BadLength)?;
    }
    let Some(target) = admission.target else { return Ok(()) };
    header.set_raw_path(&target).map_err(|_| Refusal::AmbiguousTarget)?;
    if header.raw_path() == target { Ok(()) } else { Err(Refusal::AmbiguousTarget) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_received_as_the_gate_judges_it() {
        let long = format!("/{}", "a".repeat(65_533));
        let too_long = format!("{long}a");
        for (sent, received) in [
            ("/", Ok("/")),
            ("/a?b#c", Ok("/a?b")),
            ("/caf\u{e9} \"x", Ok("/caf%C3%A9%20%22x")),
            ("//x\\y|z", Ok("//x\\y|z")),
            ("https://site.example/a?b", Ok("/a?b")),
            ("HTTP://site.example?b", Ok("/?b")),
            ("http://site.example", Ok("/")),
            (&long, Ok(&*long)),
            (&too_long, Err(BadTarget::TooLong)),
            ("/a\tb", Err(BadTarget::ControlCharacter(b'\t'))),
            ("/a\r\nb", Err(BadTarget::ControlCharacter(b'\r'))),
            ("/\u{7f}", Err(BadTarget::ControlCharacter(0x7f))),
            ("", Err(BadTarget::NoPath)),
            ("*", Err(BadTarget::NoPath)),
            ("?a", Err(BadTarget::NoPath)),
            ("foo:bar", Err(BadTarget::NoPath)),
            ("private/x", Err(BadTarget::NoPath)),
            ("ftp://site.example/x", Err(BadTarget::NoPath)),
            ("http:///x", Err(BadTarget::NoPath)),
        ] {
            let found = received_target(sent.as_bytes());
            assert_eq!(found.as_deref().map_err(|e| *e), received.map(str::as_bytes), "{sent:.80}");
        }
    }
}
