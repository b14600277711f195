//! The published lists of addresses: fetched in the background, the last good copies kept, one
//! table over all of them swapped whole.
//!
//! A list that can't be fetched, can't be read or has suddenly lost most of its addresses changes
//! nothing: the copy in use stays in use. One that stays short for [`PATIENCE`] refreshes is
//! believed in the end.

use std::{
    cmp::Reverse,
    collections::{BinaryHeap, HashMap},
    net::IpAddr,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use arc_swap::ArcSwap;
use sha2::{Digest, Sha256};
use tokio::{
    task::JoinSet,
    time::{Instant, sleep_until},
};

use crate::{
    crawlers::{
        Answer, Crawler, Evidence,
        ranges::{self, Format, List, ListId, Membership, Refusal, Table},
    },
    metrics::Metrics,
    policy::{self, Policy},
};

use super::fetch::{Failure, Fetched, Fetcher, Terms, Validators};

/// After a failure a list is tried again after this long, and then after twice as long each time.
const RETRY: Duration = Duration::from_secs(60);
/// More would be longer than any refresh.
const MOST_DOUBLINGS: u32 = 16;
/// How many lists are fetched at the same time.
const AT_ONCE: usize = 4;
/// A list that is much shorter than the copy in use is believed when it has come so many times.
const PATIENCE: u32 = 3;
const TERMS: Terms = Terms { octets: ranges::MAX_OCTETS, redirects: true };

/// What requests ask.
#[derive(Debug, Default)]
pub(super) struct Lists {
    current: ArcSwap<Compiled>,
}

/// The lists of all crawlers, compiled.
#[derive(Debug, Default)]
struct Compiled {
    table: Table,
    /// The lists of each crawler that has any, by its key.
    of_crawler: HashMap<Box<str>, Box<[ListId]>>,
}

impl Lists {
    /// What the lists of `crawler` say of an address.
    pub(super) fn answer(&self, crawler: &Crawler, address: IpAddr) -> Answer {
        if crawler.ip_ranges().is_empty() {
            return Answer::Nothing;
        }
        let current = self.current.load();
        let Some(lists) = current.of_crawler.get(crawler.product_token().key()) else {
            return Answer::NotYet;
        };
        match current.table.membership(lists, address) {
            Membership::Listed => Answer::Yes,
            Membership::Unlisted => Answer::No,
            Membership::Undecided => Answer::NotYet,
        }
    }
}

/// One list and its copy.
#[derive(Debug)]
struct Source {
    url: String,
    format: Option<Format>,
    list: Option<Arc<List>>,
    validators: Validators,
    failures: u32,
    /// How often in a row a copy came that is too different to be believed at once.
    doubts: u32,
}

/// What fetches the lists, a few at a time.
#[derive(Debug)]
pub(super) struct Keeper {
    lists: Arc<Lists>,
    sources: Vec<Source>,
    of_crawler: HashMap<Box<str>, Box<[ListId]>>,
    folder: Option<PathBuf>,
    refresh: Duration,
    metrics: Arc<Metrics>,
}

impl Keeper {
    /// The lists of the policy's crawlers, with the copies that were kept.
    pub(super) fn new(
        lists: Arc<Lists>,
        policy: &Policy,
        settings: &policy::Evidence,
        metrics: Arc<Metrics>,
    ) -> Self {
        let policy::Evidence { folder, refresh, .. } = settings.clone();
        let mut sources: Vec<Source> = Vec::new();
        let mut of_crawler = HashMap::new();
        for crawler in policy.catalogue.iter().filter(|crawler| settings.is_about(crawler)) {
            if crawler.ip_ranges().is_empty() {
                continue;
            }
            let format = crawler.ip_format().and_then(Format::named);
            let mut number = |url: &String| {
                let known = sources.iter().position(|source| source.url == *url);
                let at = known.unwrap_or_else(|| {
                    let list = folder.as_deref().and_then(|folder| read_copy(folder, url));
                    sources.push(Source {
                        url: url.clone(),
                        format,
                        list: list.map(Arc::new),
                        validators: Validators::default(),
                        failures: 0,
                        doubts: 0,
                    });
                    sources.len() - 1
                });
                ListId(u32::try_from(at).expect("a catalogue has less than 4 billion lists"))
            };
            let ids: Box<[ListId]> = crawler.ip_ranges().iter().map(&mut number).collect();
            of_crawler.insert(Box::from(crawler.product_token().key()), ids);
        }
        let keeper = Self { lists, sources, of_crawler, folder, refresh, metrics };
        keeper.publish();
        keeper
    }

    /// Fetches for as long as it is let: every list at once, then each when its time has come.
    pub(super) async fn run(mut self, fetcher: Fetcher) {
        let start = Instant::now();
        let mut due: BinaryHeap<Reverse<(Instant, usize)>> =
            (0..self.sources.len()).map(|number| Reverse((start, number))).collect();
        let mut under_way = JoinSet::new();
        loop {
            let next = match due.peek() {
                Some(Reverse((at, _))) if under_way.len() < AT_ONCE => Some(*at),
                _ => None,
            };
            tokio::select! {
                Some(Ok((number, fetched))) = under_way.join_next() => {
                    let wait = self.take(number, fetched);
                    due.push(Reverse((Instant::now() + wait, number)));
                }
                () = sleep_until(next.unwrap_or(start)), if next.is_some() => {
                    let Some(Reverse((_, number))) = due.pop() else { continue };
                    let Some(source) = self.sources.get(number) else { continue };
                    let (url, validators) = (source.url.clone(), source.validators.clone());
                    let fetcher = fetcher.clone();
                    under_way.spawn(async move {
                        (number, fetcher.fetch(&url, &validators, TERMS).await)
                    });
                }
                else => return, // there is no list
            }
        }
    }

    /// Takes what was fetched if it can be believed; says when to fetch again.
    fn take(&mut self, number: usize, fetched: Result<Fetched, Failure>) -> Duration {
        let refresh = self.refresh;
        let Some(source) = self.sources.get_mut(number) else { return refresh };
        let outcome = match fetched {
            Ok(Fetched::Unchanged) => Ok("unchanged"),
            Ok(Fetched::Fresh { octets, validators, .. }) => match source.believe(&octets) {
                Ok(()) => {
                    source.validators = validators;
                    Ok("fresh")
                }
                Err(refusal) => Err((refusal.code(), refusal.to_string())),
            },
            Err(failure) => Err((failure.code(), failure.to_string())),
        };
        match outcome {
            Ok(outcome) => {
                self.metrics.evidence_fetch(Evidence::IpRange.as_str(), outcome);
                source.failures = 0;
                if outcome == "fresh" {
                    if let Some(folder) = &self.folder {
                        write_copy(folder, source);
                    }
                    self.publish();
                }
                refresh
            }
            Err((code, error)) => {
                self.metrics.evidence_fetch(Evidence::IpRange.as_str(), code);
                let wait = RETRY * 2_u32.pow(source.failures.min(MOST_DOUBLINGS));
                source.failures = source.failures.saturating_add(1);
                let last_good_copy = source.list.is_some();
                tracing::warn!(
                    url = source.url,
                    code,
                    error,
                    last_good_copy,
                    "a list of addresses is not taken"
                );
                wait.min(refresh)
            }
        }
    }

    /// Compiles what is there for requests to ask.
    fn publish(&self) {
        let present = self.sources.iter().zip(0..).filter_map(|(source, number)| {
            source.list.as_deref().map(|list| (ListId(number), list))
        });
        let table = Table::new(present);
        let of_crawler = self.of_crawler.clone();
        self.lists.current.store(Arc::new(Compiled { table, of_crawler }));
    }
}

impl Source {
    /// Replaces the copy in use by a fresh one that can be believed.
    fn believe(&mut self, octets: &[u8]) -> Result<(), Refusal> {
        let fresh = ranges::read(self.format, octets)?;
        if let Some(old) = &self.list
            && let Err(refusal) = ranges::sane_successor(old, &fresh)
        {
            self.doubts += 1;
            if self.doubts < PATIENCE {
                return Err(refusal);
            }
        }
        self.doubts = 0;
        self.list = Some(Arc::new(fresh));
        Ok(())
    }
}

/// Where the copy of a list is: its name is a hash, so that no URL can name another file.
fn copy_of(folder: &Path, url: &str) -> PathBuf {
    let name: String =
        Sha256::digest(url).iter().take(8).map(|octet| format!("{octet:02x}")).collect();
    folder.join(format!("ranges-{name}.txt"))
}

fn read_copy(folder: &Path, url: &str) -> Option<List> {
    let octets = std::fs::read(copy_of(folder, url)).ok()?;
    ranges::read(Some(Format::Rows), &octets).ok()
}

/// Writes a copy beside the old one and puts it in its place.
fn write_copy(folder: &Path, source: &Source) {
    let Some(list) = &source.list else { return };
    let path = copy_of(folder, &source.url);
    let new = path.with_extension("new");
    let text = format!("# {}\n{list}", source.url);
    let written = std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(&new, text))
        .and_then(|()| std::fs::rename(&new, &path));
    if let Err(error) = written {
        tracing::warn!(%error, path = %path.display(), "the copy of a list can't be kept");
    }
}
