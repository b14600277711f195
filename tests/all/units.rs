//! The unit files in `config` are valid for systemd.

use std::{path::Path, process::Command};

use crate::support::{conditions::want, program::PROGRAM};

/// Verifies copies of the units: a unit names the program where it is installed, and these tests
/// install nothing.
#[test]
fn systemd_accepts_every_unit() {
    let config = Path::new(env!("CARGO_MANIFEST_DIR")).join("config");
    let folder = tempfile::tempdir().expect("a folder");
    let mut units = Vec::new();
    for entry in std::fs::read_dir(&config).expect("the folder is part of the project") {
        let path = entry.expect("readable").path();
        let kinds = ["service", "socket"];
        if path.extension().is_some_and(|end| kinds.iter().any(|kind| end == *kind)) {
            let text = std::fs::read_to_string(&path).expect("a unit is text");
            let text = text.replace("/usr/local/bin/beadle", PROGRAM);
            let copy = folder.path().join(path.file_name().expect("it has a name"));
            std::fs::write(&copy, text).expect("it is writable");
            units.push(copy);
        }
    }
    assert!(units.len() >= 2, "{units:?}");
    if want("systemd-analyze").is_none() {
        return;
    }
    let output = Command::new("systemd-analyze")
        .args(["verify", "--man=no"])
        .args(&units)
        .output()
        .expect("the program can be started");
    let errors = String::from_utf8_lossy(&output.stderr);
    let about_ours = |line: &&str| units.iter().any(|unit| line.contains(&*unit.to_string_lossy()));
    let faults: Vec<&str> = errors.lines().filter(about_ours).collect();
    assert!(output.status.success() && faults.is_empty(), "{errors}");
}
