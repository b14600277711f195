//! The edge for other servers: they ask whether a request passes, and answer it themselves.
//!
//! nginx (`auth_request`), Caddy (`forward_auth`), Traefik (`ForwardAuth`), Envoy (`ext_authz`) and
//! HAProxy (by a script) send one question for each request of a client.
//!
//! ```text
//! listener   connections; a peer that is none of the trusted proxies gets 403
//! question   X-Forwarded-Method, -Uri, -Host ─▶ gate::Request; 400 without one of them
//! decider    Gate::authorize, the same decision as at the proxy ─▶ Gate::finish
//! reply      200 with the tags to copy, or the refusal
//! ```
//!
//! May use: connections, gate, publication, policy, enforce, metrics. Must not know: proxy, admin,
//! cli.

use std::{io, net::TcpListener, sync::Arc, time::Duration};

use tokio::{sync::watch, time::timeout};

use crate::{
    base::connections::Threads, rules::policy, serving::gate::Gate, state::publication::Handles,
};

use self::decider::Decider;

mod decider; // one question, from its fields to the reply
mod listener; // connections and their limits
mod question; // the request of a client, as a server reports it
mod reply; // the reply to a question

/// A started listener for questions. Dropping it ends all connections.
#[derive(Debug)]
pub struct Running {
    /// Its threads, apart from those of the pages: every request of a site waits for a reply.
    _threads: Threads,
    stop: watch::Sender<bool>,
}

/// Starts to answer questions on a socket, with the settings of `server` that need a restart.
///
/// # Errors
/// The socket or the threads can't be used. A failed `accept` is retried.
pub fn start(
    socket: TcpListener,
    gate: Arc<Gate>,
    handles: &Handles,
    server: &policy::Server,
    settings: &policy::Decide,
) -> io::Result<Running> {
    let threads = Threads::start("decide", server.threads)?;
    let socket = threads.listener(socket)?;
    let decider = Arc::new(Decider::new(gate, handles, server, settings));
    let (stop, stopped) = watch::channel(false);
    threads.spawn(async move { listener::run(&socket, &decider, stopped).await });
    Ok(Running { _threads: threads, stop })
}

impl Running {
    /// Accepts no more connections, ends each after its present reply, and waits for that, for at
    /// most `limit`.
    pub async fn drain(self, limit: Duration) {
        self.stop.send_replace(true);
        // Each connection holds a receiver until its end.
        let _ = timeout(limit, self.stop.closed()).await;
    }
}
