//! Requests that are owed to crawlers after a redirect.
//!
//! A polite crawler follows a redirect at once. Where a site redirects every page (`/p` to `/p/`),
//! each page would cost it two requests of its pace. So a request that was charged to the pace of a
//! crawler and answered with a redirect is made up for: one request of that crawler, soon after, is
//! not charged. One that was not charged earns none, so nobody makes more than twice the requests
//! that its pace allows.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use http::StatusCode;

use super::pace::Key;

/// How soon a redirect is followed by who follows it at once.
const SOON: Duration = Duration::from_secs(10);
/// So many requests at most are owed to one crawler.
const MOST_OWED: u8 = 10;
/// To so many crawlers at most. When there are more, those that let it pass are forgotten, and all
/// if these are less than half.
const MOST_KEYS: usize = 4_096;

/// Whether a status sends a client elsewhere at once (RFC 9110 §15.4).
pub(super) fn is_redirect(status: StatusCode) -> bool {
    matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308)
}

/// What is owed to whom.
#[derive(Debug, Default)]
pub(super) struct Redirects(Mutex<HashMap<Key, Owed>>);

#[derive(Clone, Copy, Debug)]
struct Owed {
    requests: u8,
    /// Since the latest of the redirects.
    since: Instant,
}

impl Redirects {
    /// A request that was charged to this crawler was answered with a redirect.
    pub(super) fn owe(&self, key: Key, now: Instant) {
        let mut owed = self.lock();
        if owed.len() >= MOST_KEYS && !owed.contains_key(&key) {
            owed.retain(|_, one| one.is_due(now));
            if owed.len() >= MOST_KEYS / 2 {
                owed.clear();
            }
        }
        let so_far = owed.get(&key).filter(|one| one.is_due(now)).map_or(0, |one| one.requests);
        owed.insert(key, Owed { requests: so_far.saturating_add(1).min(MOST_OWED), since: now });
    }

    /// Whether a request of this crawler follows a redirect and is not to be charged.
    pub(super) fn settle(&self, key: &Key, now: Instant) -> bool {
        let mut owed = self.lock();
        let Some(one) = owed.get_mut(key) else { return false };
        let is_due = one.is_due(now);
        one.requests = one.requests.saturating_sub(1);
        if !is_due || one.requests == 0 {
            owed.remove(key);
        }
        is_due
    }

    /// What another thread left behind is whole: each call leaves it so.
    fn lock(&self) -> MutexGuard<'_, HashMap<Key, Owed>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Owed {
    fn is_due(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.since) <= SOON
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crawlers::Outcome;

    fn key(product_token: &str) -> Key {
        Key::new("a.example", product_token, Outcome::Confirmed)
    }

    #[test]
    fn ours_a_redirect_is_made_up_for_once_and_soon() {
        let (redirects, start) = (Redirects::default(), Instant::now());
        let after = |seconds| start + Duration::from_secs(seconds);
        assert!(!redirects.settle(&key("bot"), start));
        redirects.owe(key("bot"), start);
        assert!(!redirects.settle(&key("another"), start));
        assert!(redirects.settle(&key("Bot"), after(1)));
        assert!(!redirects.settle(&key("bot"), after(1)), "once");
        redirects.owe(key("bot"), start);
        assert!(!redirects.settle(&key("bot"), after(11)), "that was long ago");
        (0..30).for_each(|_| redirects.owe(key("bot"), start));
        let settled = (0..30).filter(|_| redirects.settle(&key("bot"), start));
        assert_eq!(settled.count(), usize::from(MOST_OWED));
        assert!(redirects.lock().is_empty());
    }

    #[test]
    fn ours_names_do_not_fill_the_memory() {
        let (redirects, start) = (Redirects::default(), Instant::now());
        let late = start + Duration::from_secs(60);
        for number in 0..MOST_KEYS {
            redirects.owe(key(&number.to_string()), start);
        }
        redirects.owe(key("late"), late);
        assert_eq!(redirects.lock().len(), 1, "nobody else is due");
        for number in 0..2 * MOST_KEYS {
            redirects.owe(key(&number.to_string()), late);
        }
        assert!(redirects.lock().len() <= MOST_KEYS);
    }

    #[test]
    fn rfc9110_15_4_what_sends_a_client_elsewhere() {
        let redirects = (100..600).filter_map(|code| StatusCode::from_u16(code).ok());
        let codes: Vec<u16> =
            redirects.filter(|one| is_redirect(*one)).map(|one| one.as_u16()).collect();
        assert_eq!(codes, [301, 302, 303, 307, 308]);
    }
}
