//! The limits of a robots.txt: how much of it is read, and how many findings are kept.

/// How much of a file is read, in octets. §2.5 requires at least [`LEAST_BYTES`].
pub const MAX_BYTES: usize = 512 * 1024;

/// How much of a file every crawler has to read, in octets (§2.5). Only some crawlers read more.
pub const LEAST_BYTES: usize = 500 * 1024;

/// How many findings are kept. One more counts the others (`robots.more_findings`).
pub const MAX_FINDINGS: usize = 1000;
