//! Counts by hour, for the conditions of a filter.

use jiff::Timestamp;

use crate::{
    program::console::Error,
    records::{
        counts::{Counted, Question},
        record::Filter,
        violations::Store,
    },
    review::report::terms::counted_spellings,
};

/// The violations that are counted without a record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Unrecorded {
    /// Beyond the number that is recorded in detail.
    pub(super) folded: u64,
    /// Found no room.
    pub(super) dropped: u64,
}

impl Unrecorded {
    pub(super) const fn sum(self) -> u64 {
        self.folded + self.dropped
    }
}

/// The violations without a record in the hours of the span.
pub(super) fn unrecorded(store: &Store, filter: &Filter) -> Result<Unrecorded, Error> {
    let mut sum = Unrecorded::default();
    if filter.reason.is_some() {
        // They are counted without their reasons.
        return Ok(sum);
    }
    for question in questions(filter) {
        for Counted { key, folded, dropped, .. } in store.unrecorded(&question)? {
            if key.first().is_some_and(|action| is_wanted(filter, action)) {
                sum.folded += folded;
                sum.dropped += dropped;
            }
        }
    }
    Ok(sum)
}

/// Whether the filter selects an action.
pub(super) fn is_wanted(filter: &Filter, action: &str) -> bool {
    filter.action.as_ref().is_none_or(|wanted| wanted.eq_ignore_ascii_case(action))
}

/// The questions to the counts.
pub(super) fn questions(filter: &Filter) -> Vec<Question> {
    let question = |product_token| Question {
        since: filter.since.unwrap_or(Timestamp::MIN),
        until: filter.until.unwrap_or(Timestamp::MAX),
        site: filter.site.clone(),
        product_token,
        purpose: filter.purpose.clone(),
        claimant: filter.claimant,
        ..Question::default()
    };
    counted_spellings(filter.product_token.clone()).into_iter().map(question).collect()
}

/// The first hour that has counts, if it is after the start of the span.
pub(super) fn first_hour(store: &Store, filter: &Filter) -> Result<Option<Timestamp>, Error> {
    let Some(first) = store.first_counted_hour()? else { return Ok(None) };
    Ok(Some(filter.since.map_or(first, |since| since.max(first))))
}
