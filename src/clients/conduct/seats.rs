//! What is there at one time, counted by key.

use std::{collections::HashMap, hash::Hash, sync::Arc};

use parking_lot::Mutex;

use super::key::Key;

/// Requests at the origin, or connections, that are there at one time.
#[derive(Clone, Debug)]
pub struct Seats<K = Key>(Arc<Mutex<HashMap<K, u32>>>);

/// The place of one of them; free again on drop.
#[derive(Debug)]
pub struct Seat<K: Eq + Hash = Key> {
    seats: Seats<K>,
    key: K,
}

impl<K> Default for Seats<K> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<K: Clone + Eq + Hash> Seats<K> {
    /// A place for one more, if there are fewer than `most`.
    pub fn take(&self, key: K, most: u32) -> Option<Seat<K>> {
        let mut taken = self.0.lock();
        let count = taken.entry(key.clone()).or_insert(0);
        if *count >= most {
            return None;
        }
        *count += 1;
        drop(taken);
        Some(Seat { seats: self.clone(), key })
    }

    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.lock().is_empty()
    }
}

impl<K: Eq + Hash> Drop for Seat<K> {
    fn drop(&mut self) {
        let mut taken = self.seats.0.lock();
        if let Some(count) = taken.get_mut(&self.key) {
            *count -= 1;
            if *count == 0 {
                taken.remove(&self.key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_free_again_when_its_request_ends() {
        let (seats, key) = (Seats::default(), Key::of_confirmed("GPTBot"));
        let other = Key::of_confirmed("ClaudeBot");
        let mut kept: Vec<_> = (0..5).filter_map(|_| seats.take(key.clone(), 2)).collect();
        assert_eq!(kept.len(), 2);
        assert!(seats.take(other, 2).is_some() && seats.take(key.clone(), 2).is_none());
        kept.pop();
        kept.extend(seats.take(key.clone(), 2));
        assert_eq!(kept.len(), 2);
        assert!(seats.take(key.clone(), 2).is_none());
        drop(kept);
        assert!(seats.0.lock().is_empty());
        // A policy with a lower limit lets those go on that are there.
        let kept: Vec<_> = (0..5).filter_map(|_| seats.take(key.clone(), 5)).collect();
        assert!(seats.take(key, 2).is_none() && kept.len() == 5);
    }
}
