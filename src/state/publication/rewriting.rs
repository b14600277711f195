//! The policy file written again by Beadle, for an operator who changes it by a verb or on the desk.

use std::{
    fs, io,
    os::unix::fs::{MetadataExt, fchown},
    path::Path,
};

use crate::base::whole_file;

use super::files::read_file;
use crate::rules::policy::MAX_BYTES;

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
    let is_unchanged = || read_file(file, MAX_BYTES).is_ok_and(|bytes| bytes == before);
    if !is_unchanged() {
        return Err("it was changed meanwhile".to_owned());
    }
    let prepare = |new: &fs::File| {
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
