//! The policy file on disk: its changes and its content.

use std::path::PathBuf;

use crate::{diagnostic::Diagnostic, policy::Policy, stamp::Stamp};

use super::files;

/// The policy file, and the catalogue file that it names.
#[derive(Debug)]
pub(super) struct PolicyFile {
    path: PathBuf,
    /// From the last policy that was read, valid or not.
    catalogue: Option<PathBuf>,
    seen: Option<Stamps>,
    last_read: Option<Stamps>,
}

/// The stamps of both files.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Stamps {
    policy: Option<Stamp>,
    catalogue: Option<Stamp>,
}

impl PolicyFile {
    pub(super) fn new(path: PathBuf, policy: &Policy) -> Self {
        let catalogue = policy.catalogue_file.clone();
        Self { path, catalogue, seen: None, last_read: None }
    }

    /// The name in findings.
    pub(super) fn name(&self) -> String {
        self.path.display().to_string()
    }

    /// Whether the files have changed since the last read and are stable since the last check. A
    /// half-written file is not stable.
    pub(super) fn has_changed(&mut self) -> bool {
        let now = Some(self.stamps());
        let has_changed = now == self.seen && now != self.last_read;
        self.seen.clone_from(&now);
        if has_changed {
            self.last_read = now;
        }
        has_changed
    }

    /// Notes a read without a change of the files.
    pub(super) fn mark_as_read(&mut self) {
        self.last_read = Some(self.stamps());
    }

    /// The policy in the file; `None` if it is in force already.
    ///
    /// # Errors
    /// All findings about the file, or one for each change that needs a restart.
    pub(super) fn read(&mut self, in_force: &Policy) -> Result<Option<Policy>, Vec<Diagnostic>> {
        let name = self.name();
        let read = files::read_policy(&self.path).map_err(|error| {
            let finding = Diagnostic::error("policy.unreadable", error.to_string());
            vec![finding.in_file(&name).help("put the file back, or make it readable")]
        })?;
        // A broken policy may end before it names its catalogue. Beadle still watches the known
        // one.
        if read.policy.is_some() || read.catalogue_file.is_some() {
            self.catalogue.clone_from(&read.catalogue_file);
        }
        let findings = read.restart_findings(in_force, &self.path);
        let Some(policy) = read.policy else { return Err(read.findings) };
        if policy.fingerprint == in_force.fingerprint {
            return Ok(None);
        }
        if findings.is_empty() { Ok(Some(policy)) } else { Err(findings) }
    }

    fn stamps(&self) -> Stamps {
        Stamps {
            policy: Stamp::of(&self.path),
            catalogue: self.catalogue.as_deref().and_then(Stamp::of),
        }
    }
}
