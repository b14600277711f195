//! The policy file as an option of a verb, read and checked.

use std::{
    io,
    path::{Path, PathBuf},
};

use crate::{
    console::{exit::Error, output::remark},
    diagnostic::{Diagnostic, Severity},
    policy::Policy,
    publication, trial,
};

/// The option that names the policy file.
#[derive(Debug, clap::Args)]
pub(crate) struct ConfigFile {
    /// The policy file.
    #[arg(long, short, value_name = "FILE", default_value = "beadle.yaml", env = "BEADLE_CONFIG")]
    pub(crate) config: PathBuf,
}

/// The policy of a file, with its warnings and notes.
///
/// # Errors
/// All errors of the policy, if there are any.
pub(crate) fn load(file: &Path) -> Result<(Policy, Vec<Diagnostic>), Error> {
    let (policy, findings) = examine(file)?;
    match policy {
        Some(policy) => Ok((policy, findings)),
        None => Err(Error::Findings(
            findings.into_iter().filter(|one| one.severity == Severity::Error).collect(),
        )),
    }
}

/// The policy of a file, with its warnings and notes, after its own tests.
///
/// # Errors
/// All errors of the policy; failed tests are among them if the policy says so.
pub(crate) fn load_after_trial(file: &Path) -> Result<(Policy, Vec<Diagnostic>), Error> {
    let (policy, mut findings) = load(file)?;
    let failures = trial::findings(&policy, &file.display().to_string());
    if failures.iter().any(|one| one.severity == Severity::Error) {
        return Err(Error::Findings(failures));
    }
    findings.extend(failures);
    Ok((policy, findings))
}

/// The policy of a file, for a verb that reads the database. Warns on standard error if the policy's
/// files are not where it says.
pub(crate) fn load_with_database(file: &Path) -> Result<Policy, Error> {
    let (policy, findings) = load(file)?;
    for finding in findings.iter().filter(|one| one.code == publication::OLD_PLACE) {
        remark(&finding.to_string());
    }
    Ok(policy)
}

/// The policy of a file, if it is valid, with all findings.
///
/// # Errors
/// Where the file can't be read.
pub(crate) fn examine(file: &Path) -> Result<(Option<Policy>, Vec<Diagnostic>), Error> {
    let read = publication::read_policy(file).map_err(|error| no_policy(file, &error))?;
    Ok((read.policy, read.findings))
}

/// The refusal of a policy file that can't be read.
pub(crate) fn no_policy(file: &Path, error: &io::Error) -> Error {
    let hint = match error.kind() {
        io::ErrorKind::NotFound => " (name the policy file with --config)",
        _ => "",
    };
    Error::Refused(format!("{}: {error}{hint}", file.display()))
}
