//! Every site in its turn: its answer heard, counted, said in the log and told as news.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use jiff::Timestamp;
use tokio::sync::{mpsc, watch as latest};

use crate::{
    metrics::Metrics,
    proxy::fetching::{Fetching, Sources},
};

use super::{
    News, Site, State,
    fetch::{Fetched, Fetcher},
    lock,
    route::Place,
    watch::{self, Event, Heard, Watch},
};

/// All sites, and who is told of them.
#[derive(Debug)]
pub(super) struct Book {
    sites: Vec<Watched>,
    news: mpsc::UnboundedSender<News>,
    unanswered: latest::Sender<usize>,
    metrics: Arc<Metrics>,
    is_open: bool,
}

#[derive(Debug)]
struct Watched {
    site: Site,
    watch: Watch,
    has_answered: bool,
}

/// The fetching for a book.
#[derive(Debug)]
pub(super) struct Rounds {
    pub(super) book: Arc<Mutex<Book>>,
    pub(super) fetcher: Fetcher,
}

impl Sources for Rounds {
    type Fetched = Fetched;
    // All of them at the start, save where there are very many.
    const AT_ONCE: usize = 64;

    fn count(&self) -> usize {
        lock(&self.book).sites.len()
    }

    fn fetch(&self, number: usize) -> Option<Fetching<Fetched>> {
        let book = lock(&self.book);
        let Watched { site, watch, .. } = book.sites.get(number)?;
        let (place, condition) = (Place::of(site), watch.condition().cloned());
        let fetcher = self.fetcher.clone();
        Some(Box::pin(async move { fetcher.fetch(place, condition).await }))
    }

    fn settle(&mut self, number: usize, fetched: Fetched) -> Option<Duration> {
        lock(&self.book).hear(number, fetched, Timestamp::now())
    }
}

impl Book {
    /// A book of sites, and where it says how many of them have not answered yet.
    pub(super) fn new(
        sites: Vec<(Site, Watch)>,
        news: mpsc::UnboundedSender<News>,
        metrics: Arc<Metrics>,
    ) -> (Self, latest::Receiver<usize>) {
        let (unanswered, receiver) = latest::channel(sites.len());
        for (site, watch) in &sites {
            metrics.origin_robots_held(&site.name, watch.held().is_some());
        }
        let watched = |(site, watch)| Watched { site, watch, has_answered: false };
        let sites = sites.into_iter().map(watched).collect();
        (Self { sites, news, unanswered, metrics, is_open: true }, receiver)
    }

    /// The watch of a site.
    pub(super) fn watch(&self, site: &str) -> Option<&Watch> {
        self.sites.iter().find(|one| one.site.name == site).map(|one| &one.watch)
    }

    /// The sites whose files are held back, by their names.
    pub(super) fn holding(&self) -> Vec<String> {
        let holding = self.sites.iter().filter(|one| one.watch.held().is_some());
        holding.map(|one| one.site.name.clone()).collect()
    }

    /// Takes no more answers, and takes what is held out of the metrics.
    pub(super) fn close(&mut self) {
        self.is_open = false;
        self.sites.iter().for_each(|one| self.metrics.forget_origin_robots_held(&one.site.name));
    }

    /// Has a site's watch accept what it holds back.
    pub(super) fn accept(&mut self, site: &str, id: &str, now: Timestamp) -> bool {
        let one = self.sites.iter_mut().find(|one| one.site.name == site);
        let Some(one) = one.filter(|_| self.is_open) else { return false };
        let Some(events) = one.watch.accept(id) else { return false };
        self.metrics.origin_robots_held(&one.site.name, false);
        events.iter().for_each(|event| one.tell(event, now, &self.news));
        true
    }

    /// Takes the answer of a site; says when to ask it again.
    fn hear(&mut self, number: usize, fetched: Fetched, now: Timestamp) -> Option<Duration> {
        let one = self.sites.get_mut(number).filter(|_| self.is_open)?;
        self.metrics.origin_robots_fetch(&one.site.name, fetched.answer.code());
        let Heard { events, wait } = one.watch.hear(fetched, now);
        self.metrics.origin_robots_held(&one.site.name, one.watch.held().is_some());
        events.iter().for_each(|event| one.tell(event, now, &self.news));
        if !std::mem::replace(&mut one.has_answered, true) {
            if !events.contains(&Event::Changed) {
                one.send(&Event::Changed, now, &self.news);
            }
            self.unanswered.send_modify(|count| *count = count.saturating_sub(1));
        }
        Some(wait)
    }
}

impl Watched {
    /// Says an event in the log, and sends it.
    fn tell(&self, event: &Event, now: Timestamp, news: &mpsc::UnboundedSender<News>) {
        self.say(event);
        self.send(event, now, news);
    }

    /// Sends what is more than a line in the log.
    fn send(&self, event: &Event, at: Timestamp, news: &mpsc::UnboundedSender<News>) {
        let site = self.site.name.clone();
        let one = match event {
            Event::Changed => News::InForce { site, state: self.watch.state().clone(), at },
            Event::Held { id, .. } => {
                let Some((file, _)) = self.watch.held() else { return };
                News::Held { site, id: id.clone(), file: file.clone(), at }
            }
            Event::Released { id, .. } => News::Released { site, id: id.clone(), at },
            Event::StillHeld { .. } | Event::Failed { .. } | Event::Recovered { .. } => return,
        };
        // Who no longer listens has no use for it.
        let _ = news.send(one);
    }

    fn say(&self, event: &Event) {
        let site = self.site.name.as_str();
        match event {
            Event::Changed => match self.watch.state() {
                State::Rules(file) if self.watch.is_closed() => {
                    let edition = watch::id(file);
                    tracing::warn!(
                        site,
                        edition,
                        "the origin's robots.txt is in force, and closes the whole site to everybody"
                    );
                }
                State::Rules(file) => {
                    let edition = watch::id(file);
                    tracing::info!(site, edition, "the origin's robots.txt is in force");
                }
                State::NoRules | State::Unknown => {
                    tracing::info!(site, "the origin has no robots.txt: it allows everything");
                }
            },
            Event::Held { id, since } | Event::StillHeld { id, since } => tracing::error!(
                site,
                id,
                %since,
                repair = "have the origin serve another file; or, if that is meant, confirm it with \
                          'beadle robots accept' or 'accept_full_disallow: true'",
                "the origin's robots.txt closes the whole site to everybody all of a sudden: it is \
                 held back, the last good one stays in force"
            ),
            Event::Released { id, is_accepted } => {
                tracing::info!(site, id, is_accepted, "a robots.txt is no longer held back");
            }
            Event::Failed { code, why, since } if *self.watch.state() == State::Unknown => {
                tracing::error!(
                    site, origin = %self.site.origin, code, why, %since,
                    "nothing is known of the origin's robots.txt: nobody is held to any rule of it"
                );
            }
            Event::Failed { code, why, since } => tracing::warn!(
                site, origin = %self.site.origin, code, why, %since,
                "the origin's robots.txt is not taken: the last good one stays in force"
            ),
            Event::Recovered { since } => {
                tracing::info!(site, failed_since = %since, "the origin's robots.txt is there again");
            }
        }
    }
}
