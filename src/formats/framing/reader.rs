//! The messages of a connection, one after another: head, body, next head.
//!
//! A chunked body (RFC 9112 §7.1) is read strictly: a size has digits alone, white space may only stand before
//! an extension, and extensions contain no control octets.

use super::{
    field_lines::FieldLines,
    octets::{is_value, value_run},
    progress::{Fault, Step},
    request_line::RequestLine,
};

/// The most that a head or a trailer section may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bounds {
    /// Octets, with the request line and line ends.
    pub(crate) octets: usize,
    pub(crate) fields: u32,
}

/// The messages of a connection, read up to some place.
#[derive(Debug)]
pub(crate) struct Reader {
    bounds: Bounds,
    part: Part,
    /// The octets of the head or the trailer section so far.
    head_octets: usize,
    heads: u32,
    /// Whether the last head asks for another protocol, and has no answer yet.
    may_switch: bool,
}

#[derive(Debug)]
enum Part {
    Line(RequestLine),
    Fields {
        lines: FieldLines,
        is_http_1_0: bool,
    },
    Content {
        left: u64,
    },
    Chunks(Chunks),
    Trailers(FieldLines),
    /// After a request for another protocol and before its answer. Octets that come now belong to
    /// the new protocol, or to no message.
    Early {
        came: bool,
    },
    /// The new protocol.
    Tunnel,
}

impl Reader {
    pub(crate) const fn new(bounds: Bounds) -> Self {
        let part = Part::Line(RequestLine::new());
        Self { bounds, part, head_octets: 0, heads: 0, may_switch: false }
    }

    pub(crate) const fn heads(&self) -> u32 {
        self.heads
    }

    /// Whether a head has begun and not ended.
    pub(crate) const fn is_inside_head(&self) -> bool {
        self.is_in_head() && self.head_octets > 0
    }

    pub(crate) const fn is_in_body(&self) -> bool {
        matches!(self.part, Part::Content { .. } | Part::Chunks(_) | Part::Trailers(_))
    }

    /// Takes notice of the answer to a request for another protocol. To be called before octets are
    /// read. `ended` is the number of requests that have ended.
    pub(crate) fn settle(&mut self, has_switched: bool, ended: u32) {
        if !self.may_switch {
            return;
        }
        if has_switched {
            self.part = Part::Tunnel;
            self.may_switch = false;
        } else if ended >= self.heads {
            self.may_switch = false;
            if let Part::Early { came: false } = self.part {
                self.part = Part::Line(RequestLine::new());
            }
        }
    }

    pub(crate) const fn is_in_head(&self) -> bool {
        matches!(self.part, Part::Line(_) | Part::Fields { .. })
    }

    /// The number of octets that pass unchanged, and what comes after them.
    pub(crate) fn step(&mut self, bytes: &[u8]) -> (usize, Step) {
        let mut at = 0;
        loop {
            let rest = &bytes[at..];
            let (passed, step) = match &mut self.part {
                Part::Line(line) => line.step(rest),
                Part::Fields { lines, .. } | Part::Trailers(lines) => lines.step(rest),
                Part::Content { left } => content(left, rest),
                Part::Chunks(chunks) => chunks.step(rest),
                Part::Early { came } if self.may_switch => {
                    *came |= !rest.is_empty();
                    (rest.len(), Step::More)
                }
                // Its octets came too early: there is no telling where the next head begins.
                Part::Early { .. } => (0, Step::Refuse(Fault::RequestLine)),
                Part::Tunnel => (rest.len(), Step::More),
            };
            if let Some(fault) = self.excess(passed) {
                // The end of a head that is refused must not pass.
                return (at, Step::Refuse(fault));
            }
            at += passed;
            match step {
                Step::Done => self.advance(),
                // Three octets stand for this one.
                Step::Encode => {
                    self.head_octets += 3;
                    return (at, step);
                }
                step => return (at, step),
            }
        }
    }

    /// What is too much, after another `passed` octets.
    fn excess(&mut self, passed: usize) -> Option<Fault> {
        let (fields, fault) = match &self.part {
            Part::Line(_) => (0, Fault::LongLine),
            Part::Fields { lines, .. } | Part::Trailers(lines) => (lines.count, Fault::LongFields),
            _ => return None,
        };
        self.head_octets += passed;
        if self.head_octets > self.bounds.octets {
            Some(fault)
        } else {
            (fields > self.bounds.fields).then_some(Fault::ManyFields)
        }
    }

    fn advance(&mut self) {
        if !matches!(self.part, Part::Line(_)) {
            self.head_octets = 0;
        }
        self.part = match &self.part {
            Part::Line(line) => {
                let is_http_1_0 = line.is_http_1_0;
                Part::Fields { lines: FieldLines::default(), is_http_1_0 }
            }
            Part::Fields { lines, is_http_1_0 } => {
                self.heads = self.heads.wrapping_add(1);
                self.may_switch = lines.switches && !is_http_1_0;
                match (lines.is_chunked, lines.length()) {
                    (true, _) => Part::Chunks(Chunks::new()),
                    (false, 0) => self.next_message(),
                    (false, left) => Part::Content { left },
                }
            }
            Part::Chunks(_) => Part::Trailers(FieldLines::default()),
            Part::Content { .. } | Part::Trailers(_) | Part::Early { .. } | Part::Tunnel => {
                self.next_message()
            }
        };
    }

    fn next_message(&self) -> Part {
        if self.may_switch { Part::Early { came: false } } else { Part::Line(RequestLine::new()) }
    }
}

fn content(left: &mut u64, bytes: &[u8]) -> (usize, Step) {
    let there = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    let passed = there.min(*left);
    *left -= passed;
    let step = if *left == 0 { Step::Done } else { Step::More };
    (usize::try_from(passed).unwrap_or(bytes.len()), step)
}

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
