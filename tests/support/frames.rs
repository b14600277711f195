//! A raw HTTP/2 client over TLS: sends exactly the given frames and reads those that come back.

use std::{
    io::{self, Read, Write},
    net::{Ipv4Addr, TcpStream},
    time::Duration,
};

use super::{
    PATIENCE,
    tls::{self, TlsStream},
};

// Types of frames (RFC 9113 section 6).
pub(crate) const DATA: u8 = 0x0;
pub(crate) const HEADERS: u8 = 0x1;
pub(crate) const PRIORITY: u8 = 0x2;
pub(crate) const RST_STREAM: u8 = 0x3;
pub(crate) const SETTINGS: u8 = 0x4;
pub(crate) const PUSH_PROMISE: u8 = 0x5;
pub(crate) const PING: u8 = 0x6;
pub(crate) const GOAWAY: u8 = 0x7;
pub(crate) const WINDOW_UPDATE: u8 = 0x8;
pub(crate) const CONTINUATION: u8 = 0x9;

// Flags.
pub(crate) const ACK: u8 = 0x1;
pub(crate) const END_STREAM: u8 = 0x1;
pub(crate) const END_HEADERS: u8 = 0x4;
pub(crate) const PADDED: u8 = 0x8;
pub(crate) const PRIORITIZED: u8 = 0x20;

pub(crate) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// The largest payload without an agreement.
pub(crate) const MAX_PAYLOAD: usize = 16_384;

/// A field of a request.
pub(crate) type Field = (Vec<u8>, Vec<u8>);

/// A frame that came from the server.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub(crate) kind: u8,
    pub(crate) flags: u8,
    pub(crate) stream: u32,
    pub(crate) payload: Vec<u8>,
}

/// What became of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// An answer with this status.
    Status(u16),
    /// An error of the stream, with its code.
    Reset(u32),
    /// An error of the connection, with its code.
    GoAway(u32),
    /// The end of the connection, without a word.
    Closed,
    /// The connection goes on, and no stream has ended.
    Ignored,
}

/// An answer as it came.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answer {
    pub(crate) interim: Vec<u16>,
    pub(crate) status: Option<u16>,
    pub(crate) body: Vec<u8>,
    pub(crate) has_trailers: bool,
    pub(crate) has_ended: bool,
    pub(crate) reset: Option<u32>,
}

/// The octets of a frame.
pub(crate) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).expect("a frame is small").to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// The field section of a request with this method and target, and further fields.
pub(crate) fn request(method: &str, target: impl AsRef<[u8]>) -> Vec<Field> {
    [(":method", method.as_bytes()), (":scheme", b"https"), (":authority", b"site.example")]
        .into_iter()
        .chain([(":path", target.as_ref())])
        .map(|(name, value)| (name.into(), value.into()))
        .collect()
}

/// Fields in HPACK, none of them compressed (RFC 7541 section 6.2.2).
pub(crate) fn block(fields: &[Field]) -> Vec<u8> {
    let mut octets = Vec::new();
    for (name, value) in fields {
        octets.push(0);
        for text in [name, value] {
            push_integer(&mut octets, text.len());
            octets.extend_from_slice(text);
        }
    }
    octets
}

/// An integer with a prefix of seven bits (RFC 7541 section 5.1).
fn push_integer(octets: &mut Vec<u8>, value: usize) {
    let low = |value: usize| u8::try_from(value & 0x7f).expect("seven bits");
    let Some(mut rest) = value.checked_sub(0x7f) else { return octets.push(low(value)) };
    octets.push(0x7f);
    while rest > 0x7f {
        octets.push(low(rest) | 0x80);
        rest >>= 7;
    }
    octets.push(low(rest));
}

/// A field section as HEADERS and as many CONTINUATION as it takes.
pub(crate) fn headers(stream: u32, flags: u8, fields: &[Field]) -> Vec<u8> {
    let block = block(fields);
    let mut pieces = block.chunks(MAX_PAYLOAD).peekable();
    let mut octets = Vec::new();
    let mut kind = (HEADERS, flags);
    while let Some(piece) = pieces.next() {
        let end = if pieces.peek().is_none() { END_HEADERS } else { 0 };
        octets.extend(frame(kind.0, kind.1 | end, stream, piece));
        kind = (CONTINUATION, 0);
    }
    octets
}

/// A GET without a body.
pub(crate) fn get(stream: u32, target: impl AsRef<[u8]>) -> Vec<u8> {
    headers(stream, END_STREAM, &request("GET", target))
}

/// A setting of a SETTINGS frame.
pub(crate) fn setting(name: u16, value: u32) -> Vec<u8> {
    [&name.to_be_bytes()[..], &value.to_be_bytes()].concat()
}

/// One connection.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: TlsStream,
    read: Vec<u8>,
}

impl Connection {
    /// Connects and agrees on HTTP/2, without an octet of it.
    pub(crate) fn silent(port: u16) -> Self {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).expect("the port is open");
        stream.set_read_timeout(Some(PATIENCE)).expect("a socket takes a timeout");
        stream.set_write_timeout(Some(PATIENCE)).expect("a socket takes a timeout");
        stream.set_nodelay(true).expect("a socket takes this option");
        let mut stream = tls::over_http_2(stream);
        while stream.conn.is_handshaking() {
            stream.conn.complete_io(&mut stream.sock).expect("a handshake");
        }
        assert_eq!(stream.conn.alpn_protocol(), Some(&b"h2"[..]), "HTTP/2 is agreed on");
        Self { stream, read: Vec::new() }
    }

    /// Connects with these settings.
    pub(crate) fn with_settings(port: u16, settings: &[u8]) -> Self {
        let mut connection = Self::silent(port);
        connection.write(&[PREFACE, &frame(SETTINGS, 0, 0, settings)].concat());
        connection
    }

    /// Connects and keeps no table of fields, so that an answer is read without one.
    pub(crate) fn connect(port: u16) -> Self {
        Self::with_settings(port, &setting(1, 0))
    }

    pub(crate) fn write(&mut self, octets: &[u8]) {
        self.try_write(octets).expect("the connection is open");
    }

    /// Writes to a server that may close before it has read all.
    pub(crate) fn try_write(&mut self, octets: &[u8]) -> io::Result<()> {
        self.stream.write_all(octets)?;
        self.stream.flush()
    }

    /// The next frame; `None` at the end of the connection. Acknowledges settings.
    pub(crate) fn next(&mut self) -> Option<Frame> {
        let frame = self.try_next().ok()?;
        if frame.kind == SETTINGS && frame.flags & ACK == 0 {
            // It may have closed meanwhile.
            let _ = self.try_write(&self::frame(SETTINGS, ACK, 0, b""));
        }
        Some(frame)
    }

    fn try_next(&mut self) -> io::Result<Frame> {
        loop {
            if let [a, b, c, kind, flags, stream @ ..] = &*self.read
                && let Some((stream, payload)) = stream.split_first_chunk()
                && let length = u32::from_be_bytes([0, *a, *b, *c]) as usize
                && let Some(payload) = payload.get(..length)
            {
                let stream = u32::from_be_bytes(*stream);
                let frame = Frame { kind: *kind, flags: *flags, stream, payload: payload.into() };
                self.read.drain(..9 + length);
                return Ok(frame);
            }
            let mut buffer = [0; 16 << 10];
            let length = self.stream.read(&mut buffer)?;
            if length == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            self.read.extend_from_slice(&buffer[..length]);
        }
    }

    /// Whether the server has closed. Reads what has come.
    pub(crate) fn is_closed(&mut self) -> bool {
        self.stream.sock.set_read_timeout(Some(Duration::from_millis(1))).expect("a timeout");
        let closed = loop {
            match self.try_next() {
                Ok(frame) if frame.kind == GOAWAY && code(&frame.payload, 4) != Some(0) => {
                    break true;
                }
                Ok(_) => {}
                Err(error) => {
                    break !matches!(
                        error.kind(),
                        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
                    );
                }
            }
        };
        self.stream.sock.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        closed
    }

    /// Reads until the server closes; returns the code of its GOAWAY.
    pub(crate) fn end(&mut self) -> Option<u32> {
        let mut last = None;
        loop {
            match self.try_next() {
                Ok(frame) if frame.kind == GOAWAY => last = code(&frame.payload, 4),
                Ok(_) => {}
                Err(error) => {
                    let waits =
                        matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut);
                    assert!(!waits, "the connection stays open");
                    return last;
                }
            }
        }
    }

    /// Reads the answer on a stream.
    pub(crate) fn answer(&mut self, stream: u32) -> Answer {
        let mut answer = Answer::default();
        while !answer.has_ended && answer.reset.is_none() {
            let Some(frame) = self.next() else { break };
            if frame.stream == stream {
                answer.take(&frame);
            }
        }
        answer
    }

    /// Sends frames and tells what became of them. A stream that is `expected` is waited for.
    pub(crate) fn fate(&mut self, octets: &[u8], is_expected: bool) -> Fate {
        // The server may close before it has read the whole.
        let _ = self.try_write(&[octets, &frame(PING, 0, 0, b"the last")].concat());
        let (mut answer, mut has_read_all) = (Answer::default(), false);
        loop {
            let is_over = answer.has_ended || answer.reset.is_some();
            if has_read_all && (is_over || !is_expected) {
                break;
            }
            let Some(frame) = self.next() else { return Fate::Closed };
            match frame.kind {
                GOAWAY => match code(&frame.payload, 4) {
                    Some(code @ 1..) => return Fate::GoAway(code),
                    _ => return Fate::Closed,
                },
                PING => has_read_all |= frame.payload == b"the last",
                _ if !is_over && frame.stream > 0 => answer.take(&frame),
                _ => {}
            }
        }
        match answer {
            Answer { reset: Some(code), .. } => Fate::Reset(code),
            Answer { has_ended: true, status: Some(status), .. } => Fate::Status(status),
            _ => Fate::Ignored,
        }
    }
}

/// An error code at a place of a payload.
fn code(payload: &[u8], at: usize) -> Option<u32> {
    payload.get(at..)?.first_chunk().copied().map(u32::from_be_bytes)
}

impl Answer {
    fn take(&mut self, frame: &Frame) {
        match frame.kind {
            HEADERS if self.status.is_some() => self.has_trailers = true,
            HEADERS => match status(&frame.payload) {
                Some(interim @ 100..200) => self.interim.push(interim),
                found => self.status = found,
            },
            DATA => self.body.extend_from_slice(&frame.payload),
            RST_STREAM => self.reset = code(&frame.payload, 0),
            _ => {}
        }
        self.has_ended |= matches!(frame.kind, HEADERS | DATA) && frame.flags & END_STREAM != 0;
    }
}

/// The `:status` at the begin of a field section, by the static table of HPACK.
fn status(mut block: &[u8]) -> Option<u16> {
    // New sizes of the table.
    while block.first()? & 0xe0 == 0x20 {
        let size = block.iter().take(1).all(|octet| octet & 0x1f == 0x1f);
        let more = block[1..].iter().position(|octet| octet & 0x80 == 0).map_or(0, |at| at + 1);
        block = &block[1 + if size { more } else { 0 }..];
    }
    let (&first, rest) = block.split_first()?;
    if first & 0x80 != 0 {
        let known = [200, 204, 206, 304, 400, 404, 500];
        return known.get(usize::from(first & 0x7f).checked_sub(8)?).copied();
    }
    let index = if first & 0x40 == 0 { first & 0x0f } else { first & 0x3f };
    let (&length, rest) = rest.split_first()?;
    let value = rest.get(..usize::from(length & 0x7f))?;
    let digits = if length & 0x80 == 0 { value.to_vec() } else { huffman_digits(value) };
    let text = String::from_utf8(digits).ok()?;
    (8..15).contains(&index).then_some(text)?.parse().ok()
}

/// The first three digits in the Huffman code of HPACK: five bits for 0 to 2, six for the others.
fn huffman_digits(value: &[u8]) -> Vec<u8> {
    let bits: Vec<u8> =
        value.iter().flat_map(|octet| (0..8).rev().map(move |bit| octet >> bit & 1)).collect();
    let number = |bits: &[u8]| bits.iter().fold(0, |number, bit| number << 1 | bit);
    let (mut digits, mut rest) = (Vec::new(), &bits[..]);
    while digits.len() < 3 && rest.len() >= 5 {
        let short = number(&rest[..5]);
        let (digit, length) = match short {
            0..3 => (short, 5),
            _ if rest.len() > 5 => (number(&rest[..6]).wrapping_sub(0x19 - 3), 6),
            _ => break,
        };
        digits.push(b'0'.wrapping_add(digit));
        rest = &rest[length..];
    }
    digits
}
