//! The admin listener: the desk, metrics and health for operators. The proxy never depends on it.
//!
//! ```text
//! listener   a limited number of connections, each with deadlines
//! progress   whether an answer still reaches its reader
//! hosts      421 for a host that is not the listener's
//! login      401 or a form without the token, where there is one; 403 for forms of other sites
//! pages      /metrics, /healthz, /readyz
//! desk       pages about violations
//! api        the same as JSON, and exports
//! ```
//!
//! May use: robots, crawlers, policy, enforce, violations, evidence, report, alerts, publication, gate,
//! explanation, diagnostic, metrics, escape. Must not know: proxy, cli.

use std::{net::TcpListener, sync::Arc};

pub use self::{
    access::{Access, SHORTEST_TOKEN},
    hosts::Hosts,
    view::{Live, View},
};

mod access; // the token and the cookie that open the pages
mod api; // JSON for other programs
mod desk; // pages about violations
mod hosts; // whose requests are answered
mod listener; // connections and their limits
mod login; // who may see a page
mod pages; // metrics and health
mod paths; // paths that need no token
mod progress; // bytes that reach the reader
mod view; // the data that the pages show

/// Serves the desk, the API, `/metrics`, `/healthz` and `/readyz` until the runtime ends. `hosts` are the hosts that it
/// answers for, beside `localhost` and its own addresses.
///
/// # Errors
/// Where the socket can't be used. A failed `accept` is retried.
pub async fn serve(listener: TcpListener, hosts: Hosts, view: View) -> std::io::Result<()> {
    listener.set_nonblocking(true)?;
    let listener = tokio::net::TcpListener::from_std(listener)?;
    listener::run(&listener, &Arc::new(hosts), &pages::router(view)).await;
    Ok(())
}
