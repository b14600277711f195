//! The refresh of published evidence in the background.
//!
//! A failed fetch or an implausible response changes nothing: the copy in use stays in use.

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use parking_lot::Mutex;
use tokio::{
    sync::Notify,
    time::{Instant, sleep_until},
};

use crate::{
    base::{
        diagnostic::{Diagnostic, Severity},
        fetch::{self, Failure, Fetching, Sources, Validators},
        metrics::Metrics,
    },
    rules::crawlers::Evidence,
};

use super::{
    failures::{Failed, Report},
    source::{Content, Fetched, Fetcher, Terms},
};

/// The time until the first retry after a failure. Each further retry waits twice as long.
const RETRY: Duration = Duration::from_secs(60);
/// The most doublings of [`RETRY`]. More would exceed every refresh interval.
const MOST_DOUBLINGS: u32 = 16;
/// The least interval between two fetches, even if `max-age` is less or a client wants one.
const LEAST_INTERVAL: Duration = Duration::from_secs(300);

const FINDING: &str = "finding in the published evidence of a crawler";

#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) code: &'static str,
    pub(super) reason: String,
}

pub(super) trait Collection: Send + 'static {
    const EVIDENCE: Evidence;
    const TERMS: Terms;
    /// Whether a server may shorten the interval with `Cache-Control: max-age`.
    const OBEYS_MAX_AGE: bool;

    fn urls(&self) -> Vec<String>;

    /// Replaces the copy in use, if the new content is plausible. Returns findings about it.
    fn take(&mut self, number: usize, content: &Content) -> Result<Vec<Diagnostic>, Refusal>;

    /// Notes that the source still has the copy in use.
    fn renew(&mut self, _number: usize) {}

    fn has_copy(&self, number: usize) -> bool;

    fn wishes(&self) -> Option<Arc<Wishes>> {
        None
    }
}

/// The sources that clients want to have fetched before their time, by number.
#[derive(Debug, Default)]
pub(super) struct Wishes {
    numbers: Mutex<BTreeSet<usize>>,
    news: Notify,
}

impl Wishes {
    pub(super) fn add(&self, number: usize) {
        if self.numbers.lock().insert(number) {
            self.news.notify_one();
        }
    }
}

/// Fetches without end: from every source at the start, then from each at its own interval.
pub(super) fn run<C: Collection>(
    collection: C,
    refresh: Duration,
    fetcher: Fetcher,
    metrics: Arc<Metrics>,
    report: Arc<Report>,
) -> impl Future<Output = ()> + Send {
    let source = |url| Source { url, ..Source::default() };
    let sources: Vec<Source> = collection.urls().into_iter().map(source).collect();
    let wishes = collection.wishes().unwrap_or_default();
    report.join(C::EVIDENCE.as_str(), sources.len());
    let is_resting = AtomicBool::new(false);
    let all =
        Refresh { collection, sources, wishes, refresh, fetcher, metrics, report, is_resting };
    fetch::repeat(all)
}

struct Refresh<C> {
    collection: C,
    sources: Vec<Source>,
    wishes: Arc<Wishes>,
    refresh: Duration,
    fetcher: Fetcher,
    metrics: Arc<Metrics>,
    report: Arc<Report>,
    /// Whether no fetch is under way or due.
    is_resting: AtomicBool,
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
        if self.is_resting.swap(false, Ordering::Relaxed) {
            self.report.resume();
        }
        Some(Box::pin(async move { fetcher.fetch(&url, &validators, C::TERMS).await }))
    }

    fn settle(&mut self, number: usize, fetched: Self::Fetched) -> Option<Duration> {
        let source = self.sources.get_mut(number)?;
        source.fetched = Some(Instant::now());
        let refresh = self.refresh;
        let taken = match fetched {
            Ok(Fetched::Unchanged) => {
                self.collection.renew(number);
                Ok(("unchanged", refresh, Vec::new()))
            }
            Ok(Fetched::Fresh { content, validators, max_age }) => {
                self.collection.take(number, &content).map(|findings| {
                    source.validators = validators;
                    let max_age = max_age.filter(|_| C::OBEYS_MAX_AGE);
                    let wait = max_age.map_or(refresh, |age| age.clamp(LEAST_INTERVAL, refresh));
                    ("fresh", wait, findings)
                })
            }
            Err(failure) => Err(Refusal { code: failure.code(), reason: failure.to_string() }),
        };
        let evidence = C::EVIDENCE.as_str();
        let (label, wait, outcome) = match taken {
            Ok((label, wait, findings)) => {
                source.failures = 0;
                for Diagnostic { code, message: finding, severity, .. } in findings {
                    self.metrics.evidence_finding(evidence, code);
                    let url = &source.url;
                    match severity {
                        Severity::Note => tracing::info!(url, evidence, code, finding, "{FINDING}"),
                        _ => tracing::warn!(url, evidence, code, finding, "{FINDING}"),
                    }
                }
                (label, wait, Ok(()))
            }
            Err(Refusal { code, reason: error }) => {
                let wait = RETRY * 2_u32.pow(source.failures.min(MOST_DOUBLINGS));
                source.failures = source.failures.saturating_add(1);
                let has_copy = self.collection.has_copy(number);
                (code, wait.min(refresh), Err(Failed { code, error, has_copy }))
            }
        };
        self.metrics.evidence_fetch(evidence, label);
        self.report.note(evidence, &source.url, outcome);
        Some(wait)
    }

    fn rest(&mut self) {
        if !self.is_resting.swap(true, Ordering::Relaxed) {
            self.report.rest();
        }
    }

    async fn wanted(&mut self) -> usize {
        loop {
            let numbers: Vec<usize> = self.wishes.numbers.lock().iter().copied().collect();
            let time = |number: usize| Some(self.sources.get(number)?.fetched? + LEAST_INTERVAL);
            let next = numbers.into_iter().map(|number| (time(number), number)).min();
            match next {
                None => self.wishes.news.notified().await,
                Some((Some(at), _)) if at > Instant::now() => {
                    tokio::select! {
                        () = sleep_until(at) => {}
                        () = self.wishes.news.notified() => {}
                    }
                }
                Some((_, number)) => {
                    self.wishes.numbers.lock().remove(&number);
                    return number;
                }
            }
        }
    }
}

#[derive(Default)]
struct Source {
    url: String,
    validators: Validators,
    failures: u32,
    fetched: Option<Instant>,
}

#[cfg(test)]
mod tests {
    use super::*;

    struct OneSource;

    impl Collection for OneSource {
        const EVIDENCE: Evidence = Evidence::Signature;
        const TERMS: Terms = Terms { octets: 1, redirects: false };
        const OBEYS_MAX_AGE: bool = true;

        fn urls(&self) -> Vec<String> {
            vec!["https://a.invalid/".to_owned()]
        }

        fn take(&mut self, _: usize, _: &Content) -> Result<Vec<Diagnostic>, Refusal> {
            Ok(Vec::new())
        }

        fn has_copy(&self, _: usize) -> bool {
            true
        }
    }

    #[tokio::test]
    async fn a_wish_is_granted_once_in_five_minutes() {
        let collection = OneSource;
        let sources =
            collection.urls().into_iter().map(|url| Source { url, ..Source::default() }).collect();
        let (wishes, metrics) = (Arc::<Wishes>::default(), Arc::default());
        let fetcher = Fetcher::new(None).unwrap();
        let refresh = 24 * 12 * LEAST_INTERVAL;
        let own = Arc::clone(&wishes);
        let mut refresh = Refresh {
            collection,
            sources,
            wishes: own,
            refresh,
            fetcher,
            metrics,
            report: Arc::default(),
            is_resting: AtomicBool::new(false),
        };
        let short = Duration::from_millis(20);
        assert!(tokio::time::timeout(short, refresh.wanted()).await.is_err(), "nobody wants one");
        wishes.add(0);
        wishes.add(0);
        assert_eq!(refresh.wanted().await, 0);
        assert!(tokio::time::timeout(short, refresh.wanted()).await.is_err(), "it was granted");
        let wait = refresh.settle(0, Ok(Fetched::Unchanged));
        assert_eq!(wait, Some(24 * 12 * LEAST_INTERVAL));
        wishes.add(0);
        assert!(tokio::time::timeout(short, refresh.wanted()).await.is_err(), "it is too soon");
        let earlier = |fetched: Instant| fetched.checked_sub(LEAST_INTERVAL);
        refresh.sources[0].fetched = refresh.sources[0].fetched.and_then(earlier);
        assert_eq!(refresh.wanted().await, 0);
    }
}
