//! Beadle's own requests to its public addresses, known by a mark.
//!
//! They are judged as those of the client whose name they use, but they are no client's conduct. So
//! no client can make a mark: one is signed with a random key of this process, or of the
//! fleet, holds for a minute, and for one `User-Agent`.

use std::{
    collections::VecDeque,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
};

use arc_swap::ArcSwap;
use jiff::Timestamp;
use parking_lot::Mutex;
use ring::{hmac, rand};

use crate::base::escape::{hex, hex_octet};

/// The field with the mark.
pub const MARK: &str = "beadle-watch";

/// The most seconds between a mark and its arrival, and between the clocks of two nodes.
const SOON: i64 = 60;
const MOST_ARRIVED: usize = 256;

/// The marks that this node gives and knows.
#[derive(Debug)]
pub struct OwnRequests {
    /// `None` without random numbers: no request is its own.
    key: ArcSwap<Option<hmac::Key>>,
    is_shared: AtomicBool,
    last: AtomicU64,
    arrived: Mutex<VecDeque<u64>>,
}

impl Default for OwnRequests {
    fn default() -> Self {
        let key = hmac::Key::generate(hmac::HMAC_SHA256, &rand::SystemRandom::new());
        let (is_shared, last) = (AtomicBool::new(false), AtomicU64::new(0));
        Self { key: ArcSwap::from_pointee(key.ok()), is_shared, last, arrived: Mutex::default() }
    }
}

impl OwnRequests {
    /// Takes the key of a fleet, whose nodes know each other's marks.
    pub fn share(&self, secret: &str) {
        let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
        self.key.store(Some(key).into());
        self.is_shared.store(true, Ordering::Relaxed);
    }

    /// The number of a new request, and its mark.
    pub fn mark(&self, user_agent: &str, now: Timestamp) -> Option<(u64, String)> {
        let key = self.key.load();
        let number = self.last.fetch_add(1, Ordering::Relaxed);
        let head = format!("{}.{number}", now.as_second());
        let tag = hmac::sign((**key).as_ref()?, format!("{head} {user_agent}").as_bytes());
        let tag: String = hex(tag.as_ref().iter());
        Some((number, format!("{head}.{tag}")))
    }

    /// Whether a request with this mark is Beadle's own. Notes its arrival.
    pub fn takes(&self, mark: &[u8], user_agent: &[u8], now: Timestamp) -> bool {
        let number = self.number(mark, user_agent, now);
        if let Some(number) = number {
            let mut arrived = self.arrived.lock();
            arrived.truncate(MOST_ARRIVED - 1);
            arrived.push_front(number);
        }
        number.is_some()
    }

    fn number(&self, mark: &[u8], user_agent: &[u8], now: Timestamp) -> Option<u64> {
        let (head, tag) = str::from_utf8(mark).ok()?.rsplit_once('.')?;
        let (second, number) = head.split_once('.')?;
        let tag: Vec<u8> = tag.as_bytes().chunks(2).map(hex_octet).collect::<Option<_>>()?;
        let signed = [head.as_bytes(), b" ", user_agent].concat();
        hmac::verify((**self.key.load()).as_ref()?, &signed, &tag).ok()?;
        let age = now.as_second().saturating_sub(second.parse().ok()?);
        (-SOON..=SOON).contains(&age).then_some(number.parse().ok()?)
    }

    /// Whether the request with this number came here. `None` if it may have come to another node.
    pub fn has_arrived(&self, number: u64) -> Option<bool> {
        let is_here = self.arrived.lock().contains(&number);
        (is_here || !self.is_shared.load(Ordering::Relaxed)).then_some(is_here)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).expect("a time")
    }

    #[test]
    fn a_mark_holds_for_a_minute_one_name_and_one_key() {
        let (one, other) = (OwnRequests::default(), OwnRequests::default());
        let (number, mark) = one.mark("GPTBot", at(1_000)).expect("random numbers");
        assert_eq!(one.has_arrived(number), Some(false));
        for (own, mark, user_agent, second, expected) in [
            (&one, mark.clone(), "GPTBot", 1_000, true),
            (&one, mark.clone(), "GPTBot", 1_060, true),
            (&one, mark.clone(), "GPTBot", 940, true),
            (&one, mark.clone(), "GPTBot", 1_061, false),
            (&one, mark.clone(), "GPTBot", 939, false),
            (&one, mark.clone(), "CCBot", 1_000, false),
            (&other, mark.clone(), "GPTBot", 1_000, false),
            (&one, mark.replacen("1000.", "1001.", 1), "GPTBot", 1_000, false),
            (&one, format!("{mark}0"), "GPTBot", 1_000, false),
            (&one, mark[..mark.len() - 2].to_owned(), "GPTBot", 1_000, false),
            (&one, format!("1000.{number}."), "GPTBot", 1_000, false),
            (&one, "1000.0.é1".to_owned(), "GPTBot", 1_000, false),
            (&one, String::new(), "GPTBot", 1_000, false),
        ] {
            let is_own = own.takes(mark.as_bytes(), user_agent.as_bytes(), at(second));
            assert_eq!(is_own, expected, "{mark} {user_agent} {second}");
        }
        assert_eq!(one.has_arrived(number), Some(true));
        assert_eq!(other.has_arrived(number), Some(false));
        assert_ne!(one.mark("GPTBot", at(1_000)).map(|(_, mark)| mark), Some(mark));
    }

    #[test]
    fn nodes_of_a_fleet_know_each_others_marks_but_not_their_arrivals() {
        let (one, other) = (OwnRequests::default(), OwnRequests::default());
        one.share("the mark of the fleet's data");
        other.share("the mark of the fleet's data");
        let (number, mark) = one.mark("GPTBot", at(1_000)).expect("a key");
        assert!(other.takes(mark.as_bytes(), b"GPTBot", at(1_001)));
        assert_eq!(one.has_arrived(number), None);
    }
}
