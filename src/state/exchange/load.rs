//! The registers, read whole: at the start, after a gap, and after the server lost its data.

use std::{collections::HashMap, hash::Hash};

use jiff::Timestamp;
use redis::{Pipeline, Value, cmd};

use crate::{
    clients::conduct::{LadderKey, Observations, Opening, RungStep},
    state::fleet::{Beat, Position, Report, Shift, registers},
};

use super::{
    server::{Failure, Link, Replies},
    settings::{HOUR, Keys, Settings},
};

const AT_ONCE: usize = 5_000;
const MOST: usize = 120_000;

#[derive(Debug, Default)]
pub(super) struct Registers {
    /// The last message before they were read.
    pub(super) cursor: Position,
    pub(super) beats: Vec<Beat>,
    pub(super) reports: Vec<Report>,
    /// Fetches, steps and openings.
    pub(super) seen: Observations,
    /// Counts of ladders, by run.
    pub(super) counts: Vec<(String, Observations)>,
    /// Site, edition, first and last time.
    pub(super) editions: Vec<(String, String, i64, i64)>,
}

/// Reads the registers at this time of the fleet. `shift` converts their times.
pub(super) async fn load(
    link: &mut Link,
    keys: &Keys,
    (now, window): (i64, i64),
    shift: Shift,
) -> Result<Registers, Failure> {
    // Every message up to the cursor is in the registers, which are written first.
    let mut commands = Pipeline::new();
    let mut last = cmd("XREVRANGE");
    commands.add_command(last.arg(&keys.news).arg("+").arg("-").arg("COUNT").arg(1).clone());
    let newest: Vec<(String, Value)> = Replies::new(link.ask(&commands).await?).next()?;
    let cursor = newest.first().and_then(|(id, _)| Position::parse(id)).unwrap_or_default();
    let mut found = Registers { cursor, ..Registers::default() };
    let mut commands = Pipeline::new();
    commands.cmd("HVALS").arg(&keys.beats);
    for key in [&keys.first, &keys.last, &keys.rungs, &keys.openings] {
        commands.cmd("ZRANGE").arg(key).arg(0).arg(-1).arg("WITHSCORES");
    }
    for key in [keys.ladder(now), keys.ladder(now.saturating_sub(HOUR))] {
        commands.cmd("HGETALL").arg(key);
    }
    let mut replies = Replies::new(link.ask(&commands).await?);
    let beats: Vec<Vec<u8>> = replies.next()?;
    found.beats = beats.iter().filter_map(|text| Beat::read(text)).collect();
    found.editions = periods(&replies.scored()?, &replies.scored()?);
    let steps = replies.scored()?.into_iter();
    let steps = steps.filter_map(|(member, at)| registers::step_of(&member, at, shift)).collect();
    let openings = replies.scored()?.into_iter();
    let openings = openings.filter_map(|(member, at)| registers::opening_of(&member, at, shift));
    let openings = openings.collect();
    let mut last = Kept::default();
    last.keep(&Observations { steps, openings, ..Observations::default() });
    found.seen = last.all();
    for _ in 0..2 {
        let counts: Vec<(Vec<u8>, Vec<u8>)> = replies.next()?;
        for (field, value) in counts {
            let Some((run, count)) = registers::count_of(&field, &value, shift) else { continue };
            match found.counts.iter_mut().find(|(other, _)| *other == run) {
                Some((_, known)) => known.ladder.push(count),
                None => {
                    let ladder = vec![count];
                    found.counts.push((run, Observations { ladder, ..Observations::default() }));
                }
            }
        }
    }
    found.reports = reports(link, keys, &found.beats).await?;
    let oldest = now.saturating_sub(window);
    for offset in (0..MOST).step_by(AT_ONCE) {
        // The latest first: a fetch meanwhile moves a row to a page that was read, and the others by one
        // place back, where they come twice. The other way round, one would be skipped.
        let mut range = cmd("ZREVRANGEBYSCORE");
        range.arg(&keys.fetches).arg("+inf").arg(oldest).arg("WITHSCORES");
        let mut commands = Pipeline::new();
        commands.add_command(range.arg("LIMIT").arg(offset).arg(AT_ONCE).clone());
        let mut replies = Replies::new(link.ask(&commands).await?);
        let some = replies.scored()?;
        let is_last = some.len() < AT_ONCE;
        for (member, at) in &some {
            let forgotten = registers::forgotten_of(member, *at, shift);
            found.seen.forgotten = found.seen.forgotten.max(forgotten);
            found.seen.fetches.extend(registers::fetch_of(member, *at, shift));
        }
        if is_last {
            break;
        }
    }
    Ok(found)
}

async fn reports(link: &mut Link, keys: &Keys, beats: &[Beat]) -> Result<Vec<Report>, Failure> {
    if beats.is_empty() {
        return Ok(Vec::new());
    }
    let mut commands = Pipeline::new();
    for beat in beats {
        commands.cmd("GET").arg(keys.report(&beat.node));
    }
    let mut replies = Replies::new(link.ask(&commands).await?);
    let mut reports = Vec::new();
    for _ in beats {
        let report: Option<Vec<u8>> = replies.next()?;
        reports.extend(report.and_then(|text| Report::read(&text)));
    }
    Ok(reports)
}

/// Site, edition, first and last time of each edition in the registers.
fn periods(first: &[(Vec<u8>, i64)], last: &[(Vec<u8>, i64)]) -> Vec<(String, String, i64, i64)> {
    let first: HashMap<&[u8], i64> =
        first.iter().map(|(member, at)| (member.as_slice(), *at)).collect();
    let period = |(member, last): &(Vec<u8>, i64)| {
        let (site, edition) = registers::edition_of(member)?;
        let first = first.get(member.as_slice()).copied().unwrap_or(*last);
        Some((site, edition, first, *last))
    };
    last.iter().filter_map(period).collect()
}

const MOST_KEPT: usize = 20_000;

/// The last rungs and openings of the fleet.
#[derive(Debug, Default)]
pub(super) struct Kept {
    steps: HashMap<LadderKey, RungStep>,
    openings: HashMap<String, Opening>,
}

impl Kept {
    pub(super) fn keep(&mut self, observations: &Observations) {
        keep(&mut self.steps, &observations.steps, |step| (&step.key, step.at));
        keep(&mut self.openings, &observations.openings, |opening| (&opening.site, opening.at));
    }

    pub(super) fn all(&self) -> Observations {
        let mut steps: Vec<RungStep> = self.steps.values().cloned().collect();
        steps.sort_by_key(|step| step.at);
        let mut openings: Vec<Opening> = self.openings.values().cloned().collect();
        openings.sort_by_key(|opening| opening.at);
        Observations { steps, openings, ..Observations::default() }
    }
}

fn keep<K: Clone + Eq + Hash, V: Clone>(
    kept: &mut HashMap<K, V>,
    seen: &[V],
    of: impl Fn(&V) -> (&K, Timestamp),
) {
    if kept.len() > MOST_KEPT {
        kept.clear();
    }
    for one in seen {
        let (key, at) = of(one);
        if kept.get(key).is_none_or(|known| of(known).1 <= at) {
            kept.insert(key.clone(), one.clone());
        }
    }
}

/// The nodes of a fleet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overview {
    pub(crate) now: i64,
    /// The node of each beat, with its report if it has one, by name.
    pub nodes: Vec<(Beat, Option<Report>)>,
}

/// Asks the shared server for all nodes.
pub async fn overview(settings: &Settings) -> Result<Overview, Failure> {
    let mut hint = None;
    let mut failure = Failure::Late;
    // A cluster may send us on.
    for _ in 0..3 {
        let found = match Link::open(settings, hint.clone()).await {
            Ok(mut link) => ask(&mut link, settings).await,
            Err(error) => Err(error),
        };
        match found {
            Ok(overview) => return Ok(overview),
            Err(Failure::Elsewhere(Some(place))) => {
                hint = Some(place.clone());
                failure = Failure::Elsewhere(Some(place));
            }
            Err(error) => return Err(error),
        }
    }
    Err(failure)
}

async fn ask(link: &mut Link, settings: &Settings) -> Result<Overview, Failure> {
    let mut commands = Pipeline::new();
    commands.cmd("HVALS").arg(&settings.keys.beats);
    commands.cmd("TIME");
    let mut replies = Replies::new(link.ask(&commands).await?);
    let beats: Vec<Vec<u8>> = replies.next()?;
    let mut beats: Vec<Beat> = beats.iter().filter_map(|text| Beat::read(text)).collect();
    let time = replies.time()?;
    beats.retain(|beat| !beat.gone);
    beats.sort_by(|a, b| a.node.cmp(&b.node));
    let reports = reports(link, &settings.keys, &beats).await?;
    let of = |beat: &Beat| reports.iter().find(|one| one.node == beat.node).cloned();
    let nodes = beats.iter().map(|beat| (beat.clone(), of(beat))).collect();
    Ok(Overview { now: time.div_euclid(1_000), nodes })
}
