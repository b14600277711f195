//! A chunked body up to its last chunk (RFC 9112 §7.1), strictly.
//!
//! A size has digits alone. White space may only stand before an extension. Extensions contain no
//! control octets.

use super::{
    octets::{is_value, value_run},
    progress::{Fault, Step},
};

/// The most digits of a size: those of 64 bits.
const MOST_DIGITS: u8 = 16;

/// The chunks, read up to some place.
#[derive(Debug)]
pub(super) struct Chunks {
    place: Place,
    /// The size of the current chunk, then the number of its octets to come.
    left: u64,
}

#[derive(Clone, Copy, Debug)]
enum Place {
    Size { digits: u8 },
    BeforeExtension,
    Extension,
    SizeEnd,
    Data,
    DataEnd,
    DataLineEnd,
}

impl Chunks {
    pub(super) const fn new() -> Self {
        Self { place: Place::Size { digits: 0 }, left: 0 }
    }

    /// The number of octets that pass, and what comes after them.
    pub(super) fn step(&mut self, bytes: &[u8]) -> (usize, Step) {
        let mut at = 0;
        while let Some(&octet) = bytes.get(at) {
            at += 1;
            self.place = match (self.place, octet) {
                (Place::Size { digits: 1.. } | Place::Extension, b'\r') => Place::SizeEnd,
                (Place::Size { digits: 1.. } | Place::BeforeExtension, b';') => Place::Extension,
                (Place::Size { digits: 1.. } | Place::BeforeExtension, b' ' | b'\t') => {
                    Place::BeforeExtension
                }
                (Place::Size { digits: ..MOST_DIGITS }, _) if octet.is_ascii_hexdigit() => {
                    self.push(octet)
                }
                (Place::Extension, _) if is_value(octet) => {
                    at += value_run(&bytes[at..]);
                    Place::Extension
                }
                (Place::SizeEnd, b'\n') if self.left == 0 => return (at, Step::Done),
                (Place::SizeEnd, b'\n') => Place::Data,
                (Place::Data, _) => {
                    at -= 1;
                    let there = u64::try_from(bytes.len() - at).unwrap_or(u64::MAX);
                    let passed = self.left.min(there);
                    self.left -= passed;
                    at += usize::try_from(passed).unwrap_or(usize::MAX);
                    if self.left == 0 { Place::DataEnd } else { Place::Data }
                }
                (Place::DataEnd, b'\r') => Place::DataLineEnd,
                (Place::DataLineEnd, b'\n') => Place::Size { digits: 0 },
                _ => return (at - 1, Step::Refuse(Fault::Chunk)),
            };
        }
        (at, Step::More)
    }

    fn push(&mut self, digit: u8) -> Place {
        let Place::Size { digits } = self.place else { return self.place };
        let value = char::from(digit).to_digit(16).map_or(0, u64::from);
        self.left = self.left << 4 | value;
        Place::Size { digits: digits + 1 }
    }
}
