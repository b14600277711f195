//! The allocations of a proxied request: Beadle, and the same pingora proxy without Beadle.
//!
//! ```text
//! cargo bench --bench allocations           half a minute
//! ```
//! wrk sends the requests of `--bench proxy` for some seconds, and for more. The difference of both counts,
//! divided by the difference of the requests, is what one request allocates. What a start, a connection
//! or the first sight of a User-Agent allocates is in neither. The writer of records is.
//!
//! Prints a table in Markdown. Needs wrk and nginx, as `proxy` does.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a benchmark prints its table")]

use std::{alloc::System, convert::identity, env, process::ExitCode, time::Duration};

use stats_alloc::{INSTRUMENTED_SYSTEM, Region, Stats, StatsAlloc};

use crate::{
    harness::{Result, machine, machine::Tools, nginx, process::Address},
    load::Loads,
    servers::{Place, Server},
};

#[path = "../proxy/bare.rs"]
mod bare; // pingora without Beadle
#[allow(dead_code, reason = "other benchmarks need more of it")]
#[path = "../harness/mod.rs"]
mod harness;
#[allow(dead_code, reason = "HTTP/2 is not counted")]
#[path = "../proxy/load.rs"]
mod load; // wrk
#[allow(dead_code, reason = "nginx and Caddy are not counted")]
#[path = "../proxy/servers.rs"]
mod servers; // Beadle and pingora
#[path = "../traffic/mod.rs"]
mod traffic;

#[global_allocator]
static COUNTING: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// The lengths of the two runs.
const RUNS: [Duration; 2] = [Duration::from_secs(3), Duration::from_secs(9)];

fn main() -> ExitCode {
    let args: Vec<String> = env::args().skip(1).collect();
    match args.as_slice() {
        [verb, ..] if verb == "serve" => count(beadle::program::cli::run),
        [first, listen, tls, certificate, key, origin] if first == bare::ARGUMENT => {
            count(|| bare::run([listen, tls, certificate, key, origin]))
        }
        _ => machine::run("allocations", &args, run),
    }
}

/// Runs a server in this process, and tells what it allocated.
fn count(server: impl FnOnce() -> ExitCode) -> ExitCode {
    let region = Region::new(COUNTING);
    let exit = server();
    let Stats { allocations, reallocations, bytes_allocated, .. } = region.change();
    eprintln!("allocations {} {bytes_allocated}", allocations + reallocations);
    exit
}

fn run(tools: &Tools) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let loads = Loads::new(tools, folder.path(), &traffic::user_agents::mixed())?;
    let address = Address::free()?;
    let origin = nginx::origin(tools, &folder.path().join("origin"), address)?;
    let place = Place { tools, folder: folder.path(), origin: address, threads: 1 };
    let this = env::current_exe()?;
    machine::describe(tools);
    println!("\n| proxy | allocations per request | octets per request |\n|---|---|---|");
    let beadle = per_request(&loads, || place.beadle("beadle", &this, identity))?;
    let bare = per_request(&loads, || place.bare_pingora("bare"))?;
    let more = [beadle[0] - bare[0], beadle[1] - bare[1]];
    for (name, [number, octets]) in [("Beadle", beadle), ("bare pingora", bare), ("more", more)] {
        println!("| {name} | **{number:.1}** | {octets:.0} |");
    }
    origin.stop()
}

/// The allocations of one request, and their octets.
fn per_request(loads: &Loads, start: impl Fn() -> Result<Server>) -> Result<[f64; 2]> {
    let mut counts = [[0.0; 3]; 2];
    for (count, time) in counts.iter_mut().zip(RUNS) {
        let server = start()?;
        let load = loads.http_1("http", server.plain, time)?;
        let output = server.process.end()?;
        let line = output.lines().find_map(|line| line.strip_prefix("allocations "));
        let line = line.ok_or_else(|| format!("no count: {output}"))?;
        let (number, octets) = line.split_once(' ').ok_or("two counts")?;
        *count = [load.requests as f64, number.parse()?, octets.parse()?];
    }
    let [less, more] = counts;
    let requests = more[0] - less[0];
    Ok([(more[1] - less[1]) / requests, (more[2] - less[2]) / requests])
}
