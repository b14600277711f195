//! The queue of one receiver, and the task that sends what waits, one message after the other.
//!
//! A receiver that does not accept an event gets it again, after ever longer pauses. After
//! [`MOST_ATTEMPTS`] the event is dropped with an error in the log.

use std::{sync::Arc, time::Duration};

use tokio::{
    sync::mpsc,
    task::JoinSet,
    time::{interval, sleep},
};

use crate::{base::metrics::Metrics, outside::mail::Answer, rules::policy::Destination};

use super::{
    event::Message,
    receiver::{Parcel, Receiver},
};

const MOST_WAITING: usize = 256;
const LOOK: Duration = Duration::from_secs(1);
/// The pause after the first failed attempt. Each further one is twice as long.
const PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(300);
/// The most attempts for one event, within about half an hour.
const MOST_ATTEMPTS: u32 = 13;

#[derive(Debug)]
pub(super) enum News {
    Answered(Answer),
    /// The event with this id was accepted, collected or given up.
    Finished(String),
}

/// The sending side of one receiver. Dropping it drops what waits.
#[derive(Debug)]
pub(super) struct Sender {
    pub(super) queue: mpsc::Sender<Message>,
    pub(super) news: mpsc::UnboundedReceiver<News>,
    _task: JoinSet<()>,
}

impl Sender {
    pub(super) fn start(receiver: Receiver, metrics: Arc<Metrics>) -> Self {
        let (queue, waiting) = mpsc::channel(MOST_WAITING);
        let (tell, news) = mpsc::unbounded_channel();
        let mut task = JoinSet::new();
        task.spawn(run(receiver, metrics, waiting, tell));
        Self { queue, news, _task: task }
    }
}

async fn run(
    receiver: Receiver,
    metrics: Arc<Metrics>,
    mut waiting: mpsc::Receiver<Message>,
    news: mpsc::UnboundedSender<News>,
) {
    let mut looks = interval(LOOK);
    loop {
        let message = tokio::select! {
            message = waiting.recv() => message,
            _ = looks.tick(), if receiver.digest.is_some() => {
                let Destination::Email { to, .. } = &receiver.alert.to else { return };
                let digest = receiver.digest.as_ref();
                if let Some((digest, letter)) = digest.and_then(|one| Some((one, one.due(to)?))) {
                    deliver(&receiver, &metrics, &Parcel::Digest(letter), &news).await;
                    digest.clear();
                }
                continue;
            }
        };
        let Some(message) = message else { return };
        let id = message.id.clone();
        match receiver.digest.as_ref().map(|digest| digest.add(&message.event)) {
            Some(Ok(())) => {}
            added => {
                if let Some(Err(error)) = added {
                    tracing::error!(%error, "alert not kept for a digest: Beadle sends it at once");
                }
                deliver(&receiver, &metrics, &Parcel::Event(message), &news).await;
            }
        }
        // Its other end ends with this task.
        let _ = news.send(News::Finished(id));
    }
}

async fn deliver(
    receiver: &Receiver,
    metrics: &Metrics,
    parcel: &Parcel,
    news: &mpsc::UnboundedSender<News>,
) {
    let shown = receiver.alert.shown();
    let webhook = shown.as_ref();
    let (id, event) = match parcel {
        Parcel::Event(message) => (&message.id, message.event.kind),
        Parcel::Digest(letter) => (&letter.id, "digest"),
    };
    let mut attempt = 1;
    loop {
        let answer = receiver.attempt(parcel).await;
        metrics.alert_attempt(webhook, answer.outcome());
        let _ = news.send(News::Answered(answer.clone()));
        if let Answer::Accepted(status) = answer {
            tracing::info!(webhook, event, id, status, attempt, "alert sent");
            return;
        }
        if attempt == 1 {
            tracing::warn!(webhook, event, id, %answer, "alert not accepted: Beadle retries");
        }
        if attempt >= MOST_ATTEMPTS {
            tracing::error!(webhook, event, id, %answer, attempt, "alert given up");
            metrics.alert_lost(webhook);
            return;
        }
        sleep(pause(attempt)).await;
        attempt += 1;
    }
}

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
