//! The connections of the admin listener.
//!
//! They are few, and none of them lasts longer than its last answer is read, so that they never take
//! the file descriptors or the memory that the proxy needs. Further connections wait in the kernel.
//!
//! A response without an end, as a stream of events, learns from [`Ending`] that its connection takes
//! no further request. It ends then, and the client opens the next one on a new connection.

use std::{
    collections::HashMap,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    pin::pin,
    sync::{
        Arc, Weak,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use axum::{
    Extension, Router,
    body::Body,
    extract::{Request, State},
    http::{HeaderMap, StatusCode, Uri, header},
    middleware::{self, Next},
    response::{IntoResponse, Response},
};
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::watch,
    time::{sleep, timeout},
};
use tokio_util::io::InspectWriter;

use crate::base::connections::{self, Place};

use super::{hosts::Hosts, login::CHECKS};

const MOST_CONNECTIONS: usize = 64;

/// The most connections of one address: the others are for the checks of a service manager. A proxy on
/// this machine speaks for many clients.
const MOST_OF_ADDRESS: usize = 32;

/// The time for a request header, and for the pause before it.
const HEAD: Duration = Duration::from_secs(5);

/// The time after which a connection takes no further request.
const LIFETIME: Duration = Duration::from_secs(60);

/// The time after which the last response of a connection ends if its reader took none of it. A long
/// export goes on as long as it is read.
const STALL: Duration = Duration::from_secs(30);

const HEAD_SIZE: usize = 16 << 10;

/// Tells a response that its connection ends.
#[derive(Clone)]
pub(crate) struct Ending(watch::Receiver<()>);

impl Ending {
    /// Waits until the connection takes no further request, or is gone.
    pub(crate) async fn begins(&mut self) {
        // An error means that the connection is gone.
        let _ = self.0.changed().await;
    }
}

pub(super) async fn run(listener: &TcpListener, hosts: &Arc<Hosts>, pages: &Router) {
    // A connection of an address holds one of these.
    let mut addresses: HashMap<IpAddr, Weak<()>> = HashMap::new();
    connections::accept(listener, "admin", MOST_CONNECTIONS, |stream, peer, place| {
        addresses.retain(|_, open| open.strong_count() > 0);
        let known = addresses.get(&peer.ip()).and_then(Weak::upgrade);
        let open = known.unwrap_or_default();
        let is_local =
            [IpAddr::from(Ipv4Addr::LOCALHOST), Ipv6Addr::LOCALHOST.into()].contains(&peer.ip());
        if !is_local && Arc::strong_count(&open) > MOST_OF_ADDRESS {
            return;
        }
        addresses.insert(peer.ip(), Arc::downgrade(&open));
        let (hosts, pages) = (Arc::clone(hosts), pages.clone());
        tokio::spawn(async move {
            connection(stream, hosts, pages, place).await;
            drop(open);
        });
    })
    .await;
}

async fn connection(stream: TcpStream, hosts: Arc<Hosts>, pages: Router, _place: Place) {
    // An error means that the client is gone.
    let Ok(local) = stream.local_addr() else { return };
    let written = Arc::new(AtomicU64::new(0));
    let counter = Arc::clone(&written);
    let stream = InspectWriter::new(stream, move |bytes: &[u8]| {
        counter.fetch_add(bytes.len() as u64, Ordering::Relaxed);
    });
    let (ending, ends) = watch::channel(());
    let pages = pages
        .layer(middleware::from_fn_with_state((hosts, local.ip()), check))
        .layer(Extension(Ending(ends)));
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .max_buf_size(HEAD_SIZE)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(pages));
    let mut connection = pin!(connection);
    tokio::select! {
        // A failed connection concerns its client alone.
        _ = connection.as_mut() => return,
        () = sleep(LIFETIME) => {}
    }
    connection.as_mut().graceful_shutdown();
    ending.send_replace(());
    while_read(connection, &written, STALL).await;
}

/// Waits for the end of an answer, as long as more of its bytes are written in each `stall`.
async fn while_read(mut answer: impl Future + Unpin, written: &AtomicU64, stall: Duration) {
    let mut before = written.load(Ordering::Relaxed);
    while timeout(stall, &mut answer).await.is_err() {
        let now = written.load(Ordering::Relaxed);
        if std::mem::replace(&mut before, now) == now {
            return;
        }
    }
}

/// Answers 421 to a request for another host. Health checks need no host.
async fn check(
    State((hosts, local)): State<(Arc<Hosts>, IpAddr)>,
    request: Request<Body>,
    next: Next,
) -> Response {
    let is_check = CHECKS.contains(&request.uri().path());
    let host = authority(request.uri(), request.headers());
    let text = host.and_then(|host| std::str::from_utf8(host).ok());
    if is_check || text.is_some_and(|host| hosts.allow(host, local)) {
        return next.run(request).await;
    }
    (StatusCode::MISDIRECTED_REQUEST, Hosts::refusal(host)).into_response()
}

/// The host of a request; `None` if there is none, or more than one.
fn authority<'a>(uri: &'a Uri, fields: &'a HeaderMap) -> Option<&'a [u8]> {
    let mut lines = fields.get_all(header::HOST).iter();
    let (field, other) = (lines.next(), lines.next());
    match (uri.authority(), field, other) {
        (_, _, Some(_)) => None,
        (Some(authority), _, None) => Some(authority.as_str().as_bytes()),
        (None, field, None) => Some(field?.as_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use super::*;

    #[test]
    fn an_answer_lasts_as_long_as_it_is_read() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
        runtime.expect("a runtime").block_on(async {
            let written = AtomicU64::new(0);
            let stall = Duration::from_secs(1);
            let mut is_whole = false;
            let answer = async {
                for _ in 0..24 {
                    sleep(stall / 8).await;
                    written.fetch_add(1, Ordering::Relaxed);
                }
                is_whole = true;
            };
            while_read(pin!(answer), &written, stall).await;
            assert!(is_whole, "three times as long as a stall");
            // An answer that nobody reads ends.
            while_read(pin!(pending::<()>()), &written, stall).await;
        });
    }
}
