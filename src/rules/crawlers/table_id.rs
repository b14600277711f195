//! A number for each table that is built, so that results from two tables never mix.

use std::sync::atomic::{AtomicU64, Ordering};

/// The number of a table. Copies of a table share it; no other table of the process has it. An empty
/// table has the default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TableId(u64);

impl TableId {
    pub(super) fn new() -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        Self(LAST.fetch_add(1, Ordering::Relaxed) + 1)
    }
}
