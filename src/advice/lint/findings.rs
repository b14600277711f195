//! The findings of the lints, bounded for each code.

use std::collections::BTreeMap;

use crate::{base::diagnostic::Diagnostic, rules::policy::Spot};

/// How many findings of one code are listed.
const MOST_OF_A_CODE: usize = 25;

#[derive(Debug, Default)]
pub(super) struct Findings {
    kept: Vec<Diagnostic>,
    counts: BTreeMap<&'static str, usize>,
}

impl Findings {
    pub(super) fn add(&mut self, at: Spot, finding: Diagnostic) {
        let count = self.counts.entry(finding.code).or_default();
        *count += 1;
        if *count <= MOST_OF_A_CODE {
            self.kept.push(finding.at(at.line, at.column));
        }
    }

    /// The findings that were kept, and a note for each code with more.
    pub(super) fn into_vec(mut self) -> Vec<Diagnostic> {
        for (code, count) in self.counts {
            if let Some(more) = count.checked_sub(MOST_OF_A_CODE).filter(|more| *more > 0) {
                let message = format!("{more} more findings '{code}' are not listed");
                self.kept.push(Diagnostic::note("lint.more_findings", message));
            }
        }
        self.kept
    }
}
