//! Files as a zip, and back.
//!
//! A bundle comes from somebody else, so reading is bounded: the number of files, their sizes, how
//! far they are compressed, and their names. The comment of the zip has the hash of all octets
//! before it. So even a change that no file shows is found. A zip that was packed anew by other
//! means has no such comment; its files are checked all the same.

use std::{
    collections::BTreeSet,
    fmt,
    io::{Cursor, Read, Write},
};

use zip::{
    CompressionMethod, DateTime, ZipArchive, ZipWriter, result::ZipError, write::SimpleFileOptions,
};

use crate::escape;

use super::file::{self, File};

/// The most octets of a zip.
pub const MAX_ARCHIVE: usize = 256 << 20;
/// The most files in a zip.
const MAX_FILES: usize = 10_000;
/// The most octets of all files together.
const MAX_TOTAL: u64 = 512 << 20;
/// The most octets of a file for each octet in the zip, beyond a small size.
const MAX_RATIO: u64 = 300;
const SMALL: u64 = 1 << 20;
/// The longest name of a file.
const MAX_NAME: usize = 400;

/// The comment before the hash.
const COMMENT: &str = "beadle evidence bundle, sha256 of all before this hash: ";
const HASH_LENGTH: usize = 64;

/// The first octets of an entry in the list at the end of a zip.
const LISTED: [u8; 4] = *b"PK\x01\x02";

/// The reason why a zip is not read.
#[derive(Debug)]
pub enum Refusal {
    /// It is no zip file, or it is damaged.
    NoZip(String),
    /// It has more files than a bundle.
    TooManyFiles,
    /// Its files are larger than those of a bundle.
    TooLarge,
    /// This file is compressed further than any honest one.
    TooDense(String),
    /// A file has a name that leads out of the bundle, or no plain name.
    BadName(String),
    /// Two files have the same name, or share their octets.
    Ambiguous(String),
    /// This entry is no plain file: a folder, a link, or encrypted.
    NoFile(String),
}

/// What a zip contains.
#[derive(Debug)]
pub struct Unpacked {
    /// The files, in the order of their names.
    pub files: Vec<File>,
    /// The files that can't be unpacked.
    pub broken: Vec<String>,
    /// Whether the zip is exactly as it was written. `None` if other means packed it.
    pub is_sealed: Option<bool>,
}

/// A zip of these files: the same octets for the same files.
pub fn pack(files: &[File]) -> Vec<u8> {
    let written = || -> Result<Vec<u8>, ZipError> {
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .last_modified_time(DateTime::default())
            .unix_permissions(0o644);
        let mut sorted: Vec<&File> = files.iter().collect();
        sorted.sort();
        for (name, bytes) in sorted {
            zip.start_file(name.as_str(), options)?;
            zip.write_all(bytes)?;
        }
        zip.set_comment(format!("{COMMENT}{}", "0".repeat(HASH_LENGTH)))?;
        Ok(zip.finish()?.into_inner())
    };
    let mut bytes = written().expect("memory takes all, and files have different names");
    let end = bytes.len() - HASH_LENGTH;
    let (before, hash) = bytes.split_at_mut(end);
    hash.copy_from_slice(file::hash(before).as_bytes());
    bytes
}

/// The files of a zip.
///
/// # Errors
/// The reason why it is not read.
pub fn unpack(bytes: &[u8]) -> Result<Unpacked, Refusal> {
    if bytes.len() > MAX_ARCHIVE {
        return Err(Refusal::TooLarge);
    }
    // Before the list is read: each entry costs more memory than octets.
    if bytes.windows(LISTED.len()).filter(|four| *four == LISTED).count() > MAX_FILES {
        return Err(Refusal::TooManyFiles);
    }
    let refused = |error: ZipError| Refusal::NoZip(error.to_string());
    let mut zip = ZipArchive::new(Cursor::new(bytes)).map_err(refused)?;
    if zip.len() > MAX_FILES {
        return Err(Refusal::TooManyFiles);
    }
    if zip.offset() > 0 {
        return Err(Refusal::NoZip("other data stands before it".to_owned()));
    }
    let end = zip.comment().len();
    let is_end = bytes.len().checked_sub(end + 2).and_then(|at| bytes.get(at..at + 2));
    if is_end.map(|two| usize::from(two[0]) | usize::from(two[1]) << 8) != Some(end) {
        return Err(Refusal::NoZip("other data stands behind it".to_owned()));
    }
    let is_sealed = seal(bytes, zip.comment());
    if is_sealed.is_some() || zip.has_duplicate_names() {
        zip.validate_header_consistency().map_err(|error| Refusal::Ambiguous(error.to_string()))?;
    }
    if zip.has_overlapping_entries().map_err(refused)? {
        return Err(Refusal::Ambiguous("files share their octets".to_owned()));
    }
    let mut unpacked = Unpacked { files: Vec::new(), broken: Vec::new(), is_sealed };
    let (mut names, mut left) = (BTreeSet::new(), MAX_TOTAL);
    for number in 0..zip.len() {
        // Its size is a claim until it is unpacked.
        let entry = zip.by_index_raw(number).map_err(refused)?;
        let name = plain_name(entry.name_raw())?;
        if !names.insert(name.to_ascii_lowercase()) {
            return Err(Refusal::Ambiguous(format!("two files are called {name}")));
        }
        if !entry.is_file() || entry.is_symlink() || entry.encrypted() {
            return Err(Refusal::NoFile(name));
        }
        if !matches!(entry.compression(), CompressionMethod::Stored | CompressionMethod::Deflated) {
            return Err(Refusal::NoFile(name));
        }
        let most = entry.compressed_size().saturating_mul(MAX_RATIO).max(SMALL);
        drop(entry);
        let mut contents = Vec::new();
        let limit = most.min(left);
        let read = zip.by_index(number).map_err(|error| error.to_string()).and_then(|entry| {
            let read = entry.take(limit + 1).read_to_end(&mut contents);
            read.map_err(|error| error.to_string())
        });
        let length = contents.len() as u64;
        match read {
            Ok(_) if length > left => return Err(Refusal::TooLarge),
            Ok(_) if length > most => return Err(Refusal::TooDense(name)),
            Ok(_) => unpacked.files.push((name, contents)),
            Err(_) => unpacked.broken.push(name),
        }
        left -= length.min(left);
    }
    unpacked.files.sort();
    Ok(unpacked)
}

/// Whether the hash in the comment is that of all before it; `None` without a comment.
fn seal(bytes: &[u8], comment: &[u8]) -> Option<bool> {
    if comment.is_empty() {
        return None;
    }
    let (before, hash) = bytes.split_at_checked(bytes.len().checked_sub(HASH_LENGTH)?)?;
    let is_ours = comment.strip_suffix(hash) == Some(COMMENT.as_bytes());
    Some(is_ours && file::hash(before).as_bytes() == hash)
}

/// The name of a file in a bundle: printable ASCII of few kinds, relative, without `..`.
fn plain_name(raw: &[u8]) -> Result<String, Refusal> {
    let bad = || Refusal::BadName(escape::bounded(raw, 100));
    let name = std::str::from_utf8(raw).map_err(|_| bad())?;
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b".-_/".contains(&b);
    let is_part = |part: &str| !part.is_empty() && !part.bytes().all(|b| b == b'.');
    let is_good =
        name.len() <= MAX_NAME && name.bytes().all(is_plain) && name.split('/').all(is_part);
    if is_good { Ok(name.to_owned()) } else { Err(bad()) }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoZip(why) => {
                write!(f, "no readable zip file: {} (get the file again)", escape::shown(why))
            }
            Self::TooManyFiles => write!(f, "more than {MAX_FILES} files (this is no bundle)"),
            Self::TooLarge => {
                write!(f, "more than {} MiB of files (this is no bundle)", MAX_TOTAL >> 20)
            }
            Self::TooDense(name) => write!(
                f,
                "'{name}' is compressed more than {MAX_RATIO} times (this is no bundle, but an \
                 attack)"
            ),
            Self::BadName(name) => {
                write!(f, "'{name}' is no name of a file in a bundle (this is no bundle)")
            }
            Self::Ambiguous(why) => {
                write!(f, "it can be read in two ways: {} (get the file again)", escape::shown(why))
            }
            Self::NoFile(name) => {
                write!(f, "'{name}' is no plain file, stored or deflated (this is no bundle)")
            }
        }
    }
}
