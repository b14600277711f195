//! The load: wrk, with or without pauses.

use std::time::Duration;

use crate::harness::{
    Result,
    process::Address,
    wrk::{Run, Wrk},
};

/// The pause of a connection between a response and its next request, in milliseconds.
pub(crate) const PAUSE: u64 = 5;

/// The script for wrk. Each request goes to another path and comes from another address; a status from 400 on is
/// an answer like any other.
pub(crate) const SCRIPT: &str = r#"
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

impl Kind {
    /// Starts to send requests of this kind for `time`.
    pub(crate) fn start(self, wrk: &Wrk, address: Address, time: Duration) -> Result<Run> {
        let (connections, pause) = match self.pace {
            Pace::Pauses(connections) => (connections, PAUSE),
            Pace::Unbounded => (64, 0),
        };
        let args = [self.user_agent, self.path, &pause.to_string()];
        wrk.start(&format!("http://{address}"), connections, time, &args)
    }
}
