//! Events on their way between the nodes of a fleet. One node sends the events of all.
//!
//! ```text
//! hand_over ─▶ waiting ─▶ the fleet's server ─▶ kept ─▶ sender ─▶ settle ─▶ removed from the server
//! ```
//! The server keeps an event until it is settled. So neither the end of the node that sends it nor a
//! pause of the server loses an event. One that is sent twice has the same id.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::atomic::{AtomicBool, Ordering},
};

use jiff::Timestamp;
use parking_lot::Mutex;

use crate::outside::mail::Answer;

use super::event::Event;

/// The most events that wait for the server; later ones are dropped with an error in the log.
const MOST_WAITING: usize = 256;

/// An event that the nodes of a fleet share.
#[derive(Clone, Debug, PartialEq)]
pub struct Handed {
    /// Its id at the receiver.
    pub id: String,
    /// The receiver that wants it, by [`Receiver::key`](super::Receiver::key).
    pub webhook: String,
    /// Whether this run raised it.
    pub is_own: bool,
    pub(crate) event: Event,
}

/// The beginning of the key of a report's answer.
pub const REPORT: &str = "report ";

/// What a receiver did not accept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsent {
    /// What was sent to whom, without secrets.
    pub to: String,
    pub(crate) answer: Answer,
    pub(crate) at: Timestamp,
}

/// The events between this node and the fleet's server. Without a fleet, it is empty.
#[derive(Debug, Default)]
pub struct Relay {
    /// Whether a node of the fleet sends the events of all: this one or another.
    pub(crate) is_shared: AtomicBool,
    waiting: Mutex<VecDeque<Handed>>,
    kept: Mutex<Vec<Handed>>,
    settled: Mutex<BTreeSet<String>>,
    /// Whether this node sends for all, and knows when reports were sent last.
    can_report: AtomicBool,
    /// When reports were sent last, in seconds since 1970, by key.
    reported: Mutex<BTreeMap<String, i64>>,
    /// What receivers did not accept the last time, by key.
    troubles: Mutex<BTreeMap<String, Unsent>>,
}

impl Relay {
    /// When reports were sent last; `None` unless this node sends those of all.
    pub fn reported(&self) -> Option<BTreeMap<String, i64>> {
        self.can_report.load(Ordering::Relaxed).then(|| self.reported.lock().clone())
    }

    /// Notes when reports were sent, as the server knows it; `None` if this node does not send.
    pub fn set_reported(&self, known: Option<BTreeMap<String, i64>>) {
        self.can_report.store(known.is_some(), Ordering::Relaxed);
        known.into_iter().flatten().for_each(|(key, second)| self.report_sent(&key, second));
    }

    pub(crate) fn report_sent(&self, key: &str, second: i64) {
        let mut reported = self.reported.lock();
        let known = reported.entry(key.to_owned()).or_insert(second);
        *known = second.max(*known);
    }

    /// Notes the answer of a receiver. One that accepts is no trouble.
    pub fn note(&self, key: &str, to: String, answer: Answer) {
        let mut troubles = self.troubles.lock();
        match answer {
            Answer::Accepted(_) => troubles.remove(key),
            answer => troubles.insert(key.to_owned(), Unsent { to, answer, at: Timestamp::now() }),
        };
    }

    pub(crate) fn retain(&self, keeps: impl Fn(&str) -> bool) {
        self.troubles.lock().retain(|key, _| keeps(key));
    }

    pub(crate) fn troubles(&self) -> Vec<Unsent> {
        self.troubles.lock().values().cloned().collect()
    }

    pub(super) fn hand_over(&self, handed: Handed) {
        let mut waiting = self.waiting.lock();
        if waiting.len() < MOST_WAITING {
            waiting.push_back(handed);
        } else {
            let event = handed.event.kind;
            tracing::error!(event, "alert dropped: too many wait for the fleet's server");
        }
    }

    pub(crate) fn waiting(&self) -> Vec<Handed> {
        self.waiting.lock().iter().cloned().collect()
    }

    /// Takes back the events that the server does not have.
    pub(super) fn take_back(&self) -> Vec<Handed> {
        self.waiting.lock().drain(..).collect()
    }

    pub(crate) fn handed(&self, events: &[Handed]) {
        self.waiting.lock().retain(|one| !events.iter().any(|other| other.id == one.id));
    }

    pub(crate) fn keep(&self, events: Vec<Handed>) {
        *self.kept.lock() = events;
    }

    pub(super) fn kept(&self) -> Vec<Handed> {
        let settled = self.settled.lock();
        let kept = self.kept.lock();
        kept.iter().filter(|one| !settled.contains(&one.id)).cloned().collect()
    }

    /// Notes that an event needs no more sending: it was accepted, given up, or told before.
    pub fn settle(&self, id: String) {
        self.settled.lock().insert(id);
    }

    pub(crate) fn settled(&self) -> Vec<String> {
        self.settled.lock().iter().cloned().collect()
    }

    pub(crate) fn removed(&self, ids: &[String]) {
        let mut settled = self.settled.lock();
        for id in ids {
            settled.remove(id);
        }
    }
}
