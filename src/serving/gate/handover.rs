//! Refusals that a server in front fetches.
//!
//! A server may ask whether a request passes, hear a refusal, and then have the same request
//! answered here, because it can't pass on the body of the refusal. Such a request is neither judged
//! nor recorded again. So the refusal gets a mark, and the mark fetches it once. A mark is random, so
//! no client can guess one.

use std::{
    collections::{HashMap, VecDeque},
    time::Duration,
};

use http::HeaderValue;
use parking_lot::Mutex;

use super::answer::Answer;

/// The field with the mark of a refusal.
pub const REFUSAL_MARK: &str = "x-beadle-refusal";

/// The most time between a refusal and its fetch.
const SOON: Duration = Duration::from_secs(10);
/// The most refusals that are kept.
const MOST: usize = 1_024;
/// The most octets of their targets and bodies.
const MOST_OCTETS: usize = 4 << 20;

const DIGITS: usize = 32;

#[derive(Debug, Default)]
pub(super) struct Handovers(Mutex<Table>);

#[derive(Debug, Default)]
struct Table {
    refusals: HashMap<u128, Refused>,
    /// The marks by age, also those that have been used.
    order: VecDeque<(u128, Duration)>,
    octets: usize,
}

#[derive(Debug)]
struct Refused {
    answer: Answer,
    target: Box<[u8]>,
}

impl Refused {
    fn octets(&self) -> usize {
        self.target.len() + self.answer.body.len()
    }
}

impl Handovers {
    /// Keeps a refusal. Returns its mark; `None` without random numbers.
    pub(super) fn keep(&self, answer: &Answer, target: &[u8], at: Duration) -> Option<HeaderValue> {
        let mut octets = [0; DIGITS / 2];
        getrandom::fill(&mut octets).ok()?;
        let mark = u128::from_be_bytes(octets);
        let refused = Refused { answer: answer.clone(), target: target.into() };
        self.0.lock().insert(mark, refused, at);
        HeaderValue::try_from(format!("{mark:0DIGITS$x}")).ok()
    }

    /// Takes the refusal of a request for `target`.
    pub(super) fn take(&self, mark: &[u8], target: &[u8], now: Duration) -> Option<Answer> {
        let text = str::from_utf8(mark).ok().filter(|text| text.len() == DIGITS)?;
        let mark = u128::from_str_radix(text, 16).ok()?;
        let mut table = self.0.lock();
        table.forget(now, 0);
        let is_for_target = table.refusals.get(&mark).is_some_and(|one| *one.target == *target);
        is_for_target.then(|| table.remove(mark)).flatten().map(|refused| refused.answer)
    }
}

impl Table {
    fn insert(&mut self, mark: u128, refused: Refused, now: Duration) {
        let octets = refused.octets();
        self.forget(now, octets);
        self.octets += octets;
        self.order.push_back((mark, now));
        self.refusals.insert(mark, refused);
    }

    fn remove(&mut self, mark: u128) -> Option<Refused> {
        let refused = self.refusals.remove(&mark)?;
        self.octets -= refused.octets();
        Some(refused)
    }

    /// Forgets the refusals that are too old, and the oldest ones until there is room for another
    /// one with this many octets.
    fn forget(&mut self, now: Duration, octets: usize) {
        while let Some(&(mark, since)) = self.order.front() {
            let is_full = self.order.len() >= MOST || self.octets + octets > MOST_OCTETS;
            if now.saturating_sub(since) <= SOON && !is_full {
                return;
            }
            self.order.pop_front();
            self.remove(mark);
        }
    }
}

#[cfg(test)]
mod tests {
    use http::StatusCode;

    use super::*;
    use crate::serving::gate::Refusal;

    fn answer(body: &'static str) -> Answer {
        Answer { body: body.into(), ..Answer::refusal(Refusal::Trace) }
    }

    fn kept(handovers: &Handovers, body: &'static str, second: u64) -> HeaderValue {
        handovers.keep(&answer(body), b"/x", Duration::from_secs(second)).expect("random numbers")
    }

    fn taken(handovers: &Handovers, mark: &HeaderValue, target: &[u8], second: u64) -> String {
        let found = handovers.take(mark.as_bytes(), target, Duration::from_secs(second));
        assert!(found.as_ref().is_none_or(|one| one.status == StatusCode::METHOD_NOT_ALLOWED));
        found.map_or_else(String::new, |one| String::from_utf8_lossy(&one.body).into_owned())
    }

    #[test]
    fn a_mark_fetches_its_refusal_once_and_soon() {
        let handovers = Handovers::default();
        let (one, two, late) =
            (kept(&handovers, "one", 1), kept(&handovers, "two", 1), kept(&handovers, "late", 2));
        assert_eq!(one.len(), DIGITS);
        assert_ne!(one, two);
        assert_eq!(taken(&handovers, &one, b"/robots.txt", 2), "", "another target");
        assert_eq!(taken(&handovers, &two, b"/x", 2), "two");
        assert_eq!(taken(&handovers, &two, b"/x", 2), "", "used");
        assert_eq!(taken(&handovers, &one, b"/x", 11), "one");
        assert_eq!(taken(&handovers, &late, b"/x", 13), "", "too late");
        for forged in ["", "0", "+0000000000000000000000000000001", &"f".repeat(DIGITS)] {
            let forged = HeaderValue::try_from(forged).unwrap();
            assert_eq!(taken(&handovers, &forged, b"/x", 2), "");
        }
        assert_eq!(handovers.0.lock().octets, 0);
    }

    #[test]
    fn the_refusals_kept_are_bounded() {
        let handovers = Handovers::default();
        let first = kept(&handovers, "first", 0);
        let later: Vec<HeaderValue> = (0..MOST).map(|_| kept(&handovers, "later", 0)).collect();
        assert_eq!(taken(&handovers, &first, b"/x", 0), "");
        assert_eq!(taken(&handovers, &later[MOST - 1], b"/x", 0), "later");
        let target = vec![b'x'; MOST_OCTETS / 4];
        for _ in 0..9 {
            handovers.keep(&answer(""), &target, Duration::ZERO).expect("random numbers");
        }
        let table = handovers.0.lock();
        assert!(table.octets <= MOST_OCTETS && table.refusals.len() <= 4, "{}", table.octets);
    }
}
