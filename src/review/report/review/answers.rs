//! What the database is asked for a review, and its answers.

use jiff::Timestamp;

use crate::{
    records::{
        counts::{Counted, Dimension, Place, Question, Referral},
        record::Error,
        tally::PlaceKind,
        violations::Store,
    },
    review::report::{Span, TALLIED_BY},
};

/// By what counts are told apart for [`rules`](super::rules).
pub(crate) const RULES_BY: [Dimension; 5] =
    [Dimension::Site, Dimension::Directive, Dimension::Pattern, Dimension::Line, Dimension::Reason];

/// The paths that a review shows at most.
const MOST_PATHS: usize = 1_000;
/// The paths of the time before among which they are looked for.
pub(super) const MOST_PATHS_BEFORE: usize = 100_000;

#[derive(Clone, Debug)]
pub(crate) struct Answers {
    pub(crate) span: Span,
    /// The only site that was asked for.
    pub(crate) site: Option<String>,
    /// The answers about the span.
    pub(crate) now: Period,
    /// The answers about the span before.
    pub(crate) before: Period,
    /// The counts of the span by product token, [`Span::period`] and standing, in this order.
    pub(crate) times: Vec<Counted>,
    /// The first hour with counts, of any site.
    pub(crate) first_counts: Option<Timestamp>,
}

/// The answers about one span.
#[derive(Clone, Debug, Default)]
pub(crate) struct Period {
    /// The counts by [`TALLIED_BY`](crate::review::report::TALLIED_BY).
    pub(crate) crawlers: Vec<Counted>,
    /// The counts by site, directive, pattern, line and reason.
    pub(crate) rules: Vec<Counted>,
    /// The paths with the most violations, up to a bound.
    pub(crate) paths: Vec<Place>,
    pub(crate) people: u64,
    /// The visits of people that operators of crawlers sent.
    pub(crate) referrals: Vec<Referral>,
}

impl Answers {
    /// The answers of a database about `span`, on one site or on all of them.
    pub(crate) fn of(store: &Store, span: Span, site: Option<String>) -> Result<Self, Error> {
        let of = |question: Question| Question { site: site.clone(), ..question };
        let (here, before) = (of(span.question()), of(span.question_before()));
        let times = vec![Dimension::ProductToken, span.period(), Dimension::Standing];
        Ok(Self {
            span,
            now: Period::of(store, &here, MOST_PATHS)?,
            before: Period::of(store, &before, MOST_PATHS_BEFORE)?,
            times: store.counted(&Question { by: times, ..here })?,
            first_counts: store.first_counted_hour()?,
            site,
        })
    }
}

impl Period {
    fn of(store: &Store, question: &Question, paths: usize) -> Result<Self, Error> {
        let by = |by: &[Dimension]| Question { by: by.to_vec(), ..question.clone() };
        let people = store.people(question)?;
        Ok(Self {
            crawlers: store.counted(&by(&TALLIED_BY))?,
            rules: store.counted(&by(&RULES_BY))?,
            paths: store.places(PlaceKind::Path, question, paths)?,
            people: people.iter().map(|one| one.requests).sum(),
            referrals: store.referrals(question)?,
        })
    }
}
