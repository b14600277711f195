//! A frame as bytes: a header with a checksum of its own, then the payload.
//!
//! ```text
//! kind u8 │ ends u8 │ 0 u16 │ records u32 │ length u32 │ checksum of the payload u32 │ of the header u32
//! ```
//! All numbers are little-endian. `ends` is 1 in the last frame of a call.

/// The bytes of a header.
pub(super) const HEADER: usize = 20;
/// The bytes of a header that its checksum covers.
const COVERED: usize = 16;

/// Bytes of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// What the bytes are; the spool does not know.
    pub kind: u8,
    /// The number of records in them, for exact counts of what is lost.
    pub records: u32,
    /// The bytes; less than 4 GiB.
    pub bytes: &'a [u8],
}

/// A header that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) kind: u8,
    pub(super) ends: bool,
    pub(super) records: u32,
    pub(super) length: usize,
    checksum: u32,
}

impl Frame<'_> {
    /// Adds the frame to `out`.
    pub(super) fn write(&self, ends: bool, out: &mut Vec<u8>) {
        let start = out.len();
        let length = u32::try_from(self.bytes.len()).unwrap_or(u32::MAX);
        out.extend([self.kind, u8::from(ends), 0, 0]);
        out.extend(self.records.to_le_bytes());
        out.extend(length.to_le_bytes());
        out.extend(crc32fast::hash(self.bytes).to_le_bytes());
        let checksum = crc32fast::hash(out.get(start..).unwrap_or_default());
        out.extend(checksum.to_le_bytes());
        out.extend_from_slice(self.bytes);
    }
}

impl Header {
    /// The header at the beginning of `bytes`; `None` if there is none or it is damaged.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let header = bytes.get(..HEADER)?;
        let (covered, checksum) = header.split_at_checked(COVERED)?;
        let number = |at: usize| {
            let four = header.get(at..at + 4)?.try_into().ok()?;
            Some(u32::from_le_bytes(four))
        };
        // The first bytes tell most places that are no header.
        let [_, 0 | 1, 0, 0, ..] = covered else { return None };
        let is_whole = checksum == crc32fast::hash(covered).to_le_bytes();
        is_whole.then_some(Self {
            kind: *header.first()?,
            ends: *header.get(1)? == 1,
            records: number(4)?,
            length: number(8)? as usize,
            checksum: number(12)?,
        })
    }

    /// Whether the payload is the one that was written.
    pub(super) fn fits(&self, payload: &[u8]) -> bool {
        payload.len() == self.length && crc32fast::hash(payload) == self.checksum
    }
}
