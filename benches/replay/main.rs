//! `beadle replay` on a large log: lines a second and core, memory, beside GoAccess on the same file.
//!
//! `cargo bench --bench replay` uses a log of 512 MiB; `BEADLE_REPLAY_MIB=5000` sets another size. The log is
//! kept for further runs in `target/tmp`, or in the folder `BEADLE_REPLAY_FOLDER`. GoAccess is left out
//! where it isn't installed.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

#[expect(dead_code, reason = "the traffic of requests mixes them in another way")]
#[path = "../traffic/user_agents.rs"]
mod user_agents;

mod generate; // the log and the policy
mod run; // one program on the log

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use self::run::{Cost, measured};

pub(crate) type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// The program under test.
const BEADLE: &str = env!("CARGO_BIN_EXE_beadle");

fn main() -> Result<()> {
    // `cargo test --all-targets` starts benchmarks too, without this argument.
    if !std::env::args().any(|arg| arg == "--bench") {
        println!("skipped: start it with `cargo bench --bench replay`");
        return Ok(());
    }
    let size = std::env::var("BEADLE_REPLAY_MIB").ok();
    let size: u64 = size.map_or(Ok(512), |text| text.parse())?;
    let folder = std::env::var_os("BEADLE_REPLAY_FOLDER").map(PathBuf::from);
    let folder = folder.unwrap_or_else(|| Path::new(env!("CARGO_TARGET_TMPDIR")).join("replay"));
    fs::create_dir_all(&folder)?;
    let policy = folder.join("beadle.yaml");
    fs::write(&policy, generate::policy())?;
    let log = folder.join(format!("access.{size}.log"));
    if !log.exists() {
        generate::log(&log, size << 20)?;
    }
    let lines = generate::lines(&log)?;
    let gzip = compressed(&log, "gz", Command::new("gzip").args(["-1", "-c"]).arg(&log))?;
    let zstd = compressed(&log, "zst", Command::new("zstd").args(["-1", "-q", "-c"]).arg(&log))?;
    let bytes = log.metadata()?.len();
    println!("{lines} lines, {} MiB; {} rules\n", bytes >> 20, generate::RULES);
    println!("| program | CPU s | s | lines/s and core | MiB of memory |\n|---|---|---|---|---|");
    let replay = |log: &Path, more: &[&str]| {
        let mut command = Command::new(BEADLE);
        command.args(["replay", "--format", "json", "--config"]).arg(&policy).args(more).arg(log);
        measured(&mut command)
    };
    let plain = replay(&log, &[])?;
    row("Beadle", lines, &plain);
    row("Beadle, one thread that parses", lines, &replay(&log, &["--threads", "1"])?);
    if let Some(log) = gzip {
        row("Beadle, gzip", lines, &replay(&log, &[])?);
    }
    if let Some(log) = zstd {
        row("Beadle, zstd", lines, &replay(&log, &[])?);
    }
    let mut goaccess = Command::new("goaccess");
    let output = folder.join("goaccess.json");
    goaccess.args(["--log-format=COMBINED", "--no-progress", "-o"]).arg(&output).arg(&log);
    match measured(&mut goaccess) {
        Ok(cost) => {
            row("GoAccess", lines, &cost);
            let (cpu, wall) = (cost.cpu / plain.cpu, cost.wall / plain.wall);
            println!("\nGoAccess takes {cpu:.1} times the CPU time and {wall:.1} times the time");
        }
        Err(error) => println!("\nGoAccess did not run: {error}"),
    }
    Ok(())
}

fn row(name: &str, lines: u64, Cost { cpu, wall, memory }: &Cost) {
    let rate = lines as f64 / cpu;
    println!("| {name} | {cpu:.2} | {wall:.2} | **{rate:.0}** | {} |", memory >> 10);
}

/// The log, compressed by a program; `None` without it.
fn compressed(log: &Path, ending: &str, command: &mut Command) -> Result<Option<PathBuf>> {
    let name = format!("{}.{ending}", log.display());
    let file = PathBuf::from(name);
    if !file.exists() {
        let Ok(status) = command.stdout(fs::File::create(&file)?).status() else {
            fs::remove_file(&file)?;
            return Ok(None);
        };
        if !status.success() {
            return Err("the log can't be compressed".into());
        }
    }
    Ok(Some(file))
}
