//! Files that are replaced whole or not at all.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::Path,
};

/// Replaces a file in one step: a reader sees the old content or the new one, even after a power failure.
/// The new file is for this user alone, unless `prepare` changes that before the step.
///
/// # Errors
/// The file can't be written. The old one stays.
pub fn replace(
    file: &Path,
    bytes: &[u8],
    prepare: impl FnOnce(&File) -> io::Result<()>,
) -> io::Result<()> {
    let mut name = file.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_owned();
    name.push(format!(".{}.new", std::process::id()));
    let new = file.with_file_name(name);
    // What an attempt left that was cut off may have another mode.
    match fs::remove_file(&new) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let open = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new);
    let written = open
        .and_then(|mut written| {
            prepare(&written)?;
            written.write_all(bytes)?;
            written.sync_all()
        })
        .and_then(|()| fs::rename(&new, file));
    if written.is_err() {
        // The new file may not exist.
        let _ = fs::remove_file(&new);
        return written;
    }
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or_else(|| Path::new(".")))?.sync_all()
}
