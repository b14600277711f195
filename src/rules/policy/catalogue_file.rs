//! The files that belong to a policy: a catalogue that replaces the built-in one, and lists.

use std::{
    io,
    path::Path,
    sync::{Arc, LazyLock},
};

use crate::{
    base::{diagnostic::Diagnostic, escape, version},
    rules::crawlers::{Catalogue, CatalogueFile},
};

use super::yaml;

/// The text of the catalogue that is built into the program.
pub const BUILT_IN: &str = include_str!("../../../config/crawlers.yaml");
/// The largest catalogue file, in bytes: seven times the built-in one.
pub const MAX_BYTES: usize = 2 << 20;
const MOST_FINDINGS: usize = 20;

pub(super) type Open<'o> = dyn FnMut(OtherFile, &Path) -> io::Result<Vec<u8>> + 'o;

/// A file that belongs to a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OtherFile {
    /// The catalogue.
    Catalogue,
    /// What is kept of the lists that it follows. It may be missing.
    Followed,
}

/// The built-in catalogue.
pub fn built_in() -> Catalogue {
    catalogue(built_in_file()).expect("a test reads the built-in catalogue")
}

/// The built-in catalogue, made once: all policies that add nothing to it share it.
pub(super) fn shared() -> Arc<Catalogue> {
    static SHARED: LazyLock<Arc<Catalogue>> = LazyLock::new(|| Arc::new(built_in()));
    Arc::clone(&SHARED)
}

/// The catalogue of a file.
///
/// # Errors
/// All findings. Occurs when the file breaks an invariant of catalogues.
pub fn catalogue(file: CatalogueFile) -> Result<Catalogue, Vec<Diagnostic>> {
    Catalogue::new(file.crawlers)?.with_operators(&file.operators)
}

/// The built-in catalogue as a file. Unit tests take it thousands of times; a program keeps no copy.
pub fn built_in_file() -> CatalogueFile {
    static READ: LazyLock<CatalogueFile> = LazyLock::new(read_built_in);
    if cfg!(test) { READ.clone() } else { read_built_in() }
}

fn read_built_in() -> CatalogueFile {
    serde_json::from_str(version::CATALOGUE).expect("a test reads the built-in catalogue")
}

/// Reads a catalogue file; `file` is the name that findings show. Its entries are checked to make a
/// [`Catalogue`].
///
/// # Errors
/// All findings, or the first twenty. Occurs when the file is larger than [`MAX_BYTES`], is not
/// UTF-8 or not YAML, has an unknown key or a bad value, or breaks an invariant of catalogues.
pub fn read_file(file: &str, bytes: &[u8]) -> Result<CatalogueFile, Vec<Diagnostic>> {
    let in_file = |finding: Diagnostic| finding.in_file(file);
    let read = parse(bytes).map_err(|finding| vec![in_file(finding)])?;
    let mut findings = read.audit();
    if let Err(refused) = catalogue(read.clone()) {
        findings.extend(refused);
    }
    if findings.is_empty() {
        return Ok(read);
    }
    let more = findings.len().saturating_sub(MOST_FINDINGS);
    findings.truncate(MOST_FINDINGS);
    if more > 0 {
        let message = format!("and {more} more findings");
        findings.push(Diagnostic::error("catalogue.more", message).help("repair these first"));
    }
    Err(findings.into_iter().map(in_file).collect())
}

fn parse(bytes: &[u8]) -> Result<CatalogueFile, Diagnostic> {
    const SCHEMA: &str = "write it as config/crawlers.schema.json has it";
    if bytes.len() > MAX_BYTES {
        let message = format!("the catalogue is larger than {} KiB", MAX_BYTES / 1024);
        return Err(Diagnostic::error("catalogue.too_large", message)
            .help("check that this is the right file"));
    }
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let message = format!("byte {} is not UTF-8", error.valid_up_to() + 1);
        Diagnostic::error("catalogue.malformed", message).help("save the file as UTF-8")
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    yaml::read_typed(text).map_err(|finding| {
        let message = finding.message.trim_start_matches("not valid YAML: ").to_owned();
        let message = escape::bounded(message.as_bytes(), 300);
        Diagnostic { code: "catalogue.malformed", message, ..finding }.help(SCHEMA)
    })
}

/// The version of the built-in catalogue, read from the head of its text.
pub(super) fn built_in_version() -> &'static str {
    let line = BUILT_IN.lines().find_map(|line| line.strip_prefix("version: "));
    line.unwrap_or_default().trim().trim_matches('"')
}

#[cfg(test)]
mod tests;
