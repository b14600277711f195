//! The table: medians of turns, and ratios of turns in one round.

use std::{fmt::Write, time::Duration};

use crate::figures::Load;

/// The target for Beadle's CPU time, as a multiple of bare pingora's.
const TARGET: f64 = 1.10;

/// One turn of a proxy.
pub(crate) struct Turn {
    /// User and system time of the proxy's processes.
    pub(crate) cpu: Duration,
    /// The number of busy processors of the whole machine meanwhile.
    pub(crate) processors: f64,
    pub(crate) load: Load,
}

impl Turn {
    fn micros_per_request(&self) -> f64 {
        self.cpu.as_secs_f64() * 1e6 / self.load.requests as f64
    }
}

/// A proxy with one turn for each round.
pub(crate) struct Row {
    name: &'static str,
    pub(crate) turns: Vec<Turn>,
}

impl Row {
    pub(crate) fn new(name: &'static str) -> Self {
        Self { name, turns: Vec::new() }
    }

    fn each(&self, value: impl Fn(&Turn) -> f64) -> Spread {
        Spread::of(self.turns.iter().map(value))
    }

    /// CPU time per request as a multiple of another's in the same round.
    fn against(&self, other: &Self) -> Spread {
        let pairs = self.turns.iter().zip(&other.turns);
        Spread::of(pairs.map(|(own, other)| own.micros_per_request() / other.micros_per_request()))
    }
}

/// The median, the least and the greatest value.
#[derive(Clone, Copy)]
struct Spread {
    median: f64,
    least: f64,
    greatest: f64,
}

impl Spread {
    fn of(values: impl Iterator<Item = f64>) -> Self {
        let mut values: Vec<f64> = values.collect();
        values.sort_by(f64::total_cmp);
        let at = |index: usize| values.get(index).copied().unwrap_or(f64::NAN);
        let last = values.len().saturating_sub(1);
        let median = (at(last / 2) + at(values.len() / 2)) / 2.0;
        Self { median, least: at(0), greatest: at(last) }
    }

    fn text(&self, digits: usize) -> String {
        let Self { median, least, greatest } = self;
        format!("**{median:.digits$}** ({least:.digits$}..{greatest:.digits$})")
    }
}

/// The table, with ratios to the rows `bare` and `nginx`.
pub(crate) fn markdown(rows: &[Row], bare: usize, nginx: usize) -> String {
    let mut table = "| proxy | CPU µs per request | × bare pingora | × nginx | requests/s | p50 ms | p99 ms |\n\
                     |---|---|---|---|---|---|---|\n"
        .to_owned();
    for row in rows {
        let ratio = |other: usize| {
            rows.get(other).map_or_else(String::new, |other| row.against(other).text(2))
        };
        let milliseconds = |value: fn(&Load) -> Duration| {
            row.each(|turn| value(&turn.load).as_secs_f64() * 1e3).median
        };
        // Writing to a String can't fail.
        let _ = writeln!(
            table,
            "| {} | {} | {} | {} | {} | {:.2} | {:.2} |",
            row.name,
            row.each(Turn::micros_per_request).text(1),
            ratio(bare),
            ratio(nginx),
            row.each(|turn| turn.load.rate()).text(0),
            milliseconds(|load| load.median),
            milliseconds(|load| load.percentile_99),
        );
    }
    table
}

/// Whether Beadle meets its target, and the load of the machine.
pub(crate) fn verdict(rows: &[Row], beadle: usize, bare: usize) -> String {
    let (Some(beadle), Some(bare)) = (rows.get(beadle), rows.get(bare)) else {
        return String::new();
    };
    let ratio = beadle.against(bare).median;
    let turns = rows.iter().flat_map(|row| &row.turns);
    let processors = Spread::of(turns.map(|turn| turn.processors));
    format!(
        "Beadle takes {ratio:.3} times the CPU time of bare pingora (target: at most {TARGET:.2}): {}.\n\
         Processors at work during the turns: {}.",
        if ratio <= TARGET { "kept" } else { "missed" },
        processors.text(1)
    )
}
