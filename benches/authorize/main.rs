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

use std::{env, fs, path::Path, process::ExitCode};

use crate::harness::{
    Result, machine,
    machine::Tools,
    nginx,
    process::{Address, Process},
    program,
    rounds::{self, Contestant, Plan},
    table,
    wrk::Wrk,
};

#[allow(dead_code, reason = "other benchmarks need more of it")]
#[path = "../harness/mod.rs"]
mod harness;
#[path = "../traffic/mod.rs"]
mod traffic;

/// The rows, in the order of a round. The second one is the baseline.
const NAMES: [&str; 3] = ["Beadle", "nginx, `return 200`", "nginx, once more"];
const BASELINE: usize = 1;

/// The number of concurrent connections.
const CONNECTIONS: u64 = 64;

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
"#;

fn main() -> ExitCode {
    let args: Vec<String> = env::args().skip(1).collect();
    machine::run("authorize", &args, |tools| run(tools, &Plan::of(&args, 6, 3)?))
}

fn run(tools: &Tools, plan: &Plan) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let user_agents = traffic::user_agents::mixed();
    let questions = folder.path().join("questions.tsv");
    fs::write(&questions, traffic::pairs(&user_agents))?;
    let questions = questions.to_string_lossy();
    let wrk = Wrk::new(tools, folder.path(), SCRIPT)?;
    let mut servers = vec![decider(tools, folder.path())?];
    for name in ["nginx", "nginx-again"] {
        servers.push(nginx(tools, &folder.path().join(name), name)?);
    }
    for (process, address) in &servers {
        process.wait_until_it_listens(*address)?;
    }
    machine::describe(tools);
    println!(
        "{} rounds of {} s for each, {CONNECTIONS} connections; {} User-Agents, {} paths, {} rules\n",
        plan.rounds,
        plan.turn.as_secs(),
        user_agents.len(),
        traffic::TARGETS.len(),
        traffic::RULES
    );
    let contestants: Vec<Contestant<'_>> = NAMES
        .iter()
        .zip(&servers)
        .map(|(name, (process, address))| {
            let (wrk, questions, url) = (&wrk, &questions, format!("http://{address}"));
            Contestant {
                name: (*name).to_owned(),
                process,
                load: Box::new(move |time| {
                    wrk.start(&url, CONNECTIONS, time, &[traffic::HOST, questions])?.end()
                }),
                is_refused: false,
                baselines: vec![BASELINE],
            }
        })
        .collect();
    let rows = rounds::run(plan, &contestants)?;
    print!("{}", table::markdown(&rows, "question", &["nginx"]));
    drop(contestants);
    servers.into_iter().try_for_each(|(process, _)| process.stop())
}

/// Beadle with the policy of the other benchmarks.
fn decider(tools: &Tools, folder: &Path) -> Result<(Process, Address)> {
    let (proxy, decide) = (Address::free()?, Address::free()?);
    let database = folder.join("beadle.db");
    // No request reaches an origin.
    let text =
        traffic::policy(&proxy.to_string(), &database.to_string_lossy(), "http://127.0.0.1:1");
    let server = format!("server:\n  decide: \"{decide}\"\n  trusted_proxies: [127.0.0.1]\n");
    let text = text.replacen("server:\n", &server, 1);
    let beadle = program::BEADLE.as_ref();
    Ok((program::serve(tools, "beadle", beadle, folder, &text)?, decide))
}

/// nginx with one worker that says yes to everything.
fn nginx(tools: &Tools, folder: &Path, name: &'static str) -> Result<(Process, Address)> {
    let listen = Address::free()?;
    let server = format!("server {{ listen {listen} backlog=1024; location / {{ return 200; }} }}");
    Ok((nginx::start(tools, name, 1, folder, &server)?, listen))
}
