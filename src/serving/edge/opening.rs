//! The opening of a connection: the PROXY protocol and the TLS handshake.

use std::{
    io::{self, IoSlice},
    net::{IpAddr, SocketAddr},
    os::fd::AsRawFd,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Waker},
    time::SystemTime,
};

use async_trait::async_trait;
use pingora::{
    listeners::tls::Acceptor,
    protocols::{
        GetProxyDigest, GetSocketDigest, GetTimingDigest, Peek, Shutdown, SocketDigest, Ssl,
        Stream, TimingDigest, UniqueID, UniqueIDType, raw_connect::ProxyDigest,
    },
};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufStream, ReadBuf},
    net::TcpStream,
};

/// The first octets of version 2.
const SIGNATURE: &[u8; 12] = b"\r\n\r\n\0\r\nQUIT\n";
/// The longest header of version 1, with its line end.
const LONGEST_LINE: usize = 107;
/// The longest header of version 2, without its first 16 octets.
const LONGEST_BINARY: usize = 4_096;

pub(crate) struct Opening {
    pub(crate) tls: Option<Arc<Acceptor>>,
    pub(crate) proxy_protocol: bool,
}

/// The reason why a connection did not open, as metrics name it.
pub(super) type Fault = &'static str;

impl Opening {
    /// Opens a connection. `is_trusted` tells whether the peer may speak for others.
    ///
    /// # Errors
    /// The peer may not open it, or does it in a wrong way.
    pub(super) async fn open(
        &self,
        stream: TcpStream,
        peer: SocketAddr,
        is_trusted: bool,
    ) -> Result<Stream, Fault> {
        let mut socket = Socket::new(stream, peer);
        if self.proxy_protocol {
            if !is_trusted {
                return Err("proxy.untrusted_peer");
            }
            match client(socket.start()).await {
                Ok(Some(client)) => socket = socket.speaking_for(client),
                // The proxy's own connection, such as a health check.
                Ok(None) => {}
                Err(_) => return Err("proxy.bad_proxy_protocol"),
            }
        }
        match &self.tls {
            None => Ok(Box::new(socket)),
            Some(tls) => match tls.tls_handshake(socket).await {
                Ok(stream) => Ok(Box::new(stream)),
                Err(error) => {
                    tracing::debug!(%error, client = %peer.ip(), "no TLS handshake");
                    Err("proxy.tls_handshake")
                }
            },
        }
    }
}

/// The client of a PROXY protocol header, version 1 or 2; `None` for a connection of the proxy itself.
async fn client(stream: &mut (impl AsyncRead + Unpin)) -> io::Result<Option<SocketAddr>> {
    let bad = |_| io::Error::from(io::ErrorKind::InvalidData);
    let mut header = vec![0; SIGNATURE.len()];
    stream.read_exact(&mut header).await?;
    if header == SIGNATURE {
        header.resize(16, 0);
        stream.read_exact(&mut header[12..]).await?;
        let length = usize::from(u16::from_be_bytes([header[14], header[15]]));
        if length > LONGEST_BINARY {
            return Err(io::ErrorKind::InvalidData.into());
        }
        header.resize(16 + length, 0);
        stream.read_exact(&mut header[16..]).await?;
        let header = ppp::v2::Header::try_from(&header[..]).map_err(|_| bad(()))?;
        return Ok(match (header.command, header.addresses) {
            (ppp::v2::Command::Local, _) => None,
            (_, ppp::v2::Addresses::IPv4(of)) => {
                Some(address(of.source_address.into(), of.source_port))
            }
            (_, ppp::v2::Addresses::IPv6(of)) => {
                Some(address(of.source_address.into(), of.source_port))
            }
            (_, ppp::v2::Addresses::Unspecified | ppp::v2::Addresses::Unix(_)) => None,
        });
    }
    while !header.ends_with(b"\n") {
        if header.len() >= LONGEST_LINE {
            return Err(io::ErrorKind::InvalidData.into());
        }
        header.push(stream.read_u8().await?);
    }
    let header = ppp::v1::Header::try_from(&header[..]).map_err(|_| bad(()))?;
    Ok(match header.addresses {
        ppp::v1::Addresses::Tcp4(of) => Some(address(of.source_address.into(), of.source_port)),
        ppp::v1::Addresses::Tcp6(of) => Some(address(of.source_address.into(), of.source_port)),
        ppp::v1::Addresses::Unknown => None,
    })
}

fn address(ip: IpAddr, port: u16) -> SocketAddr {
    SocketAddr::new(ip.to_canonical(), port)
}

/// The octets that are read ahead. Larger reads go around this buffer.
const READ_BUFFER: usize = 8 << 10;
/// The octets that wait for more before they are written: those of one packet.
const WRITE_BUFFER: usize = 1_460;

/// A client's TCP connection as pingora's parsers take it. pingora's own type reads 64 KiB ahead, and only
/// its own accept loop can change that. This one has small buffers, and lets the head of a PROXY protocol be
/// read before anything else.
#[derive(Debug)]
pub(super) struct Socket {
    stream: BufStream<TcpStream>,
    id: UniqueIDType,
    digest: Arc<SocketDigest>,
    since: SystemTime,
}

impl Socket {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The client, and what is left for the next reader.
    fn read(bytes: &[u8]) -> Result<(Option<String>, Vec<u8>), ()> {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let mut rest = bytes;
        let client = runtime.block_on(client(&mut rest)).map_err(drop)?;
        Ok((client.map(|client| client.to_string()), rest.to_vec()))
    }

    /// A header of version 2.
    fn binary(command: u8, family: u8, addresses: &[u8]) -> Vec<u8> {
        let length = u16::try_from(addresses.len()).unwrap().to_be_bytes();
        [&SIGNATURE[..], &[command, family], &length, addresses].concat()
    }

    #[test]
    fn a_header_names_the_client_and_leaves_what_follows() {
        let v4 = [192, 0, 2, 1, 10, 0, 0, 1, 0x30, 0x39, 0, 80];
        let mut v6 = [0; 36];
        v6[..4].copy_from_slice(&[0x20, 0x01, 0x0d, 0xb8]);
        (v6[15], v6[33]) = (1, 7);
        let with_tlv = [&v4[..], &[4, 0, 1, b'x']].concat();
        for (header, client) in [
            (b"PROXY TCP4 192.0.2.1 10.0.0.1 12345 80\r\n".to_vec(), Some("192.0.2.1:12345")),
            (b"PROXY TCP6 2001:db8::1 ::1 7 80\r\n".to_vec(), Some("[2001:db8::1]:7")),
            (b"PROXY TCP6 ::ffff:192.0.2.1 ::1 7 80\r\n".to_vec(), Some("192.0.2.1:7")),
            (b"PROXY UNKNOWN\r\n".to_vec(), None),
            (b"PROXY UNKNOWN whatever it says\r\n".to_vec(), None),
            (binary(0x21, 0x11, &v4), Some("192.0.2.1:12345")),
            (binary(0x21, 0x11, &with_tlv), Some("192.0.2.1:12345")),
            (binary(0x21, 0x21, &v6), Some("[2001:db8::1]:7")),
            (binary(0x20, 0x00, &[]), None),
            (binary(0x20, 0x11, &v4), None),
        ] {
            let sent = [&header[..], b"GET / HTTP/1.1\r\n"].concat();
            let expected = (client.map(str::to_owned), b"GET / HTTP/1.1\r\n".to_vec());
            assert_eq!(read(&sent), Ok(expected), "{}", header.escape_ascii());
        }
    }

    #[test]
    fn another_beginning_is_refused() {
        let endless = [b"PROXY UNKNOWN ".to_vec(), vec![b'x'; 200], b"\r\n".to_vec()].concat();
        for bytes in [
            b"GET / HTTP/1.1\r\nHost: site.example\r\n\r\n".to_vec(),
            b"PROXY TCP4 192.0.2.1 10.0.0.1 12345\r\nGET".to_vec(),
            b"PROXY TCP4 192.0.2.300 10.0.0.1 1 2\r\nGET".to_vec(),
            b"PROXY TCP4 192.0.2.1 10.0.0.1 1 2\nGET /".to_vec(),
            b"proxy TCP4 192.0.2.1 10.0.0.1 1 2\r\nGET".to_vec(),
            endless,
            binary(0x11, 0x11, &[0; 12]),
            binary(0x21, 0x11, &[0; 4]),
            binary(0x21, 0x11, &[0; 5_000]),
            SIGNATURE[..6].to_vec(),
            Vec::new(),
        ] {
            assert_eq!(read(&bytes), Err(()), "{}", bytes[..bytes.len().min(60)].escape_ascii());
        }
    }
}
