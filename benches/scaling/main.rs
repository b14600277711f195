//! How servers scale: requests a second with one thread and with two, times of answers at fixed rates, and TLS
//! handshakes a second. Beadle, beside pingora without it, nginx and HAProxy.
//!
//! ```text
//! cargo bench --bench scaling               about five minutes
//! cargo bench --bench scaling -- --quick    a smoke test
//! ```
//! Prints three tables in Markdown. Needs wrk and nginx, as `proxy` does. Without HAProxy, it leaves out its
//! rows.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a benchmark prints its tables")]

use std::{convert::identity, env, path::Path, process::ExitCode, time::Duration};

use crate::{
    harness::{
        Result, machine,
        machine::Tools,
        nginx,
        process::Address,
        program,
        rounds::{self, Contestant, Plan},
        table,
        wrk::Wrk,
    },
    load::Loads,
    servers::{Place, Server},
};

#[path = "../proxy/bare.rs"]
mod bare; // pingora without Beadle
#[allow(dead_code, reason = "other benchmarks need more of it")]
#[path = "../harness/mod.rs"]
mod harness;
#[allow(dead_code, reason = "HTTP/2 is not asked for")]
#[path = "../proxy/load.rs"]
mod load; // wrk
#[allow(dead_code, reason = "Caddy is not asked")]
#[path = "../proxy/servers.rs"]
mod servers; // what is compared
mod steady; // requests at a fixed rate
#[path = "../traffic/mod.rs"]
mod traffic;

/// Beadle's allocator, for pingora without Beadle.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Requests a second.
const RATES: [u64; 3] = [1_000, 4_000, 8_000];

/// The script for wrk: each request opens a connection.
const SCRIPT: &str = r#"
function init(args)
  wrk.headers["Host"] = args[1]
  wrk.headers["Connection"] = "close"
end
"#;

fn main() -> ExitCode {
    let args: Vec<String> = env::args().skip(1).collect();
    match args.as_slice() {
        [first, listen, tls, certificate, key, origin] if first == bare::ARGUMENT => {
            bare::run([listen, tls, certificate, key, origin])
        }
        [first, address, rate, seconds] if first == steady::ARGUMENT => {
            match steady::send(address, rate, seconds) {
                Ok(()) => ExitCode::SUCCESS,
                Err(error) => {
                    eprintln!("{error}");
                    ExitCode::FAILURE
                }
            }
        }
        _ => machine::run("scaling", &args, |tools| run(tools, &Plan::of(&args, 4, 4)?)),
    }
}

fn run(tools: &Tools, plan: &Plan) -> Result<()> {
    let folder = tempfile::tempdir()?;
    machine::describe(tools);
    let address = Address::free()?;
    let origin = nginx::origin(tools, &folder.path().join("origin"), address)?;
    let at = |name: &str| {
        let folder = folder.path().join(name);
        std::fs::create_dir_all(&folder).map(|()| folder)
    };
    threads(tools, plan, &at("threads")?, address)?;
    let all = All::start(&Place { tools, folder: &at("one")?, origin: address, threads: 1 })?;
    latencies(tools, plan, &all)?;
    handshakes(tools, plan, folder.path(), &all)?;
    all.stop()?;
    origin.stop()
}

/// All servers, with their names.
struct All(Vec<(&'static str, Server)>);

impl All {
    fn start(place: &Place<'_>) -> Result<Self> {
        let mut all = vec![
            ("Beadle", place.beadle("beadle", program::BEADLE.as_ref(), identity)?),
            ("bare pingora", place.bare_pingora("bare")?),
            ("nginx", place.nginx("nginx", 0)?),
        ];
        if let Some(haproxy) = &place.tools.haproxy {
            all.push(("HAProxy", place.haproxy(haproxy)?));
        }
        Ok(Self(all))
    }

    fn stop(self) -> Result<()> {
        self.0.into_iter().try_for_each(|(_, server)| server.process.stop())
    }
}

/// One thread and two, on all processors, which the load and the origin use as well.
fn threads(tools: &Tools, plan: &Plan, folder: &Path, origin: Address) -> Result<()> {
    let tools = &tools.everywhere();
    let loads = Loads::new(tools, folder, &traffic::user_agents::mixed())?;
    let place = |threads| Place { tools, folder, origin, threads };
    let beadle = [place(1), place(2)]
        .map(|place| place.beadle("beadle", program::BEADLE.as_ref(), identity));
    let nginx = [place(1), place(2)].map(|place| place.nginx("nginx", 0));
    let mut servers = Vec::new();
    for (name, pair) in [("Beadle", beadle), ("nginx", nginx)] {
        for (server, threads) in pair.into_iter().zip(["1 thread", "2 threads"]) {
            servers.push((format!("{name}, {threads}"), server?));
        }
    }
    let loads = &loads;
    let contestants: Vec<Contestant<'_>> = servers
        .iter()
        .enumerate()
        .map(|(at, (name, server))| Contestant {
            name: name.clone(),
            process: &server.process,
            load: Box::new(move |time| loads.http_1("http", server.plain, time)),
            is_refused: false,
            baselines: vec![at & !1],
        })
        .collect();
    println!("\nThreads, bound to no processor; wrk and the origin use the same processors:\n");
    print!("{}", table::markdown(&rounds::run(plan, &contestants)?, "request", &["1 thread"]));
    drop(contestants);
    servers.into_iter().try_for_each(|(_, server)| server.process.stop())
}

/// The times of answers at each rate, as clients see them.
fn latencies(tools: &Tools, plan: &Plan, all: &All) -> Result<()> {
    println!("\nTimes of answers at a fixed rate, one thread each, in ms:\n");
    println!("| requests/s | server | p50 | p99 | p99.9 | failures |\n|---|---|---|---|---|---|");
    for rate in RATES {
        for (name, server) in &all.0 {
            steady::run(tools, server.plain, rate, Duration::from_secs(1))?;
            let turns = (0..plan.rounds).map(|_| steady::run(tools, server.plain, rate, plan.turn));
            let turns = turns.collect::<Result<Vec<_>>>()?;
            let failures: u64 = turns.iter().map(|turn| turn.failures).sum();
            let at = |place: usize| {
                let values = turns.iter().filter_map(|turn| turn.percentiles.get(place));
                table::Spread::of(values.map(|&micros| micros as f64 / 1e3)).text(2)
            };
            println!("| {rate} | {name} | {} | {} | {} | {failures} |", at(0), at(1), at(2));
        }
    }
    Ok(())
}

/// Each request with a TLS handshake of its own, without resumption.
fn handshakes(tools: &Tools, plan: &Plan, folder: &Path, all: &All) -> Result<()> {
    let wrk = &Wrk::new(tools, folder, SCRIPT)?;
    let contestants: Vec<Contestant<'_>> = all
        .0
        .iter()
        .map(|(name, server)| Contestant {
            name: (*name).to_owned(),
            process: &server.process,
            load: Box::new(move |time| {
                let url = format!("https://{}", server.tls);
                wrk.start(&url, load::CONNECTIONS, time, &[traffic::HOST])?.end()
            }),
            is_refused: false,
            baselines: vec![2],
        })
        .collect();
    println!("\nTLS handshakes (1.3, ECDSA), one for each request, one thread each:\n");
    print!("{}", table::markdown(&rounds::run(plan, &contestants)?, "handshake", &["nginx"]));
    Ok(())
}
