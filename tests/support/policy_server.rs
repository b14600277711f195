//! A web server with policies, over HTTPS or HTTP. It sends an ETag, and 304 if it is asked with that.

use std::{
    collections::HashMap,
    io::{self, Read, Write},
    net::{Ipv4Addr, TcpListener, TcpStream},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use parking_lot::Mutex;
use rustls::{
    ServerConfig, ServerConnection, StreamOwned,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};

use super::{PATIENCE, tls};

/// A server on its own port, for as long as the process lives.
#[derive(Clone)]
pub(crate) struct PolicyServer {
    pub(crate) port: u16,
    state: Arc<Mutex<State>>,
    scheme: &'static str,
}

#[derive(Default)]
struct State {
    answers: HashMap<String, Answer>,
    seen: Vec<Seen>,
    is_away: bool,
}

/// The answer for a path.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    /// A file with its ETag.
    File(Vec<u8>),
    /// A status without content, and more header lines.
    Status(u16, String),
    /// Nothing, for ever.
    Silence,
}

/// A request that the server got.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) path: String,
    pub(crate) status: u16,
    pub(crate) head: String,
}

impl PolicyServer {
    /// A server over HTTPS. Its certificate is the authority in `ca.pem` of the folder.
    pub(crate) fn https(folder: &Path) -> Self {
        let issued = tls::issue(&["localhost"]);
        std::fs::write(folder.join("ca.pem"), &issued.certificate).expect("the folder is ours");
        let certificate = CertificateDer::from_pem_slice(issued.certificate.as_bytes());
        let key = PrivateKeyDer::from_pem_slice(issued.key.as_bytes());
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("the provider has these")
            .with_no_client_auth()
            .with_single_cert(vec![certificate.expect("a certificate")], key.expect("a key"))
            .expect("they belong together");
        Self::start(Some(Arc::new(config)))
    }

    /// A server over HTTP.
    pub(crate) fn http() -> Self {
        Self::start(None)
    }

    fn start(config: Option<Arc<ServerConfig>>) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let port = listener.local_addr().expect("it is bound").port();
        let scheme = if config.is_some() { "https" } else { "http" };
        let server = Self { port, state: Arc::default(), scheme };
        let state = Arc::clone(&server.state);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (config, state) = (config.clone(), Arc::clone(&state));
                // The client may leave at any time.
                std::thread::spawn(move || drop(serve(stream, config, &state)));
            }
        });
        server
    }

    /// The URL of a path, with credentials such as `me:secret@` or without.
    pub(crate) fn url(&self, credentials: &str, path: &str) -> String {
        format!("{}://{credentials}localhost:{}{path}", self.scheme, self.port)
    }

    pub(crate) fn put(&self, path: &str, answer: Answer) {
        self.state.lock().answers.insert(path.to_owned(), answer);
    }

    pub(crate) fn put_file(&self, path: &str, content: impl AsRef<[u8]>) {
        self.put(path, Answer::File(content.as_ref().to_vec()));
    }

    /// Closes every connection at once, or no longer.
    pub(crate) fn is_away(&self, is_away: bool) {
        self.state.lock().is_away = is_away;
    }

    /// The requests for a path so far.
    pub(crate) fn seen(&self, path: &str) -> Vec<Seen> {
        self.state.lock().seen.iter().filter(|seen| seen.path == path).cloned().collect()
    }
}

/// The file of the authority that an HTTPS server made in the folder.
pub(crate) fn authority(folder: &Path) -> PathBuf {
    folder.join("ca.pem")
}

fn serve(
    stream: TcpStream,
    config: Option<Arc<ServerConfig>>,
    state: &Mutex<State>,
) -> io::Result<()> {
    if state.lock().is_away {
        return Ok(());
    }
    stream.set_read_timeout(Some(PATIENCE))?;
    match config {
        None => answer(stream, state),
        Some(config) => {
            let connection = ServerConnection::new(config).map_err(io::Error::other)?;
            let mut stream = StreamOwned::new(connection, stream);
            let answered = answer(&mut stream, state);
            stream.conn.send_close_notify();
            stream.flush()?;
            answered
        }
    }
}

fn answer(mut stream: impl Read + Write, state: &Mutex<State>) -> io::Result<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut octet = [0];
        stream.read_exact(&mut octet)?;
        head.push(octet[0]);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let target = head.split(' ').nth(1).unwrap_or_default();
    let path = target.split('?').next().unwrap_or_default().to_owned();
    let answer = state.lock().answers.get(&path).cloned();
    let (status, lines, body) = match answer {
        None => (404, String::new(), Vec::new()),
        Some(Answer::Silence) => {
            std::thread::sleep(Duration::from_secs(60));
            return Ok(());
        }
        Some(Answer::Status(status, lines)) => (status, lines, Vec::new()),
        Some(Answer::File(content)) => {
            let sum = content.iter().fold(content.len() as u64, |sum, &octet| {
                sum.wrapping_mul(31).wrapping_add(octet.into())
            });
            let etag = format!("\"{sum:x}\"");
            let is_known = head.to_lowercase().contains(&format!("if-none-match: {etag}"));
            let lines = format!("ETag: {etag}\r\n");
            if is_known { (304, lines, Vec::new()) } else { (200, lines, content) }
        }
    };
    state.lock().seen.push(Seen { path, status, head: head.clone() });
    let length = body.len();
    let end = "Connection: close\r\n\r\n";
    write!(stream, "HTTP/1.1 {status} x\r\nContent-Length: {length}\r\n{lines}{end}")?;
    stream.write_all(&body)?;
    stream.flush()
}
