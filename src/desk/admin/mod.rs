//! The admin listener: who may see a page, metrics and health. The pages of other rooms are given to it.
//! The proxy never depends on it.
//!
//! ```text
//! listener   a limited number of connections, each with deadlines
//! hosts      421 for a host that is not the listener's
//! login      401 or a form without the token, where there is one; 403 for forms of other sites
//! pages      /metrics, /healthz, /readyz
//! reload     the policy, read again on request
//! html       an answer with a page       problem    a refusal for programs
//! view       the data that pages show
//! ```
//!
//! May use: connections, policy, counts, record, violations, report, publication, gate, metrics, escape. Must not
//! know: pages, api, proxy, cli.

use std::{net::TcpListener, sync::Arc};

use axum::Router;

pub(crate) use self::{
    access::{Access, SHORTEST_TOKEN},
    hosts::Hosts,
    html::html,
    listener::Ending,
    login::RELOAD,
    view::{Live, View},
};

mod access; // the token and the cookie that open the pages
mod hosts; // whose requests are answered
mod html; // an answer with a page
mod listener; // connections and their limits
mod login; // who may see a page
pub mod problem; // what is wrong with a request of a program
mod reload; // the policy, read again on request
mod routes; // metrics and health
mod view; // the data that the pages show

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
