//! The place of this node in its fleet, as the request path sees it.

use std::{
    sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering},
    time::Duration,
};

use super::collector::Collector;

/// What a node hears of the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Contact {
    /// It hears of them, or there are none.
    Kept,
    /// It hears nothing, and judges by what it knows.
    LostJudge,
    /// It hears nothing. Another node may have published rules that allow more, so it excuses what
    /// its own rules disallow.
    LostExcuse,
}

/// Until when the contact is kept. The steady clock decides, so that a process that was paused judges no
/// request by what it heard before. While the machine is suspended, that clock stands still.
#[derive(Debug)]
pub(super) struct Contacts {
    /// In milliseconds of the steady clock.
    until: AtomicU64,
    /// Whether violations are excused from then on.
    excuses: AtomicBool,
    /// The nodes of the fleet, as far as this one heard of them.
    nodes: AtomicU32,
}

/// The fleet of a request; without one, nothing of it costs a lock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fleet<'a> {
    /// What the other nodes have to hear of.
    pub collector: Option<&'a Collector>,
    /// What this node hears.
    pub contact: Contact,
}

impl Default for Contacts {
    /// There are no others.
    fn default() -> Self {
        Self {
            until: AtomicU64::new(u64::MAX),
            excuses: AtomicBool::new(false),
            nodes: AtomicU32::new(1),
        }
    }
}

impl Contacts {
    pub(super) fn at(&self, steady: Duration) -> Contact {
        let is_kept = steady < Duration::from_millis(self.until.load(Ordering::Relaxed));
        match (is_kept, self.excuses.load(Ordering::Relaxed)) {
            (true, _) => Contact::Kept,
            (false, false) => Contact::LostJudge,
            (false, true) => Contact::LostExcuse,
        }
    }

    /// The nodes that share a limit without telling each other: all, if this one is alone.
    pub(super) fn nodes_apart(&self, steady: Duration) -> u32 {
        match self.at(steady) {
            Contact::Kept => 1,
            Contact::LostJudge | Contact::LostExcuse => self.nodes.load(Ordering::Relaxed),
        }
    }

    pub(super) fn note_nodes(&self, nodes: u32) {
        self.nodes.store(nodes.max(1), Ordering::Relaxed);
    }

    pub(super) fn keep(&self, until: Duration, excuses: bool) {
        self.excuses.store(excuses, Ordering::Relaxed);
        self.until.store(u64::try_from(until.as_millis()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }
}

impl Fleet<'_> {
    /// No fleet.
    #[cfg(test)]
    pub(super) const NONE: Self = Self { collector: None, contact: Contact::Kept };

    /// Whether this node hears nothing of the others.
    pub(super) fn is_alone(self) -> bool {
        self.contact != Contact::Kept
    }

    /// Whether this node excuses what its rules disallow.
    pub(super) fn excuses(self) -> bool {
        self.contact == Contact::LostExcuse
    }
}
