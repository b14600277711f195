//! Files with secrets of the operator.

use std::{
    fs::{self, File},
    io::{self, Read},
    os::unix::fs::MetadataExt,
    path::Path,
};

use crate::base::diagnostic::Diagnostic;

/// The largest secret, in octets.
const MOST: u64 = 4 << 10;
/// The mode bits that let every user of the machine read a file.
const WORLD: u32 = 0o004;

/// The secret in a file. `what` makes a finding of a fault and its repair.
///
/// # Errors
/// The file can't be read, or every user can read it.
pub fn secret(
    file: &Path,
    help: &str,
    what: impl Fn(&str, &str) -> Diagnostic,
) -> Result<Vec<u8>, Diagnostic> {
    let (bytes, mode) = read(file, MOST).map_err(|error| what(&error.to_string(), help))?;
    if mode & WORLD != 0 {
        let help = format!("chmod o= '{}'", file.display());
        return Err(what("every user of this machine can read it", &help));
    }
    Ok(bytes)
}

/// The password in a file, without the line end. `what` makes a finding of a fault and its repair.
///
/// # Errors
/// The file can't be read, every user can read it, or it has no password.
pub fn password(
    file: &Path,
    what: impl Fn(&str, &str) -> Diagnostic,
) -> Result<String, Diagnostic> {
    let help = "write the password into this file, or name another";
    let bytes = secret(file, help, &what)?;
    let text = String::from_utf8(bytes).map_err(|_| what("not UTF-8", help))?;
    let text = text.trim_end_matches(['\r', '\n']);
    if text.is_empty() { Err(what("it is empty", help)) } else { Ok(text.to_owned()) }
}

/// The bytes of a regular file, and its mode.
///
/// # Errors
/// It can't be read, or is larger than `most` octets.
pub fn read(file: &Path, most: u64) -> io::Result<(Vec<u8>, u32)> {
    // Opening a named pipe would wait for a writer, and a device may have no end.
    if !fs::metadata(file)?.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    let file = File::open(file)?;
    let mode = file.metadata()?.mode();
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::other(format!("larger than {} KiB", most >> 10)));
    }
    Ok((bytes, mode))
}
