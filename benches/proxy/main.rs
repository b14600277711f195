//! CPU time per proxied request: Beadle, the same pingora proxy without Beadle, and nginx.
//!
//! ```text
//! cargo bench --bench proxy                 about three minutes
//! cargo bench --bench proxy -- --quick      a smoke test of half a minute; its figures say little
//! ```
//! wrk sends the same requests (`../traffic`) to each proxy in turn. Behind all proxies is one
//! nginx with one small file. Every second round runs in reverse order. Ratios are per round, so
//! other load affects both sides. `bare pingora` takes two turns in each round: their difference is
//! the noise.
//!
//! Prints one table in Markdown. Needs wrk and nginx. Without them it prints a message and exits
//! with 0, or fails if `CI` is set.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a benchmark prints its table")]

use std::{
    env,
    error::Error,
    process::ExitCode,
    time::{Duration, Instant},
};

use crate::{
    figures::Load,
    load::Wrk,
    machine::Tools,
    process::{Address, Process},
    table::{Row, Turn},
};

mod bare; // pingora without Beadle
mod figures; // the figures of a run of wrk
mod load; // wrk
mod machine; // the machine and its programs
mod nginx; // the origin and two of the proxies
mod process; // child processes and their CPU time
mod table; // medians and ratios
#[path = "../traffic/mod.rs"]
mod traffic;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The rows, in the order of a round. The second row is the baseline.
const BEADLE: usize = 0;
const BARE: usize = 1;
const NGINX: usize = 3;
const NAMES: [&str; 6] = [
    "Beadle",
    "bare pingora",
    "bare pingora, once more",
    "nginx",
    "nginx, `map` of 700 names",
    "Beadle, evidence out of reach",
];

/// The duration and the number of turns.
struct Plan {
    rounds: usize,
    turn: Duration,
    warm_up: Duration,
}

impl Plan {
    fn of(args: &[String]) -> Result<Self> {
        let number = |name: &str| -> Result<Option<u64>> {
            let at = args.iter().position(|arg| arg == name);
            let value = at.and_then(|at| args.get(at + 1));
            value.map(|text| text.parse().map_err(|_| format!("{name} {text}").into())).transpose()
        };
        let is_quick = args.iter().any(|arg| arg == "--quick");
        let (rounds, seconds) = if is_quick { (2, 1) } else { (6, 5) };
        Ok(Self {
            rounds: number("--rounds")?.unwrap_or(rounds).max(1) as usize,
            turn: Duration::from_secs(number("--seconds")?.unwrap_or(seconds).max(1)),
            warm_up: Duration::from_secs(1),
        })
    }
}

fn main() -> ExitCode {
    let args: Vec<String> = env::args().skip(1).collect();
    if let [first, listen, origin, ..] = args.as_slice()
        && first == bare::ARGUMENT
    {
        return bare::run(listen, origin);
    }
    machine::run("proxy", &args, |tools| Plan::of(&args).and_then(|plan| run(&plan, tools)))
}

fn run(plan: &Plan, tools: &Tools) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let at = |name: &str| folder.path().join(name);
    let user_agents = traffic::user_agents::mixed();
    let wrk = Wrk::new(tools, folder.path(), &user_agents)?;

    let origin_address = Address::free()?;
    let origin = nginx::origin(tools, &at("origin"), origin_address)?;
    origin.wait_until_it_listens(origin_address)?;

    let proxies = start_proxies(tools, folder.path(), origin_address)?;
    for (process, address) in &proxies {
        process.wait_until_it_listens(*address)?;
    }

    machine::describe(tools);
    println!(
        "{} rounds of {} s for each proxy, 64 connections; {} User-Agents, {} paths\n",
        plan.rounds,
        plan.turn.as_secs(),
        user_agents.len(),
        traffic::TARGETS.len()
    );
    let mut rows: Vec<Row> = NAMES.into_iter().map(Row::new).collect();
    for round in 0..plan.rounds {
        let mut order: Vec<usize> = (0..proxies.len()).collect();
        if round % 2 == 1 {
            order.reverse();
        }
        for number in order {
            let (Some((process, address)), Some(row)) = (proxies.get(number), rows.get_mut(number))
            else {
                continue;
            };
            wrk.run(*address, plan.warm_up)?;
            row.turns.push(one_turn(&wrk, process, *address, plan.turn)?);
        }
        eprintln!("round {} of {}", round + 1, plan.rounds);
    }
    print!("{}", table::markdown(&rows, BARE, NGINX));
    println!("\n{}", table::verdict(&rows, BEADLE, BARE));
    for (process, _) in proxies {
        process.stop()?;
    }
    origin.stop()
}

/// Starts all proxies. Idle ones cost nothing during the turn of another one.
fn start_proxies(
    tools: &Tools,
    folder: &std::path::Path,
    origin: Address,
) -> Result<Vec<(Process, Address)>> {
    let mut proxies = vec![beadle(tools, folder, "beadle", "", origin)?];
    let this = env::current_exe()?;
    for name in ["bare", "bare-again"] {
        let address = Address::free()?;
        let args = [bare::ARGUMENT, &address.to_string(), &origin.to_string()];
        proxies.push((Process::start(tools, name, &this, &args, folder)?, address));
    }
    for (name, crawlers) in [("nginx", 0), ("nginx-map", 700)] {
        let address = Address::free()?;
        let process = nginx::proxy(tools, &folder.join(name), address, origin, crawlers)?;
        proxies.push((process, address));
    }
    // That name server never answers, so Beadle finds no list, no key and no name. Every client has
    // a different address.
    let dead = format!("evidence: {{ name_servers: [\"{}\"] }}\n", Address::free()?);
    proxies.push(beadle(tools, folder, "beadle-dead", &dead, origin)?);
    Ok(proxies)
}

/// Starts Beadle with additional sections in its policy.
fn beadle(
    tools: &Tools,
    folder: &std::path::Path,
    name: &'static str,
    sections: &str,
    origin: Address,
) -> Result<(Process, Address)> {
    let address = Address::free()?;
    let policy = folder.join(format!("{name}.yaml"));
    let database = folder.join(format!("{name}.db"));
    let text = traffic::policy(
        &address.to_string(),
        &database.to_string_lossy(),
        &format!("http://{origin}"),
    );
    let text = text.replacen("server:\n", "server:\n  trusted_proxies: [127.0.0.1]\n", 1);
    std::fs::write(&policy, format!("{sections}{text}"))?;
    let program = env!("CARGO_BIN_EXE_beadle");
    let serve = ["serve", "--config", &policy.to_string_lossy()];
    Ok((Process::start(tools, name, program.as_ref(), &serve, folder)?, address))
}

fn one_turn(wrk: &Wrk, process: &Process, address: Address, turn: Duration) -> Result<Turn> {
    let (before, machine_before, start) = (process.cpu_time()?, busy()?, Instant::now());
    let load: Load = wrk.run(address, turn)?;
    // Beadle writes records up to a tenth of a second later. This time counts as well.
    std::thread::sleep(Duration::from_millis(200));
    let cpu = process.cpu_time()?.saturating_sub(before);
    let machine = busy()?.saturating_sub(machine_before);
    let processors = machine.as_secs_f64() / start.elapsed().as_secs_f64();
    if load.failures > 0 || load.requests == 0 {
        let name = process.name();
        return Err(
            format!("{name}: {} failures, {} requests", load.failures, load.requests).into()
        );
    }
    Ok(Turn { cpu, processors, load })
}

/// The busy time of all processors so far.
fn busy() -> Result<Duration> {
    let stat = std::fs::read_to_string("/proc/stat")?;
    let fields = stat.lines().next().unwrap_or_default().split_ascii_whitespace().skip(1);
    let ticks: Vec<u64> = fields.filter_map(|field| field.parse().ok()).collect();
    // user nice system idle iowait irq softirq steal (proc_stat(5)); guests are in user already.
    let working = [0, 1, 2, 5, 6, 7].iter().filter_map(|&at: &usize| ticks.get(at)).sum();
    Ok(machine::ticks_to_time(working))
}
