//! Files to what agrees: hashes first, then each verdict.
//!
//! Each record is judged again by the bundled edition that it names, and by every edition that the
//! crawler could still use. What the bundle can't show is counted apart, with the reason, and is no
//! success: a cut path, a redacted query, the evidence about an address at that time, the rhythm of
//! requests.

use std::collections::BTreeMap;

use crate::records::record::{Fetch, SCHEMA, Violation};

pub(crate) use self::integrity::{Finding, Status};

use self::{integrity::Files, judgement::Bench};
use super::{
    archive::Unpacked,
    file,
    history::{self, tally},
    manifest::{self, Manifest},
};

mod integrity; // hashes and lengths
mod judgement; // one record, judged again

#[derive(Clone, Debug, Default)]
pub(crate) struct Verification {
    /// The findings, in the order of files and lines.
    pub(crate) findings: Vec<Finding>,
    pub(crate) product_token: Option<String>,
    pub(crate) records: u64,
    pub(crate) agreeing: u64,
    pub(crate) differing: u64,
    /// The records whose verdict can't be made again from the bundle.
    pub(crate) not_recomputed: u64,
}

impl Verification {
    /// Whether nothing was changed, nothing differs, and some verdict was made again.
    pub(crate) fn is_verified(&self) -> bool {
        self.agreeing > 0 && !self.is_wrong()
    }

    /// Whether something was changed or differs.
    pub(crate) fn is_wrong(&self) -> bool {
        self.findings.iter().any(|finding| finding.status <= Status::Differs)
    }
}

pub(crate) fn verify(unpacked: Unpacked) -> Verification {
    let Unpacked { files, broken, is_sealed } = unpacked;
    let mut verification = Verification::default();
    let findings = &mut verification.findings;
    for name in broken {
        findings.push(Finding::changed(name, "it can't be unpacked"));
    }
    let files: Files = files.into_iter().collect();
    let manifest = integrity::check(&files, findings);
    match is_sealed {
        Some(false) => findings.push(Finding::changed(
            "the zip file itself",
            "it is not as it was written: its octets have another hash than its comment says",
        )),
        None => findings.push(Finding::new(
            Status::Remark,
            "the zip file itself",
            "the zip file was packed anew; its files are what counts",
        )),
        Some(true) => {}
    }
    let Some(manifest) = manifest else { return verification };
    verification.product_token = Some(manifest.product_token.clone());
    if manifest.schema != manifest::SCHEMA {
        let what = format!("schema {} is newer than this program (update Beadle)", manifest.schema);
        findings.push(Finding::new(Status::NotRecomputed, file::MANIFEST, what));
        return verification;
    }
    let lines = files.get(file::RECORDS).map(Vec::as_slice).unwrap_or_default();
    let (records, unreadable) = records(lines);
    for line in unreadable {
        let what = format!("this line is no record of schema {SCHEMA}");
        let finding = Finding::changed(file::RECORDS, what);
        findings.push(Finding { line: Some(line), ..finding });
    }
    let rows = parse::<Vec<history::Row>>(&files, file::EDITIONS, findings).unwrap_or_default();
    let fetches = parse::<Vec<Fetch>>(&files, file::FETCHES, findings).unwrap_or_default();
    check_editions(&rows, &files, findings);
    check_counts(&manifest, &records, &files, findings);
    note_standings(&records, findings);
    let bench = Bench::new(&manifest, &rows, &fetches, &files);
    for (line, record) in &records {
        verification.records += 1;
        let found = judgement::judge(&bench, record);
        let statuses = || found.iter().map(|finding| finding.status);
        match statuses().min() {
            Some(Status::Changed | Status::Differs) => verification.differing += 1,
            Some(Status::NotRecomputed) => verification.not_recomputed += 1,
            Some(Status::Remark) | None => verification.agreeing += 1,
        }
        verification.findings.extend(found.into_iter().map(|finding| Finding {
            line: Some(*line),
            id: Some(record.id.to_string()),
            ..finding
        }));
    }
    verification
}

fn records(lines: &[u8]) -> (Vec<(u64, Violation)>, Vec<u64>) {
    let (mut records, mut unreadable) = (Vec::new(), Vec::new());
    for (line, number) in file::lines_of(lines).zip(1..) {
        match serde_json::from_slice::<Violation>(line) {
            Ok(record) if record.schema == SCHEMA => records.push((number, record)),
            _ => unreadable.push(number),
        }
    }
    (records, unreadable)
}

/// Notes what the bundle can't show about the names of clients.
fn note_standings(records: &[(u64, Violation)], findings: &mut Vec<Finding>) {
    let standings = records.iter().map(|(_, one)| (one.standing.as_str(), one.evidence.as_deref()));
    for ((standing, evidence), count) in tally(standings) {
        let Some(evidence) = evidence else { continue };
        let what = format!(
            "'{standing}' by {evidence} of {count} records: this rests on what the operator \
             published at that time"
        );
        findings.push(Finding::new(Status::NotRecomputed, file::STANDING, what));
    }
}

fn parse<T: serde::de::DeserializeOwned>(
    files: &Files,
    name: &str,
    findings: &mut Vec<Finding>,
) -> Option<T> {
    let parsed = serde_json::from_slice(files.get(name)?);
    parsed.map_err(|error| findings.push(Finding::changed(name, error.to_string()))).ok()
}

/// Checks that each edition is named by the hash of its bytes.
fn check_editions(rows: &[history::Row], files: &Files, findings: &mut Vec<Finding>) {
    let mut checked: BTreeMap<&str, String> = BTreeMap::new();
    for row in rows {
        let Some(bytes) = files.get(&row.file) else {
            findings
                .push(Finding::changed(&row.file, "editions.json names it, but it is not there"));
            continue;
        };
        let hash = checked.entry(&row.file).or_insert_with(|| file::hash(bytes));
        if *hash != row.sha256 || !hash.starts_with(&row.edition) || row.edition.len() != 16 {
            let finding = Finding::changed(&row.file, "editions.json names it by another hash");
            findings.push(finding.comparing(&row.sha256, &*hash));
        }
    }
}

fn check_counts(
    manifest: &Manifest,
    records: &[(u64, Violation)],
    files: &Files,
    findings: &mut Vec<Finding>,
) {
    let count = records.len() as u64;
    if manifest.records != count {
        let finding = Finding::new(Status::Differs, file::MANIFEST, "the number of records");
        findings.push(finding.comparing(manifest.records.to_string(), count.to_string()));
    }
    let Some(standings) = parse::<history::Standings>(files, file::STANDING, findings) else {
        return;
    };
    let records = records.iter().map(|(_, record)| record);
    if standings != history::Standings::of(records, standings.published.clone()) {
        let finding = Finding::new(Status::Differs, file::STANDING, "the counts");
        findings.push(finding.comparing("other counts", "those of records.jsonl"));
    }
}
