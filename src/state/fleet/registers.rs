//! Registers: what a new node reads, and every node after a gap.
//!
//! A register merges by itself: of several times of one member, the latest counts, and each count of
//! a ladder has one writer, the run that counts.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::clients::conduct::{Fetches, LadderCount, Opening, RungStep};

use super::rows::{Climber, FetchRow, LadderRow, OpeningRow, Shift, StepRow, Told};

/// The member of the register of fetches whose time is the one until which fetches are unknown. No
/// fetch has it: those are JSON.
const FORGOTTEN: &str = "forgotten";

/// A write to a register.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A client that fetched an edition, and the time of its last fetch.
    Fetch(String, i64),
    /// A crawler with its rung, and the time of the step.
    Rung(String, i64),
    /// A site whose breaker opened, and the time.
    Opening(String, i64),
    /// A crawler in a period of the ladder at one run, and its counts.
    Ladder(String, String),
}

/// The field of a count.
#[derive(Serialize, Deserialize)]
struct Cell {
    run: String,
    #[serde(flatten)]
    climber: Climber,
    number: i64,
}

/// The entries for what a run told.
pub fn entries(run: &str, told: &Told) -> Vec<Entry> {
    let fetches = told.fetches.iter().map(|row| {
        let at = row.last;
        Entry::Fetch(json(&row.clone().without_times()), at)
    });
    let forgotten = told.forgotten.iter().map(|at| Entry::Fetch(FORGOTTEN.to_owned(), *at));
    let steps = told.steps.iter().map(|row| {
        let member = StepRow { at: 0, ..row.clone() };
        Entry::Rung(json(&member), row.at)
    });
    let openings = told.openings.iter().map(|row| {
        let member = OpeningRow { at: 0, ..row.clone() };
        Entry::Opening(json(&member), row.at)
    });
    let ladder = told.ladder.iter().map(|row| {
        let LadderRow { climber, number, period, requests, violations } = row.clone();
        let cell = Cell { run: run.to_owned(), climber, number };
        Entry::Ladder(json(&cell), json(&(period, requests, violations)))
    });
    fetches.chain(forgotten).chain(steps).chain(openings).chain(ladder).collect()
}

/// The time until which fetches are unknown, if the member says that.
pub fn forgotten_of(member: &[u8], at: i64, shift: Shift) -> Option<Timestamp> {
    (member == FORGOTTEN.as_bytes()).then(|| shift.own(at))
}

/// The fetch of a member.
pub fn fetch_of(member: &[u8], at: i64, shift: Shift) -> Option<Fetches> {
    serde_json::from_slice::<FetchRow>(member).ok()?.at(at).fetches(shift)
}

/// The step of a member.
pub fn step_of(member: &[u8], at: i64, shift: Shift) -> Option<RungStep> {
    let row: StepRow = serde_json::from_slice(member).ok()?;
    StepRow { at, ..row }.step(shift)
}

/// The opening of a member.
pub fn opening_of(member: &[u8], at: i64, shift: Shift) -> Option<Opening> {
    let row: OpeningRow = serde_json::from_slice(member).ok()?;
    OpeningRow { at, ..row }.opening(shift)
}

/// The run and the count of a field and its value.
pub fn count_of(field: &[u8], value: &[u8], shift: Shift) -> Option<(String, LadderCount)> {
    let Cell { run, climber, number } = serde_json::from_slice(field).ok()?;
    let (period, requests, violations) = serde_json::from_slice(value).ok()?;
    let count = LadderRow { climber, number, period, requests, violations }.count(shift)?;
    Some((run, count))
}

/// The member of an edition of a site in the registers of first and last times.
pub fn edition_member(site: &str, edition: &str) -> String {
    json(&(site, edition))
}

/// The site and the edition of a member.
pub fn edition_of(member: &[u8]) -> Option<(String, String)> {
    serde_json::from_slice(member).ok()
}

fn json(value: &impl Serialize) -> String {
    // Neither maps with odd keys nor anything else that has no JSON is in a row.
    serde_json::to_string(value).unwrap_or_default()
}
