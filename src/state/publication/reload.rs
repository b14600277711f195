//! Requests to reload the policy, from signals and from the operator, and their outcome.

use tokio::sync::{mpsc, oneshot};

use super::publisher::Outcome;

/// Where reloads are requested. Copies lead to the same publisher.
#[derive(Clone, Debug)]
pub struct Reloads(mpsc::Sender<Request>);

/// The publisher's end of [`Reloads`].
pub type ReloadRequests = mpsc::Receiver<Request>;

/// One request; the sender takes the outcome if somebody waits for it.
#[derive(Debug)]
pub struct Request {
    pub(super) by: String,
    outcome: Option<oneshot::Sender<Outcome>>,
}

/// The verb or the signal, in the history of policies.
pub const BY_RELOAD: &str = "reload";

/// A stage of a reload, for whoever watches the program.
#[derive(Debug)]
pub enum Stage<'o> {
    /// The policy file is about to be read.
    Begin,
    /// The reload is over.
    End(&'o Outcome),
}

/// Takes notice of each reload, whatever requested it.
pub type Notice = fn(Stage<'_>);

impl Reloads {
    pub(crate) fn channel() -> (Self, ReloadRequests) {
        let (sender, receiver) = mpsc::channel(1);
        (Self(sender), receiver)
    }

    /// Requests a reload, without an answer.
    pub fn request(&self) {
        // A full channel already has a reload waiting.
        let _ = self.0.try_send(Request { by: BY_RELOAD.to_owned(), outcome: None });
    }

    /// Requests a reload in the name of `by`, and waits for its outcome; `None` if the publisher
    /// has ended.
    pub async fn outcome(&self, by: &str) -> Option<Outcome> {
        let (sender, outcome) = oneshot::channel();
        let request = Request { by: by.to_owned(), outcome: Some(sender) };
        self.0.send(request).await.ok()?;
        outcome.await.ok()
    }
}

impl Request {
    /// Tells the outcome to whoever waits for it.
    pub(super) fn answer(self, outcome: Outcome) {
        // The operator may have gone.
        let _ = self.outcome.map(|sender| sender.send(outcome));
    }
}
