//! CPU time per question of another server: Beadle, beside nginx that answers `return 200`.
//!
//! ```text
//! cargo bench --bench authorize                 about a minute
//! cargo bench --bench authorize -- --quick      a smoke test of ten seconds; its figures say little
//! ```
//! wrk sends the same questions (`../traffic`) to each in turn, over kept-alive connections. Every
//! second round runs in reverse order. Ratios are per round, so other load affects both sides. nginx
//! takes two turns in each round: their difference is the noise.
//!
//! Prints one table in Markdown. Needs wrk and nginx. Without them it prints a message and exits
//! with 0, or fails if `CI` is set.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a benchmark prints its table")]

use std::{
    env, error::Error, fs, os::unix::fs::MetadataExt, path::Path, process::ExitCode, time::Duration,
};

use crate::{
    figures::Load,
    machine::Tools,
    process::{Address, Process},
};

#[allow(dead_code, reason = "the benchmark of the proxy needs more of it")]
#[path = "../proxy/figures.rs"]
mod figures;
#[path = "../proxy/machine.rs"]
mod machine;
#[allow(dead_code, reason = "the benchmark of the proxy needs more of it")]
#[path = "../proxy/process.rs"]
mod process;
#[path = "../traffic/mod.rs"]
mod traffic;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The rows, in the order of a round. The second one is the baseline.
const NAMES: [&str; 3] = ["Beadle", "nginx, `return 200`", "nginx, once more"];
const BASELINE: usize = 1;

/// The number of concurrent connections.
const CONNECTIONS: u32 = 64;

/// The script for wrk. It builds all questions before the measurement, as nginx sends them, each
/// with a different client address. Every reply must be 200.
const SCRIPT: &str = r#"
local questions, at = {}, 0
function init(args)
  wrk.headers["Host"] = "beadle_decide"
  wrk.headers["Accept"] = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
  wrk.headers["Accept-Language"] = "en-GB,en;q=0.7,de;q=0.3"
  wrk.headers["Accept-Encoding"] = "gzip, deflate, br"
  wrk.headers["X-Forwarded-Method"] = "GET"
  wrk.headers["X-Forwarded-Host"] = args[1]
  wrk.headers["X-Forwarded-Proto"] = "https"
  for line in io.lines(args[2]) do
    local path, user_agent = line:match("^(.-)\t(.*)$")
    wrk.headers["User-Agent"] = user_agent
    wrk.headers["X-Forwarded-Uri"] = path
    wrk.headers["X-Forwarded-For"] = string.format("66.249.%d.%d", #questions / 250 % 250, #questions % 250)
    questions[#questions + 1] = wrk.format("GET", "/.beadle/decide")
  end
end
function request()
  at = at % #questions + 1
  return questions[at]
end
function done(summary, latency, _)
  local failed = summary.errors
  io.write(string.format("result %d %d %d %d %d\n", summary.requests, summary.duration,
    failed.connect + failed.read + failed.write + failed.status + failed.timeout,
    latency:percentile(50), latency:percentile(99)))
end
"#;

/// One turn: processor time, and the figures of wrk.
struct Turn {
    cpu: Duration,
    load: Load,
}

impl Turn {
    fn micros(&self) -> f64 {
        self.cpu.as_secs_f64() * 1e6 / self.load.requests as f64
    }
}

fn main() -> ExitCode {
    let args: Vec<String> = env::args().skip(1).collect();
    let is_quick = args.iter().any(|arg| arg == "--quick");
    let (rounds, seconds) = if is_quick { (2, 1) } else { (6, 3) };
    machine::run("authorize", &args, |tools| run(tools, rounds, Duration::from_secs(seconds)))
}

fn run(tools: &Tools, rounds: usize, time: Duration) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let user_agents = traffic::user_agents::mixed();
    write_load(folder.path(), &user_agents)?;
    let mut servers = vec![beadle(tools, folder.path())?];
    for name in ["nginx", "nginx-again"] {
        servers.push(nginx(tools, &folder.path().join(name), name)?);
    }
    for (process, address) in &servers {
        process.wait_until_it_listens(*address)?;
    }
    machine::describe(tools);
    println!(
        "{rounds} rounds of {} s for each, {CONNECTIONS} connections; {} User-Agents, {} paths, {} rules\n",
        time.as_secs(),
        user_agents.len(),
        traffic::TARGETS.len(),
        traffic::RULES
    );
    let mut rows: Vec<Vec<Turn>> = NAMES.iter().map(|_| Vec::new()).collect();
    for round in 0..rounds {
        let mut order: Vec<usize> = (0..servers.len()).collect();
        if round % 2 == 1 {
            order.reverse();
        }
        for number in order {
            let (Some((process, address)), Some(row)) = (servers.get(number), rows.get_mut(number))
            else {
                continue;
            };
            ask(tools, folder.path(), *address, Duration::from_secs(1))?;
            row.push(one_turn(tools, folder.path(), (process, *address), time)?);
        }
        eprintln!("round {} of {rounds}", round + 1);
    }
    print(&rows);
    servers.into_iter().try_for_each(|(process, _)| process.stop())
}

/// Writes the script of wrk and its questions: every pair of User-Agent and path.
fn write_load(folder: &Path, user_agents: &[String]) -> Result<()> {
    let targets = traffic::TARGETS;
    let pairs = (0..user_agents.len() * targets.len()).filter_map(|number| {
        let target = targets.get(number % targets.len())?;
        let user_agent = user_agents.get(number % user_agents.len())?;
        Some(format!("{target}\t{user_agent}\n"))
    });
    fs::write(folder.join("load.lua"), SCRIPT)?;
    fs::write(folder.join("questions.tsv"), pairs.collect::<String>())?;
    Ok(())
}

/// Sends questions for `time`, as fast as replies come.
fn ask(tools: &Tools, folder: &Path, address: Address, time: Duration) -> Result<Load> {
    let output = tools
        .on_the_other_side()
        .pinned(&tools.wrk)
        .args(["-t1", &format!("-c{CONNECTIONS}"), &format!("-d{}s", time.as_secs()), "-s"])
        .arg(folder.join("load.lua"))
        .args([&format!("http://{address}"), "--", traffic::HOST])
        .arg(folder.join("questions.tsv"))
        .output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    Load::read(&text)
        .ok_or_else(|| format!("wrk: {text}{}", String::from_utf8_lossy(&output.stderr)).into())
}

fn one_turn(
    tools: &Tools,
    folder: &Path,
    (process, address): (&Process, Address),
    time: Duration,
) -> Result<Turn> {
    let before = process.cpu_time()?;
    let load = ask(tools, folder, address, time)?;
    // Beadle writes records up to a tenth of a second later. This time counts as well.
    std::thread::sleep(Duration::from_millis(200));
    let cpu = process.cpu_time()?.saturating_sub(before);
    if load.failures > 0 || load.requests == 0 {
        let name = process.name();
        return Err(
            format!("{name}: {} failures, {} requests", load.failures, load.requests).into()
        );
    }
    Ok(Turn { cpu, load })
}

/// Beadle with the policy of the other benchmarks.
fn beadle(tools: &Tools, folder: &Path) -> Result<(Process, Address)> {
    let (proxy, decide) = (Address::free()?, Address::free()?);
    let policy = folder.join("beadle.yaml");
    let database = folder.join("beadle.db");
    // No request reaches an origin.
    let text =
        traffic::policy(&proxy.to_string(), &database.to_string_lossy(), "http://127.0.0.1:1");
    let server = format!("server:\n  decide: \"{decide}\"\n  trusted_proxies: [127.0.0.1]\n");
    fs::write(&policy, text.replacen("server:\n", &server, 1))?;
    let program = env!("CARGO_BIN_EXE_beadle");
    let serve = ["serve", "--config", &policy.to_string_lossy()];
    Ok((Process::start(tools, "beadle", program.as_ref(), &serve, folder)?, decide))
}

/// nginx with one worker that says yes to everything.
fn nginx(tools: &Tools, folder: &Path, name: &'static str) -> Result<(Process, Address)> {
    fs::create_dir_all(folder)?;
    let (listen, at) = (Address::free()?, folder.display());
    // Under root, a worker runs as another user without access to the folder of this benchmark.
    let user = if fs::metadata("/proc/self")?.uid() == 0 { "user root;" } else { "" };
    let paths: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .iter()
        .map(|kind| format!("{kind}_temp_path {at}/{kind};\n"))
        .collect();
    let conf = format!(
        "{user} daemon off; worker_processes 1; pid {at}/pid; error_log {at}/error.log warn;\n\
         events {{ worker_connections 1024; }}\n\
         http {{ access_log off; keepalive_requests 1000000000; {paths}\n\
         server {{ listen {listen} backlog=1024; location / {{ return 200; }} }} }}\n"
    );
    let (file, log) = (folder.join("nginx.conf"), folder.join("error.log"));
    fs::write(&file, conf)?;
    let paths = [folder, &file, &log].map(|path| path.to_string_lossy().into_owned());
    let args = ["-p", &paths[0], "-c", &paths[1], "-e", &paths[2]];
    Ok((Process::start(tools, name, &tools.nginx, &args, folder)?, listen))
}

fn print(rows: &[Vec<Turn>]) {
    println!("| server | CPU µs per question | × nginx | questions/s | p50 ms | p99 ms |");
    println!("|---|---|---|---|---|---|");
    let Some(baseline) = rows.get(BASELINE) else { return };
    for (name, turns) in NAMES.iter().zip(rows) {
        let pairs = turns.iter().zip(baseline);
        let of = |value: &dyn Fn(&Turn) -> f64| median(turns.iter().map(value));
        println!(
            "| {name} | {:.1} | {:.2} | {:.0} | {:.2} | {:.2} |",
            of(&Turn::micros),
            median(pairs.map(|(turn, other)| turn.micros() / other.micros())),
            of(&|turn| turn.load.rate()),
            of(&|turn| turn.load.median.as_secs_f64() * 1e3),
            of(&|turn| turn.load.percentile_99.as_secs_f64() * 1e3),
        );
    }
}

/// The median.
fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let at = |index: usize| values.get(index).copied().unwrap_or(f64::NAN);
    (at(values.len().saturating_sub(1) / 2) + at(values.len() / 2)) / 2.0
}
