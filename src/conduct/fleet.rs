//! The place of this node in its fleet, as the request path sees it.

use std::sync::atomic::{AtomicU8, Ordering};

use super::collector::Collector;

/// What a node hears of the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Contact {
    /// It hears of them, or there are none.
    #[default]
    Kept,
    /// It hears nothing, and judges by what it knows.
    LostJudge,
    /// It hears nothing. Another node may have published rules that allow more, so it excuses what
    /// its own rules disallow.
    LostExcuse,
}

/// The contact in force.
#[derive(Debug, Default)]
pub(super) struct ContactInForce(AtomicU8);

/// The fleet of a request; without one, nothing of it costs a lock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fleet<'a> {
    /// What the other nodes have to hear of.
    pub collector: Option<&'a Collector>,
    /// What this node hears.
    pub contact: Contact,
}

impl Contact {
    const ALL: [Self; 3] = [Self::Kept, Self::LostJudge, Self::LostExcuse];
}

impl ContactInForce {
    pub(super) fn get(&self) -> Contact {
        let number = usize::from(self.0.load(Ordering::Relaxed));
        Contact::ALL.get(number).copied().unwrap_or_default()
    }

    pub(super) fn set(&self, contact: Contact) {
        self.0.store(contact as u8, Ordering::Relaxed);
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
