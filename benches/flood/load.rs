//! The load: wrk, with or without pauses.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use crate::{Result, figures::Load, machine::Tools, process::Address};

/// The pause of a connection between a response and its next request, in milliseconds.
pub(crate) const PAUSE: u64 = 5;

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
    pub(crate) pace: Pace,
}

/// How fast requests come.
#[derive(Clone, Copy)]
pub(crate) enum Pace {
    /// Each connection sends the next request as soon as it has a response.
    Unbounded,
    /// Each of so many connections waits for [`PAUSE`] before its next request.
    Pauses(u64),
}

/// The load generator.
pub(crate) struct Wrk {
    tools: Tools,
    script: PathBuf,
}

/// A run in progress.
pub(crate) struct Run(Child);

impl Wrk {
    pub(crate) fn new(tools: &Tools, folder: &Path) -> Result<Self> {
        let script = folder.join("flood.lua");
        fs::write(&script, SCRIPT)?;
        Ok(Self { tools: tools.on_the_other_side(), script })
    }

    /// Starts to send requests of a kind for `time`.
    pub(crate) fn start(&self, address: Address, kind: Kind, time: Duration) -> Result<Run> {
        let (connections, pause) = match kind.pace {
            Pace::Pauses(connections) => (connections, PAUSE),
            Pace::Unbounded => (64, 0),
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
