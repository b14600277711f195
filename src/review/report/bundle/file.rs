//! The names of the files in a bundle, and their hashes.

use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::base::escape::hex;

/// A file: its name in the bundle, and its bytes.
pub(crate) type File = (String, Vec<u8>);

pub(super) const MANIFEST: &str = "manifest.json";
pub(super) const SEAL: &str = "manifest.sha256";
pub(super) const RECORDS: &str = "records.jsonl";
pub(super) const LINES: &str = "records.sha256";
pub(super) const EDITIONS: &str = "editions.json";
pub(super) const FETCHES: &str = "fetches.json";
pub(super) const STANDING: &str = "standing.json";
pub(super) const SUMMARY: &str = "summary.txt";
pub(super) const MESSAGE: &str = "message.txt";

/// The hexadecimal digits of a line's hash.
const LINE_DIGITS: usize = 16;

/// The SHA-256 of bytes, as 64 hexadecimal digits.
pub(crate) fn hash(bytes: &[u8]) -> String {
    hex(Sha256::digest(bytes).iter())
}

/// The file of an edition. A site's name may be a wildcard; the name of the file is safe everywhere.
/// Its end says what it holds, so two sites may share it.
pub(super) fn of_edition(site: &str, edition: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || ".-_".contains(c) { c } else { '_' };
    let site: String = site.trim_start_matches('.').chars().map(safe).collect();
    let site = if site.is_empty() { "_" } else { &site };
    let edition: String = edition.chars().map(safe).collect();
    format!("robots/{site}/{edition}.txt")
}

pub(super) fn json(value: &impl Serialize) -> Vec<u8> {
    let mut text = serde_json::to_vec_pretty(value).expect("memory takes all, and keys are texts");
    text.push(b'\n');
    text
}

/// The contents of [`SEAL`], in the form that `sha256sum -c` reads.
pub(super) fn seal(manifest: &[u8]) -> Vec<u8> {
    format!("{}  {MANIFEST}\n", hash(manifest)).into_bytes()
}

/// The contents of [`LINES`]: the first digits of the hash of each line.
pub(super) fn line_hashes(lines: &[u8]) -> Vec<u8> {
    let mut hashes = String::new();
    for line in lines_of(lines) {
        hashes.extend(hash(line).chars().take(LINE_DIGITS));
        hashes.push('\n');
    }
    hashes.into_bytes()
}

/// The lines of a file, without the line ends.
pub(super) fn lines_of(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes
        .split_inclusive(|&octet| octet == b'\n')
        .map(|line| line.strip_suffix(b"\n").unwrap_or(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_an_edition_leads_nowhere_else() {
        for (site, name) in [
            ("www.example.com", "robots/www.example.com/3f2a.txt"),
            ("*.example.com", "robots/_.example.com/3f2a.txt"),
            (".example.com", "robots/example.com/3f2a.txt"),
            ("../../etc", "robots/_.._etc/3f2a.txt"),
            ("..", "robots/_/3f2a.txt"),
            ("[::1]", "robots/___1_/3f2a.txt"),
        ] {
            assert_eq!(of_edition(site, "3f2a"), name);
        }
    }
}
