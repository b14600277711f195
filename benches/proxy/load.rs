//! The loads: wrk over HTTP/1.1, h2load over HTTP/2.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use crate::{
    harness::{Result, figures::Load, machine::Tools, process::Address, wrk::Wrk},
    traffic,
};

/// The number of requests at the same time.
pub(crate) const CONNECTIONS: u64 = 64;
/// Over HTTP/2, these are streams of fewer connections.
pub(crate) const STREAMS: u64 = 4;

/// Fields that browsers send.
const FIELDS: [(&str, &str); 3] = [
    ("Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"),
    ("Accept-Language", "en-GB,en;q=0.7,de;q=0.3"),
    ("Accept-Encoding", "gzip, deflate, br"),
];

/// The script for wrk. It builds all requests before the measurement, each with a different client
/// address. Every response must have a status below 400.
const SCRIPT: &str = r#"
local requests, at = {}, 0
function init(args)
  wrk.headers["Host"] = args[1]
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
"#;

/// The script for requests of a crawler that are all refused, each for another path and from another
/// address.
const REFUSED: &str = r#"
local at = 0
function init(args)
  wrk.headers["Host"] = args[1]
  wrk.headers["User-Agent"] = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)"
end
function request()
  at = at + 1
  wrk.headers["X-Forwarded-For"] = string.format("66.249.%d.%d", at / 250 % 250, at % 250)
  return wrk.format("GET", "/archive/2012/" .. at % 5000)
end
"#;

/// The load generators with their requests.
pub(crate) struct Loads {
    tools: Tools,
    wrk: Wrk,
    refused: Wrk,
    folder: PathBuf,
    requests: String,
    /// h2load gives all its requests the same fields.
    browser: String,
}

impl Loads {
    pub(crate) fn new(tools: &Tools, folder: &Path, user_agents: &[String]) -> Result<Self> {
        let requests = folder.join("requests.tsv");
        fs::write(&requests, traffic::pairs(user_agents))?;
        let urls = traffic::TARGETS.map(|target| format!("https://{}{target}\n", traffic::HOST));
        fs::write(folder.join("urls"), urls.concat())?;
        let fields = FIELDS.map(|(name, value)| format!("wrk.headers[\"{name}\"] = \"{value}\"\n"));
        let script = format!("{}{SCRIPT}", fields.concat());
        Ok(Self {
            tools: tools.on_the_other_side(),
            wrk: Wrk::new(tools, folder, &script)?,
            refused: Wrk::new(tools, folder, &format!("{}{REFUSED}", fields.concat()))?,
            folder: folder.to_owned(),
            requests: requests.to_string_lossy().into_owned(),
            browser: user_agents.first().cloned().unwrap_or_default(),
        })
    }

    /// Sends requests over HTTP/1.1 for `time`, as fast as responses come.
    pub(crate) fn http_1(&self, scheme: &str, address: Address, time: Duration) -> Result<Load> {
        let url = format!("{scheme}://{address}");
        self.wrk.start(&url, CONNECTIONS, time, &[traffic::HOST, &self.requests])?.end()
    }

    /// Sends requests that are refused.
    pub(crate) fn refused(&self, address: Address, time: Duration) -> Result<Load> {
        let url = format!("http://{address}");
        self.refused.start(&url, CONNECTIONS, time, &[traffic::HOST])?.end()
    }

    /// Requests of the first kind over HTTP/2, all as one browser.
    pub(crate) fn http_2(&self, h2load: &Path, address: Address, time: Duration) -> Result<Load> {
        let log = self.folder.join("h2load.log");
        // h2load appends to a log that is there.
        let _ = fs::remove_file(&log);
        let mut command: Command = self.tools.pinned(h2load);
        command
            .args(["-t1", &format!("-c{}", CONNECTIONS / STREAMS), &format!("-m{STREAMS}")])
            .args([&format!("-D{}", time.as_secs()), &format!("--connect-to={address}"), "-i"])
            .arg(self.folder.join("urls"))
            .arg(format!("--log-file={}", log.display()))
            .arg(format!("-Huser-agent: {}", self.browser))
            .arg("-Hx-forwarded-for: 66.249.1.1");
        for (name, value) in FIELDS {
            command.arg(format!("-H{}: {value}", name.to_ascii_lowercase()));
        }
        let output = command.output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        Load::read_h2load(&text, &fs::read_to_string(&log)?, time).ok_or_else(|| {
            format!("h2load: {text}{}", String::from_utf8_lossy(&output.stderr)).into()
        })
    }
}
