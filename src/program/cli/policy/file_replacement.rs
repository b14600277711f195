//! The policy file, replaced whole or not at all.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    os::unix::fs::{MetadataExt, OpenOptionsExt, fchown},
    path::Path,
    process,
};

/// Replaces the file, which has the bytes `known`. Its mode and owner stay.
///
/// # Errors
/// The file is a symbolic link or mounted, changed meanwhile, or can't be written. Then it stays as it
/// is.
pub(super) fn replace(file: &Path, known: &[u8], bytes: &[u8]) -> io::Result<()> {
    let found = fs::symlink_metadata(file)?;
    if !found.is_file() {
        return Err(io::Error::other("it is a symbolic link, or no regular file"));
    }
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.new", process::id()));
    let (new, folder) = (file.with_file_name(name), file.parent().unwrap_or_else(|| Path::new("")));
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let write = |mut to: File| {
        let own = to.metadata()?;
        if (own.uid(), own.gid()) != (found.uid(), found.gid()) {
            fchown(&to, Some(found.uid()), Some(found.gid()))?;
        }
        to.set_permissions(found.permissions())?;
        to.write_all(bytes)?;
        to.sync_all()?;
        if fs::read(file)? != known {
            return Err(io::Error::other("it changed meanwhile"));
        }
        // A mounted file is busy.
        fs::rename(&new, file)
    };
    let to = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new)?;
    if let Err(error) = write(to) {
        fs::remove_file(&new)?;
        return Err(error);
    }
    File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn a_file_is_replaced_with_its_mode_or_stays_as_it_is() {
        let folder = tempfile::tempdir().expect("a folder");
        let (file, link) = (folder.path().join("a.yaml"), folder.path().join("link.yaml"));
        fs::write(&file, "old").expect("written");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).expect("a mode");
        symlink(&file, &link).expect("a link");
        let text = || fs::read_to_string(&file).expect("text");
        let errors: Vec<String> = [(&link, "old"), (&file, "another")]
            .map(|(file, known)| replace(file, known.as_bytes(), b"new"))
            .map(|outcome| outcome.expect_err("refused").to_string())
            .into();
        assert!(errors[0].contains("symbolic link") && errors[1].contains("meanwhile"));
        assert_eq!(text(), "old");
        replace(&file, b"old", b"new").expect("replaced");
        let mode = fs::metadata(&file).expect("a file").permissions().mode();
        assert_eq!((text().as_str(), mode & 0o777), ("new", 0o640));
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 2, "nothing is left");
    }
}
