//! The load: wrk with a script over all pairs of User-Agent and path.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use crate::{Result, figures::Load, machine::Tools, process::Address, traffic};

/// The number of concurrent connections.
const CONNECTIONS: u32 = 64;

/// The script for wrk. It builds all requests before the measurement, with a few fields of browsers
/// and a different client address each. Every response must have a status below 400.
const SCRIPT: &str = r#"
local requests, at = {}, 0
function init(args)
  wrk.headers["Host"] = args[1]
  wrk.headers["Accept"] = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
  wrk.headers["Accept-Language"] = "en-GB,en;q=0.7,de;q=0.3"
  wrk.headers["Accept-Encoding"] = "gzip, deflate, br"
  for line in io.lines(args[2]) do
    local path, user_agent = line:match("^(.-)\t(.*)$")
    wrk.headers["User-Agent"] = user_agent
    wrk.headers["X-Forwarded-For"] = string.format("66.249.%d.%d", #requests / 250 % 250, #requests % 250)
    requests[#requests + 1] = wrk.format("GET", path)
  end
end
function request()
  at = at % #requests + 1
  return requests[at]
end
function done(summary, latency, _)
  local failed = summary.errors
  io.write(string.format("result %d %d %d %d %d\n", summary.requests, summary.duration,
    failed.connect + failed.read + failed.write + failed.status + failed.timeout,
    latency:percentile(50), latency:percentile(99)))
end
"#;

/// The load generator.
pub(crate) struct Wrk {
    tools: Tools,
    script: PathBuf,
    requests: PathBuf,
}

impl Wrk {
    pub(crate) fn new(tools: &Tools, folder: &Path, user_agents: &[String]) -> Result<Self> {
        let targets = traffic::TARGETS;
        let pairs = (0..user_agents.len() * targets.len()).filter_map(|number| {
            let target = targets.get(number % targets.len())?;
            let user_agent = user_agents.get(number % user_agents.len())?;
            Some(format!("{target}\t{user_agent}\n"))
        });
        let (script, requests) = (folder.join("load.lua"), folder.join("requests.tsv"));
        fs::write(&script, SCRIPT)?;
        fs::write(&requests, pairs.collect::<String>())?;
        Ok(Self { tools: tools.on_the_other_side(), script, requests })
    }

    /// Sends requests for `time`, as fast as responses come.
    pub(crate) fn run(&self, address: Address, time: Duration) -> Result<Load> {
        let mut command = self.tools.pinned(&self.tools.wrk);
        command
            .args(["-t1", &format!("-c{CONNECTIONS}"), &format!("-d{}s", time.as_secs())])
            .arg("-s")
            .arg(&self.script)
            .args([&format!("http://{address}"), "--", traffic::HOST])
            .arg(&self.requests);
        let output = command.output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        Load::read(&text)
            .ok_or_else(|| format!("wrk: {text}{}", String::from_utf8_lossy(&output.stderr)).into())
    }
}
