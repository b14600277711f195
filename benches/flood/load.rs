//! The load: wrk, at a stated rate.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use crate::{Result, machine::Tools, process::Address};

/// The pause of a connection between a response and its next request, in milliseconds.
const PAUSE: u64 = 5;

/// The script for wrk. Each request goes to another path and comes from another address; a status from 400 on is
/// an answer like any other.
const SCRIPT: &str = r#"
local at = 0
function init(args)
  wrk.headers["Host"] = "www.example.com"
  wrk.headers["User-Agent"] = args[1]
  path, pause = args[2], tonumber(args[3])
end
function request()
  at = at + 1
  wrk.headers["X-Forwarded-For"] = string.format("198.51.%d.%d", at / 250 % 250, at % 250)
  return wrk.format("GET", path .. at % 5000)
end
function delay()
  return pause
end
function done(summary, latency, _)
  local failed = summary.errors
  io.write(string.format("result %d %d %d %d %d\n", summary.requests, summary.duration,
    failed.connect + failed.read + failed.write + failed.timeout,
    latency:percentile(50), latency:percentile(99)))
end
"#;

/// One kind of requests.
#[derive(Clone, Copy)]
pub(crate) struct Kind {
    pub(crate) user_agent: &'static str,
    pub(crate) path: &'static str,
    /// Requests per second; `None` for as many as are answered.
    pub(crate) rate: Option<u64>,
}

/// The load generator.
pub(crate) struct Wrk {
    tools: Tools,
    script: PathBuf,
}

/// A run in progress.
pub(crate) struct Run(Child);

/// The counts of one run.
#[derive(Clone, Copy)]
pub(crate) struct Load {
    pub(crate) requests: u64,
    pub(crate) time: Duration,
    /// Failed connections, reads and writes.
    pub(crate) failures: u64,
    pub(crate) median: Duration,
    pub(crate) percentile_99: Duration,
}

impl Wrk {
    pub(crate) fn new(tools: &Tools, folder: &Path) -> Result<Self> {
        let script = folder.join("flood.lua");
        fs::write(&script, SCRIPT)?;
        Ok(Self { tools: tools.on_the_other_side(), script })
    }

    /// Starts to send requests of a kind for `time`.
    pub(crate) fn start(&self, address: Address, kind: Kind, time: Duration) -> Result<Run> {
        let (connections, pause) = match kind.rate {
            Some(rate) => ((rate * PAUSE / 1000).max(1), PAUSE),
            None => (64, 0),
        };
        let mut command: Command = self.tools.pinned(&self.tools.wrk);
        command
            .args(["-t1", &format!("-c{connections}"), &format!("-d{}s", time.as_secs())])
            .arg("-s")
            .arg(&self.script)
            .args([&format!("http://{address}"), "--", kind.user_agent, kind.path])
            .arg(pause.to_string())
            .stdout(Stdio::piped());
        Ok(Run(command.spawn()?))
    }
}

impl Run {
    /// Waits for the end.
    pub(crate) fn end(self) -> Result<Load> {
        let output = self.0.wait_with_output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        Load::read(&text).ok_or_else(|| format!("wrk: {text}").into())
    }
}

impl Load {
    fn read(text: &str) -> Option<Self> {
        let line = text.lines().find_map(|line| line.strip_prefix("result "))?;
        let mut numbers = line.split(' ').map_while(|number| number.parse::<u64>().ok());
        let mut next = || numbers.next();
        Some(Self {
            requests: next()?,
            time: Duration::from_micros(next()?),
            failures: next()?,
            median: Duration::from_micros(next()?),
            percentile_99: Duration::from_micros(next()?),
        })
    }

    /// Requests per second.
    pub(crate) fn rate(&self) -> f64 {
        self.requests as f64 / self.time.as_secs_f64()
    }
}
