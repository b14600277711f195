//! The files that an operator names, read whole up to a limit: the policy and its catalogue.

use std::{
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
};

use crate::{
    diagnostic::Diagnostic,
    policy::{self, Policy},
};

/// What came of reading a policy file.
#[derive(Debug)]
pub struct PolicyRead {
    /// The policy, where no finding is an error.
    pub policy: Option<Policy>,
    /// All that is to say about it.
    pub findings: Vec<Diagnostic>,
    /// The catalogue file that the policy names, even where that one could not be read.
    pub catalogue_file: Option<PathBuf>,
}

/// Reads a policy and the catalogue that it names.
///
/// # Errors
/// Where the policy file can't be read.
pub fn read_policy(file: &Path) -> io::Result<PolicyRead> {
    read_policy_with(file, read_catalogue_file)
}

/// Reads a policy; the catalogue that it names is what `open` gives.
///
/// # Errors
/// Where the policy file can't be read.
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

/// The bytes of a catalogue file; of one that is larger than a catalogue may be, just enough to
/// tell.
///
/// # Errors
/// Where it can't be read.
pub fn read_catalogue_file(file: &Path) -> io::Result<Vec<u8>> {
    read_up_to(file, policy::MAX_CATALOGUE_BYTES)
}

/// The bytes of a file; of one that is larger, one more than `most`.
fn read_up_to(file: &Path, most: usize) -> io::Result<Vec<u8>> {
    // Opening a named pipe would wait for somebody to write; one that the shell hands over is fine.
    let is_handed_over = ["/dev/fd/", "/dev/stdin", "/proc/self/fd/"]
        .iter()
        .any(|folder| file.as_os_str().as_encoded_bytes().starts_with(folder.as_bytes()));
    if !is_handed_over && !std::fs::metadata(file)?.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    let mut bytes = Vec::new();
    File::open(file)?.take(most as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
