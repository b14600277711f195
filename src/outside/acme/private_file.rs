//! Files for this user alone, written whole or not at all.

use std::{fs::DirBuilder, os::unix::fs::DirBuilderExt, path::Path};

use crate::base::{escape, whole_file};

/// Replaces a file. Missing folders are created. A reader sees the old content or the new one, even
/// after a power failure.
pub(super) fn write(file: &Path, content: &[u8]) -> Result<(), String> {
    let folder = file.parent().unwrap_or_else(|| Path::new("."));
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.and_then(|()| whole_file::replace(file, content, |_| Ok(())))
        .map_err(|error| format!("{}: {error}", escape::path(file)))
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt};

    use super::*;

    #[test]
    fn a_file_is_replaced_whole_and_for_this_user_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("a/b/account.json");
        for content in ["first", "second"] {
            write(&file, content.as_bytes()).expect("it can be written");
            assert_eq!(fs::read_to_string(&file).expect("a file"), content);
            // An attempt that was cut off.
            let name = format!("account.json.{}.new", std::process::id());
            fs::write(file.with_file_name(name), "half").expect("ours");
        }
        let mode =
            |path: &Path| fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
        assert_eq!(mode(&file), 0o600);
        assert_eq!(mode(&folder.path().join("a")), 0o700);
        assert_eq!(mode(&folder.path().join("a/b")), 0o700);
    }
}
