//! The requests of a connection of HTTP/2 that are in progress.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::{sync::Notify, time::sleep};

/// The requests of one connection in progress.
#[derive(Debug, Default)]
pub(super) struct Streams {
    open: AtomicUsize,
    changed: Notify,
}

/// A request in progress; ends on drop.
#[derive(Debug)]
pub(super) struct OpenStream(Arc<Streams>);

impl Streams {
    pub(super) fn open(self: &Arc<Self>) -> OpenStream {
        self.open.fetch_add(1, Ordering::AcqRel);
        OpenStream(Arc::clone(self))
    }

    /// Waits until there has been no request for `time`. A new one begins the wait anew.
    pub(super) async fn idle(&self, time: Duration) {
        while self.open.load(Ordering::Acquire) > 0 {
            self.changed.notified().await;
        }
        sleep(time).await;
    }
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        if self.0.open.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.0.changed.notify_one();
        }
    }
}
