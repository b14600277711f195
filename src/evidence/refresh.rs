//! The refresh of published evidence in the background.
//!
//! A failed fetch or an implausible response changes nothing: the copy in use stays in use.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;

use crate::{
    crawlers::Evidence,
    fetch::{self, Failure, Fetching, Sources, Validators},
    metrics::Metrics,
};

use super::source::{Fetched, Fetcher, Terms};

/// The time until the first retry after a failure. Each further retry waits twice as long.
const RETRY: Duration = Duration::from_secs(60);
/// The most doublings of [`RETRY`]. More would exceed every refresh interval.
const MOST_DOUBLINGS: u32 = 16;
/// The least interval between two fetches, even if `max-age` is less.
const LEAST_INTERVAL: Duration = Duration::from_secs(300);

/// The refusal of a response.
#[derive(Debug)]
pub(super) struct Refusal {
    /// The stable code for logs and metric labels.
    pub(super) code: &'static str,
    /// The reason as text.
    pub(super) reason: String,
}

/// The evidence from numbered sources.
pub(super) trait Collection: Send + 'static {
    /// The kind of evidence.
    const EVIDENCE: Evidence;
    /// The limits of a response.
    const TERMS: Terms;
    /// Whether a server may shorten the interval with `Cache-Control: max-age`.
    const OBEYS_MAX_AGE: bool;

    /// The URLs of the sources, by number.
    fn urls(&self) -> Vec<String>;

    /// Replaces the copy in use, if the new content is plausible.
    fn take(&mut self, number: usize, octets: Bytes) -> Result<(), Refusal>;

    /// Notes that the source still has the copy in use.
    fn renew(&mut self, _number: usize) {}

    /// Whether there is a copy in use.
    fn has_copy(&self, number: usize) -> bool;
}

/// Fetches without end: from every source at the start, then from each at its own interval.
pub(super) async fn run<C: Collection>(
    collection: C,
    refresh: Duration,
    fetcher: Fetcher,
    metrics: Arc<Metrics>,
) {
    let sources = collection.urls().into_iter().map(Source::new).collect();
    fetch::repeat(Refresh { collection, sources, refresh, fetcher, metrics }).await;
}

/// A collection, its sources and the settings of their fetches.
struct Refresh<C> {
    collection: C,
    sources: Vec<Source>,
    refresh: Duration,
    fetcher: Fetcher,
    metrics: Arc<Metrics>,
}

impl<C: Collection> Sources for Refresh<C> {
    type Fetched = Result<Fetched, Failure>;
    const AT_ONCE: usize = 4;

    fn count(&self) -> usize {
        self.sources.len()
    }

    fn fetch(&self, number: usize) -> Option<Fetching<Self::Fetched>> {
        let source = self.sources.get(number)?;
        let (url, validators) = (source.url.clone(), source.validators.clone());
        let fetcher = self.fetcher.clone();
        Some(Box::pin(async move { fetcher.fetch(&url, &validators, C::TERMS).await }))
    }

    fn settle(&mut self, number: usize, fetched: Self::Fetched) -> Option<Duration> {
        let source = self.sources.get_mut(number)?;
        let outcome = source.settle(number, fetched, &mut self.collection, self.refresh);
        self.metrics.evidence_fetch(C::EVIDENCE.as_str(), outcome.label);
        Some(outcome.wait)
    }
}

/// One source, with its validators and its failures in a row.
struct Source {
    url: String,
    validators: Validators,
    failures: u32,
}

/// The outcome of a fetch.
struct Outcome {
    /// The metric label.
    label: &'static str,
    /// The time until the next fetch.
    wait: Duration,
}

impl Source {
    fn new(url: String) -> Self {
        Self { url, validators: Validators::default(), failures: 0 }
    }

    /// Hands a result to the collection.
    fn settle<C: Collection>(
        &mut self,
        number: usize,
        fetched: Result<Fetched, Failure>,
        collection: &mut C,
        refresh: Duration,
    ) -> Outcome {
        let refusal = match fetched {
            Ok(Fetched::Unchanged) => {
                collection.renew(number);
                self.failures = 0;
                return Outcome { label: "unchanged", wait: refresh };
            }
            Ok(Fetched::Fresh { octets, validators, max_age }) => {
                match collection.take(number, octets) {
                    Ok(()) => {
                        self.validators = validators;
                        self.failures = 0;
                        let max_age = max_age.filter(|_| C::OBEYS_MAX_AGE);
                        let wait =
                            max_age.map_or(refresh, |age| age.clamp(LEAST_INTERVAL, refresh));
                        return Outcome { label: "fresh", wait };
                    }
                    Err(refusal) => refusal,
                }
            }
            Err(failure) => Refusal { code: failure.code(), reason: failure.to_string() },
        };
        let wait = RETRY * 2_u32.pow(self.failures.min(MOST_DOUBLINGS));
        self.failures = self.failures.saturating_add(1);
        let Refusal { code, reason: error } = refusal;
        let (url, evidence) = (&self.url, C::EVIDENCE.as_str());
        let last_good_copy = collection.has_copy(number);
        tracing::warn!(
            url,
            evidence,
            code,
            error,
            last_good_copy,
            "published evidence of a crawler refused"
        );
        Outcome { label: code, wait: wait.min(refresh) }
    }
}
