//! Field lines up to the empty line (RFC 9112 §5), strictly, and the framing that they declare.
//!
//! Each line ends with CRLF. No line is folded.

use super::{
    octets::{is_token, is_value, run, value_run},
    progress::{Fault, Step},
};

/// The lines of a head or a trailer section, read up to some place.
#[derive(Debug, Default)]
pub(super) struct FieldLines {
    place: Place,
    name: Name,
    length: ContentLength,
    /// Whether a transfer coding frames the body. pingora refuses all but a final `chunked`.
    pub(super) is_chunked: bool,
    /// Whether the request asks for another protocol (RFC 9110 §7.8).
    pub(super) switches: bool,
    pub(super) count: u32,
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
    /// The length of a body that is not chunked.
    pub(super) fn length(&self) -> u64 {
        self.length.agreed.unwrap_or(0)
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

/// The values of `Content-Length` so far (RFC 9110 §8.6), octet by octet. Several lines and lists must
/// repeat one number.
#[derive(Debug, Default)]
struct ContentLength {
    agreed: Option<u64>,
    place: Number,
}

#[derive(Debug, Default)]
enum Number {
    #[default]
    Before,
    In(u64),
    After(u64),
}

impl ContentLength {
    /// Reads a piece of a value. `None` if it is no length.
    #[must_use]
    fn read(&mut self, piece: &[u8]) -> Option<()> {
        piece.iter().try_for_each(|&octet| self.read_octet(octet))
    }

    fn read_octet(&mut self, octet: u8) -> Option<()> {
        self.place = match (&self.place, octet) {
            (Number::Before, b' ' | b'\t') => Number::Before,
            (Number::Before, b'0'..=b'9') => Number::In(u64::from(octet - b'0')),
            (Number::In(number), b'0'..=b'9') => {
                Number::In(number.checked_mul(10)?.checked_add(u64::from(octet - b'0'))?)
            }
            (Number::In(number) | Number::After(number), b' ' | b'\t') => Number::After(*number),
            (Number::In(_) | Number::After(_), b',') => return self.end(),
            _ => return None,
        };
        Some(())
    }

    /// Ends a number at a comma or at the end of a line. `None` if there is none, or another one.
    #[must_use]
    fn end(&mut self) -> Option<()> {
        let (Number::In(number) | Number::After(number)) = std::mem::take(&mut self.place) else {
            return None;
        };
        if self.agreed.is_some_and(|agreed| agreed != number) {
            return None;
        }
        self.agreed = Some(number);
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rfc9110_8_6_all_values_repeat_one_number() {
        for (lines, expected) in [
            (&["5"][..], Some(5)),
            (&[" 5\t "], Some(5)),
            (&["005"], Some(5)),
            (&["5, 5"], Some(5)),
            (&["5", "5 ,05"], Some(5)),
            (&["18446744073709551615"], Some(u64::MAX)),
            (&["18446744073709551616"], None),
            (&["5, 6"], None),
            (&["5", "6"], None),
            (&["5,"], None),
            (&[",5"], None),
            (&["5 5"], None),
            (&["+5"], None),
            (&["-1"], None),
            (&["0x5"], None),
            (&["5_0"], None),
            (&[""], None),
            (&[" "], None),
        ] {
            let mut length = ContentLength::default();
            let read = lines.iter().try_for_each(|line| {
                // In two pieces, as a slow client sends it.
                let (first, rest) = line.as_bytes().split_at(line.len() / 2);
                length.read(first).and_then(|()| length.read(rest)).and_then(|()| length.end())
            });
            assert_eq!(read.and(length.agreed), expected, "{lines:?}");
        }
    }
}
