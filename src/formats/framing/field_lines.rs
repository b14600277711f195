//! Field lines up to the empty line (RFC 9112 §5), strictly, and the framing that they declare.
//!
//! Each line ends with CRLF. No line is folded.

use super::{
    content_length::ContentLength,
    octets::{is_token, is_value, run, value_run},
    progress::{Fault, Step},
};

/// The lines of a head or a trailer section, read up to some place.
#[derive(Debug, Default)]
pub(super) struct FieldLines {
    place: Place,
    name: Name,
    length: ContentLength,
    is_chunked: bool,
    switches: bool,
    count: u32,
}

#[derive(Clone, Copy, Debug, Default)]
enum Place {
    #[default]
    LineStart,
    Name,
    Value(Field),
    ValueEnd(Field),
    LastLine,
}

/// A field that the framing depends on, or another one.
#[derive(Clone, Copy, Debug)]
enum Field {
    ContentLength,
    TransferEncoding,
    Upgrade,
    Other,
}

/// The start of a field name in lower case, long enough to recognise the fields of the framing.
#[derive(Debug, Default)]
struct Name {
    octets: [u8; LONGEST],
    length: usize,
}

/// The length of the longest name that matters, `transfer-encoding`.
const LONGEST: usize = 17;

impl FieldLines {
    /// Whether a transfer coding frames the body. pingora refuses all but a final `chunked`.
    pub(super) const fn is_chunked(&self) -> bool {
        self.is_chunked
    }

    /// The length of a body that is not chunked.
    pub(super) fn length(&self) -> u64 {
        self.length.value().unwrap_or(0)
    }

    /// Whether the request asks for another protocol (RFC 9110 §7.8).
    pub(super) const fn switches(&self) -> bool {
        self.switches
    }

    pub(super) const fn count(&self) -> u32 {
        self.count
    }

    /// The number of octets that pass unchanged, and what comes after them.
    pub(super) fn step(&mut self, bytes: &[u8]) -> (usize, Step) {
        let mut at = 0;
        while let Some(&octet) = bytes.get(at) {
            match (self.place, octet) {
                (Place::LineStart, b'\r') => {
                    self.place = Place::LastLine;
                    at += 1;
                }
                (Place::LastLine, b'\n') => return (at + 1, Step::Done),
                (Place::LineStart, _) if is_token(octet) => {
                    self.name.length = 0;
                    self.place = Place::Name;
                }
                (Place::Name, b':') => {
                    self.place = Place::Value(self.field());
                    at += 1;
                }
                (Place::Name, _) if is_token(octet) => {
                    let length = run(&bytes[at..], is_token);
                    self.name.push(&bytes[at..at + length]);
                    at += length;
                }
                (Place::Value(field), b'\r') => {
                    self.place = Place::ValueEnd(field);
                    at += 1;
                }
                (Place::Value(field), _) if is_value(octet) => {
                    let length = value_run(&bytes[at..]);
                    let value = &bytes[at..at + length];
                    if matches!(field, Field::ContentLength) && self.length.read(value).is_none() {
                        return (at, Step::Refuse(Fault::Length));
                    }
                    at += length;
                }
                (Place::ValueEnd(field), b'\n') => {
                    if matches!(field, Field::ContentLength) && self.length.end().is_none() {
                        return (at, Step::Refuse(Fault::Length));
                    }
                    self.place = Place::LineStart;
                    self.count = self.count.saturating_add(1);
                    at += 1;
                }
                _ => return (at, Step::Refuse(Fault::Field)),
            }
        }
        (at, Step::More)
    }

    /// Notes the field whose name has ended.
    fn field(&mut self) -> Field {
        let field = self.name.field();
        self.is_chunked |= matches!(field, Field::TransferEncoding);
        self.switches |= matches!(field, Field::Upgrade);
        field
    }
}

impl Name {
    fn push(&mut self, octets: &[u8]) {
        for (slot, octet) in self.octets.iter_mut().skip(self.length).zip(octets) {
            *slot = octet.to_ascii_lowercase();
        }
        self.length = self.length.saturating_add(octets.len());
    }

    fn field(&self) -> Field {
        match self.octets.get(..self.length) {
            Some(b"content-length") => Field::ContentLength,
            Some(b"transfer-encoding") => Field::TransferEncoding,
            Some(b"upgrade") => Field::Upgrade,
            _ => Field::Other,
        }
    }
}
