//! The messages of HTTP/1 on their way from the socket to pingora.

use std::{io, task::Poll};

use bytes::Bytes;
use tokio::io::ReadBuf;

use crate::{
    base::escape::push_percent,
    formats::framing::{Bounds, Fault, Reader, Step},
};

/// The answer with a status. The connection ends with it.
pub(super) fn head_answer(status: u16) -> Bytes {
    let (reason, text) = match status {
        408 => ("Request Timeout", "The request took too long to arrive.\n"),
        414 => ("URI Too Long", "The request target is too long.\n"),
        503 => ("Service Unavailable", "All connections are taken.\n"),
        431 => ("Request Header Fields Too Large", "The request header is too large.\n"),
        _ => ("Bad Request", "The request is not valid HTTP.\n"),
    };
    let retry = if status == 503 { "Retry-After: 1\r\n" } else { "" };
    let answer = format!(
        "HTTP/1.1 {status} {reason}\r\nContent-Type: text/plain; charset=utf-8\r\n\
         Content-Length: {}\r\nCache-Control: no-store\r\n{retry}Connection: close\r\n\r\n{text}",
        text.len()
    );
    answer.into()
}

/// The octet that stands for the rest of a refused head. pingora ends the connection with an answer,
/// wherever in a head it is.
const REFUSED: u8 = 0;

#[derive(Debug)]
pub(super) struct Lines {
    pub(super) reader: Reader,
    /// Octets that were read and mean one thing or another.
    waiting: Vec<u8>,
    /// Octets that are ready; the first `given` of them have been read.
    ready: Vec<u8>,
    given: usize,
    end: Option<End>,
}

#[derive(Clone, Copy, Debug)]
enum End {
    /// The client sends nothing more.
    Quiet,
    Broken,
}

impl Lines {
    pub(super) const fn new(bounds: Bounds) -> Self {
        let reader = Reader::new(bounds);
        Self { reader, waiting: Vec::new(), ready: Vec::new(), given: 0, end: None }
    }

    /// Passes on the octets that were read into `buffer` behind `start`. Returns a fault of the
    /// message.
    pub(super) fn screen(&mut self, buffer: &mut ReadBuf<'_>, start: usize) -> Option<Fault> {
        let read = &buffer.filled()[start..];
        let mut pieces = Vec::new();
        let (mut passed, mut step) = (0, Step::More);
        if self.waiting.is_empty() {
            (passed, step) = self.reader.step(read);
            // The usual case: nothing to change, nothing to copy.
            if step == Step::More {
                return None;
            }
            pieces.extend_from_slice(&read[passed..]);
        } else {
            pieces.append(&mut self.waiting);
            pieces.extend_from_slice(read);
        }
        buffer.set_filled(start + passed);
        let fault = self.rewrite(&pieces, step);
        self.give(buffer);
        fault
    }

    /// Reads `bytes`, which `first` is about, and makes them ready. Returns a fault of the message.
    fn rewrite(&mut self, bytes: &[u8], first: Step) -> Option<Fault> {
        let (mut rest, mut step) = (bytes, first);
        self.ready.reserve(bytes.len() + 32);
        loop {
            match (step, rest) {
                (Step::Encode, [octet, after @ ..]) => {
                    push_percent(&mut self.ready, *octet);
                    rest = after;
                }
                (Step::Wait, _) => {
                    self.waiting.extend_from_slice(rest);
                    return None;
                }
                (Step::Refuse(fault), _) => return Some(fault),
                (Step::More | Step::Done | Step::Encode, []) => return None,
                (Step::More | Step::Done, _) => {}
            }
            let (passed, next) = self.reader.step(rest);
            self.ready.extend_from_slice(&rest[..passed]);
            (rest, step) = (&rest[passed..], next);
        }
    }

    /// Moves ready octets into the buffer, as many as there is room for.
    pub(super) fn give(&mut self, buffer: &mut ReadBuf<'_>) {
        let rest = &self.ready[self.given..];
        let length = rest.len().min(buffer.remaining());
        buffer.put_slice(&rest[..length]);
        self.given += length;
        if self.given == self.ready.len() {
            (self.ready, self.given) = (Vec::new(), 0);
        }
    }

    /// What pingora reads before anything else is read from the client. `ended` is the number of
    /// requests that have ended.
    pub(super) fn kept(
        &mut self,
        buffer: &mut ReadBuf<'_>,
        ended: u32,
    ) -> Option<Poll<io::Result<()>>> {
        if !self.ready.is_empty() {
            self.give(buffer);
            return Some(Poll::Ready(Ok(())));
        }
        match self.end? {
            // The answer to an earlier request comes first. Its end reads anew.
            End::Quiet if ended < self.reader.heads() => Some(Poll::Pending),
            End::Quiet => Some(Poll::Ready(Ok(()))),
            End::Broken => {
                let error = io::Error::new(io::ErrorKind::InvalidData, "a broken body");
                Some(Poll::Ready(Err(error)))
            }
        }
    }

    /// Ends the head in progress with a refusal.
    pub(super) fn end_quietly(&mut self) {
        self.ready.push(REFUSED);
        self.end = Some(End::Quiet);
    }

    /// Ends the body in progress with a refusal.
    pub(super) const fn end_broken(&mut self) {
        self.end = Some(End::Broken);
    }
}

#[cfg(test)]
mod tests;
