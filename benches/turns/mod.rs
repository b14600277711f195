//! Cases that take turns in one run. The first case is the baseline.

use std::time::{Duration, Instant};

/// The number of turns of each case.
pub(crate) const ROUNDS: usize = 21;
/// The time of a case in one round.
const TURN: Duration = Duration::from_millis(8);
/// The number of calls between two clock reads.
const BATCH: usize = 512;

/// A function to measure, called with ascending numbers.
pub(crate) struct Case<'a> {
    name: &'static str,
    call: Box<dyn Fn(usize) + 'a>,
    /// The time of a call, for each turn so far.
    pub(crate) nanoseconds: Vec<f64>,
}

impl<'a> Case<'a> {
    pub(crate) fn new(name: &'static str, call: impl Fn(usize) + 'a) -> Self {
        Self { name, call: Box::new(call), nanoseconds: Vec::with_capacity(ROUNDS) }
    }

    pub(crate) fn take_a_turn(&mut self) {
        let start = Instant::now();
        let mut calls = 0;
        while start.elapsed() < TURN {
            (calls..calls + BATCH).for_each(&self.call);
            calls += BATCH;
        }
        self.nanoseconds.push(start.elapsed().as_secs_f64() * 1e9 / calls as f64);
    }
}

/// Measures all cases and prints a table. An argument without dashes selects cases by a part of
/// their name, in addition to the baseline: `cargo bench --bench decide -- identify`. With `--calls=N`
/// each of them is called so often and nothing is measured: for a count of instructions, which is the
/// same on a busy machine (`valgrind --tool=callgrind`).
pub(crate) fn measure(mut cases: Vec<Case<'_>>) {
    if let Some(wanted) = std::env::args().skip(1).find(|arg| !arg.starts_with("--")) {
        let baseline = cases.remove(0);
        cases.retain(|case| case.name.contains(&wanted));
        cases.insert(0, baseline);
    }
    let calls = std::env::args().find_map(|arg| arg.strip_prefix("--calls=")?.parse().ok());
    if let Some(calls) = calls {
        return cases.iter().for_each(|case| (0..calls).for_each(&case.call));
    }
    for round in 0..ROUNDS {
        let first = round % cases.len();
        let (early, late) = cases.split_at_mut(first);
        for case in late.iter_mut().chain(early) {
            case.take_a_turn();
        }
    }
    for case in &mut cases {
        case.nanoseconds.sort_by(f64::total_cmp);
    }
    let at = |case: &Case<'_>, index: usize| case.nanoseconds[index];
    let baseline = at(&cases[0], ROUNDS / 2);
    println!("| per request | ns: median (min..max) | × baseline |\n|---|---|---|");
    for case in &cases {
        let median = at(case, ROUNDS / 2);
        println!(
            "| {} | **{median:.0}** ({:.0}..{:.0}) | {:.2} |",
            case.name,
            at(case, 0),
            at(case, ROUNDS - 1),
            median / baseline
        );
    }
}
