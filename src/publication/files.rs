//! The files of the operator: the policy and its catalogue, read up to a size limit.

use std::{
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
};

use crate::{
    diagnostic::Diagnostic,
    policy::{self, Policy},
};

/// A policy file after reading.
#[derive(Debug)]
pub struct PolicyRead {
    /// The policy, unless a finding is an error.
    pub policy: Option<Policy>,
    /// All findings.
    pub findings: Vec<Diagnostic>,
    /// The catalogue file that the policy names, even if it is unreadable.
    pub catalogue_file: Option<PathBuf>,
}

/// Reads a policy and its catalogue.
///
/// # Errors
/// The policy file is unreadable.
pub fn read_policy(file: &Path) -> io::Result<PolicyRead> {
    read_policy_with(file, read_catalogue_file)
}

/// Reads a policy, and its catalogue with `open`.
///
/// # Errors
/// The policy file is unreadable.
pub fn read_policy_with(
    file: &Path,
    open: impl Fn(&Path) -> io::Result<Vec<u8>>,
) -> io::Result<PolicyRead> {
    let bytes = read_up_to(file, policy::MAX_BYTES)?;
    let mut catalogue_file = None;
    let mut open = |path: &Path| {
        catalogue_file = Some(path.to_owned());
        open(path)
    };
    let (policy, findings) = policy::read_with(&file.display().to_string(), &bytes, &mut open);
    Ok(PolicyRead { policy, findings, catalogue_file })
}

/// The bytes of a catalogue file, up to one byte beyond the limit.
///
/// # Errors
/// The file is unreadable.
pub fn read_catalogue_file(file: &Path) -> io::Result<Vec<u8>> {
    read_up_to(file, policy::MAX_CATALOGUE_BYTES)
}

/// The bytes of a file, up to one byte more than `most`.
fn read_up_to(file: &Path, most: usize) -> io::Result<Vec<u8>> {
    // Opening a named pipe would wait for a writer. A pipe that the shell passes is fine.
    let is_passed = ["/dev/fd/", "/dev/stdin", "/proc/self/fd/"]
        .iter()
        .any(|folder| file.as_os_str().as_encoded_bytes().starts_with(folder.as_bytes()));
    if !is_passed && !std::fs::metadata(file)?.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    let mut bytes = Vec::new();
    File::open(file)?.take(most as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
