//! Ports that belong to one test each.
//!
//! A port is chosen before the program binds it, so it has to stay free in between. Two things
//! could take it: an outgoing connection, which gets its port from the kernel's ephemeral range,
//! and another test. So the ports here lie below that range, and each is reserved with a lock on a
//! file in the folder for temporary files. The lock lasts until the test process ends: no port is
//! handed out twice in a process, and processes that run side by side never share one.
//! Only tests of this project take part in the locks.

use std::{
    fs::File,
    net::{Ipv4Addr, TcpListener},
    path::Path,
    sync::atomic::{AtomicU16, Ordering},
};

use parking_lot::Mutex;

/// How many ports there are to choose from.
const COUNT: u16 = 12_000;
/// Where the kernel's ephemeral ports begin unless it says otherwise.
const EPHEMERAL: u16 = 32_768;

/// Reserves a port that nothing listens on, until this process ends.
pub(crate) fn free_port() -> u16 {
    free_ports(1)
}

/// Reserves ports in a row; returns the first.
pub(crate) fn free_ports(count: u16) -> u16 {
    static TURN: AtomicU16 = AtomicU16::new(0);
    static LOCKS: Mutex<Vec<File>> = Mutex::new(Vec::new());
    let folder = std::env::temp_dir().join("beadle-ports");
    // Another process may have made it.
    let _ = std::fs::create_dir(&folder);
    let first = first_ephemeral().saturating_sub(COUNT).max(1_024);
    let start = std::process::id().wrapping_mul(131);
    for _ in 0..COUNT / count {
        let turn = u32::from(TURN.fetch_add(count, Ordering::Relaxed));
        let offset = start.wrapping_add(turn) % u32::from(COUNT - count + 1);
        let port = first + u16::try_from(offset).expect("it is below COUNT");
        let row = port..port + count;
        let locks: Option<Vec<File>> =
            row.clone().map(|port| lock(&folder.join(port.to_string()))).collect();
        let Some(locks) = locks else { continue };
        if row.into_iter().all(|port| TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok()) {
            LOCKS.lock().extend(locks);
            return port;
        }
    }
    panic!("no free port; the locks are in {}", folder.display());
}

/// The file, locked for this process; `None` if another one has it.
fn lock(path: &Path) -> Option<File> {
    let file = File::options().create(true).append(true).open(path).ok()?;
    file.try_lock().is_ok().then_some(file)
}

/// The first port of outgoing connections.
fn first_ephemeral() -> u16 {
    let range = std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range");
    let first = range.ok().and_then(|range| range.split_whitespace().next()?.parse().ok());
    // A range that begins this low leaves no room below it.
    first.filter(|first| *first > COUNT).unwrap_or(EPHEMERAL)
}
