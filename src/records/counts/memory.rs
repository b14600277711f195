//! One table for all who ask the same database.

use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};

use super::Table;

/// Counts in memory, for all who ask the same database. A clone shares them.
#[derive(Clone, Debug, Default)]
pub struct CountsInMemory(Arc<Mutex<Table>>);

impl CountsInMemory {
    /// The table, for one question at a time.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Table> {
        self.0.lock()
    }
}
