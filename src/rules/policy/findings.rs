//! The findings about a policy, and corrections for misspelt words.

use std::{cell::RefCell, fmt};

use crate::base::diagnostic::{Diagnostic, Severity};

use super::yaml::Spot;

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

    pub(super) fn push_at(&self, spot: Spot, finding: Diagnostic) {
        self.push(finding.at(spot.line, spot.column));
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

/// The candidate that `text` is most likely a misspelling of.
pub fn closest<'c>(text: &str, candidates: impl Iterator<Item = &'c str>) -> Option<&'c str> {
    let lower = text.to_ascii_lowercase();
    candidates
        .map(|candidate| {
            (strsim::damerau_levenshtein(&lower, &candidate.to_ascii_lowercase()), candidate)
        })
        .filter(|(distance, candidate)| *distance <= 1 + candidate.len().min(text.len()) / 4)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// A question for the candidates that are meant by `text`: the one of which it is a misspelling, else
/// those of which it is a part.
pub fn suggestion<'c>(
    text: &str,
    candidates: impl Iterator<Item = &'c str> + Clone,
) -> Option<String> {
    const LEAST: usize = 2;
    if let Some(one) = closest(text, candidates.clone()) {
        return Some(format!("did you mean '{one}'?"));
    }
    let part = text.to_ascii_lowercase();
    let has_part = |name: &&str| {
        let name = name.to_ascii_lowercase();
        let is_long = part.len() > name.len() && part.contains(&name) && name.len() > LEAST;
        (part.len() >= LEAST && name.contains(&part)) || is_long
    };
    let near: Vec<String> = candidates.filter(has_part).map(|name| format!("'{name}'")).collect();
    match near.as_slice() {
        [] => None,
        [one] => Some(format!("did you mean {one}?")),
        several => Some(format!("did you mean one of {}?", several.join(", "))),
    }
}

/// The first known key that contains `text` or is contained in it: `robot` in `robots_txt`.
pub(super) fn contained<'k>(text: &str, known: &[&'k str]) -> Option<&'k str> {
    let is_near = |name: &&&str| name.contains(text) || text.contains(**name);
    known.iter().find(is_near).filter(|_| text.len() >= 3).copied()
}

#[cfg(test)]
mod tests;
