//! The publisher's side of a fleet: an edition is announced before it is served, and the editions of
//! other nodes come in.
//!
//! ```text
//! publisher ─▶ Announcement ─▶ exchange ─▶ every live node knows it ─▶ published
//! exchange  ─▶ Learned ─▶ publisher ─▶ in force ─▶ taken
//! ```
//! Both ends wait at the same time: two nodes that announce at once wait for each other's answer.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use arc_swap::ArcSwap;
use tokio::{
    sync::{mpsc, oneshot},
    time::{Instant, sleep_until},
};

use crate::{
    outside::alerts::Relay,
    rules::enforce::{Edition, Elsewhere},
};

/// The most time that a new edition waits for the other nodes. It is far beyond the ten seconds after
/// which a silent node is not live any more, and this one alone: a node that is live and does not read has
/// a fault.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

/// Editions that are about to be served.
#[derive(Debug)]
pub struct Announcement {
    /// By the names of their sites.
    pub editions: Vec<(String, Arc<Edition>)>,
    /// Answered when every live node knows them, or when nobody can be told.
    pub known: oneshot::Sender<Spread>,
}

/// The end of an announcement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spread {
    /// Every live node knows the editions.
    Known,
    /// This node hears nothing of the others.
    Alone,
    /// A live node did not read them in time, or the exchange has ended.
    Unknown,
}

/// The editions that other nodes serve or served, all of them.
#[derive(Debug)]
pub struct Learned {
    /// Each with its site.
    pub editions: Vec<Elsewhere>,
    /// Answered when requests are judged by them.
    pub taken: oneshot::Sender<()>,
}

/// The ends of an exchange with the other nodes.
#[derive(Debug)]
pub struct FleetPort {
    pub(crate) announcements: mpsc::UnboundedReceiver<Announcement>,
    pub(crate) learned: mpsc::Sender<Learned>,
}

#[derive(Debug)]
pub(super) struct FleetEnds {
    announcements: mpsc::UnboundedSender<Announcement>,
    learned: mpsc::Receiver<Learned>,
}

/// What pages, alerts and the judgement know about the exchange. It says nothing without a fleet.
#[derive(Debug, Default)]
pub struct Fellowship {
    /// Whether the policy has a fleet.
    pub is_member: AtomicBool,
    /// Whether this node hears nothing of the others.
    pub is_alone: AtomicBool,
    /// Whether new editions wait until this node hears of the others.
    pub holds: AtomicBool,
    /// The alerts on their way to the node that sends them.
    pub alerts: Relay,
    /// What is wrong with the exchange, as of the last attempt.
    pub troubles: ArcSwap<Vec<String>>,
}

impl Fellowship {
    pub(crate) fn is_member(&self) -> bool {
        self.is_member.load(Ordering::Relaxed)
    }

    pub(crate) fn is_alone(&self) -> bool {
        self.is_alone.load(Ordering::Relaxed)
    }

    /// Why the node is degraded; nothing without a fleet.
    pub fn degraded(&self) -> Vec<String> {
        let alone = (self.is_member() && self.is_alone())
            .then(|| "alone: no exchange with the fleet".to_owned());
        let holds = self.holds.load(Ordering::Relaxed);
        let holds = holds.then(|| "new robots rules wait for the fleet".to_owned());
        self.troubles.load().iter().cloned().chain(alone).chain(holds).collect()
    }
}

pub(super) fn channel() -> (FleetEnds, FleetPort) {
    let (announce, announcements) = mpsc::unbounded_channel();
    let (learn, learned) = mpsc::channel(4);
    (FleetEnds { announcements: announce, learned }, FleetPort { announcements, learned: learn })
}

/// The next editions of other nodes. None without a fleet, and after the exchange ended.
pub(super) async fn learned(fleet: &mut Option<FleetEnds>) -> Option<Learned> {
    fleet.as_mut()?.learned.recv().await
}

impl FleetEnds {
    /// Announces editions, and waits for its end, for at most [`PATIENCE`].
    /// `take` takes what comes in meanwhile.
    pub(super) async fn announce(
        &mut self,
        editions: Vec<(String, Arc<Edition>)>,
        take: impl FnMut(Learned),
    ) -> Spread {
        let (known, is_known) = oneshot::channel();
        // After the exchange ended, nobody answers.
        let _ = self.announcements.send(Announcement { editions, known });
        self.wait(is_known, PATIENCE, take).await.unwrap_or(Spread::Unknown)
    }

    /// Takes what comes in until `done` is answered, for at most `limit`.
    pub(super) async fn wait<T>(
        &mut self,
        mut done: oneshot::Receiver<T>,
        limit: Duration,
        mut take: impl FnMut(Learned),
    ) -> Option<T> {
        let until = Instant::now() + limit;
        loop {
            tokio::select! {
                answer = &mut done => return answer.ok(),
                Some(learned) = self.learned.recv() => take(learned),
                () = sleep_until(until) => return None,
            }
        }
    }
}
