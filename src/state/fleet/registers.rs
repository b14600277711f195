//! Registers: what a new node reads, and every node after a gap.
//!
//! A register merges by itself: of several times of one member, the latest counts, and each count of
//! a ladder has one writer, the run that counts.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::clients::conduct::{Fetches, LadderCount, LadderKey, Opening, RungStep};

use super::news::{Shift, Told, json};

/// The time in a member: its score is the true one.
const NONE: Timestamp = Timestamp::UNIX_EPOCH;

/// The member of the register of fetches whose time is the one until which fetches are unknown. No
/// fetch has it: those are JSON.
const FORGOTTEN: &str = "forgotten";

/// A member of a register, and the time that counts for it.
pub type Dated = (String, i64);

/// Writes to the registers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entries {
    /// The clients that fetched an edition, with the times of their last fetches.
    pub fetches: Vec<Dated>,
    /// The crawlers with their rungs, with the times of the steps.
    pub rungs: Vec<Dated>,
    /// The sites whose breakers opened, with the times.
    pub openings: Vec<Dated>,
    /// The crawlers in a period of the ladder at one run, with their counts.
    pub ladder: Vec<(String, String)>,
}

#[derive(Serialize, Deserialize)]
struct Cell {
    run: String,
    #[serde(flatten)]
    key: LadderKey,
    number: i64,
}

impl Entries {
    pub(crate) fn of(run: &str, Told(told): &Told) -> Self {
        let fetches = told.fetches.iter().map(|one| {
            let (first, last, interval) = (NONE, NONE, None);
            let member = Fetches { first, last, count: 1, interval, ..one.clone() };
            (json(&member), one.last.as_millisecond())
        });
        let forgotten = told.forgotten.iter();
        let forgotten = forgotten.map(|at| (FORGOTTEN.to_owned(), at.as_millisecond()));
        let rung =
            |one: &RungStep| (json(&RungStep { at: NONE, ..one.clone() }), one.at.as_millisecond());
        let opening =
            |one: &Opening| (json(&Opening { at: NONE, ..one.clone() }), one.at.as_millisecond());
        let ladder = told.ladder.iter().map(|one| {
            let LadderCount { key, number, period, requests, violations } = one.clone();
            let cell = Cell { run: run.to_owned(), key, number };
            (json(&cell), json(&(period.as_millisecond(), requests, violations)))
        });
        Self {
            fetches: fetches.chain(forgotten).collect(),
            rungs: told.steps.iter().map(rung).collect(),
            openings: told.openings.iter().map(opening).collect(),
            ladder: ladder.collect(),
        }
    }
}

/// The time until which fetches are unknown, if the member says that.
pub fn forgotten_of(member: &[u8], at: i64, shift: Shift) -> Option<Timestamp> {
    (member == FORGOTTEN.as_bytes()).then(|| shift.own(at))
}

/// The fetch of a member.
pub fn fetch_of(member: &[u8], at: i64, shift: Shift) -> Option<Fetches> {
    let at = shift.own(at);
    Some(Fetches { first: at, last: at, ..serde_json::from_slice(member).ok()? })
}

/// The step of a member.
pub fn step_of(member: &[u8], at: i64, shift: Shift) -> Option<RungStep> {
    Some(RungStep { at: shift.own(at), ..serde_json::from_slice(member).ok()? })
}

/// The opening of a member.
pub fn opening_of(member: &[u8], at: i64, shift: Shift) -> Option<Opening> {
    Some(Opening { at: shift.own(at), ..serde_json::from_slice(member).ok()? })
}

/// The run and the count of a field and its value.
pub fn count_of(field: &[u8], value: &[u8], shift: Shift) -> Option<(String, LadderCount)> {
    let Cell { run, key, number } = serde_json::from_slice(field).ok()?;
    let (period, requests, violations): (i64, u64, u64) = serde_json::from_slice(value).ok()?;
    let (period, violations) = (shift.own(period), violations.min(requests));
    Some((run, LadderCount { key, number, period, requests, violations }))
}

/// The member of an edition of a site in the registers of first and last times.
pub fn edition_member(site: &str, edition: &str) -> String {
    json(&(site, edition))
}

/// The site and the edition of a member.
pub fn edition_of(member: &[u8]) -> Option<(String, String)> {
    serde_json::from_slice(member).ok()
}
