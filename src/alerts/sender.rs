//! The queue of one webhook, and the task that sends what waits, one event after the other.
//!
//! A webhook that does not accept an event gets it again, after ever longer pauses. After
//! [`MOST_ATTEMPTS`] the event is dropped with an error in the log.

use std::time::Duration;

use tokio::{sync::mpsc, task::AbortHandle, time::sleep};

use super::{
    event::Event,
    webhook::{Answer, Message, Webhook},
};

/// The most events that wait for one webhook.
const MOST_WAITING: usize = 256;
/// The pause after the first failed attempt. Each further one is twice as long.
const PAUSE: Duration = Duration::from_secs(1);
/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(300);
/// The most attempts for one event, within about half an hour.
const MOST_ATTEMPTS: u32 = 13;

/// The sending side of one webhook. Dropping it drops what waits.
#[derive(Debug)]
pub(super) struct Sender {
    queue: mpsc::Sender<Message>,
    host: String,
    task: AbortHandle,
}

impl Sender {
    /// Starts the task of a webhook.
    pub(super) fn start(webhook: Webhook) -> Self {
        let (queue, waiting) = mpsc::channel(MOST_WAITING);
        let host = webhook.alert.url.shown().to_owned();
        let task = tokio::spawn(run(webhook, waiting)).abort_handle();
        Self { queue, host, task }
    }

    /// Queues an event. Never waits.
    pub(super) fn send(&self, event: &Event) {
        let message = Message::new(event);
        if self.queue.try_send(message).is_err() {
            let (webhook, event) = (&self.host, event.kind);
            tracing::error!(webhook, event, "alert dropped: too many wait for this webhook");
        }
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn run(webhook: Webhook, mut waiting: mpsc::Receiver<Message>) {
    while let Some(message) = waiting.recv().await {
        deliver(&webhook, &message).await;
    }
}

async fn deliver(webhook: &Webhook, message: &Message) {
    let (host, event, id) = (webhook.alert.url.shown(), message.kind, message.id.as_str());
    let mut attempt = 1;
    loop {
        let answer = webhook.attempt(message).await;
        if let Answer::Accepted(status) = answer {
            tracing::info!(webhook = host, event, id, status, attempt, "alert sent");
            return;
        }
        if attempt == 1 {
            tracing::warn!(webhook = host, event, id, %answer, "alert not accepted: Beadle retries");
        }
        if attempt >= MOST_ATTEMPTS {
            tracing::error!(webhook = host, event, id, %answer, attempt, "alert given up");
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
