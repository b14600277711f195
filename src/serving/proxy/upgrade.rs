//! The connection to an origin for a request that upgrades to another protocol (WebSocket), or asks
//! for a stream of events.
//!
//! pingora 0.9.1 has a race (its issue 946). It closes a tunnel if the origin's 101 arrives before
//! pingora notes that the request has no body. So on this connection the first read after a write
//! returns nothing and wakes the task at once. Then pingora always notes the body first.
//!
//! The connection has a limit of silence in place of pingora's limit of each read.

use std::{
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll, ready},
    time::Duration,
};

use async_trait::async_trait;
use http::header;
use pingora::{
    Error,
    ErrorType::ConnectError,
    OrErr,
    connectors::L4Connect,
    http::RequestHeader,
    protocols::l4::{
        socket::SocketAddr,
        stream::Stream,
        virt::{VirtualSockOpt, VirtualSocket, VirtualSocketStream},
    },
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
};

use crate::serving::edge::{Timer, Wait};

/// The group of these connections: no other request gets one.
pub(super) const GROUP: u64 = 1;

/// Whether a request upgrades to another protocol (RFC 9110 §7.8).
pub(super) fn is_requested(request: &RequestHeader) -> bool {
    request.headers.contains_key(header::UPGRADE)
}

pub(super) fn asks_for_events(request: &RequestHeader) -> bool {
    let lines = request.headers.get_all(header::ACCEPT).iter();
    lines.map(|line| line.as_bytes()).any(|line| line.split(|&b| b == b',').any(is_event_stream))
}

/// Whether a request is a call of gRPC.
pub(super) fn is_call(request: &RequestHeader) -> bool {
    let kind = request.headers.get(header::CONTENT_TYPE);
    kind.is_some_and(|kind| kind.as_bytes().starts_with(b"application/grpc"))
}

/// Whether a media type is that of a stream of events, whatever its parameters.
pub(super) fn is_event_stream(media_type: &[u8]) -> bool {
    const NAME: &[u8] = b"text/event-stream";
    let Some((name, rest)) = media_type.trim_ascii().split_at_checked(NAME.len()) else {
        return false;
    };
    let is_whole = rest.trim_ascii_start().first().is_none_or(|&next| next == b';');
    is_whole && name.eq_ignore_ascii_case(NAME)
}

#[derive(Debug)]
pub(super) struct Connector(pub(super) Arc<Silence>);

#[async_trait]
impl L4Connect for Connector {
    async fn connect(&self, address: &SocketAddr) -> pingora::Result<Stream> {
        let address =
            address.as_inet().ok_or_else(|| Error::explain(ConnectError, "not an IP address"))?;
        let stream = TcpStream::connect(address)
            .await
            .or_err(ConnectError, "while connecting to the origin")?;
        let silence = Arc::clone(&self.0);
        let socket = BodyFirst { stream, has_sent: false, silence, timer: Timer::default() };
        Ok(Stream::from(VirtualSocketStream::new(Box::new(socket))))
    }
}

/// A TCP connection with an empty first read after each write.
#[derive(Debug)]
struct BodyFirst {
    stream: TcpStream,
    has_sent: bool,
    silence: Arc<Silence>,
    timer: Timer,
}

impl VirtualSocket for BodyFirst {
    fn set_socket_option(&self, option: VirtualSockOpt) -> io::Result<()> {
        match option {
            VirtualSockOpt::NoDelay => self.stream.set_nodelay(true),
            // The policy sets the timeouts of a tunnel.
            _ => Ok(()),
        }
    }
}

impl AsyncRead for BodyFirst {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if std::mem::take(&mut self.has_sent) {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let this = self.get_mut();
        match Pin::new(&mut this.stream).poll_read(context, buffer) {
            Poll::Ready(read) => {
                this.silence.end();
                Poll::Ready(read)
            }
            Poll::Pending => Poll::Ready(Err(ready!(this.silence.poll(&mut this.timer, context)))),
        }
    }
}

impl AsyncWrite for BodyFirst {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.has_sent = true;
        self.silence.end();
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

/// How long a connection may be silent, in both directions together, and the wait for its next octet.
/// pingora limits each read alone, by a time that is set before the response is known. A WebSocket may be
/// silent in one direction for hours, and only the response says that a stream of events begins.
#[derive(Debug)]
pub(super) struct Silence {
    /// In milliseconds.
    limit: AtomicU64,
    wait: Wait,
}

impl Silence {
    pub(super) fn at_most(limit: Duration) -> Self {
        let silence = Self { limit: AtomicU64::new(0), wait: Wait::default() };
        silence.limit(limit);
        silence
    }

    pub(super) fn limit(&self, limit: Duration) {
        let limit = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
        self.limit.store(limit, Ordering::Release);
        self.end();
    }

    /// Notes octets in one direction or the other.
    pub(super) fn end(&self) {
        self.wait.begin(Duration::from_millis(self.limit.load(Ordering::Acquire)));
    }

    pub(super) fn is_over(&self) -> bool {
        self.wait.is_late()
    }

    /// An error if the connection has been silent for too long; else pending.
    pub(super) fn poll(&self, timer: &mut Timer, context: &mut Context<'_>) -> Poll<io::Error> {
        let error = |()| io::Error::new(io::ErrorKind::TimedOut, "silent for too long");
        self.wait.poll(timer, context).map(error)
    }
}
