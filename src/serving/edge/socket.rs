//! A client's TCP connection as pingora's parsers take it.
//!
//! pingora's own type reads 64 KiB ahead, and only its own accept loop can change that. This one has
//! small buffers, and lets the head of a PROXY protocol be read before anything else.

use std::{
    io::{self, IoSlice},
    net::SocketAddr,
    os::fd::AsRawFd,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Waker},
    time::SystemTime,
};

use async_trait::async_trait;
use pingora::protocols::{
    GetProxyDigest, GetSocketDigest, GetTimingDigest, Peek, Shutdown, SocketDigest, Ssl,
    TimingDigest, UniqueID, UniqueIDType, raw_connect::ProxyDigest,
};
use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt, BufStream, ReadBuf},
    net::TcpStream,
};

/// The octets that are read ahead. Larger reads go around this buffer.
const READ_BUFFER: usize = 8 << 10;
/// The octets that wait for more before they are written: those of one packet.
const WRITE_BUFFER: usize = 1_460;

/// A client's TCP connection.
#[derive(Debug)]
pub(super) struct Socket {
    stream: BufStream<TcpStream>,
    id: UniqueIDType,
    digest: Arc<SocketDigest>,
    since: SystemTime,
}

impl Socket {
    /// A connection from `peer`.
    pub(super) fn new(stream: TcpStream, peer: SocketAddr) -> Self {
        let id = stream.as_raw_fd();
        let stream = BufStream::with_capacity(READ_BUFFER, WRITE_BUFFER, stream);
        Self { stream, id, digest: digest(id, peer), since: SystemTime::now() }
    }

    /// What comes first on the connection.
    pub(super) const fn start(&mut self) -> &mut BufStream<TcpStream> {
        &mut self.stream
    }

    /// The same connection, of the client that a proxy speaks for.
    pub(super) fn speaking_for(mut self, client: SocketAddr) -> Self {
        self.digest = digest(self.id, client);
        self
    }
}

fn digest(id: UniqueIDType, peer: SocketAddr) -> Arc<SocketDigest> {
    let digest = SocketDigest::from_raw_fd(id);
    // Empty until now.
    let _ = digest.peer_addr.set(Some(peer.into()));
    Arc::new(digest)
}

/// pingora ends some connections without a flush: what it has written goes out as far as there is room.
impl Drop for Socket {
    fn drop(&mut self) {
        let mut context = Context::from_waker(Waker::noop());
        let _ = Pin::new(&mut self.stream).poll_flush(&mut context);
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
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
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, pieces)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

#[async_trait]
impl Shutdown for Socket {
    async fn shutdown(&mut self) {
        // The client may be gone.
        let _ = AsyncWriteExt::shutdown(&mut self.stream).await;
    }
}

impl UniqueID for Socket {
    fn id(&self) -> UniqueIDType {
        self.id
    }
}

impl Ssl for Socket {}

impl GetTimingDigest for Socket {
    fn get_timing_digest(&self) -> Vec<Option<TimingDigest>> {
        vec![Some(TimingDigest { established_ts: self.since, ..TimingDigest::default() })]
    }
}

impl GetProxyDigest for Socket {
    fn get_proxy_digest(&self) -> Option<Arc<ProxyDigest>> {
        None
    }
}

impl GetSocketDigest for Socket {
    fn get_socket_digest(&self) -> Option<Arc<SocketDigest>> {
        Some(Arc::clone(&self.digest))
    }

    fn set_socket_digest(&mut self, digest: SocketDigest) {
        self.digest = Arc::new(digest);
    }
}

impl Peek for Socket {}
