//! Files for this user alone, written whole or not at all.

use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::Path,
};

/// Replaces a file. Missing folders are created. A reader sees the old content or the new one, even
/// after a power failure.
pub(super) fn write(file: &Path, content: &[u8]) -> io::Result<()> {
    let folder = file.parent().unwrap_or_else(|| Path::new("."));
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(".new");
    let new = file.with_file_name(name);
    // The rest of an earlier attempt may have another mode.
    match fs::remove_file(&new) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut written = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new)?;
    written.write_all(content)?;
    written.sync_all()?;
    fs::rename(&new, file)?;
    File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_file_is_replaced_whole_and_for_this_user_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("a/b/account.json");
        for content in ["first", "second"] {
            write(&file, content.as_bytes()).expect("it can be written");
            assert_eq!(fs::read_to_string(&file).expect("a file"), content);
            // An attempt that was cut off.
            fs::write(file.with_file_name("account.json.new"), "half").expect("ours");
        }
        let mode =
            |path: &Path| fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
        assert_eq!(mode(&file), 0o600);
        assert_eq!(mode(&folder.path().join("a")), 0o700);
        assert_eq!(mode(&folder.path().join("a/b")), 0o700);
    }
}
