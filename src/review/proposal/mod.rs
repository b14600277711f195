//! A change of the policy file before it is made: its text, and what it would have done.
//!
//! May use: edit, policy, robots, counts, record, tally, violations, report, trial, publication,
//! diagnostic, product_token. Must not know: cli, desk, any clock, any socket. It writes nothing.

use std::path::Path;

use crate::{
    advice::edit,
    base::diagnostic::{Diagnostic, Severity},
    review::trial,
    rules::policy::{Policy, TestFailures},
    state::publication,
};

pub(crate) use self::request::{Act, Declined, PastRow, Request, past};

mod request; // what the operator asks for, and what the last days would have been

#[cfg(test)]
mod tests;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Current<'c> {
    /// The file; relative names start at its folder.
    pub(crate) file: &'c Path,
    /// Its name in findings and in the patch.
    pub(crate) name: &'c str,
    pub(crate) bytes: &'c [u8],
    pub(crate) policy: &'c Policy,
}

/// The change, ready to be written.
#[derive(Debug)]
pub(crate) struct Proposal {
    pub(crate) after: Vec<u8>,
    pub(crate) policy: Policy,
    /// The difference of the texts, as `patch` reads it.
    pub(crate) patch: String,
}

/// The change that a request makes.
///
/// # Errors
/// See [`Declined`]. A changed policy that fails one of its own tests is refused whatever `test_failures`
/// says.
pub(crate) fn propose(current: Current<'_>, request: &Request<'_>) -> Result<Proposal, Declined> {
    let text = std::str::from_utf8(current.bytes)
        .map_err(|_| Declined::Senseless("the policy is not UTF-8".to_owned()))?;
    let after = request.edited(text, current.policy)?;
    of_text(current, after.into_bytes())
}

pub(crate) fn of_text(current: Current<'_>, after: Vec<u8>) -> Result<Proposal, Declined> {
    let read = publication::read_policy_bytes(current.file, current.name, after.clone());
    let is_error = |one: &Diagnostic| one.severity == Severity::Error;
    let Some(policy) = read.policy else {
        return Err(Declined::Refused(read.findings.into_iter().filter(is_error).collect()));
    };
    let tested = Policy { test_failures: TestFailures::Refuse, ..policy.clone() };
    let failures: Vec<_> =
        trial::findings(&tested, current.name).into_iter().filter(is_error).collect();
    if !failures.is_empty() {
        return Err(Declined::Refused(failures));
    }
    let (text, changed) = (String::from_utf8_lossy(current.bytes), String::from_utf8_lossy(&after));
    let patch = edit::patch(current.name, &text, &changed);
    Ok(Proposal { after, policy, patch })
}
