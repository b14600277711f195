//! A number for each table that was built, by which what follows from one is told from what follows
//! from another.

use std::sync::atomic::{AtomicU64, Ordering};

/// The number of a table. Copies of a table share it, no other has it again while the process runs;
/// an empty table has the default.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Id(pub(super) u64);

impl Id {
    pub(super) fn new() -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        Self(LAST.fetch_add(1, Ordering::Relaxed) + 1)
    }
}
