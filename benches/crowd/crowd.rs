//! The crowd: clients with an address each that keep connections open, or send little at a time.

use std::{
    io::{Read, Write},
    net::{Ipv4Addr, SocketAddr, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use tokio::{net::TcpSocket, runtime};

use crate::{
    harness::{Result, process::Address},
    tls::{self, TlsStream},
};

pub(crate) const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: www.example.com\r\n\r\n";

/// The beginning of a request whose header never ends.
const HEADER: &[u8] = b"GET / HTTP/1.1\r\nHost: www.example.com\r\nX-Long: ";
/// The header of a request whose body takes an hour.
const BODY: &[u8] = b"POST / HTTP/1.1\r\nHost: www.example.com\r\nContent-Length: 10800000\r\n\r\n";
/// The preface of HTTP/2, an empty SETTINGS frame, and the head of a HEADERS frame of 16,384 octets
/// (RFC 9113 section 3.4 and 4.1).
const HTTP_2: &[u8] =
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00\x00\x40\x00\x01\x00\x00\x00\x00\x01";

/// Clients that stay.
#[derive(Default)]
pub(crate) struct Crowd {
    idle: Vec<TcpStream>,
    next: usize,
    slow: Option<Dripping>,
}

/// The slow clients, at work.
struct Dripping {
    number: usize,
    stopped: Arc<AtomicBool>,
    /// Ends with the number of those that are still connected.
    thread: JoinHandle<usize>,
}

/// A slow client, and what it sends each second.
struct Slow {
    stream: Stream,
    piece: &'static [u8],
}

enum Stream {
    Plain(TcpStream),
    Tls(Box<TlsStream>),
}

impl Crowd {
    /// Clients that asked once and keep their connections.
    pub(crate) fn add_idle(&mut self, address: Address, number: usize) -> Result<()> {
        for _ in 0..number {
            let mut stream = self.connected(address)?;
            stream.write_all(REQUEST)?;
            let mut start = [0; 12];
            stream.read_exact(&mut start)?;
            if &start != b"HTTP/1.1 200" {
                return Err("an idle client was refused".into());
            }
            self.idle.push(stream);
        }
        Ok(())
    }

    /// Clients that send a little each second, until the end.
    pub(crate) fn add_slow(&mut self, plain: Address, tls: Address, number: usize) -> Result<()> {
        let mut slow = Vec::new();
        for at in 0..number {
            let (start, piece): (&[u8], &'static [u8]) = match at % 3 {
                0 => (HEADER, b"x"),
                1 => (BODY, &[b'x'; 3_000]),
                _ => (HTTP_2, &[0]),
            };
            let mut stream = match at % 3 {
                2 => Stream::Tls(Box::new(tls::over_http_2(self.connected(tls)?))),
                _ => Stream::Plain(self.connected(plain)?),
            };
            stream.send(start)?;
            slow.push(Slow { stream, piece });
        }
        let stopped = Arc::new(AtomicBool::new(false));
        let is_stopped = Arc::clone(&stopped);
        let pause = Duration::from_secs(1) / u32::try_from(number.max(1))?;
        let thread = thread::spawn(move || {
            while !is_stopped.load(Ordering::Relaxed) {
                // One after another: clients that know nothing of each other send at different times.
                slow.retain_mut(|client| {
                    thread::sleep(pause);
                    client.stream.send(client.piece).is_ok()
                });
            }
            slow.len()
        });
        self.slow = Some(Dripping { number, stopped, thread });
        Ok(())
    }

    /// Closes all connections: how many of the slow ones were open, and how many were not.
    pub(crate) fn end(self) -> (usize, usize) {
        let Some(Dripping { number, stopped, thread }) = self.slow else { return (0, 0) };
        stopped.store(true, Ordering::Relaxed);
        let kept = thread.join().unwrap_or_default();
        (kept, number - kept)
    }

    /// A connection from the next address of 127.1.0.0/16.
    fn connected(&mut self, to: Address) -> Result<TcpStream> {
        self.next += 1;
        let (high, low) = (self.next / 250, self.next % 250);
        connected_from([127, 1, u8::try_from(high)?, u8::try_from(low + 1)?], to)
    }
}

impl Stream {
    fn send(&mut self, octets: &[u8]) -> std::io::Result<()> {
        match self {
            Self::Plain(stream) => stream.write_all(octets),
            Self::Tls(stream) => {
                stream.write_all(octets)?;
                stream.flush()
            }
        }
    }
}

/// A connection from an address of this machine.
pub(crate) fn connected_from(from: [u8; 4], to: Address) -> Result<TcpStream> {
    // The standard library can't bind a socket before it connects.
    let runtime = runtime::Builder::new_current_thread().enable_io().build()?;
    runtime.block_on(async {
        let socket = TcpSocket::new_v4()?;
        socket.bind(SocketAddr::from((Ipv4Addr::from(from), 0)))?;
        let stream = socket.connect(to.socket()).await?.into_std()?;
        stream.set_nonblocking(false)?;
        Ok(stream)
    })
}
