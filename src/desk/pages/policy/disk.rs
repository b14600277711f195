//! The policy file on disk: whether it is in force, and what is found in it.

use std::{collections::BTreeMap, path::Path};

use super::{change::Changes, mask::masked};
use crate::{
    base::{
        diagnostic::{Diagnostic, Severity},
        escape,
    },
    desk::pages::time::second,
    outside::alerts::Refusal,
    review::{report::number::grouped, trial},
    rules::enforce::Moment,
    state::publication::{PolicyRead, Snapshot, read_policy},
};

/// The most lines of a page.
const MOST_LINES: usize = 2_000;
/// The most bytes of a line.
const LONGEST: usize = 400;
/// The most findings of a page.
const MOST_FINDINGS: usize = 200;

/// The policy file on disk.
pub(super) struct OnDisk {
    pub(super) is_in_force: bool,
    /// Whether it is good or bad news.
    pub(super) state: String,
    pub(super) findings: Vec<FindingRow>,
    pub(super) more_findings: Option<String>,
    /// What the file would change, unless it is in force or has errors.
    pub(super) changes: Option<Changes>,
    pub(super) lines: Vec<LineRow>,
    pub(super) more_lines: Option<String>,
}

/// A finding.
pub(super) struct FindingRow {
    pub(super) line: Option<u32>,
    pub(super) place: String,
    pub(super) severity: String,
    /// The class of the severity's word.
    pub(super) class: &'static str,
    pub(super) message: String,
    pub(super) help: String,
    pub(super) code: &'static str,
}

/// A line of the file with the severity of its worst finding.
pub(super) struct LineRow {
    pub(super) number: u32,
    pub(super) text: String,
    pub(super) worst: Option<String>,
    pub(super) class: &'static str,
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
            Err(error) => Self {
                is_in_force: false,
                state: format!(
                    "The file can't be read: {error}.{refused} The policy below stays in force."
                ),
                findings: Vec::new(),
                more_findings: None,
                changes: None,
                lines: Vec::new(),
                more_lines: None,
            },
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
        let is_here = |finding: &&Diagnostic| finding.place.file.as_deref() == Some(&*name);
        let mut worst: BTreeMap<u32, Severity> = BTreeMap::new();
        for finding in findings.iter().filter(is_here) {
            let Some(line) = finding.place.line else { continue };
            let known = worst.entry(line).or_insert(finding.severity);
            *known = finding.severity.max(*known);
        }
        let (lines, more) = lines(&read.bytes, &worst);
        let hidden = findings.len().saturating_sub(MOST_FINDINGS) as u64;
        let rows = findings.iter().take(MOST_FINDINGS).map(|one| finding_row(one, is_here(&one)));
        Self {
            is_in_force,
            state,
            findings: rows.collect(),
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
}

fn lines(bytes: &[u8], worst: &BTreeMap<u32, Severity>) -> (Vec<LineRow>, u64) {
    let mut all = bytes.split(|byte| *byte == b'\n').zip(1..);
    let row = |(line, number): (&[u8], u32)| {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let worst = worst.get(&number);
        // Hidden before it is cut: a part of a URL could not be told from other text.
        let text = masked(&String::from_utf8_lossy(line));
        LineRow {
            number,
            text: escape::bounded(text.as_bytes(), LONGEST),
            worst: worst.map(ToString::to_string),
            class: worst.map_or("", |severity| class(*severity)),
        }
    };
    let rows = all.by_ref().take(MOST_LINES).map(row).collect();
    (rows, all.count() as u64)
}

fn finding_row(finding: &Diagnostic, is_here: bool) -> FindingRow {
    FindingRow {
        line: finding.place.line.filter(|line| is_here && *line as usize <= MOST_LINES),
        place: finding.place.to_string(),
        severity: finding.severity.to_string(),
        class: class(finding.severity),
        message: masked(&finding.message),
        help: masked(finding.help.as_deref().unwrap_or_default()),
        code: finding.code,
    }
}

const fn class(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "bad",
        Severity::Warning => "log",
        Severity::Note => "plain",
    }
}
