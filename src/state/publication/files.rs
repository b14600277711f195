//! The files of the operator: the policy and its catalogue, read up to a size limit.

use std::{
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
};

use crate::{
    base::{
        diagnostic::{Diagnostic, Severity},
        escape,
    },
    outside::remote,
    rules::policy::{self, OtherFile, Policy},
};

/// What a server may send is what a file may have.
const _: () = assert!(remote::MAX_BYTES == policy::MAX_BYTES, "one limit for all policies");

/// The code of the warning about a file that is in the working directory, not beside the policy.
pub const OLD_PLACE: &str = "policy.old_place";

/// A policy file after reading.
#[derive(Debug)]
pub struct PolicyRead {
    /// The policy, unless a finding is an error.
    pub policy: Option<Policy>,
    /// What could be read of a policy with errors.
    pub draft: Option<Policy>,
    pub(crate) findings: Vec<Diagnostic>,
    /// The catalogue file that the policy names, even if it is unreadable.
    pub catalogue_file: Option<PathBuf>,
    /// The bytes of the policy file; some more than its limit if it is too long.
    pub bytes: Vec<u8>,
}

impl PolicyRead {
    /// What stands against putting the policy in force after another one without a restart. `name` is
    /// that of the policy in findings.
    pub fn restart_findings(&self, in_force: &Policy, name: &str) -> Vec<Diagnostic> {
        let Some(next) = &self.policy else { return Vec::new() };
        let findings = policy::restart_findings(in_force, next, &self.bytes);
        findings.into_iter().map(|finding| finding.in_file(name)).collect()
    }
}

/// Reads a policy and its catalogue.
pub fn read_policy(file: &Path) -> io::Result<PolicyRead> {
    read_policy_with(file, read_catalogue_file)
}

/// Reads a policy, and its catalogue with `open`.
pub fn read_policy_with(
    file: &Path,
    open: impl Fn(&Path) -> io::Result<Vec<u8>>,
) -> io::Result<PolicyRead> {
    // A copy of a policy on a server has a line more, which says so.
    let bytes = read_file(file, policy::MAX_BYTES + remote::LONGEST_MARK)?;
    let shown = file.display().to_string();
    Ok(policy_of(file, &shown, remote::without_mark(bytes), open))
}

/// Reads a policy from its bytes, and its catalogue. Findings show `name`; relative names in the policy
/// start at the folder of `file`.
pub fn read_policy_bytes(file: &Path, name: &str, bytes: Vec<u8>) -> PolicyRead {
    policy_of(file, name, bytes, read_catalogue_file)
}

fn policy_of(
    file: &Path,
    shown: &str,
    bytes: Vec<u8>,
    open: impl Fn(&Path) -> io::Result<Vec<u8>>,
) -> PolicyRead {
    let mut catalogue_file = None;
    let mut open = |other: OtherFile, name: &Path| {
        let Place { path, .. } = Place::find(name, file);
        match other {
            OtherFile::Catalogue => open(catalogue_file.insert(path)),
            OtherFile::Followed => {
                read_file(&path, policy::MAX_CATALOGUE_BYTES).map(remote::without_mark)
            }
        }
    };
    let (mut policy, mut findings) = policy::read_draft(shown, &bytes, &mut open);
    for (key, name) in policy.iter_mut().flat_map(Policy::files_mut) {
        let Place { path, is_old } = Place::find(name, file);
        findings.extend(is_old.then(|| old_place(key, name, file).in_file(shown)));
        *name = path;
    }
    let is_refused = findings.iter().any(|one| one.severity == Severity::Error);
    let (policy, draft) = if is_refused { (None, policy) } else { (policy, None) };
    PolicyRead { policy, draft, findings, catalogue_file, bytes }
}

/// The bytes of a catalogue file, up to one byte beyond the limit.
pub fn read_catalogue_file(file: &Path) -> io::Result<Vec<u8>> {
    read_file(file, policy::MAX_CATALOGUE_BYTES)
}

/// The bytes of a file, up to one byte more than `most`.
pub fn read_file(file: &Path, most: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_file(file)?.take(most as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Opens a file to read it. Opening a named pipe would wait for a writer, and a device may have no
/// end. A pipe that the shell passes is fine.
///
/// # Errors
/// The file is unreadable or not regular.
pub fn open_file(file: &Path) -> io::Result<File> {
    if !is_passed(file) && !std::fs::metadata(file)?.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    File::open(file)
}

/// Whether the shell passes the file as an open one: `/dev/stdin`, or `<(…)`.
fn is_passed(file: &Path) -> bool {
    let name = file.as_os_str().as_encoded_bytes();
    let passed = ["/dev/fd/", "/dev/stdin", "/proc/self/fd/"];
    passed.iter().any(|folder| name.starts_with(folder.as_bytes()))
}

#[derive(Debug)]
struct Place {
    path: PathBuf,
    /// Whether it is in the working directory, where relative names once started.
    is_old: bool,
}

impl Place {
    /// The place of a file by its `name` in the policy `file`. A relative name starts at the folder
    /// of the policy; if there is a file in the working directory alone, that one counts.
    fn find(name: &Path, file: &Path) -> Self {
        let folder = file.parent().filter(|_| !is_passed(file)).unwrap_or_else(|| Path::new(""));
        let path = folder.join(name);
        let is_missing = |path: &Path| path.try_exists().is_ok_and(|is_there| !is_there);
        let is_old = path != name && is_missing(&path) && name.exists();
        Self { path: if is_old { name.to_owned() } else { path }, is_old }
    }
}

fn old_place(key: &str, name: &Path, file: &Path) -> Diagnostic {
    let place = file.parent().unwrap_or_else(|| Path::new("")).join(name);
    let message = format!(
        "{key}: '{}' is in the working directory, not beside the policy",
        escape::path(name)
    );
    let help = format!("move it to '{}', or write its absolute name", escape::path(&place));
    Diagnostic::warning(OLD_PLACE, message).help(help)
}
