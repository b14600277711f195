//! The queue of one webhook, and the task that sends what waits, one event after the other.
//!
//! A webhook that does not accept an event gets it again, after ever longer pauses. After
//! [`MOST_ATTEMPTS`] the event is dropped with an error in the log.

use std::{sync::Arc, time::Duration};

use tokio::{sync::mpsc, task::AbortHandle, time::sleep};

use crate::base::metrics::Metrics;

use super::webhook::{Answer, Message, Webhook};

/// The most events that wait for one webhook.
const MOST_WAITING: usize = 256;
/// The pause after the first failed attempt. Each further one is twice as long.
const PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(300);
/// The most attempts for one event, within about half an hour.
const MOST_ATTEMPTS: u32 = 13;

/// The sending side of one webhook. Dropping it drops what waits.
#[derive(Debug)]
pub(super) struct Sender {
    queue: mpsc::Sender<Message>,
    /// The ids of the events that were accepted or given up.
    finished: mpsc::UnboundedReceiver<String>,
    task: AbortHandle,
}

impl Sender {
    /// Starts the task of a webhook.
    pub(super) fn start(webhook: Webhook, metrics: Arc<Metrics>) -> Self {
        let (queue, waiting) = mpsc::channel(MOST_WAITING);
        let (finish, finished) = mpsc::unbounded_channel();
        let task = tokio::spawn(run(webhook, metrics, waiting, finish)).abort_handle();
        Self { queue, finished, task }
    }

    /// Queues an event. Never waits. Whether there was room.
    pub(super) fn send(&self, message: Message) -> bool {
        self.queue.try_send(message).is_ok()
    }

    /// Whether there is room for another event.
    pub(super) fn has_room(&self) -> bool {
        self.queue.capacity() > 0
    }

    /// The next id of an event that was accepted or given up.
    pub(super) fn next_finished(&mut self) -> Option<String> {
        self.finished.try_recv().ok()
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn run(
    webhook: Webhook,
    metrics: Arc<Metrics>,
    mut waiting: mpsc::Receiver<Message>,
    finish: mpsc::UnboundedSender<String>,
) {
    while let Some(message) = waiting.recv().await {
        deliver(&webhook, &metrics, &message).await;
        // The receiver ends with this task.
        let _ = finish.send(message.id);
    }
}

async fn deliver(webhook: &Webhook, metrics: &Metrics, message: &Message) {
    let (host, event, id) = (webhook.alert.url.shown(), message.kind, message.id.as_str());
    let mut attempt = 1;
    loop {
        let answer = webhook.attempt(message).await;
        metrics.alert_attempt(host, answer.outcome());
        if let Answer::Accepted(status) = answer {
            tracing::info!(webhook = host, event, id, status, attempt, "alert sent");
            return;
        }
        if attempt == 1 {
            tracing::warn!(webhook = host, event, id, %answer, "alert not accepted: Beadle retries");
        }
        if attempt >= MOST_ATTEMPTS {
            tracing::error!(webhook = host, event, id, %answer, attempt, "alert given up");
            metrics.alert_lost(host);
            return;
        }
        sleep(pause(attempt)).await;
        attempt += 1;
    }
}

/// The pause after the attempt with this number, from 1.
fn pause(attempt: u32) -> Duration {
    let doublings = attempt.saturating_sub(1).min(16);
    (PAUSE * 2_u32.pow(doublings)).min(LONGEST_PAUSE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_retried_for_about_half_an_hour() {
        let pauses: Vec<u64> = (1..MOST_ATTEMPTS).map(|attempt| pause(attempt).as_secs()).collect();
        assert_eq!(pauses, [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300]);
    }
}
