//! A record on its way to the store.

use crate::{
    base::text::Text,
    records::{
        record::Violation,
        tally::{Series, Tallied},
    },
};

/// A violation on its way to the store, with what only the counts by hour need.
#[derive(Clone, Debug)]
pub struct Record {
    /// The violation.
    pub violation: Violation,
    /// Its place in the counts; `None` if nothing keeps counts.
    pub tallied: Option<Tallied>,
}

impl Series {
    /// The series of a violation by a client of this class.
    pub fn of(violation: &Violation, class: &'static str) -> Self {
        let Violation { robots, robots_read, .. } = violation;
        Self {
            site: violation.site.clone(),
            class: Text::word(class),
            product_token: match violation.product_token.as_str() {
                Violation::NAMELESS => Text::default(),
                _ => violation.product_token.clone(),
            },
            purpose: violation.purpose.clone().unwrap_or_default(),
            standing: violation.standing.clone(),
            verdict: violation.verdict.clone(),
            action: violation.action.clone(),
            reason: violation.reason.clone(),
            edition: robots.edition.clone(),
            line: robots.line.unwrap_or(0),
            directive: robots.directive.clone(),
            pattern: robots.pattern.clone(),
            read: Some(robots_read.state),
        }
    }
}
