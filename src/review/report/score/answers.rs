//! What the database is asked for a scorecard, and its answers.

use jiff::Timestamp;

use crate::{
    records::{
        counts::{Counted, Dimension, Question},
        record::{Edition, Error, Fetch},
        tally::Claimant,
        violations::Store,
    },
    review::report::{Count, Span, TALLIED_BY},
    rules::crawlers::Catalogue,
};

/// By what counts are told apart to see what was read, and when.
const READ_BY: [Dimension; 4] =
    [Dimension::Hour, Dimension::Site, Dimension::Reason, Dimension::Edition];

/// The most bytes of robots.txt files that are read for their times in force.
const MOST_EDITIONS: usize = 16 << 20;

/// The answers of the database about one crawler.
#[derive(Clone, Debug)]
pub(crate) struct Answers {
    /// The span of time.
    pub(crate) span: Span,
    /// The only site that was asked for.
    pub(crate) site: Option<String>,
    /// The product token.
    pub(crate) product_token: String,
    /// The counts of the span by [`TALLIED_BY`](crate::review::report::TALLIED_BY).
    pub(crate) now: Vec<Counted>,
    /// The counts of the span before.
    pub(crate) before: Vec<Counted>,
    /// The requests of its impostors in the span. All other counts are without them.
    pub(crate) impostors: Count,
    /// The counts of the span by hour.
    pub(crate) hours: Vec<Counted>,
    /// The counts of both spans by hour, site, reason and edition, under every name that the crawler obeys in robots.txt:
    /// it may fetch the file under any of them.
    pub(crate) read: Vec<Counted>,
    /// The latest fetches under these names.
    pub(crate) fetches: Vec<Fetch>,
    /// The editions that were in force in both spans.
    pub(crate) editions: Vec<Edition>,
    /// The first hour with counts, of any site.
    pub(crate) first_counts: Option<Timestamp>,
}

impl Answers {
    /// The answers of a database about the crawler with this product token.
    pub(crate) fn of(
        store: &Store,
        catalogue: &Catalogue,
        span: Span,
        site: Option<String>,
        product_token: String,
    ) -> Result<Self, Error> {
        let of = |question: Question, token: &str, by: &[Dimension]| Question {
            site: site.clone(),
            product_token: Some(token.to_owned()),
            claimant: Some(Claimant::Crawler),
            by: by.to_vec(),
            ..question
        };
        let (here, before) = (span.question(), span.question_before());
        let both = Question { since: span.before, site: site.clone(), ..here.clone() };
        let names: Vec<String> = match catalogue.find(&product_token) {
            Some(entry) => entry.groups().map(|name| name.as_str().to_owned()).collect(),
            None => vec![product_token.clone()],
        };
        let mut read = Vec::new();
        for name in &names {
            read.extend(store.counted(&of(both.clone(), name, &READ_BY))?);
        }
        let impostors = Some(Claimant::Impostor);
        let impostors = Question { claimant: impostors, ..of(here.clone(), &product_token, &[]) };
        let impostors = store.counted(&impostors)?;
        let mut fetches = store.fetches_of(&names)?;
        fetches
            .retain(|fetch| site.as_ref().is_none_or(|site| fetch.site.eq_ignore_ascii_case(site)));
        Ok(Self {
            now: store.counted(&of(here.clone(), &product_token, &TALLIED_BY))?,
            before: store.counted(&of(before, &product_token, &TALLIED_BY))?,
            impostors: impostors.first().map(Count::from).unwrap_or_default(),
            hours: store.counted(&of(here, &product_token, &[Dimension::Hour]))?,
            read,
            fetches,
            editions: store.latest_editions(span.before, None, MOST_EDITIONS)?.0,
            first_counts: store.first_counted_hour()?,
            span,
            site,
            product_token,
        })
    }
}
