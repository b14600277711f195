//! A task that fetches a policy again and again.

use std::time::Duration;

use tokio::{
    sync::mpsc::{self, error::TrySendError},
    time::sleep,
};

use super::{Failure, Fetched, Remote};

/// The owner's end of the task. The task ends with it.
#[derive(Debug)]
pub struct Follower {
    now: mpsc::Sender<()>,
    answers: mpsc::Receiver<Answer>,
}

/// The result of one fetch of the task.
#[derive(Debug)]
pub struct Answer {
    /// Whether the owner asked for this fetch.
    pub is_asked: bool,
    pub(crate) fetched: Result<Fetched, Failure>,
}

impl Follower {
    /// Starts the task. It fetches after each interval.
    pub fn start(mut remote: Remote, every: Duration) -> Self {
        let (now, mut asked) = mpsc::channel(1);
        let (sender, answers) = mpsc::channel(1);
        tokio::spawn(async move {
            loop {
                let is_asked = tokio::select! {
                    () = sleep(every) => false,
                    asked = asked.recv() => match asked {
                        Some(()) => true,
                        None => return,
                    },
                };
                let fetched = remote.fetch().await;
                if sender.send(Answer { is_asked, fetched }).await.is_err() {
                    return;
                }
            }
        });
        Self { now, answers }
    }

    /// Asks for a fetch now. Its answer comes after those under way; none comes if this is false,
    /// because the task has failed.
    pub fn fetch_now(&self) -> bool {
        // A full channel has a fetch waiting already.
        !matches!(self.now.try_send(()), Err(TrySendError::Closed(())))
    }

    pub(crate) async fn answer(&mut self) -> Option<Answer> {
        self.answers.recv().await
    }
}
