//! The successor: a new process of the program that takes over the listening sockets while this one
//! completes its requests (SIGUSR2).
//!
//! It is a child that gets the sockets as from systemd. It says over its standard input that it serves.

use std::{
    fs::File,
    io::{self, Write},
    os::{
        fd::{AsFd, OwnedFd},
        unix::net::UnixStream,
    },
    path::PathBuf,
    process::{Child, Command, Stdio},
    time::Duration,
};

use command_fds::{CommandFdExt, FdMapping};
use tokio::time::timeout;

/// Tells a process that it is a successor.
const MARK: &str = "BEADLE_SUCCESSOR";
/// The first descriptor that a process inherits beyond the standard ones.
const FIRST: i32 = 3;
const PATIENCE: Duration = Duration::from_secs(60);

/// A child that ends unless it serves.
struct Starting(Option<Child>);

impl Drop for Starting {
    fn drop(&mut self) {
        if let Some(mut child) = self.0.take() {
            // It may have ended already.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Starts the successor with these sockets and waits until it serves. Returns its process ID.
pub(super) async fn start(sockets: &[OwnedFd]) -> io::Result<u32> {
    if std::process::id() == 1 {
        return Err(io::Error::other("a container ends with its first process"));
    }
    let (ours, theirs) = UnixStream::pair()?;
    let mapped = |(socket, child_fd): (&OwnedFd, i32)| {
        Ok(FdMapping { parent_fd: socket.try_clone()?, child_fd })
    };
    let mapped: Vec<_> = sockets.iter().zip(FIRST..).map(mapped).collect::<io::Result<_>>()?;
    // A newer program may have replaced the file.
    let file = std::env::current_exe()?;
    let name = file.to_str().and_then(|name| name.strip_suffix(" (deleted)"));
    let mut command = Command::new(name.map(PathBuf::from).unwrap_or(file));
    command
        .args(std::env::args_os().skip(1))
        .env(MARK, "1")
        .env("LISTEN_FDS", mapped.len().to_string())
        .env_remove("LISTEN_PID")
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .fd_mappings(mapped)
        .map_err(io::Error::other)?;
    let child = command.spawn()?;
    let process = child.id();
    let mut starting = Starting(Some(child));
    // Its end of the pair is its own from now on.
    drop(command);
    ours.set_nonblocking(true)?;
    let ours = tokio::net::UnixStream::from_std(ours)?;
    let word = timeout(PATIENCE, async {
        loop {
            ours.readable().await?;
            match ours.try_read(&mut [0]) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                read => return read,
            }
        }
    });
    match word.await {
        Ok(Ok(1..)) => {
            starting.0 = None;
            Ok(process)
        }
        Ok(Ok(0)) => Err(io::Error::other("the new process ended")),
        Ok(Err(error)) => Err(error),
        Err(_) => Err(io::Error::other("the new process did not serve within a minute")),
    }
}

pub(super) fn is_one() -> bool {
    std::env::var_os(MARK).is_some()
}

/// Tells the process before this one that this one serves.
pub(super) fn serve() {
    let told = io::stdin().as_fd().try_clone_to_owned();
    let told = told.and_then(|stdin| File::from(stdin).write_all(b"1"));
    told.unwrap_or_else(|error| tracing::warn!(%error, "the process before this one has ended"));
}
