//! The records of a listing, those of other forms of closed paths with the form.

use super::record_source::Source;
use crate::{
    formats::robots::Reading,
    program::console::Error,
    records::{record::Violation, tally::FORM},
    review::explanation::PastForms,
    rules::policy::Policy,
};

/// A record of a listing.
#[derive(Debug)]
pub(super) struct Entry<'a> {
    pub(super) violation: &'a Violation,
    /// The form of the path that the rule closes, if the record is of one and it is known.
    pub(super) form: Option<String>,
}

impl Entry<'_> {
    /// Whether the record is of another form of a closed path.
    pub(super) fn is_of_form(&self) -> bool {
        self.violation.reason.as_str() == FORM
    }
}

/// The forms, by the editions of the database.
pub(super) struct Forms<'a> {
    policy: &'a Policy,
    source: &'a Source,
    past: PastForms,
}

impl<'a> Forms<'a> {
    pub(super) fn new(policy: &'a Policy, source: &'a Source) -> Self {
        Self { policy, source, past: PastForms::default() }
    }

    /// These records with their forms.
    pub(super) fn entries<'r>(
        &mut self,
        records: &'r [(u64, Violation)],
    ) -> Result<Vec<Entry<'r>>, Error> {
        records.iter().map(|(_, record)| self.entry(record)).collect()
    }

    fn entry<'r>(&mut self, violation: &'r Violation) -> Result<Entry<'r>, Error> {
        let mut sites = self.policy.sites.iter();
        let site = sites.find(|site| site.name().eq_ignore_ascii_case(&violation.site));
        let reading = site.map_or_else(Reading::default, |site| site.reading);
        let file = || self.source.edition(&violation.robots.edition);
        let form = self.past.of(violation, reading, file)?;
        Ok(Entry { violation, form })
    }
}
