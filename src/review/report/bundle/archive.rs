//! Files as a zip, and back.
//!
//! A bundle comes from somebody else, so reading is bounded: the number of files, their sizes, how
//! far they are compressed, and their names. The comment of the zip has the hash of all octets
//! before it. So even a change that no file shows is found. A zip that was packed anew by other
//! means has no such comment; its files are checked all the same.

use std::{
    collections::BTreeSet,
    io::{Cursor, Read, Write},
};

use zip::{
    CompressionMethod, DateTime, ZipArchive, ZipWriter, result::ZipError, write::SimpleFileOptions,
};

use crate::base::escape::{bounded, shown};

use super::file::{self, File};

pub(crate) const MAX_ARCHIVE: usize = 256 << 20;
const MAX_FILES: usize = 10_000;
/// The most octets of all files together.
const MAX_TOTAL: u64 = 512 << 20;
/// The most octets of a file for each octet in the zip, beyond a small size.
const MAX_RATIO: u64 = 300;
const SMALL: u64 = 1 << 20;
const MAX_NAME: usize = 400;

/// The comment before the hash.
const COMMENT: &str = "beadle evidence bundle, sha256 of all before this hash: ";
const HASH_LENGTH: usize = 64;

/// The first octets of an entry in the list at the end of a zip.
const LISTED: [u8; 4] = *b"PK\x01\x02";

#[derive(Debug)]
pub(crate) struct Unpacked {
    /// The files, in the order of their names.
    pub(crate) files: Vec<File>,
    /// The files that can't be unpacked.
    pub(crate) broken: Vec<String>,
    /// Whether the zip is exactly as it was written. `None` if other means packed it.
    pub(crate) is_sealed: Option<bool>,
}

/// A zip of these files: the same octets for the same files.
pub(crate) fn pack(files: &[File]) -> Vec<u8> {
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

/// The files of a zip, or the reason why it is not read.
pub(crate) fn unpack(bytes: &[u8]) -> Result<Unpacked, String> {
    let too_large = || format!("more than {} MiB of files (this is no bundle)", MAX_TOTAL >> 20);
    let too_many = || format!("more than {MAX_FILES} files (this is no bundle)");
    let no_zip = |why: &str| format!("no readable zip file: {} (get the file again)", shown(why));
    let ambiguous =
        |why: &str| format!("it can be read in two ways: {} (get the file again)", shown(why));
    if bytes.len() > MAX_ARCHIVE {
        return Err(too_large());
    }
    // Before the list is read: each entry costs more memory than octets.
    if bytes.windows(LISTED.len()).filter(|four| *four == LISTED).count() > MAX_FILES {
        return Err(too_many());
    }
    let refused = |error: ZipError| no_zip(&error.to_string());
    let mut zip = ZipArchive::new(Cursor::new(bytes)).map_err(refused)?;
    if zip.len() > MAX_FILES {
        return Err(too_many());
    }
    if zip.offset() > 0 {
        return Err(no_zip("other data stands before it"));
    }
    let end = zip.comment().len();
    let is_end = bytes.len().checked_sub(end + 2).and_then(|at| bytes.get(at..at + 2));
    if is_end.map(|two| usize::from(two[0]) | usize::from(two[1]) << 8) != Some(end) {
        return Err(no_zip("other data stands behind it"));
    }
    let is_sealed = seal(bytes, zip.comment());
    if is_sealed.is_some() || zip.has_duplicate_names() {
        zip.validate_header_consistency().map_err(|error| ambiguous(&error.to_string()))?;
    }
    if zip.has_overlapping_entries().map_err(refused)? {
        return Err(ambiguous("files share their octets"));
    }
    let mut unpacked = Unpacked { files: Vec::new(), broken: Vec::new(), is_sealed };
    let (mut names, mut left) = (BTreeSet::new(), MAX_TOTAL);
    for number in 0..zip.len() {
        let entry = zip.by_index_raw(number).map_err(refused)?;
        let name = plain_name(entry.name_raw())?;
        if !names.insert(name.to_ascii_lowercase()) {
            return Err(ambiguous(&format!("two files are called {name}")));
        }
        let is_read =
            matches!(entry.compression(), CompressionMethod::Stored | CompressionMethod::Deflated);
        if !entry.is_file() || entry.is_symlink() || entry.encrypted() || !is_read {
            return Err(format!(
                "'{name}' is no plain file, stored or deflated (this is no bundle)"
            ));
        }
        // A claim, which is refused before it takes memory. What has another size is broken.
        let (size, packed) = (entry.size(), entry.compressed_size());
        drop(entry);
        if size > packed.saturating_mul(MAX_RATIO).max(SMALL) {
            return Err(format!(
                "'{name}' is compressed more than {MAX_RATIO} times (this is no bundle, but an \
                 attack)"
            ));
        }
        left = left.checked_sub(size).ok_or_else(too_large)?;
        let mut contents = Vec::new();
        let entry = zip.by_index(number).ok();
        let read = entry.and_then(|entry| entry.take(size + 1).read_to_end(&mut contents).ok());
        match read.map(|length| length as u64) {
            Some(length) if length == size => unpacked.files.push((name, contents)),
            _ => unpacked.broken.push(name),
        }
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
fn plain_name(raw: &[u8]) -> Result<String, String> {
    let bad = || {
        let name = bounded(raw, 100);
        format!("'{name}' is no name of a file in a bundle (this is no bundle)")
    };
    let name = std::str::from_utf8(raw).map_err(|_| bad())?;
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b".-_/".contains(&b);
    let is_part = |part: &str| !part.is_empty() && !part.bytes().all(|b| b == b'.');
    let is_good =
        name.len() <= MAX_NAME && name.bytes().all(is_plain) && name.split('/').all(is_part);
    if is_good { Ok(name.to_owned()) } else { Err(bad()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zip(fill: impl FnOnce(&mut ZipWriter<Cursor<Vec<u8>>>)) -> Vec<u8> {
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        fill(&mut zip);
        zip.finish().expect("memory takes all").into_inner()
    }

    /// A zip of files with these names.
    fn named(names: &[&str]) -> Vec<u8> {
        zip(|zip| {
            for name in names {
                zip.start_file(*name, SimpleFileOptions::default()).expect("a new name");
                zip.write_all(b"text").expect("memory takes all");
            }
        })
    }

    /// The octets with each occurrence of a text replaced by one of the same length.
    fn replaced(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
        let mut bytes = bytes.to_vec();
        let places: Vec<usize> =
            (0..bytes.len()).filter(|&at| bytes[at..].starts_with(from)).collect();
        assert!(places.len() >= 2, "in the header and in the list");
        places.into_iter().for_each(|at| bytes[at..at + to.len()].copy_from_slice(to));
        bytes
    }

    #[test]
    fn what_is_packed_is_unpacked() {
        let files: Vec<File> =
            vec![("a.txt".to_owned(), b"a".to_vec()), ("b/c.txt".to_owned(), vec![0; 100_000])];
        let packed = pack(&files);
        let unpacked = unpack(&packed).expect("it is a zip");
        assert_eq!((unpacked.files, unpacked.is_sealed), (files.clone(), Some(true)));
        let backward: Vec<File> = files.into_iter().rev().collect();
        assert_eq!(pack(&backward), packed, "the order and the time change nothing");
        let foreign = unpack(&named(&["a", "b"])).expect("it is a zip");
        assert_eq!((foreign.files.len(), foreign.is_sealed), (2, None));
    }

    #[test]
    fn hostile_names_are_refused() {
        for name in [
            "../a",
            "/a",
            "a/../b",
            "a//b",
            "a/",
            "./a",
            "..",
            "",
            "a\\b",
            "C:a",
            "a b",
            "\u{e9}",
            "a\nb",
            &"a/".repeat(300),
        ] {
            let refusal = unpack(&named(&[name])).expect_err(name);
            let is_named = refusal.contains("is no name") || refusal.contains("no plain file");
            assert!(is_named || refusal.contains("no readable zip"), "{name}: {refusal}");
        }
        let raw = replaced(&named(&["abcd"]), b"abcd", b"a\xff\x00d");
        assert!(unpack(&raw).is_err_and(|refusal| refusal.contains("is no name")));
    }

    #[test]
    fn a_name_stands_for_one_file() {
        let twice = replaced(&named(&["aa", "ab"]), b"ab", b"aa");
        for twice in [twice, named(&["aa", "AA"])] {
            let refusal = unpack(&twice).expect_err("two files have one name");
            assert!(refusal.contains("in two ways"), "{refusal}");
        }
    }

    #[test]
    fn bombs_are_refused() {
        let deflated = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
        let dense = zip(|zip| {
            zip.start_file("zeros", deflated).expect("a new name");
            zip.write_all(&vec![0; 8 << 20]).expect("memory takes all");
        });
        let refusal = unpack(&dense).expect_err("a bomb");
        assert!(refusal.contains("'zeros' is compressed more than"), "{refusal}");
        // One that claims to be small is broken, and not unpacked any further.
        let claim = |size: u32| size.to_le_bytes();
        let small = replaced(&dense, &claim(8 << 20), &claim(1 << 10));
        let unpacked = unpack(&small).expect("a zip");
        assert_eq!((unpacked.files.len(), unpacked.broken), (0, vec!["zeros".to_owned()]));
        let names: Vec<String> = (0..=MAX_FILES).map(|number| number.to_string()).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        assert!(
            unpack(&named(&names)).is_err_and(|refusal| refusal.contains("more than 10000 files"))
        );
    }

    #[test]
    fn folders_links_and_other_methods_are_refused() {
        let options = SimpleFileOptions::default();
        let folder = zip(|zip| zip.add_directory("folder", options).expect("a new name"));
        let link = zip(|zip| zip.add_symlink("link", "/etc/passwd", options).expect("a new name"));
        for bytes in [folder, link] {
            let refusal = unpack(&bytes).expect_err("no plain file");
            let is_named = refusal.contains("no plain file") || refusal.contains("is no name");
            assert!(is_named, "{refusal}");
        }
        // The method, two octets after version and flags.
        let mut other = named(&["a"]);
        let list = other.windows(4).position(|four| four == LISTED).expect("a list");
        (other[8], other[list + 10]) = (99, 99);
        assert!(unpack(&other).is_err());
    }

    #[test]
    fn other_data_around_a_zip_is_refused() {
        let good = named(&["a"]);
        for bytes in
            [[b"data", &*good].concat(), [&*good, b"data"].concat(), b"PK".to_vec(), vec![]]
        {
            assert!(unpack(&bytes).is_err());
        }
    }
}
