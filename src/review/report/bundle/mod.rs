//! An evidence bundle: the violations of one crawler with everything that proves them, in one zip
//! file.
//!
//! ```text
//! database ── gather: Material ── contents ──▶ files ── pack ──▶ a zip ── unpack ──▶ files ── verify ──▶ Verification
//! ```
//!
//! | file | holds |
//! |---|---|
//! | `manifest.json` | the token, the span, the settings of the sites; SHA-256 and length of each file |
//! | `manifest.sha256` | the hash of the manifest, as `sha256sum -c` reads it |
//! | `records.jsonl` | the records as they were written |
//! | `records.sha256` | a hash of each of their lines, so that a changed line is found |
//! | `robots/SITE/EDITION.txt` | each edition that counts, byte for byte |
//! | `editions.json` | the hash of each edition and its times in force |
//! | `fetches.json` | the crawler's fetches of robots.txt |
//! | `standing.json` | what confirmed or contradicted the name, counted; what the operator publishes |
//! | `summary.txt` | a page in plain words |
//! | `message.txt` | the draft of a message to the operator of the crawler |
//!
//! [`verify`] needs the files and nothing else: no policy, no catalogue, no network. A manifest is no
//! signature. It shows that nothing was changed by accident or by a third party; it does not prove
//! who made it.

pub(crate) use self::{
    archive::{MAX_ARCHIVE, pack, unpack},
    contents::{MAX_RECORDS, MOST_EDITIONS, Wanted, file_name, gather},
    file::hash as digest,
    verification::{Finding, Status, Verification, verify},
};

mod archive; // files as a zip and back, within limits
mod contents; // the facts that a bundle is made of -> files
mod file; // names and hashes of files
mod history; // editions.json: editions and their times in force; standing.json
mod manifest; // manifest.json, and the window before a request
mod summary; // summary.txt, message.txt
mod verification; // files -> what agrees

#[cfg(test)]
mod tests;
