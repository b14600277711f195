//! The findings about a policy.

use std::{cell::RefCell, fmt};

use crate::base::diagnostic::{Diagnostic, Severity};

/// Everything that is wrong with a policy, or worth a warning.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings(pub Vec<Diagnostic>);

impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|finding| writeln!(f, "{finding}"))
    }
}

impl std::error::Error for Findings {}

/// The findings so far, while a policy is read. Every value has it at hand.
#[derive(Debug, Default)]
pub(super) struct Sink(RefCell<Vec<Diagnostic>>);

impl Sink {
    pub(super) fn push(&self, finding: Diagnostic) {
        self.0.borrow_mut().push(finding);
    }

    pub(super) fn count(&self) -> usize {
        self.0.borrow().len()
    }

    /// Whether there are errors among the findings but the first `known`.
    pub(super) fn has_errors_after(&self, known: usize) -> bool {
        self.0.borrow().iter().skip(known).any(|finding| finding.severity == Severity::Error)
    }

    pub(super) fn into_findings(self) -> Vec<Diagnostic> {
        self.0.into_inner()
    }
}
