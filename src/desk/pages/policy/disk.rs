//! The policy file on disk: whether it is in force, and what is found in it.
//!
//! Of URLs in it, user and password are hidden, and everything after the host: many services put a secret
//! there.

use std::{collections::BTreeMap, path::Path};

use crate::{
    base::{
        diagnostic::{Diagnostic, Severity},
        escape,
    },
    desk::pages::{changes::Changes, words::second},
    outside::alerts::Refusal,
    review::{report::number::grouped, trial},
    rules::enforce::Moment,
    state::publication::{Snapshot, read_policy},
};

const MOST_LINES: usize = 2_000;
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
        let read = match read_policy(file) {
            Ok(read) => read,
            Err(error) => {
                let state = format!(
                    "The file can't be read: {error}.{refused} The policy below stays in force."
                );
                return Self { state, ..Self::default() };
            }
        };
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

/// What stands for the hidden part.
const HIDDEN: char = '…';
/// What may follow a URL without being a part of it.
const AFTER: [char; 5] = ['"', '\'', ',', '}', ']'];

/// The text with nothing of its URLs but their scheme and host.
pub(in crate::desk::pages) fn masked(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = authority(rest) {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let end = from.find(char::is_whitespace).unwrap_or(from.len());
        let (url, next) = from.split_at(end);
        let bare = url.trim_end_matches(AFTER);
        out.push_str(&masked_url(bare));
        out.push_str(url.get(bare.len()..).unwrap_or_default());
        rest = next;
    }
    out.push_str(rest);
    out
}

/// Where the authority of the first URL begins: after `://`, in which JSON may escape the slashes.
fn authority(text: &str) -> Option<usize> {
    let marks = ["://", ":\\/\\/"];
    let found = marks.iter().filter_map(|mark| Some((text.find(mark)?, mark.len())));
    found.min().map(|(at, length)| at + length)
}

/// The host of what follows `://`, and what stands for the rest.
fn masked_url(url: &str) -> String {
    let (user, rest) = match url.rsplit_once('@') {
        Some((_, rest)) => (true, rest),
        None => (false, url),
    };
    let end = rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len());
    let (host, path) = rest.split_at(end);
    let mut out = String::new();
    if user {
        out.extend([HIDDEN, '@']);
    }
    if is_host(host) {
        out.push_str(host);
    } else {
        out.push(HIDDEN);
    }
    match path {
        "" | "/" => out.push_str(path),
        _ => out.extend(['/', HIDDEN]),
    }
    out
}

/// Whether it is a host with or without a port: no part of a user or a password.
fn is_host(text: &str) -> bool {
    let is_name =
        |host: &str| host.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._*".contains(&b));
    let is_port = |port: &str| port.len() <= 5 && port.bytes().all(|b| b.is_ascii_digit());
    if let Some((address, port)) = text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        let is_address = address.bytes().all(|b| b.is_ascii_hexdigit() || b":.".contains(&b));
        return is_address && port.strip_prefix(':').is_none_or(is_port);
    }
    match text.split_once(':') {
        None => is_name(text),
        Some((host, port)) => is_name(host) && is_port(port),
    }
}

#[cfg(test)]
mod tests {
    use super::masked;

    #[test]
    fn of_a_url_scheme_and_host_remain() {
        for (text, expected) in [
            ("no URL: at all", "no URL: at all"),
            ("origin: http://127.0.0.1:3000", "origin: http://127.0.0.1:3000"),
            ("origin: \"https://[::1]:3000/\"", "origin: \"https://[::1]:3000/\""),
            ("{ url: https://hooks.example/T0/s3cret?x=y, on: [a] }", {
                "{ url: https://hooks.example/…, on: [a] }"
            }),
            ("- 'https://me:s3cret@a.example/x' # y", "- 'https://…@a.example/…' # y"),
            ("https://me:s3/cr@et@a.example", "https://…@a.example"),
            ("\"https:\\/\\/a.example\\/s3cret\"", "\"https:\\/\\/a.example/…\""),
            ("https://me:s3cr", "https://…"),
            ("a http://b/c d https://e:f@g/", "a http://b/… d https://…@g/"),
            ("https://", "https://"),
            ("ftp://user:s3cret@h http://s3cret_ü/", "ftp://…@h http://…/"),
        ] {
            let shown = masked(text);
            assert_eq!(shown, expected, "{text}");
            assert!(!shown.contains("s3c"), "{shown}");
        }
    }
}
