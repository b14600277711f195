//! What a verification finds, and how grave it is. Hashes and lengths: whether the files are those of the
//! manifest.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    base::{escape, text::words},
    review::report::bundle::{
        file::{self, LINES, MANIFEST, RECORDS, SEAL},
        manifest::Manifest,
    },
};

/// The files of a bundle by name.
pub(super) type Files = BTreeMap<String, Vec<u8>>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) status: Status,
    pub(crate) file: String,
    pub(crate) line: Option<u64>,
    pub(crate) id: Option<String>,
    /// What was found: a sentence, or the field that differs.
    pub(crate) what: String,
    /// The value in the record, where one differs.
    pub(crate) recorded: Option<String>,
    /// The value that the bundle gives.
    pub(crate) recomputed: Option<String>,
}

words! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub(crate) enum Status {
        /// The bundle is not as it was made.
        Changed = "changed",
        /// A record says something else than the bundle gives.
        Differs = "differs",
        /// The bundle can't show it.
        NotRecomputed = "not-recomputed",
        /// Worth knowing; nothing is wrong.
        Remark = "remark",
    }
}

impl Finding {
    pub(super) fn new(status: Status, file: impl Into<String>, what: impl Into<String>) -> Self {
        Self {
            status,
            file: file.into(),
            line: None,
            id: None,
            what: what.into(),
            recorded: None,
            recomputed: None,
        }
    }

    pub(super) fn comparing(
        self,
        recorded: impl Into<String>,
        recomputed: impl Into<String>,
    ) -> Self {
        Self { recorded: Some(recorded.into()), recomputed: Some(recomputed.into()), ..self }
    }

    pub(super) fn changed(file: impl Into<String>, what: impl Into<String>) -> Self {
        Self::new(Status::Changed, file, what)
    }
}

const MOST_LINES: usize = 20;
/// The files that every bundle has, besides the manifest and its hash.
const ALWAYS: [&str; 7] =
    [RECORDS, LINES, file::EDITIONS, file::FETCHES, file::STANDING, file::SUMMARY, file::MESSAGE];

/// Compares all files with the manifest, and the manifest with its hash. Returns the manifest if it
/// can be read.
pub(super) fn check(files: &Files, findings: &mut Vec<Finding>) -> Option<Manifest> {
    let Some(bytes) = files.get(MANIFEST) else {
        findings.push(Finding::changed(MANIFEST, "it is not there"));
        return None;
    };
    match files.get(SEAL) {
        None => findings.push(Finding::changed(SEAL, "it is not there")),
        Some(seal) if *seal != file::seal(bytes) => {
            // Which of the two was changed, only a bad form shows.
            let says = if is_seal(seal) { seal.get(..64) } else { None };
            let place = if says.is_some() { MANIFEST } else { SEAL };
            let finding = Finding::changed(place, format!("{MANIFEST} and {SEAL} disagree"));
            let recorded = escape::shown(says.unwrap_or(seal));
            findings.push(finding.comparing(recorded, file::hash(bytes)));
        }
        Some(_) => {}
    }
    let manifest: Manifest = match serde_json::from_slice(bytes) {
        Ok(manifest) => manifest,
        Err(error) => {
            findings.push(Finding::changed(MANIFEST, error.to_string()));
            return None;
        }
    };
    compare(&manifest, files, findings);
    Some(manifest)
}

fn compare(manifest: &Manifest, files: &Files, findings: &mut Vec<Finding>) {
    let mut named: BTreeSet<&str> = BTreeSet::from([MANIFEST, SEAL]);
    for entry in &manifest.files {
        let shown = escape::shown(&entry.name);
        if !named.insert(&entry.name) {
            findings.push(Finding::changed(MANIFEST, format!("it names '{shown}' twice")));
            continue;
        }
        let Some(bytes) = files.get(&entry.name) else {
            findings.push(Finding::changed(shown, "the manifest names it, but it is not there"));
            continue;
        };
        let hash = file::hash(bytes);
        if bytes.len() as u64 != entry.bytes {
            let finding = Finding::changed(&shown, "it has another length than the manifest says");
            let lengths = [entry.bytes, bytes.len() as u64].map(|length| format!("{length} bytes"));
            let [recorded, recomputed] = lengths;
            findings.push(finding.comparing(recorded, recomputed));
        } else if hash != entry.sha256 {
            let finding = Finding::changed(&shown, "it has another hash than the manifest says");
            findings.push(finding.comparing(escape::shown(&entry.sha256), &hash));
        }
        if entry.name == RECORDS && hash != entry.sha256 {
            changed_lines(files, findings);
        }
    }
    for name in ALWAYS.into_iter().filter(|name| !named.contains(name)) {
        findings.push(Finding::changed(name, "the manifest does not name it"));
    }
    for name in files.keys().filter(|name| !named.contains(name.as_str())) {
        findings.push(Finding::changed(name, "the manifest does not name it"));
    }
}

/// Names the lines of the records that have another hash.
fn changed_lines(files: &Files, findings: &mut Vec<Finding>) {
    let (Some(records), Some(hashes)) = (files.get(RECORDS), files.get(LINES)) else { return };
    let found = file::line_hashes(records);
    let (mut found, mut noted) = (file::lines_of(&found), file::lines_of(hashes));
    let mut left = MOST_LINES;
    for line in 1.. {
        let (found, noted) = (found.next(), noted.next());
        if (found, noted) == (None, None) || left == 0 {
            break;
        }
        if found != noted {
            left -= 1;
            let what = match (found, noted) {
                (None, _) => "this line is missing",
                (_, None) => "this line was added",
                _ => "this line was changed",
            };
            findings.push(Finding { line: Some(line), ..Finding::changed(RECORDS, what) });
        }
    }
}

/// Whether a file has the form of a manifest's hash.
fn is_seal(seal: &[u8]) -> bool {
    let (hash, rest) = seal.split_at_checked(64).unwrap_or_default();
    hash.iter().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
        && rest == format!("  {MANIFEST}\n").as_bytes()
}
