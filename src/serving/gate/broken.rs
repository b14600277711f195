//! The broken part of robots.txt.

use std::borrow::Cow;

use crate::{
    clients::conduct::{Early, Weighed},
    formats::robots::Access,
    rules::enforce::{Judgement, Reason, Site},
};

/// The violated part of robots.txt, borrowed where that is possible.
pub(super) struct Broken<'a> {
    pub(super) edition: Cow<'a, str>,
    pub(super) line: Option<u32>,
    pub(super) directive: Cow<'a, str>,
    pub(super) pattern: &'a str,
}

impl<'a> Broken<'a> {
    /// The rule that disallows, or the record of a pace.
    pub(super) fn of(site: &'a Site, judgement: &Judgement<'a>, weighed: &Weighed<'a>) -> Self {
        let is_pace =
            weighed.decision.access == Access::Allow && weighed.decision.reason != Reason::Form;
        match weighed.early.as_ref().filter(|_| is_pace).and_then(record_of_pace) {
            Some(pace) => pace,
            None => Self::rule(site, judgement),
        }
    }

    pub(super) fn rule(site: &'a Site, judgement: &Judgement<'a>) -> Self {
        Self {
            edition: site.edition().id_text().into(),
            line: judgement.rule.map(|rule| rule.line),
            directive: judgement.rule.map_or("", |rule| rule.directive.as_str()).into(),
            pattern: judgement.rule.map_or("", |rule| &rule.pattern),
        }
    }
}

fn record_of_pace<'a>(early: &Early<'a>) -> Option<Broken<'a>> {
    let record = early.pace.record?;
    Some(Broken {
        edition: early.pace.edition.to_string().into(),
        line: Some(record.line),
        directive: record.name.to_ascii_lowercase().into(),
        pattern: &record.value,
    })
}
