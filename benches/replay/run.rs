//! One program, with its CPU time and its memory.

use std::{
    fs,
    process::{Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use crate::Result;

/// The cost of a run.
pub(crate) struct Cost {
    /// User and system time, in seconds.
    pub(crate) cpu: f64,
    /// In seconds.
    pub(crate) wall: f64,
    /// The most memory, in KiB.
    pub(crate) memory: u64,
}

/// Runs a program to its end.
pub(crate) fn measured(command: &mut Command) -> Result<Cost> {
    /// The unit of times in /proc (`getconf CLK_TCK`).
    const TICKS: f64 = 100.0;
    let start = Instant::now();
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let id = child.id();
    let (mut ticks, mut memory) = (0_u64, 0_u64);
    // Until the process is waited for, its last figures can be read.
    loop {
        let stat = fs::read_to_string(format!("/proc/{id}/stat"))?;
        let fields: Vec<&str> = stat.rsplit(") ").next().unwrap_or("").split(' ').collect();
        let number = |at: usize| fields.get(at).and_then(|text| text.parse().ok()).unwrap_or(0);
        ticks = ticks.max(number(11) + number(12));
        let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let peak = peak.and_then(|text| text.trim().trim_end_matches(" kB").parse().ok());
        memory = memory.max(peak.unwrap_or(0));
        if fields.first() == Some(&"Z") {
            break;
        }
        sleep(Duration::from_millis(5));
    }
    let wall = start.elapsed().as_secs_f64();
    let status = child.wait()?;
    if !status.success() {
        return Err(format!("{:?} ended with {status}", command.get_program()).into());
    }
    Ok(Cost { cpu: ticks as f64 / TICKS, wall, memory })
}
