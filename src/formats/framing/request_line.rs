//! The request line (RFC 9112 §3), strictly: `method SP target SP HTTP/1.x CRLF`.
//!
//! A space inside the target is percent-encoded, so the version is what stands before the end of
//! the line. Empty lines before the request line pass (§2.2).
//!
//! A fragment is no part of a target, and the parser cuts it. Only reading may mean less than what
//! the client wrote: `DELETE /a/#b` must not delete `/a/`.

use super::{
    octets::{is_encoded, is_target, is_token, run},
    progress::{Fault, Step},
};

const ENDS: [&[u8]; 2] = [b" HTTP/1.1\r\n", b" HTTP/1.0\r\n"];

/// The methods whose target may have a fragment, in the form of [`RequestLine::method`].
const READING: [u64; 2] =
    [u64::from_be_bytes(*b"\0\0\0\0\0GET"), u64::from_be_bytes(*b"\0\0\0\0HEAD")];

/// A request line, read up to some place.
#[derive(Debug)]
pub(super) struct RequestLine {
    place: Place,
    /// The last eight octets of the method.
    method: u64,
    /// Whether the client speaks HTTP/1.0; known at the end of the line.
    pub(super) is_http_1_0: bool,
}

#[derive(Debug)]
enum Place {
    Start,
    EmptyLine,
    Method,
    Target,
}

impl RequestLine {
    pub(super) const fn new() -> Self {
        Self { place: Place::Start, method: 0, is_http_1_0: false }
    }

    /// The number of octets that pass unchanged, and what comes after them.
    pub(super) fn step(&mut self, bytes: &[u8]) -> (usize, Step) {
        const REFUSED: Step = Step::Refuse(Fault::RequestLine);
        let mut at = 0;
        while let Some(&octet) = bytes.get(at) {
            match self.place {
                Place::Start if octet == b'\r' => {
                    self.place = Place::EmptyLine;
                    at += 1;
                }
                Place::EmptyLine if octet == b'\n' => {
                    self.place = Place::Start;
                    at += 1;
                }
                Place::Start if is_token(octet) => {
                    self.place = Place::Method;
                }
                Place::Method if octet == b' ' => {
                    self.place = Place::Target;
                    at += 1;
                }
                Place::Method if is_token(octet) => {
                    self.method = self.method << 8 | u64::from(octet);
                    at += 1;
                }
                Place::Target if is_target(octet) => {
                    let passed = &bytes[at..][..run(&bytes[at..], is_target)];
                    if !READING.contains(&self.method)
                        && let Some(fragment) = passed.iter().position(|&octet| octet == b'#')
                    {
                        return (at + fragment, REFUSED);
                    }
                    at += passed.len();
                }
                Place::Target if octet == b' ' => {
                    let (passed, step) = self.end(&bytes[at..]);
                    return (at + passed, step);
                }
                Place::Target if is_encoded(octet) => return (at, Step::Encode),
                Place::Start | Place::EmptyLine | Place::Method | Place::Target => {
                    return (at, REFUSED);
                }
            }
        }
        (at, Step::More)
    }

    /// Reads the end of the line, or a space of the target.
    fn end(&mut self, rest: &[u8]) -> (usize, Step) {
        for end in ENDS {
            if rest.starts_with(end) {
                self.is_http_1_0 = end == ENDS[1];
                return (end.len(), Step::Done);
            }
        }
        let is_undecided = ENDS.iter().any(|end| end.starts_with(rest));
        (0, if is_undecided { Step::Wait } else { Step::Encode })
    }
}
