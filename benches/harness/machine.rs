//! The machine: installed programs, their processors, and other load.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
    time::Duration,
};

use super::Result;

/// The unit of times in `/proc`, independent of the kernel's tick: `USER_HZ`.
const TICKS_PER_SECOND: u32 = 100;

/// The programs that the benchmark starts, and their processor.
#[derive(Clone)]
pub(crate) struct Tools {
    pub(crate) nginx: PathBuf,
    pub(crate) wrk: PathBuf,
    pub(crate) h2load: Option<PathBuf>,
    pub(crate) caddy: Option<PathBuf>,
    pub(crate) haproxy: Option<PathBuf>,
    taskset: Option<PathBuf>,
    processor: usize,
}

impl Tools {
    /// Finds the programs; the error is the name of a missing one.
    pub(crate) fn find() -> std::result::Result<Self, &'static str> {
        let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Ok(Self {
            nginx: program("nginx").ok_or("nginx")?,
            wrk: program("wrk").ok_or("wrk")?,
            h2load: program("h2load"),
            caddy: program("caddy"),
            haproxy: program("haproxy"),
            taskset: program("taskset").filter(|_| processors > 1),
            processor: 0,
        })
    }

    /// These tools for the origin and the load, on their own processor.
    pub(crate) fn on_the_other_side(&self) -> Self {
        Self { processor: 1, ..self.clone() }
    }

    /// These tools on all processors.
    pub(crate) fn everywhere(&self) -> Self {
        Self { taskset: None, ..self.clone() }
    }

    /// A program bound to its processor, if taskset is installed.
    pub(crate) fn pinned(&self, program: &Path) -> Command {
        let Some(taskset) = &self.taskset else { return Command::new(program) };
        let mut command = Command::new(taskset);
        // taskset replaces itself with the program, so the process id stays.
        command.args(["-c", &self.processor.to_string()]).arg(program);
        command
    }
}

/// Runs the benchmark `name` with its arguments, if it was asked for and the tools are there. Without
/// them it prints a message and exits with 0, or fails if `CI` is set.
pub(crate) fn run(
    name: &str,
    args: &[String],
    benchmark: impl FnOnce(&Tools) -> Result<()>,
) -> ExitCode {
    // `cargo test --all-targets` starts benchmarks too, without this argument.
    if !args.iter().any(|arg| arg == "--bench") {
        println!("skipped: start it with `cargo bench --bench {name}`");
        return ExitCode::SUCCESS;
    }
    let tools = match Tools::find() {
        Ok(tools) => tools,
        Err(missing) => {
            println!(
                "skipped: {missing} is not installed (sudo apt-get install --no-install-recommends wrk nginx-light)"
            );
            return if env::var_os("CI").is_some() { ExitCode::FAILURE } else { ExitCode::SUCCESS };
        }
    };
    match benchmark(&tools) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("failed: {error}");
            ExitCode::FAILURE
        }
    }
}

/// A program in the search path or in the folders for servers.
fn program(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = env::split_paths(&path).chain(["/usr/sbin".into(), "/usr/local/sbin".into()]);
    folders.map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// Prints the machine and the tools behind the figures.
pub(crate) fn describe(tools: &Tools) {
    let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or_default();
    let model = model.trim_start_matches(['\t', ' ', ':']);
    let processors = cpu.lines().filter(|line| line.starts_with("processor")).count();
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load: Vec<&str> = load.split(' ').take(3).collect();
    let nginx = Command::new(&tools.nginx).arg("-v").output();
    let nginx = nginx.map(|output| String::from_utf8_lossy(&output.stderr).trim().to_owned());
    println!(
        "{processors} processors ({model}), Linux {}, {}; load before the start: {}; {}",
        kernel.trim(),
        nginx.unwrap_or_default(),
        load.join(" "),
        if tools.taskset.is_some() {
            "proxies on processor 0, origin and wrk on 1"
        } else {
            "nothing is bound to a processor"
        }
    );
}

/// Ticks of the kernel's accounts as time.
pub(crate) fn ticks_to_time(ticks: u64) -> Duration {
    Duration::from_secs(ticks) / TICKS_PER_SECOND
}

/// The busy time of all processors so far.
pub(crate) fn busy() -> Result<Duration> {
    let stat = fs::read_to_string("/proc/stat")?;
    let fields = stat.lines().next().unwrap_or_default().split_ascii_whitespace().skip(1);
    let ticks: Vec<u64> = fields.filter_map(|field| field.parse().ok()).collect();
    // user nice system idle iowait irq softirq steal (proc_stat(5)); guests are in user already.
    let working = [0, 1, 2, 5, 6, 7].iter().filter_map(|&at: &usize| ticks.get(at)).sum();
    Ok(ticks_to_time(working))
}
