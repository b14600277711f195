//! Beadle with a policy.

use std::{fs, path::Path};

use super::{Result, machine::Tools, process::Process};

/// The program that was built with the benchmark.
pub(crate) const BEADLE: &str = env!("CARGO_BIN_EXE_beadle");

/// Starts a program with this policy, which becomes a file of the folder.
pub(crate) fn serve(
    tools: &Tools,
    name: &'static str,
    program: &Path,
    folder: &Path,
    policy: &str,
) -> Result<Process> {
    let file = folder.join(format!("{name}.yaml"));
    fs::write(&file, policy)?;
    let serve = ["serve", "--config", &file.to_string_lossy()];
    Process::start(tools, name, program, &serve, folder)
}
