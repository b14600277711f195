//! Failed tests as findings about the policy.

use crate::{
    base::{diagnostic::Diagnostic, escape::shown},
    rules::policy::{Policy, TestFailures},
};

use super::outcome::{Found, Trial};

/// A finding for each failed test. It is an error if the policy says that failures refuse it.
/// `file` is the name of the policy's file.
pub(crate) fn findings(policy: &Policy, file: &str) -> Vec<Diagnostic> {
    let found = match super::run(policy) {
        Ok(trials) => trials.iter().filter_map(|trial| finding(trial, policy)).collect(),
        Err(error) => vec![failure(policy, format!("the tests can't run: {error}"))],
    };
    found.into_iter().map(|finding| finding.in_file(file)).collect()
}

fn finding(trial: &Trial, policy: &Policy) -> Option<Diagnostic> {
    if trial.is_passed() {
        return None;
    }
    let name = shown(&trial.name);
    let (message, help) = match &trial.found {
        Found::Fault { fault } => {
            (format!("the test '{name}' has no request: {fault}"), "repair the test".to_owned())
        }
        Found::Decision { rule, .. } => {
            let differences = trial.differences();
            let facts = differences.iter().map(|one| {
                let none = |text: &str| match text {
                    "" => "none".to_owned(),
                    text => shown(text),
                };
                format!("{} is {}, not {}", one.key, none(&one.found), none(&one.expected))
            });
            let facts = facts.collect::<Vec<_>>().join("; ");
            let rule = rule.as_ref().map_or_else(
                || "no rule matches".to_owned(),
                |rule| format!("line {} of robots.txt decides", rule.line),
            );
            let help = format!("{rule}: repair the policy or the test ('beadle test' shows more)");
            (format!("the test '{name}' failed: {facts}"), help)
        }
    };
    Some(failure(policy, message).at(trial.line, trial.column).help(help))
}

fn failure(policy: &Policy, message: String) -> Diagnostic {
    const CODE: &str = "policy.test_failed";
    match policy.test_failures {
        TestFailures::Warn => Diagnostic::warning(CODE, message),
        TestFailures::Refuse => Diagnostic::error(CODE, message),
    }
}
