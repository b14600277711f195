//! Sockets of our own, handed over to pingora's listeners.
//!
//! Left to itself, pingora binds the addresses. Another program could take one between the check of a
//! policy and then, and systemd's sockets would be of no use. pingora looks for sockets of an earlier
//! process first, in a table of descriptors by address. So this service fills such a table.

use std::{net::TcpListener, os::fd::IntoRawFd, sync::Arc};

use async_trait::async_trait;
use parking_lot::Mutex;
use pingora::{
    server::{Fds, ListenFds, ShutdownWatch},
    services::{self, listening},
};
use tokio::sync::watch;

use crate::diagnostic::Diagnostic;

use super::edge::Edge;

/// pingora's listeners, and the sockets for them.
pub(super) struct Handover {
    listeners: listening::Service<Edge>,
    sockets: Vec<Socket>,
    closed: watch::Sender<bool>,
}

/// A listening socket, with the text by which pingora finds it.
#[derive(Debug)]
pub(super) struct Socket {
    socket: TcpListener,
    /// The address to which the socket is bound. It is unique, even if the policy leaves the port to
    /// the system.
    pub(super) key: String,
}

impl Socket {
    /// A socket as pingora needs it.
    ///
    /// # Errors
    /// The system refuses to name its address, or to make it non-blocking.
    pub(super) fn new(socket: TcpListener) -> Result<Self, Diagnostic> {
        let address = socket.set_nonblocking(true).and_then(|()| socket.local_addr());
        let key = address.map_err(|error| {
            let message = format!("a listening socket can't be used: {error}");
            Diagnostic::error("server.listen", message).help("start the program again")
        })?;
        Ok(Self { socket, key: key.to_string() })
    }
}

impl Handover {
    /// The service, and whether it has closed all sockets.
    pub(super) fn new(
        listeners: listening::Service<Edge>,
        sockets: Vec<Socket>,
    ) -> (Self, watch::Receiver<bool>) {
        let (closed, is_closed) = watch::channel(false);
        (Self { listeners, sockets, closed }, is_closed)
    }
}

#[async_trait]
impl services::Service for Handover {
    async fn start_service(
        &mut self,
        _: Option<ListenFds>,
        shutdown: ShutdownWatch,
        listeners_per_fd: usize,
    ) {
        let mut descriptors = Fds::new();
        for Socket { socket, key } in self.sockets.drain(..) {
            // Each listener takes its descriptor out of this table once, and closes it at its end.
            // The table itself closes none.
            descriptors.add(key, socket.into_raw_fd());
        }
        let descriptors = Arc::new(Mutex::new(descriptors));
        self.listeners.start_service(Some(descriptors), shutdown, listeners_per_fd).await;
        self.closed.send_replace(true);
    }

    fn name(&self) -> &str {
        self.listeners.name()
    }

    fn threads(&self) -> Option<usize> {
        self.listeners.threads()
    }
}
