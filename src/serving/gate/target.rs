//! The target of a request, from the octets that a client sends to those that are judged.
//!
//! A client may send octets that no URI has. An edge percent-encodes most of them, refuses control
//! characters, cuts a fragment and limits the length. [`received_target`] does the same to a target
//! that an operator writes.

use std::{borrow::Cow, fmt};

use http::{HeaderMap, Method};

use crate::{base::escape::push_percent, formats::framing::TargetOctet};

use super::admission::admit;

/// The longest target, in octets: what the edge's parser takes.
const MOST_OCTETS: usize = 65_534;

/// The reason why a request with this target gets 400.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadTarget {
    /// Occurs when a target contains this control character.
    ControlCharacter(u8),
    /// Occurs when a target is longer than the edge's parser takes.
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

/// The target that the gate gets of a GET with the target `sent`; most often `sent` itself.
///
/// # Errors
/// The reason why it gets none.
pub fn received_target(sent: &[u8]) -> Result<Cow<'_, [u8]>, BadTarget> {
    let is_plain = |&octet: &u8| octet != b'#' && TargetOctet::of(octet) == TargetOctet::Unchanged;
    if sent.first() == Some(&b'/') && sent.len() <= MOST_OCTETS && sent.iter().all(is_plain) {
        return Ok(Cow::Borrowed(sent));
    }
    if sent.is_empty() {
        return Err(BadTarget::NoPath);
    }
    let mut received = encoded(sent).map_err(BadTarget::ControlCharacter)?.into_owned();
    // A fragment is no part of a target (RFC 9112 §3.2).
    let end = received.iter().position(|&octet| octet == b'#').unwrap_or(received.len());
    received.truncate(end);
    if received.is_empty() {
        received.push(b'/');
    }
    let admission = admit(&Method::GET, &received, &HeaderMap::new());
    let received = admission.map_err(|_| BadTarget::NoPath)?.target.unwrap_or(received);
    if received.len() > MOST_OCTETS {
        return Err(BadTarget::TooLong);
    }
    Ok(Cow::Owned(received))
}

/// The target `sent`, as it passes; most often `sent` itself.
///
/// # Errors
/// An octet that no request line has.
pub fn encoded(sent: &[u8]) -> Result<Cow<'_, [u8]>, u8> {
    if sent.iter().all(|&octet| TargetOctet::of(octet) == TargetOctet::Unchanged) {
        return Ok(Cow::Borrowed(sent));
    }
    let mut out = Vec::with_capacity(3 * sent.len());
    for &octet in sent {
        match TargetOctet::of(octet) {
            TargetOctet::Unchanged => out.push(octet),
            TargetOctet::Encoded => push_percent(&mut out, octet),
            TargetOctet::Refused => return Err(octet),
        }
    }
    Ok(Cow::Owned(out))
}
