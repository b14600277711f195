//! The files of the operator: the policy and its catalogue, read up to a size limit.

use std::{
    fs::{self, File},
    io::{self, Read},
    os::unix::fs::{MetadataExt, fchown},
    path::{Path, PathBuf},
};

use crate::{
    base::{
        diagnostic::{Diagnostic, Severity},
        escape, whole_file,
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
    if !is_passed(file) && !fs::metadata(file)?.is_file() {
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

/// Writes `after` to a policy file that has the bytes `before`, in one step, with the mode and the owner of
/// the file. What is not plainly one file is left alone: a link, or a file that is mounted or has several
/// names, would become another file.
///
/// # Errors
/// A sentence: why the file is as it was.
pub fn rewrite(file: &Path, before: &[u8], after: &[u8]) -> Result<(), String> {
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::ResourceBusy | io::ErrorKind::CrossesDevices => {
            "it is mounted as a single file, so it can't be replaced in one step".to_owned()
        }
        _ => error.to_string(),
    };
    let old = fs::symlink_metadata(file).map_err(failed)?;
    if old.is_symlink() {
        return Err("it is a link to another file".to_owned());
    }
    if !old.is_file() || old.nlink() > 1 {
        return Err("it has several names, or is no file".to_owned());
    }
    let is_unchanged = || read_file(file, policy::MAX_BYTES).is_ok_and(|bytes| bytes == before);
    if !is_unchanged() {
        return Err("it was changed meanwhile".to_owned());
    }
    let prepare = |new: &File| {
        let made = new.metadata()?;
        if (made.uid(), made.gid()) != (old.uid(), old.gid()) {
            fchown(new, Some(old.uid()), Some(old.gid()))?;
        }
        new.set_permissions(old.permissions())
    };
    whole_file::replace(file, after, prepare).map_err(failed)
}

#[cfg(test)]
mod tests {
    use std::{fs::Permissions, os::unix::fs::PermissionsExt};

    use super::*;

    #[test]
    fn a_policy_file_is_replaced_with_its_mode_if_it_is_as_it_was() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("beadle.yaml");
        fs::write(&file, "old").expect("ours");
        fs::set_permissions(&file, Permissions::from_mode(0o640)).expect("ours");
        assert_eq!(rewrite(&file, b"other", b"new"), Err("it was changed meanwhile".to_owned()));
        assert_eq!(fs::read(&file).expect("a file"), b"old");
        assert_eq!(rewrite(&file, b"old", b"new"), Ok(()));
        assert_eq!(fs::read(&file).expect("a file"), b"new");
        assert_eq!(fs::metadata(&file).expect("a file").permissions().mode() & 0o777, 0o640);
        let names = || fs::read_dir(folder.path()).expect("a folder").count();
        assert_eq!(names(), 1);

        let link = folder.path().join("link.yaml");
        std::os::unix::fs::symlink(&file, &link).expect("ours");
        assert_eq!(rewrite(&link, b"new", b"x"), Err("it is a link to another file".to_owned()));
        fs::hard_link(&file, folder.path().join("second.yaml")).expect("ours");
        assert!(rewrite(&file, b"new", b"x").is_err_and(|why| why.contains("several names")));
        assert!(rewrite(folder.path(), b"", b"x").is_err());
        assert!(rewrite(&folder.path().join("none"), b"", b"x").is_err());
        assert_eq!((fs::read(&file).expect("a file"), names()), (b"new".to_vec(), 3));
    }
}
