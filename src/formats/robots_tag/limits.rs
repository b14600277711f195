//! The limits of a field and of a document.

/// The most octets of a `Robots-Tag` field that a crawler has to read (§3.1.1). Crawlers may ignore
/// the rest, so no longer field is written.
pub const MAX_BYTES: usize = 8192;

/// The most octets of a document that are read: 1 MiB. The rest is ignored.
pub const MAX_DOCUMENT_BYTES: usize = 1 << 20;

/// The most elements for crawlers that are read in one document.
pub const MAX_METAS: usize = 64;
