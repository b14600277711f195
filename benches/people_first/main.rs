//! People beside a flood of crawlers, at an origin that takes eight requests at a time.
//!
//! ```text
//! cargo bench --bench people_first                  about four minutes
//! cargo bench --bench people_first -- --quick       a smoke test
//! ```
//! A page takes 200 ms. People ask for 20 pages a second, so they need four of eight workers. Three crawlers
//! ask for 200 pages a second from 500 addresses. Beadle has no limit, then `people_first: {}`. nginx
//! and HAProxy have a limit by User-Agent of 20 requests a second: all that people leave, which no operator
//! knows. `share` is the part of the workers left by people that crawlers got.
//!
//! Prints tables in Markdown. Needs wrk and nginx as `proxy` does; HAProxy where it is in the path.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a benchmark prints its table")]

use std::{env, fs, path::Path, process::ExitCode, sync::Arc, time::Duration};

use crate::{
    harness::{
        Result, machine,
        machine::Tools,
        nginx,
        process::{Address, Process},
        program,
    },
    load::{Figures, Load},
    origin::Origin,
};

#[allow(dead_code, reason = "other benchmarks need more of it")]
#[path = "../harness/mod.rs"]
mod harness;
mod load; // people and crawlers
mod origin; // eight workers

const HOST: &str = "www.example.com";
/// The workers that people leave.
const LEFT: f64 = 4.0;

fn main() -> ExitCode {
    let args: Vec<String> = env::args().skip(1).collect();
    machine::run("people_first", &args, |tools| {
        let is_quick = args.iter().any(|arg| arg == "--quick");
        run(tools, Duration::from_secs(if is_quick { 2 } else { 40 }))
    })
}

fn run(tools: &Tools, time: Duration) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    machine::describe(tools);
    println!(
        "\n| | people: median | p95 | p99 | ms; without an answer | crawlers passed / s | refused / s | \
         share |\n|---|---|---|---|---|---|---|---|"
    );
    let mut lines = Vec::new();
    // Each has an origin of its own: what clients gave up waits there for minutes.
    let origin = || runtime.block_on(Origin::start());
    for (name, has_crawlers, (process, address, origin)) in
        contestants(tools, folder.path(), &origin)?
    {
        process.wait_until_it_listens(address)?;
        let load = Load { address, has_crawlers, time };
        let mut figures = runtime.block_on(load.send(&origin));
        println!("{}", row(&name, &mut figures, time));
        lines.push((name, figures.at_origin));
        process.stop()?;
    }
    println!("\nCrawlers at the origin, each second:\n");
    for (name, counts) in lines.iter().filter(|(_, counts)| counts.iter().any(|count| *count > 0)) {
        let counts: Vec<String> = counts.iter().map(ToString::to_string).collect();
        println!("- {name}: {}", counts.join(" "));
    }
    Ok(())
}

fn row(name: &str, figures: &mut Figures, time: Duration) -> String {
    figures.people.sort();
    let at = |part: usize| {
        let last = figures.people.len().saturating_sub(1);
        let time = figures.people.get(last * part / 100);
        time.map_or_else(|| "–".to_owned(), |time| time.as_millis().to_string())
    };
    let seconds = time.as_secs_f64();
    let (passed, refused) = (figures.passed as f64 / seconds, figures.refused as f64 / seconds);
    let share = 100.0 * passed * origin::PAGE.as_secs_f64() / LEFT;
    format!(
        "| {name} | {} | **{}** | {} | {} | {passed:.1} | {refused:.0} | {share:.0} % |",
        at(50),
        at(95),
        at(99),
        figures.unanswered
    )
}

type Server = (Process, Address, Arc<Origin>);
type Contestant = (String, bool, Server);

fn contestants(
    tools: &Tools,
    folder: &Path,
    origin: &dyn Fn() -> Result<Arc<Origin>>,
) -> Result<Vec<Contestant>> {
    let mut all = Vec::new();
    for (name, file, has_crawlers, enforcement) in [
        ("people alone", "alone", false, "{}"),
        ("no limit", "open", true, "{}"),
        ("Beadle, `people_first: {}`", "people_first", true, "{ people_first: {} }"),
    ] {
        let server = beadle(tools, folder, origin()?, (file, enforcement))?;
        all.push((name.to_owned(), has_crawlers, server));
    }
    all.push((
        "nginx, `limit_req` 20r/s".to_owned(),
        true,
        nginx_server(tools, folder, origin()?)?,
    ));
    if let Some(server) = haproxy(tools, folder, origin()?)? {
        all.push(("HAProxy, stick-table 20 / s".to_owned(), true, server));
    }
    Ok(all)
}

fn beadle(
    tools: &Tools,
    folder: &Path,
    origin: Arc<Origin>,
    (file, enforcement): (&'static str, &str),
) -> Result<Server> {
    let address = Address::free()?;
    let policy = format!(
        "server: {{ listen: [{{ address: \"{address}\" }}], admin: \"{}\" }}\nsites:\n  - hosts: \
         [{HOST}]\n    origin: \"http://{}\"\n    robots_txt: {{ groups: [] }}\n    enforcement: \
         {enforcement}\n",
        Address::free()?,
        origin.address
    );
    let program = Path::new(program::BEADLE);
    Ok((program::serve(tools, file, program, folder, &policy)?, address, origin))
}

fn nginx_server(tools: &Tools, folder: &Path, origin: Arc<Origin>) -> Result<Server> {
    let (address, to) = (Address::free()?, origin.address);
    let http = format!(
        "map $http_user_agent $crawler {{ default \"\"; ~(GPTBot|ClaudeBot|Bytespider) crawler; }}
        limit_req_zone $crawler zone=crawlers:1m rate=20r/s;
        server {{
            listen {address};
            location / {{
                limit_req zone=crawlers;
                limit_req_status 503;
                proxy_pass http://{to};
                proxy_read_timeout 30s;
            }}
        }}"
    );
    Ok((nginx::start(tools, "nginx", 1, &folder.join("nginx"), &http)?, address, origin))
}

fn haproxy(tools: &Tools, folder: &Path, origin: Arc<Origin>) -> Result<Option<Server>> {
    let program = ["/usr/sbin/haproxy", "/usr/local/sbin/haproxy"].map(Path::new);
    let Some(program) = program.into_iter().find(|path| path.exists()) else { return Ok(None) };
    let (address, file) = (Address::free()?, folder.join("haproxy.cfg"));
    fs::write(
        &file,
        format!(
            "defaults\n  mode http\n  timeout client 30s\n  timeout server 30s\n  timeout connect 5s\n\
             backend crawlers\n  stick-table type string len 16 size 1k expire 1m store http_req_rate(1s)\n\
             frontend all\n  bind {address}\n  acl crawler hdr_sub(user-agent) GPTBot ClaudeBot Bytespider\n  \
             http-request track-sc0 str(crawler) table crawlers if crawler\n  http-request deny \
             deny_status 503 if crawler {{ sc_http_req_rate(0) gt 20 }}\n  default_backend site\n\
             backend site\n  server one {}\n",
            origin.address
        ),
    )?;
    let args = ["-db", "-f", &file.to_string_lossy()];
    Ok(Some((Process::start(tools, "haproxy", program, &args, folder)?, address, origin)))
}
