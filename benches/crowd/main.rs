//! A crowd of clients that are idle or slow: what others notice, and the memory of each connection.
//!
//! ```text
//! cargo bench --bench crowd                   about two minutes
//! cargo bench --bench crowd -- --quick        a smoke test with a tenth of the crowd
//! ```
//! 10,000 clients keep a connection open after a request. 1,000 more are slow: a third sends the header of
//! a request by an octet a second, a third a body by 3,000, and a third the fields of a request over
//! HTTP/2 by one. Each has an address of its own. Meanwhile 16 other clients ask, each 5 ms after its
//! last answer. Last, one client opens as many connections as it gets.
//!
//! Prints a table in Markdown. Needs wrk and nginx, as `proxy` does, and a limit of open files of 12,500
//! for each process; with a lower limit the crowd is smaller.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a benchmark prints its table")]

use std::{
    env, fs,
    io::{Read, Write},
    path::Path,
    process::{Command, ExitCode},
    time::Duration,
};

use crate::{
    crowd::{Crowd, connected_from},
    harness::{
        Result,
        figures::Load,
        machine,
        machine::Tools,
        nginx,
        process::{Address, Process},
        program,
        rounds::Plan,
        table::Spread,
        wrk::Wrk,
    },
};

mod crowd; // the idle and the slow clients
#[allow(dead_code, reason = "other benchmarks need more of it")]
#[path = "../harness/mod.rs"]
mod harness;
#[allow(dead_code, reason = "the tests need more of it")]
#[path = "../../tests/support/tls.rs"]
mod tls;

/// The clients of the crowd.
const IDLE: usize = 10_000;
const SLOW: usize = 1_000;
/// The other clients, and the pause between an answer and the next request in milliseconds.
const OTHERS: u64 = 16;
const PAUSE: u64 = 5;
/// Files that are open beside the connections.
const OTHER_FILES: usize = 300;
/// More connections than one network may have.
const GREED: usize = 1_200;

/// With this argument the limit of open files is raised already.
const RAISED: &str = "--raised";

const HOST: &str = "www.example.com";

/// The script for wrk.
const SCRIPT: &str = r#"
function init(args)
  wrk.headers["Host"] = args[1]
  wrk.headers["User-Agent"] = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0"
  pause = tonumber(args[2])
end
function delay()
  return pause
end
"#;

fn main() -> ExitCode {
    let args: Vec<String> = env::args().skip(1).collect();
    machine::run("crowd", &args, |tools| {
        if args.iter().any(|arg| arg == RAISED) {
            return run(tools, &Plan::of(&args, 5, 3)?, args.iter().any(|arg| arg == "--quick"));
        }
        // A child inherits the limit; so does Beadle.
        let shell = ["-c", "ulimit -n \"$(ulimit -H -n)\"; exec \"$0\" \"$@\""];
        let status = Command::new("sh")
            .args(shell)
            .arg(env::current_exe()?)
            .args(&args)
            .arg(RAISED)
            .status()?;
        if status.success() { Ok(()) } else { Err("the benchmark itself failed".into()) }
    })
}

fn run(tools: &Tools, plan: &Plan, is_quick: bool) -> Result<()> {
    let (idle, slow) = sizes(if is_quick { 10 } else { 1 })?;
    let folder = tempfile::tempdir()?;
    let address = Address::free()?;
    let origin = nginx::origin(tools, &folder.path().join("origin"), address)?;
    let server = Server::start(tools, folder.path(), address)?;
    let wrk = Wrk::new(tools, folder.path(), SCRIPT)?;
    machine::describe(tools);
    println!(
        "{idle} idle clients, {slow} slow ones; {} turns of {} s\n",
        plan.rounds,
        plan.turn.as_secs()
    );
    println!(
        "| crowd | others: requests/s | p50 ms | p99 ms | CPU, % of a processor | memory, MiB | KiB of one more connection |"
    );
    println!("|---|---|---|---|---|---|---|");

    let measure = |name: &str, more: Option<(u64, usize)>| -> Result<u64> {
        let (before, start) = (server.process.cpu_time()?, std::time::Instant::now());
        let loads = (0..plan.rounds).map(|_| others(&wrk, &server, plan.turn));
        let loads = loads.collect::<Result<Vec<Load>>>()?;
        let cpu = server.process.cpu_time()?.saturating_sub(before);
        let memory = server.process.memory()?;
        let each = more.map_or_else(String::new, |(before, number)| {
            format!("{:.1}", memory.saturating_sub(before) as f64 / number.max(1) as f64)
        });
        let spread =
            |value: fn(&Load) -> f64, digits| Spread::of(loads.iter().map(value)).text(digits);
        println!(
            "| {name} | {} | {} | {} | {:.0} | {:.1} | {each} |",
            spread(Load::rate, 0),
            spread(|load| load.median.as_secs_f64() * 1e3, 2),
            spread(|load| load.percentile_99.as_secs_f64() * 1e3, 2),
            100.0 * cpu.as_secs_f64() / start.elapsed().as_secs_f64(),
            memory as f64 / 1024.0,
        );
        Ok(memory)
    };
    others(&wrk, &server, plan.turn)?;
    let alone = measure("none", None)?;
    let mut crowd = Crowd::default();
    crowd.add_idle(server.plain, idle)?;
    let with_idle = measure(&format!("{idle} idle"), Some((alone, idle)))?;
    crowd.add_slow(server.plain, server.tls, slow)?;
    measure(&format!("{idle} idle, {slow} slow"), Some((with_idle, slow)))?;
    let (kept, lost) = crowd.end();
    measure("none any more", None)?;
    println!("\n{kept} of the slow clients were still connected at the end, {lost} were not.");
    println!("One client opened {GREED} connections; {} were answered.", greedy(server.plain)?);
    server.process.stop()?;
    origin.stop()
}

/// How many clients are idle and slow: a part of the usual numbers, or as many as files may be open.
fn sizes(part: usize) -> Result<(usize, usize)> {
    let limits = fs::read_to_string("/proc/self/limits")?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"));
    let limit = line.and_then(|line| line.split_ascii_whitespace().next());
    let limit: usize = limit.ok_or("no limit of open files")?.parse()?;
    let slow = SLOW / part;
    Ok(((IDLE / part).min(limit.saturating_sub(OTHER_FILES + slow)), slow))
}

/// The other clients: 16 that ask with pauses.
fn others(wrk: &Wrk, server: &Server, time: Duration) -> Result<Load> {
    let url = format!("http://{}/", server.plain);
    let load = wrk.start(&url, OTHERS, time, &[HOST, &PAUSE.to_string()])?.end()?;
    if load.failures + load.refusals > 0 {
        return Err(format!("{} failures, {} refusals", load.failures, load.refusals).into());
    }
    Ok(load)
}

/// How many connections of one client get an answer.
fn greedy(address: Address) -> Result<usize> {
    let mut kept = Vec::new();
    for _ in 0..GREED {
        let mut stream = connected_from([127, 9, 9, 9], address)?;
        stream.set_read_timeout(Some(Duration::from_secs(3)))?;
        let asked = stream.write_all(crowd::REQUEST).and_then(|()| stream.read(&mut [0; 16]));
        if asked.is_ok_and(|length| length > 0) {
            kept.push(stream);
        }
    }
    Ok(kept.len())
}

/// Beadle with and without TLS.
struct Server {
    process: Process,
    plain: Address,
    tls: Address,
}

impl Server {
    fn start(tools: &Tools, folder: &Path, origin: Address) -> Result<Self> {
        let (plain, tls) = (Address::free()?, Address::free()?);
        // The slow ones are to stay for as long as they are measured.
        let text = format!(
            "server:
  listen:
    - \"{plain}\"
    - {{ address: \"{tls}\", tls: {{ certificate: {certificate}, key: {key} }} }}
  admin: \"off\"
  threads: 1
  timeouts: {{ client_keepalive: 10m }}
  limits: {{ header_time: 10m }}
sites:
  - hosts: [{HOST}]
    default: true
    origin: http://{origin}
    robots_txt: {{ groups: [{{ user_agents: [GPTBot], disallow: [/private/] }}] }}
",
            certificate = tls::file("certificate.pem").display(),
            key = tls::file("key.pem").display(),
        );
        let beadle = program::BEADLE.as_ref();
        let process = program::serve(tools, "beadle", beadle, folder, &text)?;
        for address in [plain, tls] {
            process.wait_until_it_listens(address)?;
        }
        Ok(Self { process, plain, tls })
    }
}
