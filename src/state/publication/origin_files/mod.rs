//! The robots.txt of the origins, for the sites that publish it, or a part of it (RFC 9309 §2.3.1).
//!
//! [`OriginFiles`] fetches from every origin in the background, at the intervals of the responses,
//! and sends [`News`]. If an origin fails or sends a clear mistake, the last good file stays in
//! force. Without a good file ([`OriginFile::Unknown`](crate::formats::robots::OriginFile)) crawlers get 503
//! for a day at most, and Beadle enforces nothing. (By §2.3.1.4 an unreachable file forbids
//! everything, and Beadle would block every crawler.) A file that suddenly closes or opens the whole
//! site is held until [`OriginFiles::accept`], or until the time for vanished rules is over.
//!
//! ```text
//! fetcher ─▶ access_result, body: status and body to a result with remarks
//!         ─▶ watch: result and time to the file in force, by hold ─▶ watches: log, News, OriginReport
//! ```
//!
//! May use: enforce, fetch, lint, metrics, policy, robots, crawlers, diagnostic, escape, text. Must not
//! know: the files beside this folder.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use parking_lot::Mutex;
use tokio::{
    sync::{mpsc, watch as latest},
    task::AbortHandle,
    time::timeout,
};

use crate::{
    base::{fetch, metrics::Metrics},
    formats::robots::OriginFile,
};

mod access_result; // the meaning of one response
mod body; // the text of one response
mod destination; // the destination of a fetch and of its redirects
mod fetcher; // one access over HTTP
mod hold; // files that change too much at once
#[cfg(test)]
mod tests;
mod watch; // the state of one site's file
mod watches; // the watches of all sites, with logs and metrics

pub use self::hold::{Hold, OriginReport, OriginReports};
use self::{
    access_result::AccessResult,
    destination::Destination,
    fetcher::Fetcher,
    watch::Watch,
    watches::{Rounds, Watches},
};
pub(super) use self::{
    destination::{KnownHosts, WatchedSite},
    fetcher::Clients,
    hold::Held,
    watch::{Event, KnownFile},
    watches::News,
};

/// The fetches from all origins. They end on drop.
#[derive(Debug)]
pub(super) struct OriginFiles {
    watches: Arc<Mutex<Watches>>,
    fetcher: Fetcher,
    pending: latest::Receiver<usize>,
    task: AbortHandle,
}

impl OriginFiles {
    /// Starts to fetch for `sites`, each with its known file, on the current runtime. Redirects may lead to
    /// `hosts`.
    pub(super) fn start(
        clients: Clients,
        sites: Vec<(WatchedSite, KnownFile)>,
        hosts: KnownHosts,
        news: mpsc::UnboundedSender<News>,
        (metrics, reports): (&Arc<Metrics>, &OriginReports),
    ) -> Self {
        let (watches, pending) = Watches::new(sites, news, (Arc::clone(metrics), reports.clone()));
        let watches = Arc::new(Mutex::new(watches));
        let fetcher = Fetcher::new(clients, hosts);
        let task = repeat(&watches, &fetcher);
        Self { watches, fetcher, pending, task }
    }

    /// Fetches from every origin at once, whatever the intervals say.
    pub(super) fn fetch_now(&mut self) {
        self.task.abort();
        self.task = repeat(&self.watches, &self.fetcher);
    }

    /// Waits for the first result of every site, also a failure, for at most `most`. Returns
    /// whether all sites have one; their news is sent by then.
    pub(super) async fn wait_for_first_results(&self, most: Duration) -> bool {
        let mut pending = self.pending.clone();
        let all = pending.wait_for(|count| *count == 0);
        matches!(timeout(most, all).await, Ok(Ok(_)))
    }

    /// Puts the held file of `site` in force if its name is `id`. An operator accepts one file, not a
    /// later one. Returns the file that is in force now.
    pub(super) fn accept(&self, site: &str, id: &str) -> Option<OriginFile> {
        self.watches.lock().change(site, |watch| watch.accept(id))
    }

    /// Discards the held file of `site` if its name is `id`. Returns whether that changes anything.
    pub(super) fn discard(&self, site: &str, id: &str) -> bool {
        let discarded = |watch: &mut Watch| watch.discard(id).then(Vec::new);
        self.watches.lock().change(site, discarded).is_some()
    }

    pub(super) fn quarantine(&self) -> Vec<String> {
        self.watches.lock().quarantine()
    }

    /// The known file of a site, for a successor; `None` for another site.
    pub(super) fn known(&self, site: &str) -> Option<KnownFile> {
        self.watches.lock().watch(site).map(|watch| watch.known.clone())
    }

    pub(super) fn is_failing(&self, site: &str) -> bool {
        self.watches.lock().watch(site).is_some_and(Watch::is_failing)
    }

    /// Ends the fetches and the news. The publisher calls it before a successor starts, because
    /// both write the same time series.
    pub(super) fn retire(&self) {
        self.task.abort();
        self.watches.lock().close();
    }
}

/// The robots.txt of an origin, fetched once; `None` if it has none.
///
/// # Errors
/// A sentence: the reason why there is no usable answer.
pub(super) async fn fetch_once(
    clients: Clients,
    hosts: KnownHosts,
    site: &WatchedSite,
) -> Result<Option<Bytes>, String> {
    let fetched = Fetcher::new(clients, hosts).fetch(Destination::of(site), None).await;
    match fetched.result {
        AccessResult::File(file) => Ok(Some(file)),
        AccessResult::NoFile(_) | AccessResult::Document => Ok(None),
        failure => Err(failure.to_string()),
    }
}

fn repeat(watches: &Arc<Mutex<Watches>>, fetcher: &Fetcher) -> AbortHandle {
    let rounds = Rounds { watches: Arc::clone(watches), fetcher: fetcher.clone() };
    tokio::spawn(fetch::repeat(rounds)).abort_handle()
}

impl Drop for OriginFiles {
    fn drop(&mut self) {
        self.retire();
    }
}
