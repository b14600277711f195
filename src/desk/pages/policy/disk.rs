//! The policy file on disk: whether it is in force, and what is found in it.

use std::{collections::BTreeMap, path::Path};

use super::mask::masked;
use crate::{
    base::{
        diagnostic::{Diagnostic, Severity},
        escape,
    },
    desk::pages::{changes::Changes, time::second},
    outside::alerts::Refusal,
    review::{report::number::grouped, trial},
    rules::enforce::Moment,
    state::publication::{PolicyRead, Snapshot, read_policy},
};

const MOST_LINES: usize = 2_000;
/// The most bytes of a line.
const LONGEST: usize = 400;
const MOST_FINDINGS: usize = 200;

#[derive(Default)]
pub(super) struct OnDisk {
    name: String,
    pub(super) is_in_force: bool,
    /// Whether it is good or bad news.
    pub(super) state: String,
    pub(super) findings: Vec<Diagnostic>,
    pub(super) more_findings: Option<String>,
    /// What the file would change, unless it is in force or has errors.
    pub(super) changes: Option<Changes>,
    pub(super) lines: Vec<LineRow>,
    pub(super) more_lines: Option<String>,
}

/// A line of the file with the severity of its worst finding.
pub(super) struct LineRow {
    pub(super) number: u32,
    pub(super) text: String,
    pub(super) worst: Option<Severity>,
}

impl OnDisk {
    /// Reads the file. `refusal` is the last one, if the file was refused.
    pub(super) fn read(
        file: &Path,
        published: &Snapshot,
        moment: Moment,
        refusal: Option<&Refusal>,
    ) -> Self {
        let refused = refusal
            .map_or(String::new(), |refusal| format!(" It was refused at {}.", second(refusal.at)));
        match read_policy(file) {
            Ok(read) => Self::of(&read, file, (published, moment), &refused),
            Err(error) => {
                let state = format!(
                    "The file can't be read: {error}.{refused} The policy below stays in force."
                );
                Self { state, ..Self::default() }
            }
        }
    }

    fn of(
        read: &PolicyRead,
        file: &Path,
        (published, moment): (&Snapshot, Moment),
        refused: &str,
    ) -> Self {
        let in_force = &*published.policy.policy;
        let mut findings = read.findings.clone();
        let is_in_force =
            read.policy.as_ref().is_some_and(|policy| policy.fingerprint == in_force.fingerprint);
        let restart = read.restart_findings(in_force, &file.display().to_string());
        let tried = read.policy.iter();
        let failures: Vec<Diagnostic> =
            tried.flat_map(|one| trial::findings(one, &file.display().to_string())).collect();
        let state = match &read.policy {
            _ if is_in_force => "The file on disk is in force.".to_owned(),
            None => {
                format!("The file on disk has errors.{refused} The policy below stays in force.")
            }
            Some(_) if !restart.is_empty() => format!(
                "The file on disk has changes that need a restart.{refused} The policy below stays \
                 in force."
            ),
            Some(_) if failures.iter().any(|one| one.severity == Severity::Error) => format!(
                "The tests in the file on disk fail.{refused} The policy below stays in force."
            ),
            Some(policy) => format!(
                "The file on disk is another policy, {}, without errors.{refused} Beadle reads a \
                 changed file within seconds.",
                policy.fingerprint
            ),
        };
        findings.extend(restart);
        findings.extend(failures);
        let name = escape::text(file.display().to_string().as_bytes());
        let mut worst: BTreeMap<u32, Severity> = BTreeMap::new();
        for finding in &findings {
            let Some(line) = line_in(&name, finding) else { continue };
            let known = worst.entry(line).or_insert(finding.severity);
            *known = finding.severity.max(*known);
        }
        let (lines, more) = lines(&read.bytes, &worst);
        let hidden = findings.len().saturating_sub(MOST_FINDINGS) as u64;
        findings.truncate(MOST_FINDINGS);
        Self {
            name,
            is_in_force,
            state,
            findings,
            changes: read
                .policy
                .as_ref()
                .filter(|_| !is_in_force)
                .map(|policy| Changes::of_next(published, policy, moment)),
            more_findings: (hidden > 0).then(|| format!("And {} more.", grouped(hidden))),
            lines,
            more_lines: (more > 0).then(|| format!("{} more lines follow.", grouped(more))),
        }
    }

    pub(super) fn line(&self, finding: &Diagnostic) -> Option<u32> {
        line_in(&self.name, finding).filter(|line| *line as usize <= MOST_LINES)
    }
}

/// The line of a finding that is in the file with this name.
fn line_in(name: &str, finding: &Diagnostic) -> Option<u32> {
    finding.place.line.filter(|_| finding.place.file.as_deref() == Some(name))
}

fn lines(bytes: &[u8], worst: &BTreeMap<u32, Severity>) -> (Vec<LineRow>, u64) {
    let mut all = bytes.split(|byte| *byte == b'\n').zip(1..);
    let row = |(line, number): (&[u8], u32)| {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        // Hidden before it is cut: a part of a URL could not be told from other text.
        let text = masked(&String::from_utf8_lossy(line));
        LineRow {
            number,
            text: escape::bounded(text.as_bytes(), LONGEST),
            worst: worst.get(&number).copied(),
        }
    };
    let rows = all.by_ref().take(MOST_LINES).map(row).collect();
    (rows, all.count() as u64)
}

pub(super) const fn class(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "bad",
        Severity::Warning => "log",
        Severity::Note => "plain",
    }
}
