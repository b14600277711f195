//! The catalogue file that an update replaces, and the policy that names it.

use std::{
    fs::Permissions,
    io,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use crate::{
    base::{
        diagnostic::{Diagnostic, Severity},
        whole_file,
    },
    program::console::{Error, no_policy},
    rules::{
        crawlers::CatalogueFile,
        policy::{self, built_in_catalogue_file, read_catalogue_file},
    },
    state::publication,
};

/// The catalogue file, and the policy that names it.
pub(super) struct Destination {
    pub(super) to: PathBuf,
    /// The policy that names the file.
    policy: Option<PathBuf>,
    /// How that policy fetches.
    pub(super) evidence: Option<policy::Evidence>,
}

impl Destination {
    /// The file `to`, else the one that the policy file names.
    pub(super) fn find(to: Option<&Path>, file: &Path) -> Result<Self, Error> {
        if let Some(to) = to {
            return Ok(Self { to: to.to_owned(), policy: None, evidence: None });
        }
        let unreadable = |error: io::Error| no_policy(file, &error);
        let mut read = publication::read_policy(file).map_err(unreadable)?;
        let names = read.catalogue_file.clone();
        if read.policy.is_none() && names.is_some() {
            // The named file may be missing or broken; an update repairs it.
            let built_in = |_: &Path| Ok(policy::BUILT_IN_CATALOGUE.as_bytes().to_vec());
            let again = publication::read_policy_with(file, built_in).map_err(unreadable)?;
            if again.policy.is_some() {
                read = again;
            }
        }
        let Some(policy) = read.policy else { return Err(Error::Findings(errors(read.findings))) };
        let Some(to) = names else {
            return Err(Error::Refused(format!(
                "{} names no catalogue file (add a line such as 'catalogue: crawlers.yaml', or \
                 name the file with --to)",
                file.display()
            )));
        };
        Ok(Self { to, policy: Some(file.to_owned()), evidence: policy.evidence })
    }

    /// The catalogue in use: the file's, else the built-in one.
    pub(super) fn in_use(&self) -> CatalogueFile {
        let bytes = publication::read_catalogue_file(&self.to).ok();
        let read = bytes.and_then(|bytes| read_catalogue_file("", &bytes).ok());
        read.unwrap_or_else(built_in_catalogue_file)
    }

    /// The errors of the policy with a catalogue of these bytes, and a warning about a catalogue
    /// that is older than the built-in one.
    pub(super) fn objections(&self, bytes: &[u8]) -> Result<Vec<Diagnostic>, Error> {
        let Some(file) = &self.policy else { return Ok(Vec::new()) };
        let read = publication::read_policy_with(file, |_| Ok(bytes.to_vec()))
            .map_err(|error| no_policy(file, &error))?;
        let is_objection = |one: &Diagnostic| {
            one.severity == Severity::Error || one.code == "policy.old_catalogue"
        };
        Ok(read.findings.into_iter().filter(is_objection).collect())
    }

    /// Writes a new file beside the old one and renames it, so that the file is always complete.
    pub(super) fn replace(&self, bytes: &[u8]) -> io::Result<()> {
        // A link stays, and the file behind it is replaced.
        let to = std::fs::canonicalize(&self.to).unwrap_or_else(|_| self.to.clone());
        let old = std::fs::metadata(&to).ok();
        whole_file::replace(&to, bytes, |new| match &old {
            Some(old) => new.set_permissions(old.permissions()),
            None => new.set_permissions(Permissions::from_mode(0o644)),
        })
    }
}

fn errors(findings: Vec<Diagnostic>) -> Vec<Diagnostic> {
    findings.into_iter().filter(|finding| finding.severity == Severity::Error).collect()
}
