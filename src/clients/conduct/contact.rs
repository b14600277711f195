//! The place of this node in its fleet, as the request path sees it.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};

use super::collector::Collector;

/// Until when this node hears of the others. The steady clock decides, so that a process that was paused
/// judges no request by what it heard before. While the machine is suspended, that clock stands still.
#[derive(Debug)]
pub(super) struct Contacts {
    /// In milliseconds of the steady clock.
    pub(super) until: AtomicU64,
    /// Whether violations are excused from then on.
    pub(super) excuses: AtomicBool,
    /// The nodes of the fleet, as far as this one heard of them.
    pub(super) nodes: AtomicU32,
}

/// The fleet of a request; without one, nothing of it costs a lock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fleet<'a> {
    /// What the other nodes have to hear of.
    pub(super) collector: Option<&'a Collector>,
    pub(super) is_alone: bool,
    /// Whether it excuses what its rules disallow: another node may have published rules that allow more.
    pub(super) excuses: bool,
    /// The nodes that share a limit without telling each other: all, if this one is alone.
    pub(super) nodes: u32,
}

impl Default for Contacts {
    /// There are no others.
    fn default() -> Self {
        let (excuses, nodes) = (AtomicBool::new(false), AtomicU32::new(1));
        Self { until: AtomicU64::new(u64::MAX), excuses, nodes }
    }
}

#[cfg(test)]
impl Fleet<'_> {
    pub(super) const NONE: Self =
        Self { collector: None, is_alone: false, excuses: false, nodes: 1 };
}
