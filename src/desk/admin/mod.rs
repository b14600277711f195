//! The admin listener: who may see a page, metrics and health. The pages of other rooms are given to it.
//! The proxy never depends on it.
//!
//! May use: connections, policy, counts, record, violations, report, publication, gate, metrics, escape. Must not
//! know: pages, api, proxy, cli.

use std::{net::TcpListener, sync::Arc};

use axum::Router;

pub(crate) use self::{
    access::{Access, SHORTEST_TOKEN},
    hosts::Hosts,
    listener::Ending,
    login::RELOAD,
    view::{Live, View, html},
};

mod access; // the token and the cookie that open the pages
mod hosts; // 421 for a host that is not the listener's
mod listener; // a limited number of connections, each with deadlines
mod login; // 401 or a form without the token, 403 for forms of other sites
pub mod problem; // what is wrong with a request of a program
mod routes; // metrics, health, a reload
mod view; // the data that the pages show, and an answer with a page

/// Serves `pages`, `/metrics`, `/healthz`, `/readyz` and [`RELOAD`] until the runtime ends. `hosts` are the hosts that it answers
/// for, beside `localhost` and its own addresses.
pub(crate) async fn serve(
    listener: TcpListener,
    hosts: Hosts,
    view: View,
    pages: Router<View>,
) -> std::io::Result<()> {
    listener.set_nonblocking(true)?;
    let listener = tokio::net::TcpListener::from_std(listener)?;
    listener::run(&listener, &Arc::new(hosts), &routes::router(view, pages)).await;
    Ok(())
}
