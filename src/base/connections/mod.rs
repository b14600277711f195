//! Connections that Beadle accepts beside those of the proxy: a limited number at a time.
//!
//! May use: nothing. Must not know: the proxy, admin, decide.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use tokio::{
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
    time::sleep,
};

/// The pause after a failed `accept`, most often for want of a file descriptor.
const PAUSE: Duration = Duration::from_secs(1);

/// The place of one open connection; ends on drop.
#[derive(Debug)]
pub struct Place(#[expect(dead_code, reason = "held, not read")] OwnedSemaphorePermit);

/// Accepts connections for ever and hands each to `serve`, at most `most` at a time. Further ones
/// wait in the kernel. `name` is the listener's, for logs.
pub async fn accept(
    listener: &TcpListener,
    name: &'static str,
    most: usize,
    mut serve: impl FnMut(TcpStream, SocketAddr, Place),
) {
    let places = Arc::new(Semaphore::new(most));
    loop {
        // The semaphore is never closed.
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, peer)) => serve(stream, peer, Place(place)),
            Err(error) => {
                tracing::warn!(listener = name, %error, "connection not accepted");
                sleep(PAUSE).await;
            }
        }
    }
}
