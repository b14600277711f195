//! The stream between the socket and pingora.

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use async_trait::async_trait;
use pingora::{
    http::ResponseHeader,
    protocols::{
        ALPN, GetProxyDigest, GetSocketDigest, GetTimingDigest, Peek, Shutdown, SocketDigest, Ssl,
        Stream, TimingDigest, UniqueID, UniqueIDType, raw_connect::ProxyDigest, tls,
    },
};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::{
    framing::{Fault, Reader, Step, push_encoded},
    metrics::Metrics,
};

use super::{phase::Phase, tunnel::Tunnel, wait::Timer};

/// The octet that stands for the rest of a refused head. pingora answers it with 400, wherever in a
/// head it is.
const REFUSED: u8 = 0;

/// A client's connection. Reads pass through a [`Reader`], writes pass as they are.
#[derive(Debug)]
pub(super) struct Connection {
    stream: Stream,
    reader: Reader,
    /// Octets that were read and mean one thing or another.
    waiting: Vec<u8>,
    /// Octets that are ready; the first `given` of them have been read.
    ready: Vec<u8>,
    given: usize,
    end: Option<End>,
    phase: Arc<Phase>,
    /// Leads the hooks to the phase.
    digest: Arc<ProxyDigest>,
    metrics: Arc<Metrics>,
    timer: Timer,
    tunnel: Option<Tunnel>,
}

/// The end of reading after a refusal.
#[derive(Clone, Copy, Debug)]
enum End {
    /// The client sends nothing more.
    Quiet,
    /// The body is broken.
    Broken,
}

impl Connection {
    pub(super) fn new(stream: Stream, metrics: Arc<Metrics>) -> Self {
        let phase = Arc::new(Phase::default());
        let header = Box::new(ResponseHeader::from(http::Response::new(()).into_parts().0));
        let digest = ProxyDigest::new(header, Some(Box::new(Arc::clone(&phase))));
        Self {
            stream,
            reader: Reader::default(),
            waiting: Vec::new(),
            ready: Vec::new(),
            given: 0,
            end: None,
            phase,
            digest: Arc::new(digest),
            metrics,
            timer: Timer::default(),
            tunnel: None,
        }
    }

    /// Passes on the octets that were read into `buffer` behind `start`.
    fn screen(&mut self, buffer: &mut ReadBuf<'_>, start: usize) {
        let read = &buffer.filled()[start..];
        let mut pieces = Vec::new();
        let (mut passed, mut step) = (0, Step::More);
        if self.waiting.is_empty() {
            (passed, step) = self.reader.step(read);
            // The usual case: nothing to change, nothing to copy.
            if step == Step::More {
                return;
            }
            pieces.extend_from_slice(&read[passed..]);
        } else {
            pieces.append(&mut self.waiting);
            pieces.extend_from_slice(read);
        }
        buffer.set_filled(start + passed);
        self.rewrite(&pieces, step);
        self.give(buffer);
    }

    /// Reads `bytes`, which `first` is about, and makes them ready.
    fn rewrite(&mut self, bytes: &[u8], first: Step) {
        let (mut rest, mut step) = (bytes, first);
        self.ready.reserve(bytes.len() + 32);
        loop {
            match (step, rest) {
                (Step::Encode, [octet, after @ ..]) => {
                    push_encoded(&mut self.ready, *octet);
                    rest = after;
                }
                (Step::Wait, _) => return self.waiting.extend_from_slice(rest),
                (Step::Refuse(fault), _) => return self.refuse(fault),
                (Step::More | Step::Done | Step::Encode, []) => return,
                (Step::More | Step::Done, _) => {}
            }
            let (passed, next) = self.reader.step(rest);
            self.ready.extend_from_slice(&rest[..passed]);
            (rest, step) = (&rest[passed..], next);
        }
    }

    fn refuse(&mut self, fault: Fault) {
        self.metrics.refusal(fault.code());
        if self.reader.is_in_head() {
            self.ready.push(REFUSED);
            self.end = Some(End::Quiet);
        } else {
            self.phase.refuse();
            self.end = Some(End::Broken);
        }
    }

    /// The tunnel, if the connection has switched to another protocol.
    fn tunnel(&mut self) -> Option<&mut Tunnel> {
        if self.tunnel.is_none() {
            let draining = self.phase.draining()?.clone();
            self.tunnel = Some(Tunnel::new(draining.begins()));
        }
        self.tunnel.as_mut()
    }

    fn note_write(&mut self, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        let tunnel = self.tunnel.as_mut().filter(|_| written.is_ready());
        tunnel.into_iter().for_each(Tunnel::note);
        written
    }

    /// Moves ready octets into the buffer, as many as there is room for.
    fn give(&mut self, buffer: &mut ReadBuf<'_>) {
        let rest = &self.ready[self.given..];
        let length = rest.len().min(buffer.remaining());
        buffer.put_slice(&rest[..length]);
        self.given += length;
        if self.given == self.ready.len() {
            (self.ready, self.given) = (Vec::new(), 0);
        }
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let start = buffer.filled().len();
        loop {
            if !this.ready.is_empty() {
                this.give(buffer);
                return Poll::Ready(Ok(()));
            }
            match this.end {
                Some(End::Quiet) => return Poll::Ready(Ok(())),
                Some(End::Broken) => {
                    let error = io::Error::new(io::ErrorKind::InvalidData, "a broken body");
                    return Poll::Ready(Err(error));
                }
                None => {}
            }
            this.reader.settle(this.phase.has_switched(), this.phase.ended());
            let read = Pin::new(&mut this.stream).poll_read(context, buffer);
            if read.is_pending() && this.phase.wait().poll_late(&mut this.timer, context).is_ready()
            {
                let error = "the head of the origin's response took too long";
                return Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, error)));
            }
            if let Some(tunnel) = this.tunnel() {
                if read.is_ready() {
                    tunnel.note();
                } else if tunnel.poll_end(context).is_ready() {
                    let error = "an idle tunnel of a proxy that drains";
                    return Poll::Ready(Err(io::Error::new(
                        io::ErrorKind::ConnectionAborted,
                        error,
                    )));
                }
            }
            ready!(read)?;
            if buffer.filled().len() == start {
                return Poll::Ready(Ok(()));
            }
            this.screen(buffer, start);
            // Without an octet in it, pingora would take the connection for closed.
            if buffer.filled().len() > start {
                return Poll::Ready(Ok(()));
            }
        }
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.note_write(written)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, pieces);
        self.note_write(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

#[async_trait]
impl Shutdown for Connection {
    async fn shutdown(&mut self) {
        self.stream.shutdown().await;
    }
}

impl UniqueID for Connection {
    fn id(&self) -> UniqueIDType {
        self.stream.id()
    }
}

impl Ssl for Connection {
    fn get_ssl(&self) -> Option<&tls::TlsRef> {
        self.stream.get_ssl()
    }

    fn get_ssl_digest(&self) -> Option<Arc<tls::SslDigest>> {
        self.stream.get_ssl_digest()
    }

    fn selected_alpn_proto(&self) -> Option<ALPN> {
        self.stream.selected_alpn_proto()
    }
}

impl GetTimingDigest for Connection {
    fn get_timing_digest(&self) -> Vec<Option<TimingDigest>> {
        self.stream.get_timing_digest()
    }

    fn get_read_pending_time(&self) -> Duration {
        self.stream.get_read_pending_time()
    }

    fn get_write_pending_time(&self) -> Duration {
        self.stream.get_write_pending_time()
    }
}

impl GetProxyDigest for Connection {
    fn get_proxy_digest(&self) -> Option<Arc<ProxyDigest>> {
        Some(Arc::clone(&self.digest))
    }
}

impl GetSocketDigest for Connection {
    fn get_socket_digest(&self) -> Option<Arc<SocketDigest>> {
        self.stream.get_socket_digest()
    }

    fn set_socket_digest(&mut self, digest: SocketDigest) {
        self.stream.set_socket_digest(digest);
    }
}

/// Octets that are read before they are read would escape the [`Reader`].
impl Peek for Connection {}

#[cfg(test)]
mod tests;
