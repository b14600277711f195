//! What operators publish, fetched again and again in the background, and the last good copies.
//!
//! What can't be fetched or can't be believed changes nothing: the copy in use stays in use.

use std::{
    fs::File,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime},
};

use sha2::{Digest, Sha256};

use crate::{
    crawlers::Evidence,
    metrics::Metrics,
    proxy::fetching::{self, Fetching, Sources, Validators},
};

use super::fetch::{Failure, Fetched, Fetcher, Terms};

/// After a failure a source is tried again after this long, and then after twice as long each time.
const RETRY: Duration = Duration::from_secs(60);
/// More would be longer than any refresh.
const MOST_DOUBLINGS: u32 = 16;
/// A server that says less is asked no more often.
const LEAST_AGE: Duration = Duration::from_secs(300);

/// Why what was fetched is not taken: a stable code, and words.
pub(super) type Doubt = (&'static str, String);

/// What keeps what is fetched from numbered sources.
pub(super) trait Collection: Send + 'static {
    /// What it is evidence of.
    const EVIDENCE: Evidence;
    /// What is asked of an answer.
    const TERMS: Terms;
    /// Whether a server may ask for more frequent look-ups, by `Cache-Control: max-age`.
    const OBEYS_MAX_AGE: bool;

    /// The addresses of the sources; their places are their numbers.
    fn urls(&self) -> Vec<String>;

    /// Puts fresh octets in the place of the copy in use, if they can be believed.
    fn take(&mut self, number: usize, octets: Vec<u8>) -> Result<(), Doubt>;

    /// The source still has the copy in use.
    fn renew(&mut self, _number: usize) {}

    /// Whether there is a copy in use.
    fn has_copy(&self, number: usize) -> bool;
}

/// Fetches for as long as it is let: every source at once, then each when its time has come.
pub(super) async fn run<C: Collection>(
    collection: C,
    refresh: Duration,
    fetcher: Fetcher,
    metrics: Arc<Metrics>,
) {
    let sources = collection.urls().into_iter().map(Source::new).collect();
    fetching::keep_fetching(Refresh { collection, sources, refresh, fetcher, metrics }).await;
}

/// A collection with its sources.
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
        let (outcome, wait) = source.settle(number, fetched, &mut self.collection, self.refresh);
        self.metrics.evidence_fetch(C::EVIDENCE.as_str(), outcome);
        Some(wait)
    }
}

/// Where something is fetched from.
struct Source {
    url: String,
    validators: Validators,
    failures: u32,
}

impl Source {
    fn new(url: String) -> Self {
        Self { url, validators: Validators::default(), failures: 0 }
    }

    /// Has what was fetched taken; what came of it, and when to fetch again.
    fn settle<C: Collection>(
        &mut self,
        number: usize,
        fetched: Result<Fetched, Failure>,
        collection: &mut C,
        refresh: Duration,
    ) -> (&'static str, Duration) {
        let outcome = match fetched {
            Ok(Fetched::Unchanged) => {
                collection.renew(number);
                Ok(("unchanged", None))
            }
            Ok(Fetched::Fresh { octets, validators, max_age }) => {
                collection.take(number, octets).map(|()| {
                    self.validators = validators;
                    ("fresh", max_age.filter(|_| C::OBEYS_MAX_AGE))
                })
            }
            Err(failure) => Err((failure.code(), failure.to_string())),
        };
        match outcome {
            Ok((outcome, max_age)) => {
                self.failures = 0;
                let wait = max_age.map_or(refresh, |age| age.clamp(LEAST_AGE, refresh));
                (outcome, wait)
            }
            Err((code, error)) => {
                let wait = RETRY * 2_u32.pow(self.failures.min(MOST_DOUBLINGS));
                self.failures = self.failures.saturating_add(1);
                let (url, evidence) = (&self.url, C::EVIDENCE.as_str());
                let last_good_copy = collection.has_copy(number);
                tracing::warn!(
                    url,
                    evidence,
                    code,
                    error,
                    last_good_copy,
                    "what a crawler's operator publishes is not taken"
                );
                (code, wait.min(refresh))
            }
        }
    }
}

/// A folder with the last good copies. The name of each is a hash, so that no URL can name another
/// file.
#[derive(Clone, Debug)]
pub(super) struct Copies {
    folder: Option<PathBuf>,
    kind: &'static str,
}

impl Copies {
    /// The copies of one kind; without a folder none is kept.
    pub(super) fn new(folder: Option<&Path>, kind: &'static str) -> Self {
        Self { folder: folder.map(Path::to_owned), kind }
    }

    /// The copy of what was at `url`.
    pub(super) fn read(&self, url: &str) -> Option<Vec<u8>> {
        std::fs::read(self.path(url)?).ok()
    }

    /// When the source of the copy last had it.
    pub(super) fn modified(&self, url: &str) -> Option<SystemTime> {
        std::fs::metadata(self.path(url)?).ok()?.modified().ok()
    }

    /// Notes that the source still has what the copy is of.
    pub(super) fn touch(&self, url: &str) {
        let Some(path) = self.path(url) else { return };
        let file = File::options().write(true).open(&path);
        if let Err(error) = file.and_then(|file| file.set_modified(SystemTime::now())) {
            tracing::warn!(%error, path = %path.display(), "a copy can't be kept");
        }
    }

    /// Writes a copy beside the old one and puts it in its place.
    pub(super) fn write(&self, url: &str, octets: &[u8]) {
        let Some(path) = self.path(url) else { return };
        let new = path.with_extension("new");
        let folder = path.parent().map_or(Ok(()), std::fs::create_dir_all);
        let written = folder
            .and_then(|()| std::fs::write(&new, octets))
            .and_then(|()| std::fs::rename(&new, &path));
        if let Err(error) = written {
            tracing::warn!(%error, path = %path.display(), "a copy can't be kept");
        }
    }

    fn path(&self, url: &str) -> Option<PathBuf> {
        let hash: String =
            Sha256::digest(url).iter().take(8).map(|octet| format!("{octet:02x}")).collect();
        Some(self.folder.as_ref()?.join(format!("{}-{hash}", self.kind)))
    }
}
