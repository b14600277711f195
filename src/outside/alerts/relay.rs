//! Events on their way between the nodes of a fleet. One node sends the events of all.
//!
//! ```text
//! hand_over ─▶ waiting ─▶ the fleet's server ─▶ kept ─▶ sender ─▶ settle ─▶ removed from the server
//! ```
//! The server keeps an event until it is settled. So neither the end of the node that sends it nor a
//! pause of the server loses an event. One that is sent twice has the same id.

use std::{
    collections::{BTreeSet, VecDeque},
    sync::atomic::{AtomicBool, Ordering},
};

use parking_lot::Mutex;

use super::event::Event;

/// The most events that wait for the server; later ones are dropped with an error in the log.
const MOST_WAITING: usize = 256;

/// An event that the nodes of a fleet share.
#[derive(Clone, Debug, PartialEq)]
pub struct Handed {
    /// Its id at the webhook.
    pub id: String,
    /// The webhook that wants it, by [`Webhook::key`](super::Webhook::key).
    pub webhook: String,
    /// Whether this run raised it.
    pub is_own: bool,
    /// The event.
    pub event: Event,
}

/// The events between this node and the fleet's server. Without a fleet, it is empty.
#[derive(Debug, Default)]
pub struct Relay {
    is_shared: AtomicBool,
    has_webhooks: AtomicBool,
    waiting: Mutex<VecDeque<Handed>>,
    kept: Mutex<Vec<Handed>>,
    settled: Mutex<BTreeSet<String>>,
}

impl Relay {
    /// Notes whether a node of the fleet sends the events of all: this one or another.
    pub fn set_shared(&self, is_shared: bool) {
        self.is_shared.store(is_shared, Ordering::Relaxed);
    }

    /// Whether a node of the fleet sends the events of all.
    pub(super) fn is_shared(&self) -> bool {
        self.is_shared.load(Ordering::Relaxed)
    }

    /// Notes whether this node has webhooks.
    pub(super) fn set_webhooks(&self, has_webhooks: bool) {
        self.has_webhooks.store(has_webhooks, Ordering::Relaxed);
    }

    /// Whether this node has webhooks, so that it can send the events of all.
    pub fn has_webhooks(&self) -> bool {
        self.has_webhooks.load(Ordering::Relaxed)
    }

    /// Hands an event over to the server.
    pub(super) fn hand_over(&self, handed: Handed) {
        let mut waiting = self.waiting.lock();
        if waiting.len() < MOST_WAITING {
            waiting.push_back(handed);
        } else {
            let event = handed.event.kind;
            tracing::error!(event, "alert dropped: too many wait for the fleet's server");
        }
    }

    /// The events that the server does not have.
    pub fn waiting(&self) -> Vec<Handed> {
        self.waiting.lock().iter().cloned().collect()
    }

    /// Takes back the events that the server does not have.
    pub(super) fn take_back(&self) -> Vec<Handed> {
        self.waiting.lock().drain(..).collect()
    }

    /// Notes that the server has these events.
    pub fn handed(&self, events: &[Handed]) {
        self.waiting.lock().retain(|one| !events.iter().any(|other| other.id == one.id));
    }

    /// Notes the events that the server keeps, for this node to send.
    pub fn keep(&self, events: Vec<Handed>) {
        *self.kept.lock() = events;
    }

    /// The events that this node is to send.
    pub(super) fn kept(&self) -> Vec<Handed> {
        let settled = self.settled.lock();
        let kept = self.kept.lock();
        kept.iter().filter(|one| !settled.contains(&one.id)).cloned().collect()
    }

    /// Notes that an event needs no more sending: it was accepted, given up, or told before.
    pub fn settle(&self, id: String) {
        self.settled.lock().insert(id);
    }

    /// The events that the server has to remove.
    pub fn settled(&self) -> Vec<String> {
        self.settled.lock().iter().cloned().collect()
    }

    /// Notes that the server has removed these events.
    pub fn removed(&self, ids: &[String]) {
        let mut settled = self.settled.lock();
        for id in ids {
            settled.remove(id);
        }
    }
}
