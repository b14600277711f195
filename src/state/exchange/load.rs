//! The registers, read whole: at the start, after a gap, and after the server lost its data.

use redis::{Pipeline, cmd};

use crate::{
    clients::conduct::{Observations, RungStep},
    state::fleet::{Beat, Position, Report, Shift, registers},
};

use super::{
    failure::Failure,
    key_names::Keys,
    replies::{self, Replies},
    server::Link,
};

/// How many members are read at once.
const AT_ONCE: usize = 5_000;
/// The most of them altogether.
const MOST: usize = 120_000;

/// What the registers say.
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
    commands.add_command(last.arg(keys.news()).arg("+").arg("-").arg("COUNT").arg(1).clone());
    let mut replies = Replies::new(link.ask(&commands).await?);
    let newest = replies::list(replies.next()?).into_iter().next();
    let id = newest.and_then(|entry| replies::list(entry).into_iter().next());
    let id = id.and_then(replies::text).and_then(|id| Position::parse(&id));
    let mut found = Registers { cursor: id.unwrap_or_default(), ..Registers::default() };
    let mut commands = Pipeline::new();
    commands.cmd("HVALS").arg(keys.beats());
    for key in [keys.first(), keys.last(), keys.rungs(), keys.openings()] {
        commands.cmd("ZRANGE").arg(key).arg(0).arg(-1).arg("WITHSCORES");
    }
    for key in [keys.ladder(now), keys.ladder_before(now)] {
        commands.cmd("HGETALL").arg(key);
    }
    let mut replies = Replies::new(link.ask(&commands).await?);
    let beats = replies::list(replies.next()?).into_iter().filter_map(replies::bytes);
    found.beats = beats.filter_map(|text| Beat::read(&text)).collect();
    let (first, last) = (replies::scored(replies.next()?), replies::scored(replies.next()?));
    found.editions = periods(&first, &last);
    let steps = replies::scored(replies.next()?).into_iter();
    let steps = steps.filter_map(|(member, at)| registers::step_of(&member, at, shift));
    found.seen.steps = latest(steps.collect());
    let openings = replies::scored(replies.next()?).into_iter();
    let openings = openings.filter_map(|(member, at)| registers::opening_of(&member, at, shift));
    found.seen.openings = openings.collect();
    for _ in 0..2 {
        for (field, value) in replies::pairs(replies.next()?) {
            let value = replies::bytes(value).unwrap_or_default();
            let count = registers::count_of(&field, &value, shift);
            let Some((run, count)) = count else { continue };
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
        range.arg(keys.fetches()).arg("+inf").arg(oldest).arg("WITHSCORES");
        let mut commands = Pipeline::new();
        commands.add_command(range.arg("LIMIT").arg(offset).arg(AT_ONCE).clone());
        let mut replies = Replies::new(link.ask(&commands).await?);
        let some = replies::scored(replies.next()?);
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

/// The reports of the nodes with these beats.
pub(super) async fn reports(
    link: &mut Link,
    keys: &Keys,
    beats: &[Beat],
) -> Result<Vec<Report>, Failure> {
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
        let report = replies::bytes(replies.next()?);
        reports.extend(report.and_then(|text| Report::read(&text)));
    }
    Ok(reports)
}

/// The last step of each crawler.
fn latest(steps: Vec<RungStep>) -> Vec<RungStep> {
    let mut last: Vec<RungStep> = Vec::with_capacity(steps.len());
    let mut places = std::collections::HashMap::new();
    for step in steps {
        match places.get(&step.key).and_then(|at: &usize| last.get_mut(*at)) {
            Some(known) if known.at > step.at => {}
            Some(known) => *known = step,
            None => {
                places.insert(step.key.clone(), last.len());
                last.push(step);
            }
        }
    }
    last
}

/// Site, edition, first and last time of each edition in the registers.
fn periods(first: &[(Vec<u8>, i64)], last: &[(Vec<u8>, i64)]) -> Vec<(String, String, i64, i64)> {
    let first: std::collections::HashMap<&[u8], i64> =
        first.iter().map(|(member, at)| (member.as_slice(), *at)).collect();
    let period = |(member, last): &(Vec<u8>, i64)| {
        let (site, edition) = registers::edition_of(member)?;
        let first = first.get(member.as_slice()).copied().unwrap_or(*last);
        Some((site, edition, first, *last))
    };
    last.iter().filter_map(period).collect()
}
