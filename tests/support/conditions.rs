//! The conditions that a test runs under: other programs, conformance data, its size.
//!
//! A test is skipped without the programs and the data that it needs, and standard error says so.
//! Under `CI` it fails.

use std::{
    io::Write,
    path::{Path, PathBuf},
};

/// The path of a program; `None` if it is not installed and the test is to be skipped.
pub(crate) fn need(program: &str) -> Option<PathBuf> {
    // Debian keeps servers in folders that are not on every user's PATH.
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin".into(), "/sbin".into()]);
    let found = folders.map(|folder| folder.join(program)).find(|file| file.is_file());
    if found.is_none() {
        skip(&format!("{program} is not installed"));
    }
    found
}

/// A file or folder of the conformance data; `None` if there is none and the test is to be
/// skipped.
pub(crate) fn need_data(path: &str) -> Option<PathBuf> {
    let Some(folder) = std::env::var_os("BEADLE_DATA") else {
        skip("BEADLE_DATA names no folder with conformance data");
        return None;
    };
    Some(Path::new(&folder).join(path))
}

/// Whether tests run at full size (`.ci/long`), and not at the size for everyday.
pub(crate) fn is_full_size() -> bool {
    std::env::var_os("BEADLE_FULL").is_some()
}

/// Says why a test is skipped; fails under `CI`.
fn skip(reason: &str) {
    assert!(std::env::var_os("CI").is_none(), "{reason}, and CI is set");
    let test = std::thread::current().name().unwrap_or("a test").to_owned();
    // Not by a macro: the test runner keeps back what those print in a test that passes.
    let _ = writeln!(std::io::stderr(), "SKIPPED {test}: {reason}");
}
