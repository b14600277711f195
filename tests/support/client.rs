//! A raw HTTP/1.1 client: sends exactly the given bytes and reads answers by their framing.

use std::{
    io::{self, Read, Write},
    net::{Ipv4Addr, Shutdown, TcpStream},
};

use super::{
    PATIENCE, shown,
    tls::{self, TlsStream},
};

/// One connection.
#[derive(Debug)]
pub(crate) struct Client {
    stream: Stream,
    read: Vec<u8>,
}

#[derive(Debug)]
enum Stream {
    Plain(TcpStream),
    Tls(Box<TlsStream>),
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    /// The interim responses before it.
    pub(crate) interim: Vec<(u16, Vec<(String, String)>)>,
}

/// A request, built field by field.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    method: String,
    target: Vec<u8>,
    host: Option<String>,
    fields: Vec<u8>,
    body: Vec<u8>,
}

impl Request {
    pub(crate) fn new(method: &str, target: impl AsRef<[u8]>) -> Self {
        Self {
            method: method.to_owned(),
            target: target.as_ref().to_vec(),
            host: Some("site.example".to_owned()),
            fields: Vec::new(),
            body: Vec::new(),
        }
    }

    pub(crate) fn get(target: impl AsRef<[u8]>) -> Self {
        Self::new("GET", target)
    }

    pub(crate) fn host(mut self, host: &str) -> Self {
        self.host = Some(host.to_owned());
        self
    }

    pub(crate) fn user_agent(self, user_agent: &str) -> Self {
        self.field("User-Agent", user_agent)
    }

    pub(crate) fn field(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.fields.extend_from_slice(name.as_bytes());
        self.fields.extend_from_slice(b": ");
        self.fields.extend_from_slice(value.as_ref());
        self.fields.extend_from_slice(b"\r\n");
        self
    }

    pub(crate) fn body(mut self, body: impl AsRef<[u8]>) -> Self {
        self.body = body.as_ref().to_vec();
        let length = self.body.len().to_string();
        self.field("Content-Length", length)
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut bytes = self.method.clone().into_bytes();
        bytes.push(b' ');
        bytes.extend_from_slice(&self.target);
        bytes.extend_from_slice(b" HTTP/1.1\r\n");
        if let Some(host) = &self.host {
            bytes.extend_from_slice(format!("Host: {host}\r\n").as_bytes());
        }
        bytes.extend_from_slice(&self.fields);
        bytes.extend_from_slice(b"\r\n");
        bytes.extend_from_slice(&self.body);
        bytes
    }

    /// Sends it over a new connection.
    pub(crate) fn send(&self, port: u16) -> Response {
        self.send_over(&mut Client::connect(port))
    }

    /// Sends it over an open connection.
    pub(crate) fn send_over(&self, client: &mut Client) -> Response {
        client.write(&self.bytes());
        client.response(&self.method).unwrap_or_else(|error| {
            panic!("no answer to {}: {error}", shown(&self.bytes()));
        })
    }
}

impl Client {
    pub(crate) fn connect(port: u16) -> Self {
        Self::try_connect(port).expect("the port is open")
    }

    /// Connects to a program that may not listen yet.
    pub(crate) fn try_connect(port: u16) -> io::Result<Self> {
        Ok(Self { stream: Stream::Plain(try_connected(port)?), read: Vec::new() })
    }

    /// Connects from this address of the machine.
    pub(crate) fn connect_from(source: [u8; 4], port: u16) -> Self {
        let stream = connected_from(source.into(), port).expect("the port is open");
        Self { stream: Stream::Plain(stream), read: Vec::new() }
    }

    /// Connects to a TLS listener.
    pub(crate) fn connect_tls(port: u16) -> Self {
        let stream = tls::over(connected(port));
        Self { stream: Stream::Tls(Box::new(stream)), read: Vec::new() }
    }

    /// A client over this TLS connection.
    pub(crate) fn over_tls(stream: TlsStream) -> Self {
        Self { stream: Stream::Tls(Box::new(stream)), read: Vec::new() }
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) {
        self.try_write(bytes).expect("the connection is open");
    }

    /// Writes a request that may be refused before it is read whole.
    pub(crate) fn try_write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.stream {
            Stream::Plain(stream) => stream.write_all(bytes),
            Stream::Tls(stream) => stream.write_all(bytes),
        }
    }

    /// Closes the sending side.
    pub(crate) fn finish(&self) {
        let socket = match &self.stream {
            Stream::Plain(socket) => socket,
            Stream::Tls(stream) => stream.get_ref(),
        };
        socket.shutdown(Shutdown::Write).expect("the connection is open");
    }

    /// Reads a whole answer.
    pub(crate) fn response(&mut self, method: &str) -> io::Result<Response> {
        let mut response = self.head()?;
        let headerless = method == "HEAD" || matches!(response.status, 101 | 204 | 304);
        if headerless {
            return Ok(response);
        }
        if response.has("transfer-encoding", "chunked") {
            response.body = self.chunks()?;
        } else if let Some(length) = response.header("content-length") {
            let length = length.parse().map_err(io::Error::other)?;
            response.body = self.take(length)?;
        } else {
            while self.fills()? {}
            response.body = std::mem::take(&mut self.read);
        }
        Ok(response)
    }

    /// Reads the head of the final answer, and the interim ones before it.
    pub(crate) fn head(&mut self) -> io::Result<Response> {
        let mut interim = Vec::new();
        loop {
            let head = self.until(b"\r\n\r\n")?;
            let text = String::from_utf8_lossy(&head);
            let mut lines = text.trim_end().split("\r\n");
            let status = lines
                .next()
                .and_then(|line| line.strip_prefix("HTTP/1."))
                .and_then(|line| line.get(2..5))
                .and_then(|status| status.parse().ok());
            let status: u16 = status.ok_or_else(|| io::Error::other(shown(&head)))?;
            let headers = lines
                .map(|line| line.split_once(':').unwrap_or((line, "")))
                .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
                .collect();
            if (100..200).contains(&status) && status != 101 {
                interim.push((status, headers));
                continue;
            }
            return Ok(Response { status, headers, body: Vec::new(), interim });
        }
    }

    /// Reads exactly this many bytes.
    pub(crate) fn take(&mut self, length: usize) -> io::Result<Vec<u8>> {
        while self.read.len() < length {
            self.fill()?;
        }
        let rest = self.read.split_off(length);
        Ok(std::mem::replace(&mut self.read, rest))
    }

    /// Reads what is there, at least one byte; nothing at the end of the connection.
    pub(crate) fn some(&mut self) -> io::Result<Vec<u8>> {
        if self.read.is_empty() {
            self.fills()?;
        }
        Ok(std::mem::take(&mut self.read))
    }

    /// Reads until the connection ends by a close or a reset.
    pub(crate) fn rest(&mut self) -> Vec<u8> {
        while self.fill().is_ok() {}
        std::mem::take(&mut self.read)
    }

    /// Reads up to and including `end`.
    pub(crate) fn until(&mut self, end: &[u8]) -> io::Result<Vec<u8>> {
        let mut seen = 0;
        loop {
            if let Some(at) = self.read[seen..].windows(end.len()).position(|w| w == end) {
                return self.take(seen + at + end.len());
            }
            seen = self.read.len().saturating_sub(end.len() - 1);
            self.fill()?;
        }
    }

    fn chunks(&mut self) -> io::Result<Vec<u8>> {
        super::chunks(self, Self::until, Self::take)
    }

    fn fill(&mut self) -> io::Result<()> {
        if self.fills()? { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }

    /// Reads what is there; `false` at the end of the connection.
    fn fills(&mut self) -> io::Result<bool> {
        let mut buffer = [0; 64 << 10];
        let length = match &mut self.stream {
            Stream::Plain(stream) => stream.read(&mut buffer)?,
            Stream::Tls(stream) => stream.read(&mut buffer)?,
        };
        self.read.extend_from_slice(&buffer[..length]);
        Ok(length > 0)
    }
}

/// A connection from this address. The standard library can't choose it.
fn connected_from(source: Ipv4Addr, port: u16) -> io::Result<TcpStream> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    let stream = runtime.block_on(async {
        let socket = tokio::net::TcpSocket::new_v4()?;
        socket.bind((source, 0).into())?;
        socket.connect((Ipv4Addr::LOCALHOST, port).into()).await?.into_std()
    })?;
    stream.set_nonblocking(false)?;
    ready(stream)
}

/// A connected socket with deadlines.
pub(crate) fn connected(port: u16) -> TcpStream {
    try_connected(port).expect("the port is open")
}

/// The certificate that a listener presents for a name.
pub(crate) fn presented(port: u16, name: Option<&str>) -> Vec<u8> {
    let mut stream = tls::over_as(connected(port), name, rustls::DEFAULT_VERSIONS);
    while stream.conn.is_handshaking() {
        stream.conn.complete_io(&mut stream.sock).expect("a handshake");
    }
    let chain = stream.conn.peer_certificates().expect("a certificate");
    chain.first().expect("a certificate").to_vec()
}

fn try_connected(port: u16) -> io::Result<TcpStream> {
    ready(TcpStream::connect((Ipv4Addr::LOCALHOST, port))?)
}

fn ready(stream: TcpStream) -> io::Result<TcpStream> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

impl Response {
    /// The value of a field with at most one line.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let values = self.all(name);
        assert!(values.len() <= 1, "{name} has {} lines: {values:?}", values.len());
        values.first().copied()
    }

    /// The values of all lines of a field.
    pub(crate) fn all(&self, name: &str) -> Vec<&str> {
        let lines = self.headers.iter().filter(|(other, _)| other.eq_ignore_ascii_case(name));
        lines.map(|(_, value)| value.as_str()).collect()
    }

    /// Whether a field has this value, in any case.
    pub(crate) fn has(&self, name: &str, value: &str) -> bool {
        self.all(name).iter().any(|found| found.eq_ignore_ascii_case(value))
    }

    /// Whether the connection stays open for another request.
    pub(crate) fn keeps_alive(&self) -> bool {
        !self.has("connection", "close")
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}
