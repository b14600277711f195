//! A scripted origin: records every byte it receives, and answers as the test says.

use std::{
    io::{self, Read, Write},
    net::{Ipv4Addr, Shutdown, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc,
    },
};

use parking_lot::Mutex;

use super::{PATIENCE, wait_for};

/// The end of the User-Agent of the fetch that compares a policy with the origin's robots.txt.
const COMPARISON: &str = "(+robots.txt of the origin, compared with the policy)";

/// A server on its own port; dropping it stops the server.
#[derive(Debug)]
pub(crate) struct Origin {
    pub(crate) port: u16,
    received: Arc<Mutex<Vec<Received>>>,
    stopped: Arc<AtomicBool>,
    /// Whether the script answers the fetch that compares the policy with the origin's robots.txt.
    is_compared: Arc<AtomicBool>,
}

/// A request as received.
#[derive(Clone, Debug, Default)]
pub(crate) struct Received {
    /// Request line and fields, with the empty line after them.
    pub(crate) head: Vec<u8>,
    pub(crate) method: String,
    pub(crate) target: Vec<u8>,
    pub(crate) headers: Vec<(String, String)>,
    /// The part of the body that was read, without chunk framing.
    pub(crate) body: Vec<u8>,
    /// The number of the request, unique in the process.
    number: usize,
}

/// A request in progress: the script may read its body, and writes the answer.
pub(crate) struct Exchange<'a> {
    pub(crate) request: Received,
    connection: &'a mut Connection,
    body_is_read: bool,
    noted: &'a Mutex<Vec<Received>>,
}

/// The fate of the connection after an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum After {
    Keep,
    Close,
}

struct Connection {
    stream: TcpStream,
    read: Vec<u8>,
}

impl Origin {
    /// An origin that answers by `script`.
    pub(crate) fn playing(
        script: impl Fn(&mut Exchange<'_>) -> After + Send + Sync + 'static,
    ) -> Self {
        Self::playing_on(super::free_port(), script)
    }

    /// An origin on a port that an earlier one had.
    pub(crate) fn playing_on(
        port: u16,
        script: impl Fn(&mut Exchange<'_>) -> After + Send + Sync + 'static,
    ) -> Self {
        let listener = wait_for("the port", || TcpListener::bind((Ipv4Addr::LOCALHOST, port)).ok());
        let (received, stopped) = (Arc::default(), Arc::new(AtomicBool::new(false)));
        let is_compared = Arc::new(AtomicBool::new(false));
        let origin = Self {
            port,
            received: Arc::clone(&received),
            stopped: Arc::clone(&stopped),
            is_compared: Arc::clone(&is_compared),
        };
        let script = Arc::new(script);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if stopped.load(Ordering::Acquire) {
                    return;
                }
                let Ok(stream) = stream else { continue };
                let (received, script) = (Arc::clone(&received), Arc::clone(&script));
                let is_compared = Arc::clone(&is_compared);
                std::thread::spawn(move || serve(stream, &received, &is_compared, &*script));
            }
        });
        origin
    }

    /// An origin that answers every request with the same bytes.
    pub(crate) fn answering(answer: impl AsRef<[u8]>) -> Self {
        let answer = answer.as_ref().to_vec();
        Self::playing(move |exchange| {
            exchange.read_body();
            exchange.write(&answer);
            After::Keep
        })
    }

    /// An origin that answers every request with a page with these field lines.
    pub(crate) fn with_fields(fields: &[&str]) -> Self {
        let fields: String = fields.iter().map(|line| format!("{line}\r\n")).collect();
        Self::answering(format!("HTTP/1.1 200 OK\r\n{fields}Content-Length: 5\r\n\r\nhello"))
    }

    /// An origin that answers `late`, once for each message of the sender.
    pub(crate) fn held() -> (Self, mpsc::Sender<()>) {
        let (go, gate) = mpsc::channel();
        let gate = Mutex::new(gate);
        let origin = Self::playing(move |exchange| {
            // An error means that the test has failed and is gone.
            let _ = gate.lock().recv();
            exchange.answer("200 OK", &[], b"late");
            After::Keep
        });
        (origin, go)
    }

    /// An origin whose pages contain their target.
    pub(crate) fn plain() -> Self {
        Self::playing(|exchange| {
            exchange.read_body();
            let body = [&b"origin: "[..], &exchange.request.target].concat();
            exchange.answer("200 OK", &["Content-Type: text/plain"], &body);
            After::Keep
        })
    }

    /// The origin with its script's answer for the fetch that compares it with the policy. Otherwise
    /// that fetch is no request of a test: it finds no robots.txt, and is not among the requests.
    pub(crate) fn compared(self) -> Self {
        self.is_compared.store(true, Ordering::Release);
        self
    }

    /// The port of an origin that does not run.
    pub(crate) fn absent() -> u16 {
        super::free_port()
    }

    /// The requests so far.
    pub(crate) fn received(&self) -> Vec<Received> {
        self.received.lock().clone()
    }

    /// The last request.
    pub(crate) fn last(&self) -> Received {
        self.received().pop().expect("the origin has a request")
    }

    /// Waits for this many requests.
    pub(crate) fn wait_for_requests(&self, count: usize) -> Vec<Received> {
        wait_for("requests at the origin", || {
            let received = self.received();
            (received.len() >= count).then_some(received)
        })
    }

    /// Forgets the requests so far.
    pub(crate) fn forget(&self) {
        self.received.lock().clear();
    }
}

impl Drop for Origin {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::Release);
        // Wakes the thread that accepts.
        drop(TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)));
    }
}

impl Received {
    pub(crate) fn all(&self, name: &str) -> Vec<&str> {
        let lines = self.headers.iter().filter(|(other, _)| other.eq_ignore_ascii_case(name));
        lines.map(|(_, value)| value.as_str()).collect()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.all(name).first().copied()
    }
}

impl Exchange<'_> {
    /// Writes raw bytes. Ignores errors: the client may be gone.
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        let _ = self.connection.stream.write_all(bytes);
    }

    /// Writes an answer with Content-Length, and without a body for HEAD.
    pub(crate) fn answer(&mut self, status: &str, fields: &[&str], body: &[u8]) {
        let fields: String = fields.iter().map(|line| format!("{line}\r\n")).collect();
        let length = body.len();
        let head = format!("HTTP/1.1 {status}\r\n{fields}Content-Length: {length}\r\n\r\n");
        let body = if self.request.method == "HEAD" { b"" } else { body };
        self.write(&[head.as_bytes(), body].concat());
    }

    /// Reads the body by its framing.
    pub(crate) fn read_body(&mut self) {
        if std::mem::replace(&mut self.body_is_read, true) {
            return;
        }
        let length = self.request.header("content-length").and_then(|text| text.parse().ok());
        let is_chunked = !self.request.all("transfer-encoding").is_empty();
        let body = if is_chunked {
            self.connection.chunks()
        } else {
            self.connection.take(length.unwrap_or(0))
        };
        self.request.body = body.unwrap_or_default();
        // Before the answer, so that a test that has the answer sees the body.
        let mut noted = self.noted.lock();
        if let Some(noted) = noted.iter_mut().find(|one| one.number == self.request.number) {
            noted.body.clone_from(&self.request.body);
        }
    }

    /// Echoes everything until the client ends.
    pub(crate) fn echo(&mut self) {
        let mut bytes = std::mem::take(&mut self.connection.read);
        loop {
            if self.connection.stream.write_all(&bytes).is_err() {
                return;
            }
            let mut buffer = [0; 4096];
            match self.connection.stream.read(&mut buffer) {
                Ok(length @ 1..) => bytes = buffer[..length].to_vec(),
                _ => return,
            }
        }
    }
}

fn serve(
    stream: TcpStream,
    received: &Mutex<Vec<Received>>,
    is_compared: &AtomicBool,
    script: &dyn Fn(&mut Exchange<'_>) -> After,
) {
    stream.set_read_timeout(Some(PATIENCE)).expect("a socket takes a timeout");
    stream.set_write_timeout(Some(PATIENCE)).expect("a socket takes a timeout");
    stream.set_nodelay(true).expect("a socket takes this option");
    let mut connection = Connection { stream, read: Vec::new() };
    while let Ok(head) = connection.until(b"\r\n\r\n") {
        let request = parse(head);
        let is_comparison =
            request.header("user-agent").is_some_and(|name| name.ends_with(COMPARISON));
        if is_comparison && !is_compared.load(Ordering::Acquire) {
            let answer =
                b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
            let _ = connection.stream.write_all(answer);
            return;
        }
        received.lock().push(request.clone());
        let mut exchange =
            Exchange { request, connection: &mut connection, body_is_read: false, noted: received };
        let after = script(&mut exchange);
        if after == After::Close {
            let _ = connection.stream.shutdown(Shutdown::Both);
            return;
        }
    }
}

fn parse(head: Vec<u8>) -> Received {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let line_end = head.windows(2).position(|two| two == b"\r\n").unwrap_or(head.len());
    let line = &head[..line_end];
    let method_end = line.iter().position(|&b| b == b' ').unwrap_or(0);
    let target_end = line.iter().rposition(|&b| b == b' ').unwrap_or(line.len());
    let target = line.get(method_end + 1..target_end).unwrap_or_default().to_vec();
    let fields = String::from_utf8_lossy(&head[line_end..]).into_owned();
    let headers = fields
        .split("\r\n")
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let method = String::from_utf8_lossy(&line[..method_end]).into_owned();
    Received { method, target, headers, body: Vec::new(), head, number }
}

impl Connection {
    fn fill(&mut self) -> io::Result<()> {
        let mut buffer = [0; 64 << 10];
        let length = self.stream.read(&mut buffer)?;
        if length == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.read.extend_from_slice(&buffer[..length]);
        Ok(())
    }

    fn take(&mut self, length: usize) -> io::Result<Vec<u8>> {
        while self.read.len() < length {
            self.fill()?;
        }
        let rest = self.read.split_off(length);
        Ok(std::mem::replace(&mut self.read, rest))
    }

    fn until(&mut self, end: &[u8]) -> io::Result<Vec<u8>> {
        loop {
            if let Some(at) = self.read.windows(end.len()).position(|window| window == end) {
                return self.take(at + end.len());
            }
            self.fill()?;
        }
    }

    fn chunks(&mut self) -> io::Result<Vec<u8>> {
        super::chunks(self, Self::until, Self::take)
    }
}
