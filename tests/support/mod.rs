//! Support for the integration tests: a raw HTTP client, a scripted origin, nginx, a name server,
//! counts of two weeks, and the real program on free ports in its own folder.
//!
//! Everything listens on loopback and every wait has a deadline. Dropping a value ends its process
//! or thread.

#![allow(dead_code, reason = "each test program uses its part of this")]
#![allow(clippy::panic, clippy::print_stderr, reason = "a test says so when it fails")]

use std::{
    io,
    time::{Duration, Instant},
};

pub(crate) mod clickhouse;
pub(crate) mod client;
pub(crate) mod conditions;
pub(crate) mod dice;
pub(crate) mod frames;
pub(crate) mod hostile;
pub(crate) mod mail;
pub(crate) mod name_server;
pub(crate) mod nginx;
pub(crate) mod origin;
pub(crate) mod origin_models;
pub(crate) mod pebble;
pub(crate) mod policy_server;
pub(crate) mod ports;
pub(crate) mod program;
pub(crate) mod receiver;
pub(crate) mod relay;
pub(crate) mod tls;
pub(crate) mod valkey;
pub(crate) mod week;

pub(crate) use self::{conditions::need, ports::free_port};

/// The User-Agent of a browser.
pub(crate) const BROWSER: &str =
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:130.0) Gecko/20100101 Firefox/130.0";

/// Groups for `*`, for a crawler outside the catalogue and for one in it.
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

/// The deadline of every wait, ample even on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(180);

/// Polls until there is a value; panics with `what` at the deadline.
pub(crate) fn wait_for<T>(what: &str, mut poll: impl FnMut() -> Option<T>) -> T {
    let found = polls().find_map(|()| poll());
    found.unwrap_or_else(|| panic!("waited in vain for {what}"))
}

/// One item for each time that a test should look, until the deadline. The pauses grow, because what
/// it looks at costs the program milliseconds.
pub(crate) fn polls() -> impl Iterator<Item = ()> {
    let deadline = Instant::now() + PATIENCE;
    let mut pause = Duration::ZERO;
    std::iter::from_fn(move || {
        std::thread::sleep(pause);
        pause = (pause * 3 / 2).clamp(Duration::from_millis(4), Duration::from_millis(40));
        (Instant::now() < deadline).then_some(())
    })
}

/// Reads a chunked body (RFC 9112 §7.1) and skips its trailers. `until` reads up to and including an
/// end, `take` a number of bytes.
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

/// Bytes for a message: escaped, and at most 300.
pub(crate) fn shown(bytes: &[u8]) -> String {
    let short = &bytes[..bytes.len().min(300)];
    let mut text = short.escape_ascii().to_string();
    if short.len() < bytes.len() {
        text.push_str(&format!("… ({} bytes)", bytes.len()));
    }
    text
}
