//! The last good document as a file.
//!
//! The file is the policy itself, with one more line at its end: a comment with the address and the
//! signature. So the copy of another address, or one without a valid signature, is never used.

use std::{
    fs::File,
    io::{self, Read},
    path::PathBuf,
};

use crate::base::whole_file;

use super::{
    Document, PublicKey, address,
    document::{MAX_BYTES, Signature},
};

const MARK: &str = "\n# beadle: copy of ";
const SIGNED: &str = " signature ";
/// The longest last line, in octets.
pub const LONGEST_MARK: usize = address::LONGEST + 200;

/// Where the last good document is kept.
#[derive(Clone, Debug)]
pub struct KeptCopy {
    pub(crate) file: PathBuf,
    of: String,
    key: Option<PublicKey>,
}

impl KeptCopy {
    pub(super) const fn new(file: PathBuf, of: String, key: Option<PublicKey>) -> Self {
        Self { file, of, key }
    }

    /// Replaces the copy in one step. Only this user can read it.
    ///
    /// # Errors
    /// The copy can't be written; the one before stays.
    pub fn keep(&self, document: &Document) -> io::Result<()> {
        whole_file::replace(&self.file, &self.content(document), |_| Ok(()))
    }

    /// The last good document.
    ///
    /// # Errors
    /// A sentence: there is no copy, or it is not one of this address with a valid signature.
    pub fn last_good(&self) -> Result<Document, String> {
        let most = (MAX_BYTES + LONGEST_MARK) as u64;
        let mut content = Vec::new();
        let read =
            File::open(&self.file).and_then(|file| file.take(most).read_to_end(&mut content));
        read.map_err(|error| error.to_string())?;
        let (bytes, mark) = split(&content).ok_or("not a copy of a policy")?;
        let (of, signature) = match mark.split_once(SIGNED) {
            Some((of, signature)) => (of, Signature::read(signature.as_bytes())),
            None => (mark, None),
        };
        if of != self.of {
            return Err(format!("a copy of {of}, another address"));
        }
        let is_valid = |key: PublicKey| signature.is_some_and(|one| key.verifies(bytes, &one));
        if !self.key.is_none_or(is_valid) {
            return Err("a copy without a valid signature".to_owned());
        }
        Ok(Document { bytes: bytes.to_vec(), signature })
    }

    fn content(&self, document: &Document) -> Vec<u8> {
        let signature = document.signature.map(|one| format!("{SIGNED}{}", one.text()));
        let mark = format!("{MARK}{}{}\n", self.of, signature.unwrap_or_default());
        [document.bytes.as_slice(), mark.as_bytes()].concat()
    }
}

/// The content of a policy file without the last line that makes it a copy.
pub fn without_mark(mut content: Vec<u8>) -> Vec<u8> {
    if let Some((bytes, _)) = split(&content) {
        let length = bytes.len();
        content.truncate(length);
    }
    content
}

/// The document of a copy, and the rest of the line after the mark.
fn split(content: &[u8]) -> Option<(&[u8], &str)> {
    let end = content.strip_suffix(b"\n")?;
    let start = end.iter().rposition(|&octet| octet == b'\n')?;
    let (bytes, line) = end.split_at(start);
    let mark = std::str::from_utf8(line).ok()?.strip_prefix(MARK)?;
    Some((bytes, mark))
}
