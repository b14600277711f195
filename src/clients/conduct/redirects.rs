//! Credits for redirects: a redirect costs a crawler nothing of its pace.
//!
//! A polite crawler follows a redirect at once. On a site that redirects every page (`/p` to
//! `/p/`), each page would cost two requests of the pace. So a redirect gives the crawler one free
//! request soon after. A free request that is redirected gives the next one, up to [`MOST_HOPS`]
//! in a row. So a crawler can make at most six times the requests of its pace.

use std::{collections::HashMap, time::Duration};

use parking_lot::Mutex;

use super::{capacity::make_room, key::Key};

/// The most time between a redirect and the request that follows it.
const SOON: Duration = Duration::from_secs(10);
/// The most free requests in a row. A crawler should follow five redirects at least (RFC 9309
/// §2.3.1.2).
const MOST_HOPS: usize = 5;
const MOST_CREDITS: usize = 10;
/// The most crawlers with credits. Beyond it, expired ones go first.
const MOST_KEYS: usize = 4_096;

/// Whether a status sends a client elsewhere at once (RFC 9110 §15.4).
pub(super) const fn is_redirect(status: u16) -> bool {
    matches!(status, 301 | 302 | 303 | 307 | 308)
}

#[derive(Debug, Default)]
pub(super) struct Redirects(Mutex<HashMap<Key, Credits>>);

#[derive(Clone, Copy, Debug)]
struct Credits {
    /// The number of credits for each place in a chain, from the first hop on.
    by_hop: [u8; MOST_HOPS],
    since: Duration,
}

/// A request with a pace that passed, and its place in a chain of redirects.
#[derive(Debug)]
pub struct Hop {
    pub(super) key: Key,
    /// The redirects before it that were free to follow.
    pub(super) number: usize,
}

impl Redirects {
    pub(super) fn credit(&self, Hop { key, number }: Hop, now: Duration) {
        if number >= MOST_HOPS {
            return;
        }
        let mut credits = self.0.lock();
        make_room(&mut credits, &key, MOST_KEYS, |one| one.is_valid(now));
        let so_far = credits.get(&key).filter(|one| one.is_valid(now)).map(|one| one.by_hop);
        let mut by_hop = so_far.unwrap_or_default();
        if by_hop.iter().map(|count| usize::from(*count)).sum::<usize>() < MOST_CREDITS {
            by_hop[number] += 1;
        }
        credits.insert(key, Credits { by_hop, since: now });
    }

    /// Uses a credit for a request of this crawler: the one of the longest chain to come. Returns
    /// the number of the hop; `None` without a valid credit.
    pub(super) fn redeem(&self, key: &Key, now: Duration) -> Option<usize> {
        let mut credits = self.0.lock();
        let one = credits.get_mut(key)?;
        let first = one.by_hop.iter().position(|count| *count > 0);
        let number = first.filter(|_| one.is_valid(now));
        if let Some(number) = number {
            one.by_hop[number] -= 1;
        }
        if number.is_none() || one.by_hop == [0; MOST_HOPS] {
            credits.remove(key);
        }
        number.map(|number| number + 1)
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

    fn key(product_token: &str) -> Key {
        Key::of_confirmed(product_token)
    }

    fn hop(product_token: &str) -> Hop {
        Hop { key: key(product_token), number: 0 }
    }

    #[test]
    fn a_redirect_gives_one_free_request_soon_after() {
        let (redirects, start) = (Redirects::default(), Duration::ZERO);
        let after = |seconds| start + Duration::from_secs(seconds);
        assert_eq!(redirects.redeem(&key("bot"), start), None);
        redirects.credit(hop("bot"), start);
        assert_eq!(redirects.redeem(&key("another"), start), None);
        assert_eq!(redirects.redeem(&key("Bot"), after(1)), Some(1));
        assert_eq!(redirects.redeem(&key("bot"), after(1)), None, "once");
        redirects.credit(hop("bot"), start);
        assert_eq!(redirects.redeem(&key("bot"), after(11)), None, "the credit is expired");
        (0..30).for_each(|_| redirects.credit(hop("bot"), start));
        let redeemed = (0..30).filter_map(|_| redirects.redeem(&key("bot"), start));
        assert_eq!(redeemed.count(), MOST_CREDITS);
        assert!(redirects.0.lock().is_empty());
    }

    #[test]
    fn rfc9309_2_3_1_2_five_redirects_in_a_row_are_free_and_no_more() {
        let (redirects, start) = (Redirects::default(), Duration::ZERO);
        redirects.credit(hop("bot"), start);
        for hop in 1..=MOST_HOPS {
            assert_eq!(redirects.redeem(&key("bot"), start), Some(hop));
            redirects.credit(Hop { key: key("bot"), number: hop }, start);
        }
        assert_eq!(redirects.redeem(&key("bot"), start), None);
    }

    #[test]
    fn names_do_not_fill_the_memory() {
        let (redirects, start) = (Redirects::default(), Duration::ZERO);
        let late = start + Duration::from_secs(60);
        for number in 0..MOST_KEYS {
            redirects.credit(hop(&number.to_string()), start);
        }
        redirects.credit(hop("late"), late);
        assert_eq!(redirects.0.lock().len(), 1, "all other credits are expired");
        for number in 0..2 * MOST_KEYS {
            redirects.credit(hop(&number.to_string()), late);
        }
        assert!(redirects.0.lock().len() <= MOST_KEYS);
    }

    #[test]
    fn rfc9110_15_4_five_statuses_are_redirects() {
        let codes: Vec<u16> = (100..600).filter(|status| is_redirect(*status)).collect();
        assert_eq!(codes, [301, 302, 303, 307, 308]);
    }
}
