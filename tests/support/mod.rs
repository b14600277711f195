//! What the tests share: a raw HTTP client, an origin that plays any part, nginx, and the real
//! program started on free ports in a folder of its own.
//!
//! Everything listens on loopback, every wait has an end, and every process and thread that is
//! started here ends with the value that stands for it.

#![allow(dead_code, reason = "each test program uses its part of this")]
#![allow(clippy::panic, clippy::print_stderr, reason = "a test says so when it fails")]

use std::{
    net::{Ipv4Addr, TcpListener},
    sync::atomic::{AtomicU16, Ordering},
    time::{Duration, Instant},
};

pub(crate) mod client;
pub(crate) mod nginx;
pub(crate) mod origin;
pub(crate) mod program;

/// Longer than anything here takes, even on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// A port that nobody listens on. It lies below the ports that outgoing connections are given, so
/// that none of those takes it before it is used.
pub(crate) fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    const FIRST: u32 = 10_000;
    const COUNT: u32 = 22_000;
    for _ in 0..COUNT {
        let turn = u32::from(NEXT.fetch_add(1, Ordering::Relaxed));
        let offset = (std::process::id().wrapping_mul(131) + turn) % COUNT;
        let port = u16::try_from(FIRST + offset).expect("the range ends below 32,768");
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return port;
        }
    }
    panic!("no free port");
}

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

/// Bytes as a message shows them.
pub(crate) fn shown(bytes: &[u8]) -> String {
    let short = &bytes[..bytes.len().min(300)];
    let mut text = short.escape_ascii().to_string();
    if short.len() < bytes.len() {
        text.push_str(&format!("… ({} bytes)", bytes.len()));
    }
    text
}
