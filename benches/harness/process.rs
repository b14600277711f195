//! Child processes of the benchmark: start, measurement and end.

use std::{
    collections::HashMap,
    fmt,
    fs::{self, File},
    net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use super::{
    Result,
    machine::{Tools, ticks_to_time},
};

const PATIENCE: Duration = Duration::from_secs(10);

/// A port on loopback.
#[derive(Clone, Copy)]
pub(crate) struct Address(u16);

impl Address {
    /// A port without a listener.
    pub(crate) fn free() -> Result<Self> {
        Ok(Self(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port()))
    }

    pub(crate) fn socket(self) -> SocketAddr {
        SocketAddrV4::new(Ipv4Addr::LOCALHOST, self.0).into()
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.socket().fmt(f)
    }
}

/// A process of this benchmark; ends with it.
pub(crate) struct Process {
    child: Child,
    name: &'static str,
    log: PathBuf,
}

impl Process {
    /// Starts a program on the proxies' processor. Its output goes to a file.
    pub(crate) fn start(
        tools: &Tools,
        name: &'static str,
        program: &Path,
        args: &[&str],
        folder: &Path,
    ) -> Result<Self> {
        let log = folder.join(format!("{name}.log"));
        let mut command = tools.pinned(program);
        command.args(args).env_remove("BEADLE_LOG").env_remove("BEADLE_CONFIG");
        command
            .stdin(Stdio::null())
            .stdout(File::create(&log)?)
            .stderr(File::options().append(true).open(&log)?);
        let child = command.spawn().map_err(|error| format!("{}: {error}", program.display()))?;
        Ok(Self { child, name, log })
    }

    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    pub(crate) fn wait_until_it_listens(&self, address: Address) -> Result<()> {
        let deadline = Instant::now() + PATIENCE;
        while TcpStream::connect(address.socket()).is_err() {
            if Instant::now() > deadline {
                let output = fs::read_to_string(&self.log).unwrap_or_default();
                return Err(format!("{} does not listen on {address}:\n{output}", self.name).into());
            }
            thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    /// User and system time of the process, its children and their children, so far.
    pub(crate) fn cpu_time(&self) -> Result<Duration> {
        let all = Stat::all()?;
        let mut tree = vec![self.child.id()];
        let mut ticks = 0;
        while let Some(id) = tree.pop() {
            ticks += all.get(&id).map_or(0, |stat| stat.ticks);
            tree.extend(all.iter().filter(|(_, stat)| stat.parent == id).map(|(&id, _)| id));
        }
        Ok(ticks_to_time(ticks))
    }

    /// The resident memory of the process alone, in KiB.
    pub(crate) fn memory(&self) -> Result<u64> {
        memory(self.child.id())
    }

    /// The same with the processes that it started.
    pub(crate) fn memory_with_children(&self) -> Result<u64> {
        self.children()?.into_iter().try_fold(self.memory()?, |sum, child| Ok(sum + memory(child)?))
    }

    /// Sends SIGTERM and waits. Kills a process that does not end.
    pub(crate) fn stop(mut self) -> Result<()> {
        self.terminate();
        Ok(())
    }

    /// The same, with everything that the process printed.
    pub(crate) fn end(mut self) -> Result<String> {
        self.terminate();
        Ok(fs::read_to_string(&self.log)?)
    }

    /// Sends a signal, for example `HUP`.
    pub(crate) fn signal(&self, name: &str) -> Result<()> {
        signal(self.child.id(), name)
    }

    /// The processes that it started and that still run.
    pub(crate) fn children(&self) -> Result<Vec<u32>> {
        let all = Stat::all()?;
        Ok(all
            .iter()
            .filter(|(_, stat)| stat.parent == self.child.id())
            .map(|(&id, _)| id)
            .collect())
    }

    fn terminate(&mut self) {
        if !matches!(self.child.try_wait(), Ok(None)) {
            return;
        }
        // The standard library can only send SIGKILL, and nginx's worker would stay.
        let _ = signal(self.child.id(), "TERM");
        let deadline = Instant::now() + PATIENCE;
        while matches!(self.child.try_wait(), Ok(None)) {
            if Instant::now() > deadline {
                let _ = self.child.kill();
                let _ = self.child.wait();
                return;
            }
            thread::sleep(Duration::from_millis(10));
        }
    }
}

/// The resident memory of a process, in KiB.
fn memory(id: u32) -> Result<u64> {
    let status = fs::read_to_string(format!("/proc/{id}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|line| line.split_ascii_whitespace().next());
    Ok(number.ok_or("a process without memory")?.parse()?)
}

/// Sends a signal to a process that this benchmark started.
pub(crate) fn signal(id: u32, name: &str) -> Result<()> {
    let status =
        Command::new("sh").args(["-c", "kill -s \"$0\" \"$1\"", name, &id.to_string()]).status()?;
    if status.success() { Ok(()) } else { Err(format!("kill -s {name} {id}: {status}").into()) }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.terminate();
    }
}

/// The entry of one process in `/proc`.
struct Stat {
    parent: u32,
    ticks: u64,
}

impl Stat {
    fn all() -> Result<HashMap<u32, Self>> {
        let mut all = HashMap::new();
        for entry in fs::read_dir("/proc")? {
            let entry = entry?;
            let Some(id) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
                continue;
            };
            // A process may end while its line is read.
            let Ok(line) = fs::read_to_string(entry.path().join("stat")) else { continue };
            all.extend(Self::read(&line).map(|stat| (id, stat)));
        }
        Ok(all)
    }

    /// The fields after the name. The name is in brackets and may contain anything
    /// (proc_pid_stat(5)).
    fn read(line: &str) -> Option<Self> {
        let (_, fields) = line.rsplit_once(')')?;
        let fields: Vec<&str> = fields.split_ascii_whitespace().collect();
        let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
        let parent = fields.get(1)?.parse().ok()?;
        Some(Self { parent, ticks: number(11)? + number(12)? })
    }
}
