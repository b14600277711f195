//! Rounds: each server gets the same load for some seconds, in turn.
//!
//! Every second round runs in reverse order. Ratios are formed within a round, so other work of the
//! machine affects both sides.

use std::{
    thread,
    time::{Duration, Instant},
};

use super::{Result, figures::Load, machine, process::Process};

/// The number and the duration of the turns.
pub(crate) struct Plan {
    pub(crate) rounds: usize,
    pub(crate) turn: Duration,
}

impl Plan {
    /// What `--rounds N`, `--seconds N` and `--quick` ask for; else so many rounds and seconds.
    pub(crate) fn of(args: &[String], rounds: u64, seconds: u64) -> Result<Self> {
        let number = |name: &str| -> Result<Option<u64>> {
            let at = args.iter().position(|arg| arg == name);
            let value = at.and_then(|at| args.get(at + 1));
            value.map(|text| text.parse().map_err(|_| format!("{name} {text}").into())).transpose()
        };
        let is_quick = args.iter().any(|arg| arg == "--quick");
        let (rounds, seconds) = if is_quick { (2, 1) } else { (rounds, seconds) };
        Ok(Self {
            rounds: number("--rounds")?.unwrap_or(rounds).max(1) as usize,
            turn: Duration::from_secs(number("--seconds")?.unwrap_or(seconds).max(1)),
        })
    }
}

/// A server and its load.
pub(crate) struct Contestant<'a> {
    pub(crate) name: String,
    pub(crate) process: &'a Process,
    /// Sends requests for so long.
    pub(crate) load: Box<dyn Fn(Duration) -> Result<Load> + 'a>,
    /// Whether each request is to be refused.
    pub(crate) is_refused: bool,
    /// The rows that this one is compared with, one for each column of ratios.
    pub(crate) baselines: Vec<usize>,
}

/// A server with one turn for each round.
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) baselines: Vec<usize>,
    pub(crate) turns: Vec<Turn>,
}

/// One turn of a server.
pub(crate) struct Turn {
    /// User and system time of the server's processes.
    pub(crate) cpu: Duration,
    /// The number of busy processors of the whole machine meanwhile.
    pub(crate) processors: f64,
    pub(crate) load: Load,
}

impl Turn {
    pub(crate) fn micros_per_request(&self) -> f64 {
        self.cpu.as_secs_f64() * 1e6 / self.load.requests as f64
    }
}

/// Gives each contestant its turns. A request without an answer is an error, and so is a status of 400 or
/// above, or one below where requests are to be refused.
pub(crate) fn run(plan: &Plan, contestants: &[Contestant<'_>]) -> Result<Vec<Row>> {
    let mut rows: Vec<Row> = contestants
        .iter()
        .map(|contestant| Row {
            name: contestant.name.clone(),
            baselines: contestant.baselines.clone(),
            turns: Vec::new(),
        })
        .collect();
    for round in 0..plan.rounds {
        let mut order: Vec<_> = contestants.iter().zip(&mut rows).collect();
        if round % 2 == 1 {
            order.reverse();
        }
        for (contestant, row) in order {
            (contestant.load)(Duration::from_secs(1))?;
            row.turns.push(turn(contestant, plan.turn)?);
        }
        eprintln!("round {} of {}", round + 1, plan.rounds);
    }
    Ok(rows)
}

fn turn(contestant: &Contestant<'_>, time: Duration) -> Result<Turn> {
    let process = contestant.process;
    let (before, machine_before, start) = (process.cpu_time()?, machine::busy()?, Instant::now());
    let load = (contestant.load)(time)?;
    // Beadle writes records up to a tenth of a second later. This time counts as well.
    thread::sleep(Duration::from_millis(200));
    let cpu = process.cpu_time()?.saturating_sub(before);
    let machine = machine::busy()?.saturating_sub(machine_before);
    let processors = machine.as_secs_f64() / start.elapsed().as_secs_f64();
    let expected = if contestant.is_refused { load.requests } else { 0 };
    if load.failures > 0 || load.refusals != expected || load.requests == 0 {
        let (name, Load { requests, failures, refusals, .. }) = (&contestant.name, load);
        let message = format!("{name}: {requests} requests, {failures} failed, {refusals} refused");
        return Err(message.into());
    }
    Ok(Turn { cpu, processors, load })
}
