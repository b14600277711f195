//! The findings about a policy.

use std::fmt;

use crate::base::diagnostic::{Diagnostic, Severity};

/// Everything that is wrong with a policy, or worth a warning.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings(pub Vec<Diagnostic>);

impl Findings {
    /// Whether there are errors among the findings but the first `known`.
    pub(super) fn have_errors_after(&self, known: usize) -> bool {
        let new = self.0.get(known..).unwrap_or_default();
        new.iter().any(|finding| finding.severity == Severity::Error)
    }

    pub(super) fn push(&mut self, finding: Diagnostic) {
        self.0.push(finding);
    }
}

impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|finding| writeln!(f, "{finding}"))
    }
}

impl std::error::Error for Findings {}
