//! The messages of a connection, one after another: head, body, next head.

use super::{
    chunks::Chunks,
    field_lines::FieldLines,
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
    /// The number of heads so far.
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
    /// A reader at the begin of a connection.
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

    /// Whether octets of a body are to come.
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

    /// Whether the octets to come belong to a head.
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
            Part::Fields { lines, .. } | Part::Trailers(lines) => {
                (lines.count(), Fault::LongFields)
            }
            _ => return None,
        };
        self.head_octets += passed;
        if self.head_octets > self.bounds.octets {
            Some(fault)
        } else {
            (fields > self.bounds.fields).then_some(Fault::ManyFields)
        }
    }

    /// Goes on to the next part.
    fn advance(&mut self) {
        if !matches!(self.part, Part::Line(_)) {
            self.head_octets = 0;
        }
        self.part = match &self.part {
            Part::Line(line) => {
                let is_http_1_0 = line.is_http_1_0();
                Part::Fields { lines: FieldLines::default(), is_http_1_0 }
            }
            Part::Fields { lines, is_http_1_0 } => {
                self.heads = self.heads.wrapping_add(1);
                self.may_switch = lines.switches() && !is_http_1_0;
                match (lines.is_chunked(), lines.length()) {
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
