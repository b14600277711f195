//! The load of wrk with a script, which says what is asked.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use super::{Result, figures::Load, machine::Tools};

/// Ends each script: what went wrong and how long it took, as [`Load::read`] reads it.
const FIGURES: &str = r#"
function done(summary, latency, _)
  local failed = summary.errors
  io.write(string.format("result %d %d %d %d %d %d\n", summary.requests, summary.duration,
    failed.connect + failed.read + failed.write + failed.timeout, failed.status,
    latency:percentile(50), latency:percentile(99)))
end
"#;

/// wrk with one script, on the processor of the load.
pub(crate) struct Wrk {
    tools: Tools,
    script: PathBuf,
}

/// A run in progress.
pub(crate) struct Run(Child);

impl Wrk {
    /// wrk with the functions `init`, `request` and others in Lua, kept in a new file of the folder.
    pub(crate) fn new(tools: &Tools, folder: &Path, script: &str) -> Result<Self> {
        let file = tempfile::Builder::new().suffix(".lua").tempfile_in(folder)?;
        let (_, path) = file.keep()?;
        fs::write(&path, format!("{script}{FIGURES}"))?;
        Ok(Self { tools: tools.on_the_other_side(), script: path })
    }

    /// Starts to send requests for `time` over so many connections. The script gets the arguments.
    pub(crate) fn start(
        &self,
        url: &str,
        connections: u64,
        time: Duration,
        args: &[&str],
    ) -> Result<Run> {
        let mut command: Command = self.tools.pinned(&self.tools.wrk);
        command
            .args(["-t1", &format!("-c{connections}"), &format!("-d{}s", time.as_secs()), "-s"])
            .arg(&self.script)
            .args([url, "--"])
            .args(args)
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
