//! Room in tables whose keys clients choose.

use std::{collections::HashMap, hash::Hash};

/// Makes room for a key in a table of at most `most` values. A full one keeps what `stays`, and nothing
/// if that frees less than half. So the next call is far away, whatever the keys are.
pub(super) fn make_room<K: Eq + Hash, V>(
    table: &mut HashMap<K, V>,
    key: &K,
    most: usize,
    stays: impl Fn(&V) -> bool,
) {
    if table.len() >= most && !table.contains_key(key) {
        table.retain(|_, value| stays(value));
        if table.len() >= most / 2 {
            table.clear();
        }
    }
}

/// Whether a table has room for a key, or the key already.
pub(super) fn has_room<K: Eq + Hash, V>(table: &HashMap<K, V>, key: &K, most: usize) -> bool {
    table.len() < most || table.contains_key(key)
}
