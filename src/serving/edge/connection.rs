//! The stream between the socket and pingora.

use std::{
    io,
    net::{IpAddr, Ipv4Addr},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Instant,
};

use async_trait::async_trait;
use bytes::{Buf, Bytes};
use pingora::{
    http::ResponseHeader,
    protocols::{
        ALPN, GetProxyDigest, GetSocketDigest, GetTimingDigest, Peek, Shutdown, SocketDigest, Ssl,
        Stream, TimingDigest, UniqueID, UniqueIDType, raw_connect::ProxyDigest, tls,
    },
};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::{
    base::metrics::Metrics,
    formats::framing::{Bounds, Multiplex},
    rules::policy,
};

use super::{
    access_lines::AccessLog,
    client_limits::{Budget, FIRST_WINDOW, Pace},
    http1::{Lines, head_answer},
    phase::Phase,
    wait::{Timer, Tunnel},
};

/// A client's connection. Reads pass through a reader, writes pass as they are.
#[derive(Debug)]
pub(super) struct Connection {
    stream: Stream,
    protocol: Protocol,
    settings: Arc<policy::Server>,
    pace: Pace,
    /// The begin of what the client has not completed.
    since: Option<Instant>,
    phase: Arc<Phase>,
    /// Leads the hooks to the phase.
    digest: Option<Arc<ProxyDigest>>,
    metrics: Arc<Metrics>,
    access_log: Option<AccessLog>,
    timer: Timer,
    /// The answer to a refused head, in place of pingora's.
    answer: Option<Bytes>,
    tunnel: Option<Tunnel>,
}

#[derive(Debug)]
enum Protocol {
    Http1(Box<Lines>),
    Http2 { read: Multiplex, idle_frames: Budget },
}

#[derive(Clone, Copy, Debug)]
enum Late {
    /// The head of the origin's response.
    Origin,
    Head,
    Body,
    /// The first frame of HTTP/2.
    Start,
}

impl Connection {
    /// A client's connection over `stream`. Heads that are refused have a line in `access_log`.
    pub(super) fn new(
        stream: Stream,
        settings: Arc<policy::Server>,
        metrics: Arc<Metrics>,
        access_log: Option<AccessLog>,
    ) -> Self {
        let phase = Arc::new(Phase::default());
        let is_http_2 = stream.selected_alpn_proto() == Some(ALPN::H2);
        let (protocol, digest) = if is_http_2 {
            // Each request has a phase of its own.
            let protocol =
                Protocol::Http2 { read: Multiplex::default(), idle_frames: Budget::default() };
            (protocol, None)
        } else {
            let header = Box::new(ResponseHeader::from(http::Response::new(()).into_parts().0));
            let digest = ProxyDigest::new(header, Some(Box::new(Arc::clone(&phase))));
            let limits = &settings.limits;
            let bounds = Bounds { octets: limits.header_size, fields: limits.header_fields };
            (Protocol::Http1(Box::new(Lines::new(bounds))), Some(Arc::new(digest)))
        };
        Self {
            since: is_http_2.then(Instant::now),
            stream,
            protocol,
            settings,
            pace: Pace::default(),
            phase,
            digest,
            metrics,
            access_log,
            timer: Timer::default(),
            answer: None,
            tunnel: None,
        }
    }

    /// When the wait for the client or for the origin ends, and what is late then.
    fn end_of_wait(&mut self) -> Option<(Instant, Late)> {
        let limits = &self.settings.limits;
        match &self.protocol {
            Protocol::Http1(lines) => {
                let origin = self.phase.wait.end().map(|end| (end, Late::Origin));
                let client = if lines.reader.is_inside_head() {
                    let since = *self.since.get_or_insert_with(Instant::now);
                    Some((since + limits.header_time, Late::Head))
                } else if lines.reader.is_in_body() {
                    Some((self.pace.end(limits.body_rate), Late::Body))
                } else {
                    None
                };
                origin.into_iter().chain(client).min_by_key(|(end, _)| *end)
            }
            Protocol::Http2 { read, .. } if !read.is_settled() => {
                let since = *self.since.get_or_insert_with(Instant::now);
                Some((since + limits.handshake_time, Late::Start))
            }
            Protocol::Http2 { read, .. } if read.is_in_section() => {
                let since = *self.since.get_or_insert_with(Instant::now);
                Some((since + limits.header_time, Late::Head))
            }
            // A client that has sent this much may wait for the origin, too.
            Protocol::Http2 { read, .. } if read.body_octets()? >= FIRST_WINDOW => {
                Some((self.pace.since() + self.settings.timeouts.client_read, Late::Body))
            }
            Protocol::Http2 { .. } => Some((self.pace.end(limits.body_rate), Late::Body)),
        }
    }

    /// Logs a head that never becomes a request. A refused body ends a request, which is logged.
    fn log_refusal(&self, reason: &'static str, status: u16) {
        let Some(log) = &self.access_log else { return };
        let digest = self.stream.get_socket_digest();
        let peer = digest.as_ref().and_then(|digest| digest.peer_addr()?.as_inet());
        let peer = peer.map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), std::net::SocketAddr::ip);
        log.refused((peer, self.stream.get_ssl_digest().is_some()), reason, status);
    }

    fn end_late(&mut self, late: Late) -> io::Result<()> {
        let (code, status) = match late {
            Late::Origin => {
                self.phase.wait.note_late();
                return Err(timed_out("the head of the origin's response took too long"));
            }
            Late::Head => ("proxy.header_time", 408),
            Late::Body => ("proxy.body_rate", 408),
            Late::Start => ("proxy.handshake_time", 408),
        };
        match &mut self.protocol {
            Protocol::Http1(_) => {
                self.refuse(code, status);
                Ok(())
            }
            Protocol::Http2 { .. } => {
                self.metrics.refusal(code);
                Err(timed_out("the client took too long"))
            }
        }
    }

    fn refuse(&mut self, code: &'static str, status: u16) {
        let Protocol::Http1(lines) = &mut self.protocol else { return };
        self.metrics.refusal(code);
        if lines.reader.is_in_head() {
            lines.end_quietly();
            self.answer = Some(head_answer(status));
            self.log_refusal(code, status);
        } else {
            self.phase.refuse(status);
            lines.end_broken();
        }
    }

    /// Takes notice of octets that the client has sent; they are in `buffer` behind `start`.
    fn take(&mut self, buffer: &mut ReadBuf<'_>, start: usize) -> io::Result<()> {
        match &mut self.protocol {
            Protocol::Http1(lines) => {
                if let Some(fault) = lines.screen(buffer, start) {
                    self.refuse(fault.code(), fault.status());
                    if let Protocol::Http1(lines) = &mut self.protocol {
                        lines.give(buffer);
                    }
                }
            }
            Protocol::Http2 { read, idle_frames } => {
                read.receive(&buffer.filled()[start..]);
                let frames = read.take_idle_frames();
                if frames > 0 && !idle_frames.take(frames, Instant::now()) {
                    self.metrics.refusal("proxy.idle_frames");
                    return Err(io::Error::new(io::ErrorKind::InvalidData, "a flood of frames"));
                }
            }
        }
        Ok(())
    }

    /// The tunnel, if the connection has switched to another protocol.
    fn tunnel(&mut self) -> Option<&mut Tunnel> {
        if self.tunnel.is_none() {
            let draining = self.phase.draining()?.clone();
            self.tunnel = Some(Tunnel::new(draining.begins()));
        }
        self.tunnel.as_mut()
    }

    /// Begins to measure anew where the client has completed what it began.
    fn start_anew(&mut self) {
        let (is_in_section, is_in_body) = match &self.protocol {
            Protocol::Http1(lines) => (lines.reader.is_inside_head(), lines.reader.is_in_body()),
            Protocol::Http2 { read, .. } => {
                (!read.is_settled() || read.is_in_section(), read.body_octets().is_some())
            }
        };
        if !is_in_section {
            self.since = None;
        }
        if !is_in_body {
            self.pace = Pace::default();
        }
    }

    /// Whether the next octets that pingora writes are its answer to a refused head.
    fn is_answering(&self) -> bool {
        let Protocol::Http1(lines) = &self.protocol else { return false };
        self.answer.is_some() && self.phase.ended() >= lines.reader.heads()
    }

    fn poll_answer(&mut self, context: &mut Context<'_>, octets: usize) -> Poll<io::Result<usize>> {
        if let Some(answer) = &mut self.answer {
            while answer.has_remaining() {
                let written = ready!(Pin::new(&mut self.stream).poll_write(context, answer))?;
                answer.advance(written);
            }
        }
        Poll::Ready(Ok(octets))
    }
}

fn timed_out(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, what)
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
            if let Protocol::Http1(lines) = &mut this.protocol {
                if let Some(kept) = lines.kept(buffer, this.phase.ended()) {
                    return kept;
                }
                lines.reader.settle(this.phase.draining().is_some(), this.phase.ended());
            }
            let read = Pin::new(&mut this.stream).poll_read(context, buffer)?;
            if let Some(tunnel) = this.tunnel() {
                if read.is_ready() {
                    tunnel.note();
                } else if tunnel.poll_end(context).is_ready() {
                    let (kind, why) =
                        (io::ErrorKind::ConnectionAborted, "an idle tunnel of a proxy that drains");
                    return Poll::Ready(Err(io::Error::new(kind, why)));
                }
            }
            if read.is_pending() {
                let Some((end, late)) = this.end_of_wait() else { return Poll::Pending };
                ready!(this.timer.poll(end, context));
                this.end_late(late)?;
                continue;
            }
            let octets = buffer.filled().len() - start;
            if octets == 0 {
                return Poll::Ready(Ok(()));
            }
            this.pace.note(octets);
            this.take(buffer, start)?;
            this.start_anew();
            // Without an octet in it, pingora would take the connection for closed.
            if buffer.filled().len() > start {
                return Poll::Ready(Ok(()));
            }
        }
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        if this.is_answering() {
            return this.poll_answer(context, bytes.len());
        }
        let written = ready!(Pin::new(&mut this.stream).poll_write(context, bytes))?;
        if let Some(tunnel) = &this.tunnel {
            tunnel.note();
        }
        if let Protocol::Http2 { read, .. } = &mut this.protocol {
            read.send(&bytes[..written]);
        }
        Poll::Ready(Ok(written))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        if this.is_answering() {
            let octets = pieces.iter().map(|piece| piece.len()).sum();
            return this.poll_answer(context, octets);
        }
        let written = ready!(Pin::new(&mut this.stream).poll_write_vectored(context, pieces))?;
        if let Some(tunnel) = &this.tunnel {
            tunnel.note();
        }
        if let Protocol::Http2 { read, .. } = &mut this.protocol {
            let mut left = written;
            for piece in pieces {
                let sent = left.min(piece.len());
                read.send(&piece[..sent]);
                left -= sent;
            }
        }
        Poll::Ready(Ok(written))
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
}

impl GetProxyDigest for Connection {
    fn get_proxy_digest(&self) -> Option<Arc<ProxyDigest>> {
        self.digest.clone()
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

/// Octets that are read ahead would escape the reader.
impl Peek for Connection {}
