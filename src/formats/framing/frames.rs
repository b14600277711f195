//! The frames of an HTTP/2 connection (RFC 9113 §4.1), as far as limits need them.
//!
//! The `h2` crate reads what frames mean. This reader only tells where a client is: before its first
//! frame, inside a frame, inside a field section, or in the middle of a body.

use std::collections::BTreeSet;

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const HEADER: usize = 9;

const DATA: u8 = 0x0;
const HEADERS: u8 = 0x1;
const RST_STREAM: u8 = 0x3;
const WINDOW_UPDATE: u8 = 0x8;
const CONTINUATION: u8 = 0x9;

const END_STREAM: u8 = 0x1;
const END_HEADERS: u8 = 0x4;

/// The most bodies that are followed at a time. A client may open fewer streams.
const MOST_BODIES: usize = 1_024;

#[derive(Clone, Copy, Debug)]
struct Head {
    length: usize,
    kind: u8,
    flags: u8,
    stream: u32,
}

/// Frames in one direction, read up to some place.
#[derive(Debug, Default)]
struct Frames {
    head: [u8; HEADER],
    /// The octets of the head so far.
    read: usize,
    /// The octets of the payload to come.
    left: usize,
    kind: u8,
}

impl Frames {
    /// Reads `bytes` and calls `begin` with the head of each frame that begins.
    fn read(&mut self, mut bytes: &[u8], mut begin: impl FnMut(Head)) {
        while !bytes.is_empty() {
            if self.left > 0 {
                let passed = self.left.min(bytes.len());
                self.left -= passed;
                bytes = &bytes[passed..];
                continue;
            }
            let taken = (HEADER - self.read).min(bytes.len());
            self.head[self.read..self.read + taken].copy_from_slice(&bytes[..taken]);
            self.read += taken;
            bytes = &bytes[taken..];
            if self.read == HEADER {
                let head = head(&self.head);
                (self.read, self.left, self.kind) = (0, head.length, head.kind);
                begin(head);
            }
        }
    }

    /// Whether a frame has begun and not ended.
    const fn is_inside(&self) -> bool {
        self.read > 0 || self.left > 0
    }
}

fn head(octets: &[u8; HEADER]) -> Head {
    let [a, b, c, kind, flags, d, e, f, g] = *octets;
    Head {
        length: usize::from(a) << 16 | usize::from(b) << 8 | usize::from(c),
        kind,
        flags,
        stream: u32::from_be_bytes([d & 0x7f, e, f, g]),
    }
}

/// A connection, read up to some place in both directions.
#[derive(Debug, Default)]
pub(crate) struct Multiplex {
    preface: usize,
    is_settled: bool,
    received: Frames,
    sent: Frames,
    /// Whether a field section has begun and not ended.
    is_in_section: bool,
    /// The streams whose bodies are not complete.
    bodies: BTreeSet<u32>,
    /// The octets of bodies since there is one that is not complete.
    body_octets: u64,
    /// The frames that do nothing, since they were last asked for.
    idle_frames: u32,
}

impl Multiplex {
    pub(crate) fn receive(&mut self, mut bytes: &[u8]) {
        if self.preface < PREFACE.len() {
            let taken = (PREFACE.len() - self.preface).min(bytes.len());
            self.preface += taken;
            bytes = &bytes[taken..];
        }
        let mut has_begun = self.received.left > 0;
        let Self { received, is_settled, is_in_section, bodies, body_octets, idle_frames, .. } =
            self;
        received.read(bytes, |head| {
            // The frame before this one is complete.
            *is_settled |= has_begun;
            has_begun = true;
            let ends = head.flags & END_STREAM != 0;
            match head.kind {
                DATA => {
                    *body_octets += head.length as u64;
                    *idle_frames += u32::from(head.length == 0 && !ends);
                    if ends {
                        bodies.remove(&head.stream);
                    }
                }
                HEADERS => {
                    *is_in_section = head.flags & END_HEADERS == 0;
                    if ends {
                        bodies.remove(&head.stream);
                    } else if bodies.len() < MOST_BODIES {
                        if bodies.is_empty() {
                            *body_octets = 0;
                        }
                        bodies.insert(head.stream);
                    }
                }
                CONTINUATION => {
                    *is_in_section = head.flags & END_HEADERS == 0;
                    *idle_frames += u32::from(*is_in_section);
                }
                RST_STREAM => {
                    *idle_frames += 1;
                    bodies.remove(&head.stream);
                }
                // They go with the octets that the client takes.
                WINDOW_UPDATE => {}
                _ => *idle_frames += 1,
            }
        });
        self.is_settled |= has_begun && self.received.left == 0;
    }

    /// Reads octets for the client: an answer or a reset ends the wait for a body.
    pub(crate) fn send(&mut self, bytes: &[u8]) {
        let bodies = &mut self.bodies;
        self.sent.read(bytes, |head| {
            let ends = matches!(head.kind, DATA | HEADERS) && head.flags & END_STREAM != 0;
            if ends || head.kind == RST_STREAM {
                bodies.remove(&head.stream);
            }
        });
    }

    /// Whether the client has sent its preface and its first frame.
    pub(crate) const fn is_settled(&self) -> bool {
        self.is_settled
    }

    /// Whether a field section or another frame than one of a body has begun and not ended.
    pub(crate) const fn is_in_section(&self) -> bool {
        let is_in_data = self.received.left > 0 && self.received.kind == DATA;
        self.is_in_section || (self.received.is_inside() && !is_in_data)
    }

    /// The octets of bodies, if one is not complete.
    pub(crate) fn body_octets(&self) -> Option<u64> {
        (!self.bodies.is_empty()).then_some(self.body_octets)
    }

    /// The frames since the last call that carry no request and no octet of a body.
    pub(crate) fn take_idle_frames(&mut self) -> u32 {
        std::mem::take(&mut self.idle_frames)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
        let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
        [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
    }

    #[test]
    fn a_connection_is_followed_in_pieces_of_any_size() {
        let settings = frame(0x4, 0, 0, &[]);
        let pieces: [(&[u8], [bool; 2], Option<u64>); 9] = [
            (&[PREFACE, &settings[..4]].concat(), [false, true], None),
            (&[&settings[4..], &settings[..3]].concat(), [true, true], None),
            (&settings[3..], [true, false], None),
            (&frame(HEADERS, 0, 1, b"abc"), [true, true], Some(0)),
            (&frame(CONTINUATION, END_HEADERS, 1, b"d"), [true, false], Some(0)),
            (&frame(DATA, 0, 1, b"12345"), [true, false], Some(5)),
            (&frame(HEADERS, END_STREAM | END_HEADERS, 3, b"x"), [true, false], Some(5)),
            (&frame(DATA, END_STREAM, 1, b"6")[..9], [true, false], None),
            (b"6", [true, false], None),
        ];
        for room in [1, 2, 7, 1_000] {
            let mut found = Multiplex::default();
            for (piece, [is_settled, is_in_section], body) in &pieces {
                piece.chunks(room).for_each(|piece| found.receive(piece));
                let seen = (found.is_settled(), found.is_in_section(), found.body_octets());
                assert_eq!(seen, (*is_settled, *is_in_section, *body), "{room} {piece:?}");
            }
        }
    }

    #[test]
    fn an_answer_ends_the_wait_for_a_body() {
        for (kind, flags) in [(DATA, END_STREAM), (HEADERS, END_STREAM), (RST_STREAM, 0)] {
            let mut found = Multiplex::default();
            found.receive(PREFACE);
            found.receive(&frame(HEADERS, END_HEADERS, 5, b""));
            found.send(&frame(HEADERS, END_HEADERS, 5, b"head"));
            assert_eq!(found.body_octets(), Some(0));
            found.send(&frame(kind, flags, 5, b"1234"));
            assert_eq!(found.body_octets(), None);
        }
    }

    #[test]
    fn frames_that_do_nothing_are_counted() {
        let mut found = Multiplex::default();
        found.receive(PREFACE);
        for (kind, flags, payload, count) in [
            (0x4, 0, &b""[..], 1),
            (0x6, 0, b"12345678", 1),
            (0x2, 0, b"12345", 1),
            (RST_STREAM, 0, b"1234", 1),
            (DATA, 0, b"", 1),
            (DATA, END_STREAM, b"", 0),
            (DATA, 0, b"x", 0),
            (HEADERS, END_HEADERS, b"x", 0),
            (CONTINUATION, 0, b"", 1),
            (WINDOW_UPDATE, 0, b"1234", 0),
            (0xff, 0, b"", 1),
        ] {
            found.receive(&frame(kind, flags, 1, payload));
            assert_eq!(found.take_idle_frames(), count, "{kind}");
        }
    }
}
