//! The watches of all sites: they settle results, write the log and the metrics, and send news.

use std::{sync::Arc, time::Duration};

use jiff::Timestamp;
use parking_lot::Mutex;
use tokio::sync::{mpsc, watch as latest};

use crate::{
    fetch::{Fetching, Sources},
    metrics::Metrics,
    robots::OriginFile,
};

use super::{
    destination::Destination,
    fetcher::{Fetched, Fetcher},
    news::News,
    site::WatchedSite,
    watch::{self, Event, Progress, Watch},
};

/// The watches of all sites, with the sender of news.
#[derive(Debug)]
pub(super) struct Watches {
    sites: Vec<SiteWatch>,
    news: mpsc::UnboundedSender<News>,
    /// The number of sites without a first result.
    pending: latest::Sender<usize>,
    metrics: Arc<Metrics>,
    is_open: bool,
}

/// One site with its watch.
#[derive(Debug)]
struct SiteWatch {
    site: WatchedSite,
    watch: Watch,
    has_result: bool,
}

/// The fetches for all watches.
#[derive(Debug)]
pub(super) struct Rounds {
    pub(super) watches: Arc<Mutex<Watches>>,
    pub(super) fetcher: Fetcher,
}

impl Sources for Rounds {
    type Fetched = Fetched;
    // At the start this covers all sites of most policies.
    const AT_ONCE: usize = 64;

    fn count(&self) -> usize {
        self.watches.lock().sites.len()
    }

    fn fetch(&self, number: usize) -> Option<Fetching<Fetched>> {
        let watches = self.watches.lock();
        let SiteWatch { site, watch, .. } = watches.sites.get(number)?;
        let (destinations, condition) = (Destination::of(site), watch.condition().cloned());
        let fetcher = self.fetcher.clone();
        Some(Box::pin(async move { fetcher.fetch(destinations, condition).await }))
    }

    fn settle(&mut self, number: usize, fetched: Fetched) -> Option<Duration> {
        self.watches.lock().settle(number, fetched, Timestamp::now())
    }
}

impl Watches {
    /// The watches, and a channel with the number of sites without a first result.
    pub(super) fn new(
        sites: Vec<(WatchedSite, Watch)>,
        news: mpsc::UnboundedSender<News>,
        metrics: Arc<Metrics>,
    ) -> (Self, latest::Receiver<usize>) {
        let (pending, receiver) = latest::channel(sites.len());
        for (site, watch) in &sites {
            metrics.origin_robots_held(&site.name, watch.quarantined().is_some());
        }
        let watched = |(site, watch)| SiteWatch { site, watch, has_result: false };
        let sites = sites.into_iter().map(watched).collect();
        (Self { sites, news, pending, metrics, is_open: true }, receiver)
    }

    /// The watch of a site.
    pub(super) fn watch(&self, site: &str) -> Option<&Watch> {
        self.sites.iter().find(|one| one.site.name == site).map(|one| &one.watch)
    }

    /// The names of the sites with a quarantined file.
    pub(super) fn quarantine(&self) -> Vec<String> {
        let quarantined = self.sites.iter().filter(|one| one.watch.quarantined().is_some());
        quarantined.map(|one| one.site.name.clone()).collect()
    }

    /// Ignores further results and removes the quarantine metrics.
    pub(super) fn close(&mut self) {
        self.is_open = false;
        self.sites.iter().for_each(|one| self.metrics.forget_origin_robots_held(&one.site.name));
    }

    /// Accepts the quarantined file of a site. Returns false for another file.
    pub(super) fn accept(&mut self, site: &str, id: &str, now: Timestamp) -> bool {
        let one = self.sites.iter_mut().find(|one| one.site.name == site);
        let Some(one) = one.filter(|_| self.is_open) else { return false };
        let Some(events) = one.watch.accept(id) else { return false };
        self.metrics.origin_robots_held(&one.site.name, false);
        events.iter().for_each(|event| one.report(event, now, &self.news));
        true
    }

    /// Takes the result of a site. Returns the time until the next fetch.
    fn settle(&mut self, number: usize, fetched: Fetched, now: Timestamp) -> Option<Duration> {
        let one = self.sites.get_mut(number).filter(|_| self.is_open)?;
        self.metrics.origin_robots_fetch(&one.site.name, fetched.result.code());
        let Progress { events, wait } = one.watch.settle(fetched, now);
        self.metrics.origin_robots_held(&one.site.name, one.watch.quarantined().is_some());
        events.iter().for_each(|event| one.report(event, now, &self.news));
        if !std::mem::replace(&mut one.has_result, true) {
            if !events.contains(&Event::Changed) {
                one.send(&Event::Changed, now, &self.news);
            }
            self.pending.send_modify(|count| *count = count.saturating_sub(1));
        }
        Some(wait)
    }
}

impl SiteWatch {
    /// Logs an event and sends it as news.
    fn report(&self, event: &Event, now: Timestamp, news: &mpsc::UnboundedSender<News>) {
        self.log(event);
        self.send(event, now, news);
    }

    /// Sends the news of an event, if it has any.
    fn send(&self, event: &Event, at: Timestamp, news: &mpsc::UnboundedSender<News>) {
        let site = self.site.name.clone();
        let one = match event {
            Event::Changed => News::Changed { site },
            Event::Quarantined { id, .. } => {
                let Some(file) = self.watch.quarantined() else { return };
                News::Quarantined { site, id: id.clone(), file: file.clone(), at }
            }
            Event::Released { .. } => News::Released { site },
            Event::StillQuarantined { .. } | Event::Failed { .. } | Event::Recovered { .. } => {
                return;
            }
        };
        // Without a receiver the program is about to end.
        let _ = news.send(one);
    }

    fn log(&self, event: &Event) {
        let site = self.site.name.as_str();
        match event {
            Event::Changed => match self.watch.file() {
                OriginFile::Present(file) if self.watch.is_closed() => {
                    let file = watch::id(file);
                    tracing::warn!(
                        site,
                        file,
                        "origin robots.txt in force: it closes the whole site to every crawler"
                    );
                }
                OriginFile::Present(file) => {
                    let file = watch::id(file);
                    tracing::info!(site, file, "origin robots.txt in force");
                }
                OriginFile::Absent | OriginFile::Unknown => {
                    tracing::info!(site, "the origin has no robots.txt: everything is allowed");
                }
            },
            Event::Quarantined { id, since } | Event::StillQuarantined { id, since } => {
                tracing::error!(
                    site,
                    id,
                    %since,
                    repair = "serve another file at the origin, or confirm this one with \
                              'beadle robots accept' or 'accept_full_disallow: true'",
                    "origin robots.txt quarantined: it suddenly closes the whole site to every \
                     crawler; the last good file stays in force"
                );
            }
            Event::Released { id, is_accepted } => {
                tracing::info!(site, id, is_accepted, "quarantine of an origin robots.txt ended");
            }
            Event::Failed { code, why, since } if *self.watch.file() == OriginFile::Unknown => {
                tracing::error!(
                    site, origin = self.site.urls(), code, why, %since,
                    "origin robots.txt unknown: none of its rules is enforced"
                );
            }
            Event::Failed { code, why, since } => tracing::warn!(
                site, origin = self.site.urls(), code, why, %since,
                "origin robots.txt refused: the last good file stays in force"
            ),
            Event::Recovered { since } => {
                tracing::info!(site, failed_since = %since, "origin robots.txt fetched again");
            }
        }
    }
}
