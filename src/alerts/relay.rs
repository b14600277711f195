//! Events on their way between the nodes of a fleet. One node sends the events of all.

use std::{
    collections::VecDeque,
    sync::atomic::{AtomicBool, Ordering},
};

use parking_lot::Mutex;

use super::event::Event;

/// The most events that wait in either direction; later ones are dropped with an error in the log.
const MOST_WAITING: usize = 256;

/// An event for the node that sends it.
#[derive(Clone, Debug, PartialEq)]
pub struct Handed {
    /// The webhook that wants it, by its number in the policy.
    pub webhook: usize,
    /// The event.
    pub event: Event,
}

/// The events that this node hands over, and those that it was handed. Without a fleet, it is empty.
#[derive(Debug, Default)]
pub struct Relay {
    is_sent_elsewhere: AtomicBool,
    handed_over: Mutex<VecDeque<Handed>>,
    received: Mutex<VecDeque<Handed>>,
}

impl Relay {
    /// Notes whether another node sends the events of this one.
    pub fn set_sent_elsewhere(&self, is_sent_elsewhere: bool) {
        self.is_sent_elsewhere.store(is_sent_elsewhere, Ordering::Relaxed);
    }

    /// Whether another node sends the events of this one.
    pub(super) fn is_sent_elsewhere(&self) -> bool {
        self.is_sent_elsewhere.load(Ordering::Relaxed)
    }

    /// Hands an event over.
    pub(super) fn hand_over(&self, handed: Handed) {
        put(&self.handed_over, handed);
    }

    /// Takes the events that are to be handed over.
    pub fn take_handed_over(&self) -> Vec<Handed> {
        self.handed_over.lock().drain(..).collect()
    }

    /// Receives an event of another node, to be sent by this one.
    pub fn receive(&self, handed: Handed) {
        put(&self.received, handed);
    }

    /// Takes the events of other nodes.
    pub(super) fn take_received(&self) -> Vec<Handed> {
        self.received.lock().drain(..).collect()
    }
}

fn put(queue: &Mutex<VecDeque<Handed>>, handed: Handed) {
    let mut queue = queue.lock();
    if queue.len() < MOST_WAITING {
        queue.push_back(handed);
    } else {
        let event = handed.event.kind;
        tracing::error!(event, "alert dropped: too many wait for another node");
    }
}
