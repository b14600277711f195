//! What the tests share: a raw HTTP client, an origin that plays any part, nginx, and the real
//! program started on free ports in a folder of its own.
//!
//! Everything listens on loopback, every wait has an end, and every process and thread that is
//! started here ends with the value that stands for it.

#![allow(dead_code, reason = "each test program uses its part of this")]
#![allow(clippy::panic, clippy::print_stderr, reason = "a test says so when it fails")]

use std::{
    io,
    time::{Duration, Instant},
};

pub(crate) mod client;
pub(crate) mod name_server;
pub(crate) mod nginx;
pub(crate) mod origin;
mod ports;
pub(crate) mod program;
pub(crate) mod tools;

pub(crate) use self::{ports::free_port, tools::need};

/// A person.
pub(crate) const BROWSER: &str =
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:130.0) Gecko/20100101 Firefox/130.0";

/// Groups for everybody, for a crawler that is in no catalogue and for one that is.
pub(crate) const GROUPS: &str = "
    robots_txt:
      groups:
        - user_agents: [\"*\"]
          disallow: [/admin/]
        - user_agents: [BadBot]
          disallow: [/private/, \"/*?secret=\"]
          allow: [/private/help/]
        - user_agents: [GPTBot]
          disallow: [/]
          allow: [/press/]
";

/// Longer than anything here takes, even on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// Asks again and again until there is an answer; panics with `what` where there is none in time.
pub(crate) fn wait_for<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(Instant::now() < deadline, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A body in chunks (RFC 9112 §7.1), trailers passed over: `until` reads up to and with an end,
/// `take` a number of bytes.
pub(crate) fn chunks<S>(
    source: &mut S,
    until: impl Fn(&mut S, &[u8]) -> io::Result<Vec<u8>>,
    take: impl Fn(&mut S, usize) -> io::Result<Vec<u8>>,
) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let line = until(source, b"\r\n")?;
        let text = String::from_utf8_lossy(&line);
        let size = text.trim_end().split(';').next().unwrap_or_default().to_owned();
        let size = usize::from_str_radix(&size, 16).map_err(io::Error::other)?;
        if size == 0 {
            while until(source, b"\r\n")? != b"\r\n" {}
            return Ok(body);
        }
        body.extend(take(source, size)?);
        take(source, 2)?;
    }
}

/// Bytes as a message shows them.
pub(crate) fn shown(bytes: &[u8]) -> String {
    let short = &bytes[..bytes.len().min(300)];
    let mut text = short.escape_ascii().to_string();
    if short.len() < bytes.len() {
        text.push_str(&format!("… ({} bytes)", bytes.len()));
    }
    text
}
