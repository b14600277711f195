//! The desk on a large database: how long pages and commands take, and how large records are.
//!
//! `cargo bench --bench desk` uses 200,000 records; `BEADLE_DESK_RECORDS=10000000` sets another number.
//! The database is kept for further runs in `target/tmp`, or in the folder `BEADLE_DESK_FOLDER`. The real
//! program serves it.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a benchmark prints its table")]

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use jiff::{Timestamp, ToSpan};
use rusqlite::{Connection, OpenFlags};

use self::server::Server;

mod generate; // the database
mod model; // ninety days of a site
mod pages; // what is asked
mod server; // the program
mod size; // bytes

/// How often each page is asked.
const TIMES: u32 = 20;
/// How often each command is run.
const RUNS: usize = 5;
/// The time after which a database is generated anew: its ninety days end with its generation.
const AGE: Duration = Duration::from_secs(2 * 86_400);

pub(crate) type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Result<()> {
    // `cargo test --all-targets` starts benchmarks too, without this argument.
    if !std::env::args().any(|arg| arg == "--bench") {
        println!("skipped: start it with `cargo bench --bench desk`");
        return Ok(());
    }
    let records = std::env::var("BEADLE_DESK_RECORDS").ok();
    let records: u64 = records.map_or(Ok(200_000), |text| text.parse())?;
    let folder = std::env::var_os("BEADLE_DESK_FOLDER").map(PathBuf::from);
    let folder = folder.unwrap_or_else(|| Path::new(env!("CARGO_TARGET_TMPDIR")).join("desk"));
    let folder = folder.join(records.to_string());
    std::fs::create_dir_all(&folder)?;
    let database = folder.join("violations.db");
    let age = database.metadata().and_then(|found| found.modified()).ok();
    if age.and_then(|at| at.elapsed().ok()).is_none_or(|age| age > AGE) {
        let hour = 3_600_000;
        let end = (Timestamp::now().as_millisecond() / hour + 1) * hour;
        let start = Instant::now();
        generate::database(&database, records, end)?;
        println!("generated in {:.0} s", start.elapsed().as_secs_f64());
    }
    let server = Server::start(&folder, &database)?;
    let connection = Connection::open_with_flags(&database, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    wait_for_upkeep(&connection)?;
    // The program reads the counts into memory, and the first page waits for them.
    let first = server.get("/")?.time.as_secs_f64();
    println!("the counts were in memory {first:.1} s later\n");
    if std::env::args().all(|arg| arg != "--no-size") {
        size::print(&database, &connection)?;
    }
    let only = std::env::args().skip(1).find(|arg| !arg.starts_with("--"));
    let is_wanted = |name: &str| only.as_ref().is_none_or(|only| name.contains(only));
    print_pages(&server, &connection, is_wanted)?;
    print_commands(&server, is_wanted)
}

/// The writer summarises records a piece at a time, after the start.
fn wait_for_upkeep(connection: &Connection) -> Result<()> {
    let state = || {
        let sql = "SELECT count(*), coalesce(sum(records), 0) FROM record_blocks";
        connection.query_row(sql, [], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?)))
    };
    let start = Instant::now();
    let (mut last, mut changed) = (state()?, start);
    while changed.elapsed() < Duration::from_secs(4) {
        std::thread::sleep(Duration::from_millis(100));
        let now = state()?;
        if now != last {
            (last, changed) = (now, Instant::now());
        }
    }
    let (blocks, records) = last;
    let time = (changed - start).as_secs_f64();
    println!("after the start, {records} records were in {blocks} blocks within {time:.1} s\n");
    Ok(())
}

fn print_pages(
    server: &Server,
    connection: &Connection,
    is_wanted: impl Fn(&str) -> bool,
) -> Result<()> {
    let number = |sql| connection.query_row(sql, [], |row| row.get::<_, i64>(0));
    let last = number("SELECT max(sequence) FROM violations")?;
    let sql = "SELECT id FROM violations WHERE sequence <= ? ORDER BY sequence DESC LIMIT 1";
    let id: String = connection.query_row(sql, [last / 2], |row| row.get(0))?;
    let middle = (Timestamp::now() - 1080.hours()).strftime("%Y-%m-%d").to_string();
    println!("| page | rows | ms: median | worst | CPU | limit | |\n|---|---|---|---|---|---|---|");
    let mut skipped = Vec::new();
    for page in pages::all(&id, &middle, (last / 2).unsigned_abs()) {
        if !is_wanted(&page.path) {
            continue;
        }
        let first = server.get(&page.path)?;
        if first.status != 200 {
            skipped.push(format!("{} ({})", page.path, first.status));
            continue;
        }
        let mut times = vec![first.time];
        let used = server.cpu_time();
        // A page that takes too long by far says so once.
        let turns: u32 = if first.time > Duration::from_secs(3) { 2 } else { TIMES };
        for _ in 1..turns {
            times.push(server.get(&page.path)?.time);
        }
        let used = (server.cpu_time() - used).as_secs_f64() * 1e3 / f64::from(turns - 1);
        let (median, worst) = summary(&mut times);
        let mark = if worst > page.limit as f64 { "over" } else { "" };
        let rows = first.body.matches("<tr>").count();
        println!(
            "| `{}` | {rows} | **{median:.1}** | {worst:.1} | {used:.1} | {} | {mark} |",
            page.path, page.limit
        );
    }
    if !skipped.is_empty() {
        println!("\nnot there: {}", skipped.join(", "));
    }
    println!();
    Ok(())
}

fn print_commands(server: &Server, is_wanted: impl Fn(&str) -> bool) -> Result<()> {
    println!("| command | ms: median | worst |\n|---|---|---|");
    for command in pages::COMMANDS {
        if !is_wanted(command) {
            continue;
        }
        let mut times = Vec::new();
        for _ in 0..RUNS {
            let start = Instant::now();
            let mut beadle = server::beadle();
            beadle.args(command.split(' ')).arg("--config").arg(&server.policy);
            let output = beadle.output()?;
            times.push(start.elapsed());
            if !matches!(output.status.code(), Some(0 | 1)) {
                println!("{command}: {}", String::from_utf8_lossy(&output.stderr));
                break;
            }
            if start.elapsed() > Duration::from_secs(5) {
                break;
            }
        }
        let (median, worst) = summary(&mut times);
        println!("| `{command}` | **{median:.0}** | {worst:.0} |");
    }
    Ok(())
}

/// The median and the worst, in milliseconds.
fn summary(times: &mut [Duration]) -> (f64, f64) {
    times.sort_unstable();
    let milliseconds = |at: usize| times[at].as_secs_f64() * 1e3;
    (milliseconds(times.len() / 2), milliseconds(times.len() - 1))
}
