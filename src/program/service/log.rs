//! Log lines that are dropped because standard error is not read.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use crate::{base::metrics::Metrics, program::console::LineCounts};

const EVERY: Duration = Duration::from_secs(1);

/// Counts the lines that are dropped. One line says so afterwards.
pub(super) async fn watch(lines: LineCounts, metrics: Arc<Metrics>) {
    let (mut dropped, mut written, mut unread) = (0, 0, 0);
    loop {
        tokio::time::sleep(EVERY).await;
        let new = lines.dropped.dropped_lines() as u64 - dropped;
        let now = lines.written.load(Ordering::Relaxed);
        let is_stuck = now == std::mem::replace(&mut written, now);
        dropped += new;
        unread += new;
        // Without new lines, the writer still waits until it has written one.
        let is_blocked = unread > 0 && (new > 0 || is_stuck);
        metrics.log_dropped(new, is_blocked);
        if unread > 0 && !is_blocked {
            tracing::warn!(lines = unread, "log lines were dropped: standard error was not read");
            unread = 0;
        }
    }
}
