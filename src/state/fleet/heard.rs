//! The messages that were taken in, by run and number: each counts once, and a gap is noticed.

use std::collections::{BTreeMap, BTreeSet};

/// The most runs that are known; beyond it, the one that was silent for longest is forgotten.
const MOST_RUNS: usize = 1_024;
/// The most messages of a run that are known beyond a gap.
const MOST_BEYOND: usize = 4_096;

/// The messages of all runs that were taken in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Heard {
    runs: BTreeMap<String, Run>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Run {
    /// Every message up to this number is known.
    until: u64,
    /// The messages after a gap.
    beyond: BTreeSet<u64>,
    latest: i64,
}

impl Heard {
    /// Takes a message of a run. Whether it is new: another one with its number came before, or the
    /// registers had it.
    pub fn take(&mut self, run: &str, number: u64, at: i64) -> bool {
        self.make_room(run);
        let run = self.runs.entry(run.to_owned()).or_default();
        run.latest = run.latest.max(at);
        if number <= run.until || !run.beyond.insert(number) {
            return false;
        }
        run.go_on();
        if run.beyond.len() > MOST_BEYOND {
            run.close();
        }
        true
    }

    /// Notes that the registers, which are about to be read, have every message of this run up to
    /// `number`.
    pub fn prime(&mut self, run: &str, number: u64) {
        self.make_room(run);
        let run = self.runs.entry(run.to_owned()).or_default();
        run.until = run.until.max(number);
        let until = run.until;
        run.beyond.retain(|number| *number > until);
        run.go_on();
    }

    pub(crate) fn has_all(&self, run: &str, number: u64) -> bool {
        number == 0 || self.runs.get(run).is_some_and(|run| run.until >= number)
    }

    pub(crate) fn has_gap(&self) -> bool {
        self.runs.values().any(|run| !run.beyond.is_empty())
    }

    /// Gives missing messages up: the registers were read instead. Returns their number.
    pub fn close_gaps(&mut self) -> u64 {
        self.runs.values_mut().map(Run::close).sum()
    }

    fn make_room(&mut self, run: &str) {
        if self.runs.len() < MOST_RUNS || self.runs.contains_key(run) {
            return;
        }
        let oldest = self.runs.iter().min_by_key(|(_, run)| run.latest);
        if let Some(name) = oldest.map(|(name, _)| name.clone()) {
            self.runs.remove(&name);
        }
    }
}

impl Run {
    fn go_on(&mut self) {
        while self.until.checked_add(1).is_some_and(|next| self.beyond.remove(&next)) {
            self.until += 1;
        }
    }

    /// Counts the missing messages as known. Returns their number.
    fn close(&mut self) -> u64 {
        let Some(last) = self.beyond.last().copied() else { return 0 };
        let missing = last.saturating_sub(self.until).saturating_sub(self.beyond.len() as u64);
        self.until = last;
        self.beyond.clear();
        missing
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn each_message_counts_once_and_a_gap_is_noticed() {
        let mut heard = Heard::default();
        assert!(heard.has_all("a", 0) && !heard.has_all("a", 1));
        for (number, is_new, gap) in [
            (1, true, false),
            (1, false, false),
            (3, true, true),
            (3, false, true),
            (2, true, false),
        ] {
            assert_eq!((heard.take("a", number, 0), heard.has_gap()), (is_new, gap), "{number}");
        }
        assert!(heard.has_all("a", 3));
        // Another run has numbers of its own.
        assert!(heard.take("b", 4, 0));
        assert!(heard.has_gap());
        assert_eq!(heard.close_gaps(), 3);
        assert!(!heard.has_gap() && heard.has_all("b", 4) && !heard.take("b", 2, 0));
        // What the registers had is not new.
        heard.prime("c", 7);
        assert!(!heard.take("c", 7, 0) && heard.take("c", 8, 0));
    }

    #[test]
    fn runs_are_bounded_and_the_silent_one_goes() {
        let mut heard = Heard::default();
        for (number, at) in (0..MOST_RUNS + 3).zip(0..) {
            heard.take(&format!("{number}"), 1, at);
        }
        assert_eq!(heard.runs.len(), MOST_RUNS);
        assert!(heard.has_all(&format!("{}", MOST_RUNS + 2), 1) && !heard.has_all("0", 1));
    }

    proptest! {
        #[test]
        fn order_and_repetition_do_not_matter(
            messages in prop::collection::vec((0_u8..3, 1_u64..30), 0..80),
            shuffled in prop::collection::vec(any::<prop::sample::Index>(), 0..200),
        ) {
            let take = |heard: &mut Heard, (run, number): (u8, u64)| {
                heard.take(&run.to_string(), number, i64::try_from(number).unwrap())
            };
            let (mut one, mut other) = (Heard::default(), Heard::default());
            let new = messages.iter().filter(|message| take(&mut one, **message)).count();
            let distinct: BTreeSet<_> = messages.iter().copied().collect();
            prop_assert_eq!(new, distinct.len());
            if !messages.is_empty() {
                for index in shuffled {
                    take(&mut other, *index.get(&messages));
                }
            }
            for message in messages.iter().rev() {
                take(&mut other, *message);
            }
            prop_assert_eq!(one, other);
        }
    }
}
