//! The robots.txt of the origins themselves, fetched in the background for the sites that publish
//! it, or a part of it (RFC 9309 §2.3.1).
//!
//! [`OriginRules`] asks every origin at the start and then as often as its answers say, and tells by
//! [`News`] what is in force. The last good file stays where an origin fails or sends what it can't
//! mean; where none is known yet, [`State::Unknown`] says that nobody may be held to any rule. A
//! crawler would have to take an origin that fails for one that forbids everything (§2.3.1.4); we
//! would then block everybody for it. A file that suddenly closes everything is held back until
//! [`OriginRules::accept`].

use std::{
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use jiff::Timestamp;
use tokio::{
    sync::{mpsc, watch as latest},
    task::AbortHandle,
    time::timeout,
};

use crate::{diagnostic::Diagnostic, metrics::Metrics, policy, proxy::fetching};

mod answer; // what one answer says
mod fetch; // one answer over HTTP
mod rounds; // every site in its turn, and what is said of it
mod route; // where it is fetched from, and where redirects may lead
#[cfg(test)]
mod tests;
mod watch; // one site through time

use self::{
    fetch::Fetcher,
    rounds::{Book, Rounds},
    watch::Watch,
};
pub(super) use self::{
    route::Hosts,
    watch::{Remembered, State},
};

/// A site whose origin's robots.txt is fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Site {
    /// Its name in news, the log and metrics.
    pub(super) name: String,
    /// Who is asked.
    pub(super) origin: policy::Origin,
    /// The `Host` that it is asked for: the first host of the site that is no wildcard.
    pub(super) host: String,
    /// Whether a file that suddenly closes everything is taken at once.
    pub(super) accept_full_disallow: bool,
}

/// What has come of the fetching. A receiver gets it in order; news of sites that it doesn't serve
/// any more are of a predecessor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum News {
    /// What is in force: told of every site when its first answer is there, be it a failure, and
    /// then at each change.
    InForce {
        /// The site's name.
        site: String,
        /// What its origin's robots.txt says.
        state: State,
        /// When that was found.
        at: Timestamp,
    },
    /// A file is held back, in the place of the one that was before. What is in force stays.
    Held {
        /// The site's name.
        site: String,
        /// The file's name, to accept it by: the first 16 hexadecimal digits of its SHA-256.
        id: String,
        /// The file.
        file: Bytes,
        /// When it was found.
        at: Timestamp,
    },
    /// What was held back no longer is: it was accepted, and is told of as in force next, or the
    /// origin has answered otherwise.
    Released {
        /// The site's name.
        site: String,
        /// The name of the file that was held back.
        id: String,
        /// When.
        at: Timestamp,
    },
}

/// The fetching, which ends with it.
#[derive(Debug)]
pub(super) struct OriginRules {
    book: Arc<Mutex<Book>>,
    /// How many sites had no first answer yet.
    unanswered: latest::Receiver<usize>,
    task: AbortHandle,
    is_retired: AtomicBool,
}

impl OriginRules {
    /// Starts to fetch for `sites`, on the current runtime. Redirects may lead to `hosts`.
    /// `remembered` says what is known of a site, by its name, from before.
    ///
    /// # Errors
    /// Where no client can be set up, for want of TLS.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub(super) fn start(
        sites: Vec<Site>,
        hosts: Hosts,
        remembered: impl Fn(&str) -> Remembered,
        news: mpsc::UnboundedSender<News>,
        metrics: &Arc<Metrics>,
    ) -> Result<Self, Diagnostic> {
        let fetcher = Fetcher::new(hosts)?;
        let now = Timestamp::now();
        let watched = |site: Site| {
            let known = remembered(&site.name);
            let watch = Watch::new(known, site.accept_full_disallow, now);
            (site, watch)
        };
        let (book, unanswered) =
            Book::new(sites.into_iter().map(watched).collect(), news, Arc::clone(metrics));
        let book = Arc::new(Mutex::new(book));
        let rounds = Rounds { book: Arc::clone(&book), fetcher };
        let task = tokio::spawn(fetching::keep_fetching(rounds)).abort_handle();
        Ok(Self { book, unanswered, task, is_retired: AtomicBool::new(false) })
    }

    /// Waits until every site has had its first answer, be it a failure, but not longer than this.
    /// Whether all have. The news of them have been sent then.
    pub(super) async fn first_round(&self, most: Duration) -> bool {
        let mut unanswered = self.unanswered.clone();
        let all = unanswered.wait_for(|count| *count == 0);
        matches!(timeout(most, all).await, Ok(Ok(_)))
    }

    /// Puts the file that is held back at `site` in force, if its name is `id`: an operator means
    /// the one that was looked at, and not the one that may have come since. Whether it was.
    pub(super) fn accept(&self, site: &str, id: &str) -> bool {
        self.book().accept(site, id, Timestamp::now())
    }

    /// The sites whose files are held back, by their names.
    pub(super) fn holding(&self) -> Vec<String> {
        self.book().holding()
    }

    /// What is known of a site, for a successor to go on with; `None` where it is none of these.
    pub(super) fn remembered(&self, site: &str) -> Option<Remembered> {
        self.book().watch(site).map(Watch::remembered)
    }

    /// Whether a site's origin gave no answer that counts when it was asked last.
    pub(super) fn is_failing(&self, site: &str) -> bool {
        self.book().watch(site).is_some_and(Watch::is_failing)
    }

    /// Ends the fetching, for a successor does it; no more news come. To be called before that one
    /// starts, because both speak of the same series in the metrics.
    pub(super) fn retire(&self) {
        if !self.is_retired.swap(true, Ordering::AcqRel) {
            self.task.abort();
            self.book().close();
        }
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        lock(&self.book)
    }
}

impl Drop for OriginRules {
    fn drop(&mut self) {
        self.retire();
    }
}

fn lock(book: &Mutex<Book>) -> MutexGuard<'_, Book> {
    book.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
