//! The connections of the servers that ask.
//!
//! They keep some connections open, so a pause between two questions may be long. Other peers get a
//! few connections for a short time, so that they take nothing from the servers.

use std::{
    convert::Infallible,
    future::{pending, poll_fn, ready},
    net::{IpAddr, SocketAddr},
    pin::Pin,
    sync::Arc,
    time::Duration,
};

use hyper::{Request, body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::{Semaphore, watch},
    time::timeout,
};

use crate::base::connections;

use super::decider::Decider;

/// The most connections of servers at a time.
const MOST_CONNECTIONS: usize = 4_096;

/// The most connections of other peers at a time. Beyond it they are closed without an answer.
const MOST_STRANGERS: usize = 16;

/// The whole time of another peer's connection.
const STRANGER: Duration = Duration::from_secs(5);

/// The largest request header: a client's fields and those of the server in front.
const HEAD_SIZE: usize = 128 << 10;

/// The most field lines of a question. Servers in front have limits of their own, in octets.
const HEAD_LINES: usize = 1_000;

/// How long the rest of a question is read that was answered before its end. A reset would lose the
/// answer, and a server may take a lost answer for a silent Beadle, and pass the request.
const LINGER: Duration = Duration::from_secs(2);

pub(super) async fn run(
    listener: &TcpListener,
    decider: &Arc<Decider>,
    mut stop: watch::Receiver<bool>,
) {
    let strangers = Arc::new(Semaphore::new(MOST_STRANGERS));
    let stopped = stop.clone();
    let accepted =
        connections::accept(listener, "decide", MOST_CONNECTIONS, |stream, peer, place| {
            let decider = Arc::clone(decider);
            if decider.is_trusted(peer.ip()) {
                let stopped = stopped.clone();
                tokio::spawn(async move {
                    let _place = place;
                    serve(stream, peer, decider.idle, &decider, Some(stopped)).await;
                });
                return;
            }
            match Arc::clone(&strangers).try_acquire_owned() {
                Ok(permit) => drop(tokio::spawn(async move {
                    let _permit = permit;
                    // An error means that the time is over, or the peer gone.
                    let _ = timeout(STRANGER, serve(stream, peer, STRANGER, &decider, None)).await;
                })),
                Err(_) => decider.count_stranger(),
            }
        });
    tokio::select! {
        () = accepted => {}
        // An error means that the program ends.
        _ = stop.wait_for(|stop| *stop) => {}
    }
}

/// Answers the questions of one connection. `pause` is the time for a request header, and for the
/// pause before it.
async fn serve(
    stream: TcpStream,
    peer: SocketAddr,
    pause: Duration,
    decider: &Arc<Decider>,
    stop: Option<watch::Receiver<bool>>,
) {
    // Without it, a reply may wait for the peer's acknowledgement of the last one.
    let _ = stream.set_nodelay(true);
    let address: IpAddr = peer.ip();
    let answer = |request: Request<Incoming>| {
        let (parts, _) = request.into_parts();
        ready(Ok::<_, Infallible>(decider.reply(parts.headers, address)))
    };
    let mut connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(pause)
        .max_buf_size(HEAD_SIZE)
        .max_headers(HEAD_LINES)
        .serve_connection(TokioIo::new(stream), service_fn(answer));
    let stopped = async {
        match stop {
            // An error means that the program ends.
            Some(mut stop) => drop(stop.wait_for(|stop| *stop).await),
            None => pending().await,
        }
    };
    let ended = tokio::select! {
        ended = poll_fn(|context| connection.poll_without_shutdown(context)) => Some(ended),
        () = stopped => None,
    };
    let ended = match ended {
        Some(ended) => ended,
        None => {
            Pin::new(&mut connection).graceful_shutdown();
            poll_fn(|context| connection.poll_without_shutdown(context)).await
        }
    };
    // A failed connection concerns its peer alone.
    if ended.is_err() {
        let _ = timeout(LINGER, drain(connection.into_parts().io.into_inner())).await;
    }
}

async fn drain(mut stream: TcpStream) {
    let mut piece = [0; 4 << 10];
    if stream.shutdown().await.is_ok() {
        while let Ok(1..) = stream.read(&mut piece).await {}
    }
}
