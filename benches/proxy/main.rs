//! CPU time per proxied request: Beadle, the same pingora proxy without Beadle, nginx and Caddy, over
//! HTTP/1.1, HTTP/1.1 with TLS, and HTTP/2.
//!
//! ```text
//! cargo bench --bench proxy                 about ten minutes
//! cargo bench --bench proxy -- --quick      a smoke test of a minute; its figures say little
//! cargo bench --bench proxy -- --against target/dist/beadle
//!                                           another build of Beadle beside it
//! ```
//! wrk and h2load send the same requests (`../traffic`) to each proxy in turn. Behind all proxies is
//! one nginx with one small file. Ratios are per round and within a protocol. `bare pingora` takes two
//! turns over HTTP/1.1 in each round: their difference is the noise.
//!
//! Prints one table in Markdown. Needs wrk and nginx. Without them it prints a message and exits
//! with 0, or fails if `CI` is set. Without h2load or Caddy, it leaves out their rows.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a benchmark prints its table")]

use std::{convert::identity, env, path::Path, process::ExitCode, time::Duration};

use crate::{
    harness::{
        Result,
        figures::Load,
        machine,
        machine::Tools,
        nginx,
        process::Address,
        program,
        rounds::{self, Contestant, Plan, Row},
        table,
    },
    load::Loads,
    servers::{Place, Server},
};

mod bare; // pingora without Beadle
#[allow(dead_code, reason = "other benchmarks need more of it")]
#[path = "../harness/mod.rs"]
mod harness;
mod load; // wrk and h2load
#[allow(dead_code, reason = "other benchmarks need more of it")]
mod servers; // what is compared
#[path = "../traffic/mod.rs"]
mod traffic;

/// Beadle's allocator, for pingora without Beadle.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The target for Beadle's CPU time over HTTP/1.1, as a multiple of bare pingora's.
const TARGET: f64 = 1.10;

#[derive(Clone, Copy, PartialEq)]
enum Protocol {
    Http1,
    Tls,
    Http2,
}

fn main() -> ExitCode {
    let args: Vec<String> = env::args().skip(1).collect();
    if let [first, listen, tls, certificate, key, origin, ..] = args.as_slice()
        && first == bare::ARGUMENT
    {
        return bare::run([listen, tls, certificate, key, origin]);
    }
    machine::run("proxy", &args, |tools| {
        let other = args.iter().position(|arg| arg == "--against").and_then(|at| args.get(at + 1));
        run(&Plan::of(&args, 6, 5)?, tools, other.map(Path::new))
    })
}

fn run(plan: &Plan, tools: &Tools, other: Option<&Path>) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let user_agents = traffic::user_agents::mixed();
    let loads = Loads::new(tools, folder.path(), &user_agents)?;
    let address = Address::free()?;
    let origin = nginx::origin(tools, &folder.path().join("origin"), address)?;
    // Idle servers cost nothing during the turn of another one.
    let place = Place { tools, folder: folder.path(), origin: address, threads: 1 };
    // That name server never answers, so Beadle finds no list, no key and no name. Every client has
    // a different address.
    let dead = format!("evidence: {{ name_servers: [\"{}\"] }}\n", Address::free()?);
    let beadle = place.beadle("beadle", program::BEADLE.as_ref(), identity)?;
    let other = other.map(|program| place.beadle("beadle-other", program, identity)).transpose()?;
    let bare = place.bare_pingora("bare")?;
    let again = place.bare_pingora("bare-again")?;
    let nginx = place.nginx("nginx", 0)?;
    let map = place.nginx("nginx-map", 700)?;
    let out_of_reach =
        place.beadle("beadle-dead", program::BEADLE.as_ref(), |text| dead + &text)?;
    let blocks = place.beadle("beadle-blocks", program::BEADLE.as_ref(), |text| {
        text.replace("mode: log", "mode: block")
    })?;
    let caddy = tools.caddy.as_ref().map(|caddy| place.caddy(caddy)).transpose()?;

    machine::describe(tools);
    println!(
        "{} rounds of {} s for each server; {} requests at a time, over HTTP/2 as {} streams of each \
         connection; {} User-Agents, over HTTP/2 one; {} paths\n",
        plan.rounds,
        plan.turn.as_secs(),
        load::CONNECTIONS,
        load::STREAMS,
        user_agents.len(),
        traffic::TARGETS.len()
    );

    // The second and the third are the baselines of their protocol.
    let usual = [Some(("Beadle", &beadle)), Some(("bare pingora", &bare)), Some(("nginx", &nginx))];
    let usual = usual.into_iter().chain([
        other.as_ref().map(|other| ("Beadle, the other build", other)),
        caddy.as_ref().map(|caddy| ("Caddy", caddy)),
    ]);
    let usual: Vec<(&str, &Server)> = usual.flatten().collect();
    let more = [
        ("bare pingora, once more", &again),
        ("nginx, `map` of 700 names", &map),
        ("Beadle, evidence out of reach", &out_of_reach),
    ];
    let mut contestants: Vec<Contestant<'_>> = Vec::new();
    for protocol in [Protocol::Http1, Protocol::Tls, Protocol::Http2] {
        let start = contestants.len();
        let more = if protocol == Protocol::Http1 { &more[..] } else { &[] };
        for (name, server) in usual.iter().chain(more) {
            let Some(load) = protocol.load(&loads, server, tools) else {
                println!("without HTTP/2: h2load is not installed\n");
                break;
            };
            let name = format!("{name}{}", protocol.suffix());
            let baselines = vec![start + 1, start + 2];
            contestants.push(Contestant {
                name,
                process: &server.process,
                load,
                is_refused: false,
                baselines,
            });
        }
    }
    let block = &blocks;
    contestants.push(Contestant {
        name: "Beadle, each request refused and recorded".to_owned(),
        process: &block.process,
        load: Box::new(|time| loads.refused(block.plain, time)),
        is_refused: true,
        baselines: vec![1, 2],
    });
    let rows = rounds::run(plan, &contestants)?;
    print!("{}", table::markdown(&rows, "request", &["bare pingora", "nginx"]));
    println!("\n{}", verdict(&rows));
    drop(contestants);
    let servers = [beadle, bare, again, nginx, map, out_of_reach, blocks]
        .into_iter()
        .chain(caddy)
        .chain(other);
    servers.into_iter().try_for_each(|server| server.process.stop())?;
    origin.stop()
}

impl Protocol {
    fn suffix(self) -> &'static str {
        match self {
            Self::Http1 => "",
            Self::Tls => ", TLS",
            Self::Http2 => ", HTTP/2",
        }
    }

    /// The load of a server over this protocol; `None` without the program for it.
    fn load<'a>(
        self,
        loads: &'a Loads,
        server: &'a Server,
        tools: &'a Tools,
    ) -> Option<Box<dyn Fn(Duration) -> Result<Load> + 'a>> {
        Some(match self {
            Self::Http1 => Box::new(move |time| loads.http_1("http", server.plain, time)),
            Self::Tls => Box::new(move |time| loads.http_1("https", server.tls, time)),
            Self::Http2 => {
                let h2load = tools.h2load.as_deref()?;
                Box::new(move |time| loads.http_2(h2load, server.tls, time))
            }
        })
    }
}

/// Whether Beadle meets its target, and the load of the machine.
fn verdict(rows: &[Row]) -> String {
    let [beadle, bare, ..] = rows else { return String::new() };
    let ratio = beadle.against(bare).median;
    format!(
        "Beadle takes {ratio:.3} times the CPU time of bare pingora (target: at most {TARGET:.2}): {}.\n\
         Processors at work during the turns: {}.",
        if ratio <= TARGET { "kept" } else { "missed" },
        table::processors(rows)
    )
}
