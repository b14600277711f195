//! Credits for redirects: a redirect costs a crawler nothing of its pace.
//!
//! A polite crawler follows a redirect at once. On a site that redirects every page (`/p` to
//! `/p/`), each page would cost two requests of the pace. So each charged request with a redirect
//! as its response gives the crawler one free request soon after. A free request gives no further
//! credit, so a crawler can make at most twice the requests of its pace.

use std::{collections::HashMap, time::Duration};

use parking_lot::Mutex;

use super::limiter::Key;

/// The most time between a redirect and the request that follows it.
const SOON: Duration = Duration::from_secs(10);
/// The most credits of one crawler.
const MOST_CREDITS: u8 = 10;
/// The most crawlers with credits. Beyond it, expired credits go, and all if fewer than half are
/// expired.
const MOST_KEYS: usize = 4_096;

/// Whether a status sends a client elsewhere at once (RFC 9110 §15.4).
pub(super) const fn is_redirect(status: u16) -> bool {
    matches!(status, 301 | 302 | 303 | 307 | 308)
}

/// The credits of each crawler.
#[derive(Debug, Default)]
pub(super) struct Redirects(Mutex<HashMap<Key, Credits>>);

#[derive(Clone, Copy, Debug)]
struct Credits {
    count: u8,
    /// The time of the latest redirect.
    since: Duration,
}

impl Redirects {
    /// Gives a credit for a redirect in response to a charged request.
    pub(super) fn credit(&self, key: Key, now: Duration) {
        let mut credits = self.0.lock();
        if credits.len() >= MOST_KEYS && !credits.contains_key(&key) {
            credits.retain(|_, one| one.is_valid(now));
            if credits.len() >= MOST_KEYS / 2 {
                credits.clear();
            }
        }
        let so_far = credits.get(&key).filter(|one| one.is_valid(now)).map_or(0, |one| one.count);
        let count = so_far.saturating_add(1).min(MOST_CREDITS);
        credits.insert(key, Credits { count, since: now });
    }

    /// Uses a credit for a request of this crawler. Returns whether there was a valid one.
    pub(super) fn redeem(&self, key: &Key, now: Duration) -> bool {
        let mut credits = self.0.lock();
        let Some(one) = credits.get_mut(key) else { return false };
        let is_valid = one.is_valid(now);
        one.count = one.count.saturating_sub(1);
        if !is_valid || one.count == 0 {
            credits.remove(key);
        }
        is_valid
    }
}

impl Credits {
    fn is_valid(&self, now: Duration) -> bool {
        now.saturating_sub(self.since) <= SOON
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
    fn a_redirect_gives_one_free_request_soon_after() {
        let (redirects, start) = (Redirects::default(), Duration::ZERO);
        let after = |seconds| start + Duration::from_secs(seconds);
        assert!(!redirects.redeem(&key("bot"), start));
        redirects.credit(key("bot"), start);
        assert!(!redirects.redeem(&key("another"), start));
        assert!(redirects.redeem(&key("Bot"), after(1)));
        assert!(!redirects.redeem(&key("bot"), after(1)), "once");
        redirects.credit(key("bot"), start);
        assert!(!redirects.redeem(&key("bot"), after(11)), "the credit is expired");
        (0..30).for_each(|_| redirects.credit(key("bot"), start));
        let redeemed = (0..30).filter(|_| redirects.redeem(&key("bot"), start));
        assert_eq!(redeemed.count(), usize::from(MOST_CREDITS));
        assert!(redirects.0.lock().is_empty());
    }

    #[test]
    fn names_do_not_fill_the_memory() {
        let (redirects, start) = (Redirects::default(), Duration::ZERO);
        let late = start + Duration::from_secs(60);
        for number in 0..MOST_KEYS {
            redirects.credit(key(&number.to_string()), start);
        }
        redirects.credit(key("late"), late);
        assert_eq!(redirects.0.lock().len(), 1, "all other credits are expired");
        for number in 0..2 * MOST_KEYS {
            redirects.credit(key(&number.to_string()), late);
        }
        assert!(redirects.0.lock().len() <= MOST_KEYS);
    }

    #[test]
    fn rfc9110_15_4_five_statuses_are_redirects() {
        let codes: Vec<u16> = (100..600).filter(|status| is_redirect(*status)).collect();
        assert_eq!(codes, [301, 302, 303, 307, 308]);
    }
}
