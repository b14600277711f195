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
    let found = find(program);
    if found.is_none() {
        skip(&format!("{program} is not installed"));
    }
    found
}

/// The path of a program that only the full size demands; `None` if it is not installed and this
/// part of the test is to be skipped.
pub(crate) fn want(program: &str) -> Option<PathBuf> {
    let found = find(program);
    if found.is_none() {
        do_without(program);
    }
    found
}

/// Says that a part of a test is skipped without this; fails at full size.
pub(crate) fn do_without(what: &str) {
    assert!(!is_full_size(), "{what} is not installed, and BEADLE_FULL is set");
    say_skipped(&format!("{what} is not installed"));
}

/// The folder with the programs of tests that no system's packages have: a virtual environment of
/// Python in `venv`, modules of Node in `node_modules`.
pub(crate) fn origins_folder() -> Option<PathBuf> {
    std::env::var_os("BEADLE_ORIGINS").map(PathBuf::from)
}

fn find(program: &str) -> Option<PathBuf> {
    // Debian keeps servers in folders that are not on every user's PATH.
    let path = std::env::var_os("PATH").unwrap_or_default();
    let own = origins_folder().map(|folder| folder.join("venv/bin"));
    let folders = own.into_iter().chain(std::env::split_paths(&path));
    let folders = folders.chain(["/usr/sbin".into(), "/sbin".into()]);
    folders.map(|folder| folder.join(program)).find(|file| file.is_file())
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
pub(crate) fn skip(reason: &str) {
    assert!(std::env::var_os("CI").is_none(), "{reason}, and CI is set");
    say_skipped(reason);
}

fn say_skipped(reason: &str) {
    let test = std::thread::current().name().unwrap_or("a test").to_owned();
    // Not by a macro: the test runner keeps back what those print in a test that passes.
    let _ = writeln!(std::io::stderr(), "SKIPPED {test}: {reason}");
}
