//! The watches of all sites: they settle results, write the log and the metrics, and send news.

use std::{sync::Arc, time::Duration};

use jiff::Timestamp;
use parking_lot::Mutex;
use tokio::sync::{mpsc, watch as latest};

use crate::{
    advice::lint,
    base::{
        diagnostic::Severity,
        fetch::{Fetching, Sources},
        metrics::Metrics,
    },
    formats::robots::OriginFile,
};

use super::{
    access_result::AccessResult,
    destination::{Destination, WatchedSite},
    fetcher::{Fetched, Fetcher},
    hold::{self, Hold, OriginReports},
    watch::{Event, KnownFile, Release, Watch},
};

const MOST_REMARKS: usize = 10;

/// An event, with the name of its site. The publisher gets them in order.
pub(crate) type News = (String, Event);

#[derive(Debug)]
pub(super) struct Watches {
    sites: Vec<SiteWatch>,
    news: mpsc::UnboundedSender<News>,
    pending: latest::Sender<usize>,
    metrics: Arc<Metrics>,
    reports: OriginReports,
    is_open: bool,
}

#[derive(Debug)]
struct SiteWatch {
    site: WatchedSite,
    watch: Watch,
    has_result: bool,
}

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
        let (destinations, condition) = (Destination::of(site), watch.known.condition.clone());
        let (fetcher, catalogue) = (self.fetcher.clone(), Arc::clone(&site.catalogue));
        Some(Box::pin(async move {
            let mut fetched = fetcher.fetch(destinations, condition).await;
            if let AccessResult::File(text) = &fetched.result {
                fetched.remarks.extend(lint::robots_txt(text, &catalogue));
            }
            fetched
        }))
    }

    fn settle(&mut self, number: usize, fetched: Fetched) -> Option<Duration> {
        self.watches.lock().settle(number, fetched, Timestamp::now())
    }
}

impl Watches {
    /// The watches, and a channel with the number of sites without a first result.
    pub(super) fn new(
        sites: Vec<(WatchedSite, KnownFile)>,
        news: mpsc::UnboundedSender<News>,
        (metrics, reports): (Arc<Metrics>, OriginReports),
    ) -> (Self, latest::Receiver<usize>) {
        let (pending, receiver) = latest::channel(sites.len());
        let watched = |(site, known): (WatchedSite, KnownFile)| {
            let watch = Watch::new(known, site.caution);
            SiteWatch { site, watch, has_result: false }
        };
        let sites = sites.into_iter().map(watched).collect();
        let watches = Self { sites, news, pending, metrics, reports, is_open: true };
        watches.sites.iter().for_each(|one| watches.show(one));
        (watches, receiver)
    }

    /// Shows the state of a site in metrics and to the pages for operators.
    fn show(&self, one: &SiteWatch) {
        let is_held = one.watch.report().held.is_some();
        self.metrics.origin_robots_held(&one.site.name).set(i64::from(is_held));
        self.reports.put(&one.site.name, one.watch.report());
    }

    pub(super) fn watch(&self, site: &str) -> Option<&Watch> {
        self.sites.iter().find(|one| one.site.name == site).map(|one| &one.watch)
    }

    pub(super) fn quarantine(&self) -> Vec<String> {
        let quarantined = self.sites.iter().filter(|one| one.watch.known.held.is_some());
        quarantined.map(|one| one.site.name.clone()).collect()
    }

    /// Ignores further results, and removes what shows the state of the sites: once, because successors show
    /// theirs.
    pub(super) fn close(&mut self) {
        if !std::mem::take(&mut self.is_open) {
            return;
        }
        for SiteWatch { site, .. } in &self.sites {
            self.metrics.forget_origin_robots_held(&site.name);
            self.reports.forget(&site.name);
        }
    }

    /// Changes what a site's watch holds, and reports the events. Returns the file in force; `None` for
    /// another site or without a change.
    pub(super) fn change(
        &mut self,
        site: &str,
        change: impl FnOnce(&mut Watch) -> Option<Vec<Event>>,
    ) -> Option<OriginFile> {
        let number = self.sites.iter().position(|one| one.site.name == site)?;
        let events = change(&mut self.sites.get_mut(number).filter(|_| self.is_open)?.watch)?;
        let one = self.sites.get(number)?;
        self.show(one);
        events.into_iter().for_each(|event| one.report(event, &self.news));
        Some(one.watch.known.file.clone())
    }

    fn settle(&mut self, number: usize, fetched: Fetched, now: Timestamp) -> Option<Duration> {
        let one = self.sites.get_mut(number).filter(|_| self.is_open)?;
        let code = fetched.result.code();
        let (events, wait) = one.watch.settle(fetched, now);
        let is_first = !std::mem::replace(&mut one.has_result, true);
        let one = self.sites.get(number)?;
        self.metrics.origin_robots_fetch(&one.site.name, code);
        self.show(one);
        let has_changed = events.contains(&Event::Changed);
        events.into_iter().for_each(|event| one.report(event, &self.news));
        if is_first {
            if !has_changed {
                one.send(Event::Changed, &self.news);
            }
            self.pending.send_modify(|count| *count = count.saturating_sub(1));
        }
        Some(wait)
    }
}

impl SiteWatch {
    fn report(&self, event: Event, news: &mpsc::UnboundedSender<News>) {
        self.log(&event);
        self.send(event, news);
    }

    fn send(&self, event: Event, news: &mpsc::UnboundedSender<News>) {
        // Without a receiver the program is about to end.
        let _ = news.send((self.site.name.clone(), event));
    }

    fn log(&self, event: &Event) {
        let site = self.site.name.as_str();
        match event {
            Event::Changed => self.log_file(),
            Event::Held { id, hold: Hold::Closing, since, .. }
            | Event::StillHeld { id, hold: Hold::Closing, since } => tracing::error!(
                site, id, %since,
                repair = "serve another file at the origin, or confirm this one with \
                          'beadle robots accept' or 'accept_full_disallow: true'",
                "origin robots.txt quarantined: it suddenly closes the whole site to every \
                 crawler; the last good file stays in force"
            ),
            Event::Held { id, hold: Hold::Vanishing, since, .. }
            | Event::StillHeld { id, hold: Hold::Vanishing, since } => tracing::error!(
                site, id, %since, vanish_after = ?self.site.caution.vanish_after,
                repair = "serve the rules again at the origin, or confirm that there are none with \
                          'beadle robots accept'",
                "origin robots.txt quarantined: its rules are gone, which opens the whole site to \
                 every crawler; the last good file stays in force until 'vanish_after' is over"
            ),
            Event::Released { id, by: Release::Expired } => tracing::error!(
                site,
                id,
                "quarantine of an origin robots.txt ended: its rules are gone for longer than \
                 'vanish_after'"
            ),
            Event::Released { id, by } => {
                let is_accepted = *by == Release::Accepted;
                tracing::info!(site, id, is_accepted, "quarantine of an origin robots.txt ended");
            }
            Event::Remarked(remarks) => {
                let notable = remarks.iter().filter(|one| one.severity >= Severity::Warning);
                for remark in notable.clone().take(MOST_REMARKS) {
                    let finding = format!("{remark:#}");
                    match remark.severity {
                        Severity::Error => tracing::error!(site, finding, "origin robots.txt"),
                        Severity::Warning | Severity::Note => {
                            tracing::warn!(site, finding, "origin robots.txt");
                        }
                    }
                }
                let more = notable.count().saturating_sub(MOST_REMARKS);
                if more > 0 {
                    tracing::warn!(site, more, "origin robots.txt has more findings");
                }
            }
            Event::Failed { code, why, since } if self.watch.known.unknown_since.is_some() => {
                tracing::error!(
                    site, origin = self.site.urls(), code, why, %since,
                    "origin robots.txt unknown: crawlers get 503 for it, and no request is judged"
                )
            }
            Event::Failed { code, why, since } if self.watch.known.file == OriginFile::Unknown => {
                tracing::error!(
                    site, origin = self.site.urls(), code, why, %since,
                    "origin robots.txt unknown: none of its rules is enforced"
                );
            }
            Event::Failed { code, why, since } => tracing::warn!(
                site, origin = self.site.urls(), code, why, %since,
                "origin robots.txt refused: the last good file stays in force"
            ),
            Event::GivenUp { since } => tracing::error!(
                site, origin = self.site.urls(), %since,
                "origin robots.txt unknown for a day: the site is published without its rules, and \
                 none of them is enforced"
            ),
            Event::Recovered { since } => {
                tracing::info!(site, failed_since = %since, "origin robots.txt fetched again");
            }
        }
    }

    fn log_file(&self) {
        let (site, file) = (self.site.name.as_str(), hold::id(&self.watch.known.file));
        match &self.watch.known.file {
            OriginFile::Present(_) if self.watch.meaning.is_closed => tracing::warn!(
                site,
                file,
                "origin robots.txt in force: it closes the whole site to every crawler"
            ),
            OriginFile::Present(_) => tracing::info!(site, file, "origin robots.txt in force"),
            OriginFile::Absent | OriginFile::Unknown => {
                tracing::info!(site, "the origin has no robots.txt: everything is allowed");
            }
        }
    }
}
