//! A flood of violations through the proxy that blocks them: what is kept, what it costs, and what other
//! clients notice.
//!
//! ```text
//! cargo bench --bench flood                   about six minutes
//! cargo bench --bench flood -- --seconds 5    a smoke test
//! cargo bench --bench flood -- --clickhouse 127.0.0.1:8123
//!                                             one node and three nodes, with their records in ClickHouse
//! ```
//! A crawler asks for forbidden pages, each from another address, first as fast as it is answered and
//! then over 100 connections with pauses, 20,000 times a second at most, while a person reads allowed
//! pages 200 times a second. Before, the person reads alone. This is done with every violation recorded, and with the usual
//! `violations.detail`, beyond which violations are only counted.
//!
//! Fails if a violation is dropped or the counts don't add up. Needs wrk and nginx, as `proxy` does.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a benchmark prints its table")]

use std::{
    env,
    io::{Read, Write},
    net::TcpStream,
    path::Path,
    process::ExitCode,
    thread,
    time::{Duration, Instant},
};

use crate::{
    harness::{
        Result,
        figures::Load,
        machine,
        machine::Tools,
        nginx,
        process::{Address, Process},
        program,
        wrk::{Run, Wrk},
    },
    load::{Kind, PAUSE, Pace},
};

#[allow(dead_code, reason = "other benchmarks need more of it")]
#[path = "../harness/mod.rs"]
mod harness;
mod load; // the requests of the flood and of a person

/// The connections of the flood with pauses.
const CONNECTIONS: u64 = 100;
/// The most time until everything is written.
const PATIENCE: Duration = Duration::from_secs(300);

const PERSON: Kind = Kind {
    user_agent: "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0",
    path: "/page/",
    pace: Pace::Pauses(1),
};
const fn crawler(pace: Pace) -> Kind {
    let user_agent = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)";
    Kind { user_agent, path: "/private/", pace }
}

fn main() -> ExitCode {
    let args: Vec<String> = env::args().skip(1).collect();
    let after = |name: &str| {
        let at = args.iter().position(|arg| arg == name)?;
        args.get(at + 1)?.parse::<u64>().ok()
    };
    let is_quick = args.iter().any(|arg| arg == "--quick");
    let seconds = after("--seconds").unwrap_or(if is_quick { 3 } else { 60 });
    let time = Duration::from_secs(seconds.max(1));
    let server = args.iter().position(|arg| arg == "--clickhouse");
    let server = server.and_then(|at| args.get(at + 1)).cloned();
    machine::run("flood", &args, |tools| match &server {
        Some(server) => compare_stores(tools, server, time),
        None => run(tools, time),
    })
}

fn run(tools: &Tools, time: Duration) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let wrk = Wrk::new(tools, folder.path(), load::SCRIPT)?;
    let origin_address = Address::free()?;
    let origin = nginx::origin(tools, &folder.path().join("origin"), origin_address)?;
    machine::describe(tools);
    println!("{} s for each row; a person reads 200 pages a second meanwhile\n", time.as_secs());
    println!(
        "| `violations.detail` | flood | violations/s | CPU µs for one | stored | folded | dropped | \
         written after | others: p50 ms | p99 ms |\n|---|---|---|---|---|---|---|---|---|---|"
    );
    for detail in ["1000000", "1000"] {
        for pace in [None, Some(Pace::Unbounded), Some(Pace::Pauses(CONNECTIONS))] {
            let place = Place { store: Store::Sqlite, detail };
            let program = Program::start(tools, folder.path(), place, origin_address)?;
            let name = match pace {
                None => "none".to_owned(),
                Some(Pace::Unbounded) => "as fast as it is answered".to_owned(),
                Some(Pace::Pauses(number)) => {
                    format!("{number} connections, each with a pause of {PAUSE} ms")
                }
            };
            let row = flood(&wrk, &program, pace.map(crawler), time)?;
            println!("| {detail} | {name} | {row}");
            program.process.stop()?;
        }
    }
    origin.stop()
}

/// The rates of SQLite, and of one and three nodes with one ClickHouse; each violation is a record.
fn compare_stores(tools: &Tools, server: &str, time: Duration) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let wrk = Wrk::new(tools, folder.path(), load::SCRIPT)?;
    let origin_address = Address::free()?;
    let origin = nginx::origin(tools, &folder.path().join("origin"), origin_address)?;
    machine::describe(tools);
    println!("{} s for each row\n", time.as_secs());
    println!(
        "| records | nodes | violations/s | CPU µs for one | stored | dropped | written after |\n\
         |---|---|---|---|---|---|---|"
    );
    let address = format!("clickhouse://default@{server}/flood");
    for (store, nodes) in
        [(Store::Sqlite, 1), (Store::ClickHouse(&address), 1), (Store::ClickHouse(&address), 3)]
    {
        let place = Place { store, detail: "1000000" };
        let start = |_| Program::start(tools, folder.path(), place, origin_address);
        let programs: Vec<Program> = (0..nodes).map(start).collect::<Result<_>>()?;
        let kind = crawler(Pace::Unbounded);
        let floods = programs.iter().map(|program| kind.start(&wrk, program.address, time));
        let floods: Vec<Run> = floods.collect::<Result<_>>()?;
        let rates = floods.into_iter().map(|flood| flood.end().map(|load| load.rate()));
        let rate = rates.sum::<Result<f64>>()?;
        let ended = Instant::now();
        let mut sums = [0; 5];
        for program in &programs {
            let counts = program.written(ended)?;
            sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
        let written = ended.elapsed().as_secs_f64();
        let cpu = programs.iter().map(|program| program.process.cpu_time());
        let cpu = cpu.sum::<Result<Duration>>()?.as_secs_f64() * 1e6 / sums[0].max(1) as f64;
        let name = if matches!(store, Store::Sqlite) { "SQLite" } else { "ClickHouse" };
        let [_, stored, _, dropped, _] = sums;
        println!(
            "| {name} | {nodes} | **{rate:.0}** | {cpu:.1} | {stored} | {dropped} | {written:.1} s |"
        );
        for program in programs {
            program.process.stop()?;
        }
    }
    origin.stop()
}

/// The place of records.
#[derive(Clone, Copy)]
enum Store<'a> {
    Sqlite,
    /// The address of the database.
    ClickHouse(&'a str),
}

/// The place of records, and `violations.detail`.
#[derive(Clone, Copy)]
struct Place<'a> {
    store: Store<'a>,
    detail: &'a str,
}

/// A running proxy with a database of its own.
struct Program {
    process: Process,
    address: Address,
    admin: Address,
}

impl Program {
    fn start(tools: &Tools, folder: &Path, place: Place<'_>, origin: Address) -> Result<Self> {
        let (address, admin) = (Address::free()?, Address::free()?);
        let database = tempfile::Builder::new().prefix("flood").tempdir_in(folder)?.keep();
        let own = database.display();
        let records = match place.store {
            Store::Sqlite => format!("database: {own}/beadle.db"),
            Store::ClickHouse(address) => format!(
                "database: \"{address}\", clickhouse: {{ local: {own}/beadle.db, spool: {own}/spool, \
                 spool_size: 8GiB }}"
            ),
        };
        let detail = place.detail;
        let text = format!(
            "server: {{ listen: [\"{address}\"], admin: \"{admin}\", trusted_proxies: [127.0.0.1] }}
violations: {{ {records}, detail: {detail} }}
sites:
  - hosts: [www.example.com]
    origin: http://{origin}
    robots_txt: {{ groups: [{{ user_agents: [\"*\"], disallow: [/private/] }}] }}
    enforcement: {{ mode: block }}
"
        );
        let beadle = program::BEADLE.as_ref();
        let process = program::serve(tools, "beadle", beadle, &database, &text)?;
        process.wait_until_it_listens(address)?;
        Ok(Self { process, address, admin })
    }

    /// The counts of records as soon as none is queued or in the spool.
    fn written(&self, ended: Instant) -> Result<[u64; 5]> {
        loop {
            let counts = self.counts()?;
            if counts[4] == 0 {
                return Ok(counts);
            }
            if ended.elapsed() > PATIENCE {
                return Err(format!("{} records are still queued", counts[4]).into());
            }
            thread::sleep(Duration::from_millis(100));
        }
    }

    /// The counts of records: seen, stored, folded, dropped, queued or in the spool.
    fn counts(&self) -> Result<[u64; 5]> {
        let mut stream = TcpStream::connect(self.admin.to_string())?;
        stream
            .write_all(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
        let mut text = String::new();
        stream.read_to_string(&mut text)?;
        let names = ["seen_total", "stored_total", "folded_total", "dropped_total", "queued"];
        let number = |name: &str| -> Result<u64> {
            let start = format!("beadle_records_{name} ");
            let value = text.lines().find_map(|line| line.strip_prefix(&start));
            Ok(value.ok_or("a metric is missing")?.parse::<f64>()? as u64)
        };
        let mut counts = [0; 5];
        for (count, name) in counts.iter_mut().zip(names) {
            *count = number(name)?;
        }
        let spool = text.lines().find_map(|line| line.strip_prefix("beadle_spool_records "));
        counts[4] += spool.map_or(Ok(0.0), str::parse)? as u64;
        Ok(counts)
    }
}

fn flood(wrk: &Wrk, program: &Program, crawler: Option<Kind>, time: Duration) -> Result<String> {
    // The crawler has no grace: the first edition is in force from its start on.
    let before = program.process.cpu_time()?;
    let person = PERSON.start(wrk, program.address, time)?;
    let crawler = crawler.map(|kind| kind.start(wrk, program.address, time)).transpose()?;
    let flood = crawler.map(Run::end).transpose()?;
    let person = person.end()?;
    let ended = Instant::now();
    let counts = program.written(ended)?;
    let written = ended.elapsed();
    let cpu = program.process.cpu_time()?.saturating_sub(before);
    let [seen, stored, folded, dropped, _] = counts;
    if seen != stored + folded + dropped || person.failures > 0 {
        let name = program.process.name();
        return Err(format!("{name}: {counts:?}, {} failures", person.failures).into());
    }
    Ok(row(flood.as_ref(), &person, cpu, counts, written))
}

fn row(
    flood: Option<&Load>,
    person: &Load,
    cpu: Duration,
    [seen, stored, folded, dropped, _]: [u64; 5],
    written: Duration,
) -> String {
    let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
    let others =
        format!("{:.2} | {:.2} |", milliseconds(person.median), milliseconds(person.percentile_99));
    match flood {
        None => format!("| | | | | | {others}"),
        Some(load) => format!(
            "**{:.0}** | {:.1} | {stored} | {folded} | {dropped} | {:.1} s | {others}",
            load.rate(),
            cpu.as_secs_f64() * 1e6 / seen.max(1) as f64,
            written.as_secs_f64(),
        ),
    }
}
