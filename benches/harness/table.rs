//! The table: medians of turns, and ratios of turns in one round.

use std::{fmt::Write, time::Duration};

use super::{
    figures::Load,
    rounds::{Row, Turn},
};

/// The median, the least and the greatest value.
#[derive(Clone, Copy)]
pub(crate) struct Spread {
    pub(crate) median: f64,
    least: f64,
    greatest: f64,
}

impl Spread {
    pub(crate) fn of(values: impl Iterator<Item = f64>) -> Self {
        let mut values: Vec<f64> = values.collect();
        values.sort_by(f64::total_cmp);
        let at = |index: usize| values.get(index).copied().unwrap_or(f64::NAN);
        let last = values.len().saturating_sub(1);
        let median = (at(last / 2) + at(values.len() / 2)) / 2.0;
        Self { median, least: at(0), greatest: at(last) }
    }

    pub(crate) fn text(&self, digits: usize) -> String {
        let Self { median, least, greatest } = self;
        format!("**{median:.digits$}** ({least:.digits$}..{greatest:.digits$})")
    }
}

impl Row {
    fn each(&self, value: impl Fn(&Turn) -> f64) -> Spread {
        Spread::of(self.turns.iter().map(value))
    }

    /// CPU time per request as a multiple of another's in the same round.
    pub(crate) fn against(&self, other: &Self) -> Spread {
        let pairs = self.turns.iter().zip(&other.turns);
        Spread::of(pairs.map(|(own, other)| own.micros_per_request() / other.micros_per_request()))
    }
}

/// The table in Markdown. `ratios` are the headings of the baselines.
pub(crate) fn markdown(rows: &[Row], asked: &str, ratios: &[&str]) -> String {
    let mut table = format!("| server | CPU µs per {asked} |");
    for name in ratios {
        table.push_str(&format!(" × {name} |"));
    }
    table.push_str(&format!(" {asked}s/s | p50 ms | p99 ms |\n|"));
    table.push_str(&"---|".repeat(ratios.len() + 5));
    table.push('\n');
    for row in rows {
        let milliseconds = |value: fn(&Load) -> Duration| {
            row.each(|turn| value(&turn.load).as_secs_f64() * 1e3).median
        };
        let multiples: String = row
            .baselines
            .iter()
            .map(|&other| {
                rows.get(other).map_or_else(String::new, |other| row.against(other).text(2))
            })
            .map(|text| format!(" {text} |"))
            .collect();
        // Writing to a String can't fail.
        let _ = writeln!(
            table,
            "| {} | {} |{multiples} {} | {:.2} | {:.2} |",
            row.name,
            row.each(Turn::micros_per_request).text(1),
            row.each(|turn| turn.load.rate()).text(0),
            milliseconds(|load| load.median),
            milliseconds(|load| load.percentile_99),
        );
    }
    table
}

/// How busy the machine was during the turns.
pub(crate) fn processors(rows: &[Row]) -> String {
    let turns = rows.iter().flat_map(|row| &row.turns);
    Spread::of(turns.map(|turn| turn.processors)).text(1)
}
