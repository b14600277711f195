//! Uploads over HTTP/2: their time, the memory of those that stall, new connections beside a drain.
//!
//! ```text
//! cargo bench --bench upload                  about two minutes
//! cargo bench --bench upload -- --quick       a smoke test
//! ```
//! curl sends files to an origin that reads them whole, through Beadle, nginx and Caddy: 20 MB at once, or
//! eight times 5 MB over one connection. A relay delays each direction by half of the round trip. Then
//! uploads to a path that the origin doesn't read stay open, and the memory of each is measured. Last, each
//! server changes to a new process while a download goes on, and other clients connect.
//!
//! Prints tables in Markdown. Needs curl, and wrk and nginx as `proxy` does; Caddy where it is in the path.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a benchmark prints its table")]

use std::{
    env,
    fmt::Write as _,
    fs,
    path::Path,
    process::{Child, Command, ExitCode, Stdio},
    thread,
    time::{Duration, Instant},
};

use crate::harness::{
    Result, machine,
    machine::Tools,
    nginx,
    process::{Address, Process, signal},
    program,
    rounds::Plan,
};

#[allow(dead_code, reason = "other benchmarks need more of it")]
#[path = "../harness/mod.rs"]
mod harness;
mod origin; // the origin that reads bodies, or doesn't
mod relay; // a line that takes its time
#[allow(dead_code, reason = "the tests need more of it")]
#[path = "../../tests/support/tls.rs"]
mod tls;

const HOST: &str = "www.example.com";
/// The round trips.
const ROUND_TRIPS: [Duration; 2] = [Duration::ZERO, Duration::from_millis(50)];
/// The uploads that stall.
const STALLED: usize = 50;
/// How long other clients connect beside a drain.
const DRAIN: Duration = Duration::from_secs(8);

/// A server that takes uploads.
struct Server {
    process: Process,
    address: Address,
    /// The signal that starts a new process beside the old one; `None` if there is none.
    change: Option<&'static str>,
}

fn main() -> ExitCode {
    let args: Vec<String> = env::args().skip(1).collect();
    machine::run("upload", &args, |tools| {
        let is_quick = args.iter().any(|arg| arg == "--quick");
        run(tools, &Plan::of(&args, 5, 1)?, is_quick)
    })
}

fn run(tools: &Tools, plan: &Plan, is_quick: bool) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let folder = folder.path();
    tls::issue(&[HOST]).write(folder, "site");
    let origin = origin::start()?;
    let servers = servers(tools, folder, origin)?;
    machine::describe(tools);
    let scale = if is_quick { 10 } else { 1 };
    for (name, bytes) in [("one", 20_000_000 / scale), ("eight", 5_000_000 / scale)] {
        fs::write(folder.join(name), vec![b'x'; bytes])?;
    }
    println!(
        "\n| upload over HTTP/2, seconds: median (min..max) | round trip | {} |",
        names(&servers)
    );
    println!("|---|---|{}", "---|".repeat(servers.len()));
    for (round_trip, (file, number, what)) in ROUND_TRIPS
        .into_iter()
        .flat_map(|delay| [("one", 1, "20 MB"), ("eight", 8, "8 × 5 MB")].map(|one| (delay, one)))
    {
        let mut times: Vec<Vec<f64>> = vec![Vec::new(); servers.len()];
        for _ in 0..plan.rounds {
            for (server, times) in servers.iter().zip(&mut times) {
                let address = relay::start(server.address, round_trip / 2)?;
                let mut uploads = Curl::to(address).upload(&folder.join(file), "/up", number);
                let start = Instant::now();
                let status = uploads.spawn()?.wait()?;
                times.push(start.elapsed().as_secs_f64());
                if !status.success() {
                    return Err(format!("curl to {}: {status}", server.process.name()).into());
                }
            }
        }
        let cells = times.iter_mut().map(|times| shown(times));
        println!(
            "| {what} | {} ms | {} |",
            round_trip.as_millis(),
            cells.collect::<Vec<_>>().join(" | ")
        );
    }
    println!("\n| | {} |\n|---|{}", names(&servers), "---|".repeat(servers.len()));
    let (mut stalled, mut waits) = (String::new(), String::new());
    for server in &servers {
        write!(stalled, " {:.0} |", memory_of_stalled(server, folder)?)?;
        let most = beside_a_drain(server)?;
        write!(waits, " {} |", most.map_or_else(|| "–".to_owned(), |most| format!("{most:.3}")))?;
    }
    println!("| KiB of memory of a stalled upload |{stalled}");
    println!("| longest wait of a new connection beside a drain, seconds |{waits}");
    servers.into_iter().try_for_each(|server| server.process.stop())
}

fn names(servers: &[Server]) -> String {
    servers.iter().map(|server| server.process.name()).collect::<Vec<_>>().join(" | ")
}

fn shown(times: &mut [f64]) -> String {
    times.sort_by(f64::total_cmp);
    let (min, max) = (times.first().copied().unwrap_or(0.0), times.last().copied().unwrap_or(0.0));
    format!("**{:.2}** ({min:.2}..{max:.2})", times.get(times.len() / 2).copied().unwrap_or(0.0))
}

/// Beadle, nginx, and Caddy if it is there, each with TLS.
fn servers(tools: &Tools, folder: &Path, origin: Address) -> Result<Vec<Server>> {
    let (at, mut servers) = (folder.display(), Vec::new());
    let mut add = |process: Process, address, change| -> Result<()> {
        process.wait_until_it_listens(address)?;
        servers.push(Server { process, address, change });
        Ok(())
    };
    let address = Address::free()?;
    let policy = format!(
        "server:\n  listen: [{{ address: \"{address}\", tls: {{ certificate: {at}/site.pem, key: \
         {at}/site.key }} }}]\n  admin: \"{}\"\nsites:\n  - hosts: [{HOST}]\n    origin: \
         \"http://{origin}\"\n    robots_txt: {{ groups: [{{ user_agents: [\"*\"], disallow: [/x/] }}] }}\n",
        Address::free()?
    );
    let beadle = program::serve(tools, "beadle", Path::new(program::BEADLE), folder, &policy)?;
    add(beadle, address, Some("USR2"))?;
    let address = Address::free()?;
    let http = format!(
        "client_max_body_size 0;
        server {{
            listen {address} ssl http2;
            ssl_certificate {at}/site.pem;
            ssl_certificate_key {at}/site.key;
            location / {{
                proxy_pass http://{origin};
                proxy_http_version 1.1;
                proxy_request_buffering off;
                proxy_buffering off;
                proxy_read_timeout 60s;
            }}
        }}"
    );
    add(nginx::start(tools, "nginx", 1, &folder.join("nginx"), &http)?, address, Some("HUP"))?;
    if let Some(caddy) = &tools.caddy {
        let address = Address::free()?;
        let port = address.socket().port();
        let text = format!(
            "{{\n  admin off\n  auto_https off\n}}\nhttps://{HOST}:{port} {{\n  bind 127.0.0.1\n  tls \
             {at}/site.pem {at}/site.key\n  reverse_proxy {origin}\n}}\n"
        );
        let file = folder.join("Caddyfile");
        fs::write(&file, text)?;
        let args = ["run", "--adapter", "caddyfile", "--config", &file.to_string_lossy()];
        add(Process::start(tools, "caddy", caddy, &args, folder)?, address, None)?;
    }
    Ok(servers)
}

/// The memory of each of many uploads over one connection that the origin doesn't read, in KiB.
fn memory_of_stalled(server: &Server, folder: &Path) -> Result<f64> {
    let before = server.process.memory_with_children()?;
    let mut uploads =
        Curl::to(server.address).upload(&folder.join("eight"), "/stall", STALLED).spawn()?;
    thread::sleep(Duration::from_secs(3));
    let after = server.process.memory_with_children()?;
    end(&mut uploads)?;
    Ok(after.saturating_sub(before) as f64 / STALLED as f64)
}

/// The longest time of a request over a new connection while the server changes to a new process and a
/// download at the old one goes on.
fn beside_a_drain(server: &Server) -> Result<Option<f64>> {
    let Some(change) = server.change else { return Ok(None) };
    let mut download = Curl::to(server.address).get("/slow").spawn()?;
    thread::sleep(Duration::from_millis(500));
    server.process.signal(change)?;
    let (start, mut most) = (Instant::now(), 0.0_f64);
    while start.elapsed() < DRAIN {
        let one = Instant::now();
        if !Curl::to(server.address).get("/page").spawn()?.wait()?.success() {
            return Err(
                format!("{}: a request beside a drain failed", server.process.name()).into()
            );
        }
        most = most.max(one.elapsed().as_secs_f64());
        thread::sleep(Duration::from_millis(50));
    }
    let goes_on = download.try_wait()?.is_none();
    if change == "USR2" {
        // The new process outlives the old one.
        server.process.children()?.into_iter().try_for_each(|child| signal(child, "TERM"))?;
    }
    end(&mut download)?;
    goes_on.then_some(Some(most)).ok_or_else(|| "the download ended before the drain".into())
}

/// Ends a process of this benchmark.
fn end(child: &mut Child) -> Result<()> {
    child.kill()?;
    child.wait()?;
    Ok(())
}

/// A curl that asks one server over HTTP/2.
struct Curl {
    command: Command,
    url: String,
}

impl Curl {
    fn to(address: Address) -> Self {
        let port = address.socket().port();
        let mut command = Command::new("curl");
        command.args(["--silent", "--fail", "--insecure", "--http2", "--max-time", "60"]);
        command.arg("--resolve").arg(format!("{HOST}:{port}:127.0.0.1"));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Self { command, url: format!("https://{HOST}:{port}") }
    }

    fn get(mut self, path: &str) -> Command {
        self.command.arg(format!("{}{path}", self.url));
        self.command
    }

    /// So many uploads of a file, all over one connection.
    fn upload(mut self, file: &Path, path: &str, number: usize) -> Command {
        self.command.args(["--parallel", "--parallel-max", &number.to_string()]);
        for _ in 0..number {
            self.command.arg("--upload-file").arg(file).arg(format!("{}{path}", self.url));
        }
        self.command
    }
}
