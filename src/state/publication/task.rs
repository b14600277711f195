//! The publisher's task: it waits for changes and publishes each.

use std::{path::Path, sync::Arc, time::Duration};

use tokio::{
    sync::{mpsc, oneshot},
    task::JoinSet,
    time::{interval, sleep},
};

use crate::{
    records::{record::Quarantined, violations::Store},
    rules::enforce::Chronicle,
};

use super::{
    change::Change,
    fellowship, log, memory,
    origin_files::{Event, News},
    publisher::{Outcome, Publisher},
    servers, sources,
};

/// Where reloads are requested. Copies lead to the same publisher.
#[derive(Clone, Debug)]
pub struct Reloads(mpsc::Sender<Request>);

/// The publisher's end of [`Reloads`].
pub type ReloadRequests = mpsc::Receiver<Request>;

/// One request; the sender takes the outcome if somebody waits for it.
#[derive(Debug)]
pub struct Request {
    pub(super) by: String,
    outcome: Option<oneshot::Sender<Outcome>>,
}

/// The verb or the signal, in the history of policies.
pub const BY_RELOAD: &str = "reload";

/// A stage of a reload, for whoever watches the program.
#[derive(Debug)]
pub enum Stage<'o> {
    /// The policy file is about to be read.
    Begin,
    /// The reload is over.
    End(&'o Outcome),
}

/// Takes notice of each reload, whatever requested it.
pub type Notice = fn(Stage<'_>);

impl Reloads {
    pub(crate) fn channel() -> (Self, ReloadRequests) {
        let (sender, receiver) = mpsc::channel(1);
        (Self(sender), receiver)
    }

    /// Requests a reload, without an answer.
    pub fn request(&self) {
        // A full channel already has a reload waiting.
        let _ = self.0.try_send(Request { by: BY_RELOAD.to_owned(), outcome: None });
    }

    /// Requests a reload in the name of `by`, and waits for its outcome; `None` if the publisher
    /// has ended.
    pub async fn outcome(&self, by: &str) -> Option<Outcome> {
        let (sender, outcome) = oneshot::channel();
        let request = Request { by: by.to_owned(), outcome: Some(sender) };
        self.0.send(request).await.ok()?;
        outcome.await.ok()
    }
}

impl Request {
    pub(super) fn answer(self, outcome: Outcome) {
        // The operator may have gone.
        let _ = self.outcome.map(|sender| sender.send(outcome));
    }
}

/// How often to check the policy files and the certificates. A check costs less than file system events in a folder with
/// a database, and works across links, mounts and replaced folders.
const FILES: Duration = Duration::from_millis(250);
/// How often to check the database for decisions about files in quarantine.
const ACCEPTANCE: Duration = Duration::from_secs(2);
/// How often to move silent crawlers down the ladder and close breakers.
const CONDUCT: Duration = Duration::from_secs(10);
/// How often to store the editions in force again, in case the database was replaced.
const STORE: Duration = Duration::from_secs(3_600);

impl Publisher {
    /// Publishes each change until `requests` ends. Each of them asks for a reload, and for the files
    /// of the origins. `notice` hears of every reload.
    pub async fn run(mut self, mut requests: ReloadRequests, notice: Notice) {
        let mut background = JoinSet::new();
        background.spawn(look_up(&self));
        background.spawn(check(&self));
        let (mut files, mut acceptance) = (interval(FILES), interval(ACCEPTANCE));
        let (mut conduct, mut store) = (interval(CONDUCT), interval(STORE));
        let mut set_backs = self.handles.clock.set_backs();
        let (older, mut recalled) = oneshot::channel();
        self.recall(older);
        self.compare_origins();
        let mut is_recalled = false;
        let mut waiting = Vec::new();
        self.file.keep().await;
        self.probes.follow(&self.in_force.policy);
        self.lists.follow(&self.in_force.policy, &self.handles);
        loop {
            tokio::select! {
                request = requests.recv() => {
                    let Some(request) = request else { break };
                    self.handles.certificates.read_again(&self.handles.metrics);
                    waiting.push(request);
                    if !self.file.fetch_now() {
                        self.reload_for(&mut waiting, notice).await;
                    }
                }
                Some(answer) = self.file.answer() => {
                    let is_asked = answer.is_asked;
                    let is_new = self.file.take(answer, &self.handles.metrics);
                    if is_asked {
                        self.reload_for(&mut waiting, notice).await;
                    } else if is_new {
                        let server = self.file.name();
                        self.reload_with(&server, notice).await;
                    }
                }
                Some(news) = self.news.recv() => self.take(news).await,
                Some((site, probed)) = self.probes.answers.recv() => {
                    log::log_probed(&site, &probed);
                    self.publish(Change::Probed(site, Arc::new(probed)));
                }
                Some((host, file)) = self.wildcards.found.recv() => self.add_host(&host, file).await,
                Some(learned) = fellowship::learned(&mut self.fleet) => self.take_learned(learned),
                older = &mut recalled, if !is_recalled => {
                    is_recalled = true;
                    if let Ok(older) = older {
                        self.publish(Change::Recalled(older));
                    }
                }
                _ = files.tick() => {
                    self.handles.certificates.check(&self.handles.metrics);
                    if self.file.has_changed() {
                        self.reload_with("file", notice).await;
                    } else if self.stops_holding() {
                        self.reload_with("fleet", notice).await;
                        let files = sources::files(&self.in_force.policy, &self.origins);
                        self.announce_and_publish(Change::Origin(files)).await;
                    }
                }
                _ = acceptance.tick() => {
                    let so_far = self.handles.clock.set_backs();
                    if std::mem::replace(&mut set_backs, so_far) != so_far {
                        self.set_back();
                    }
                    let leaps = self.handles.clock.take_leaps();
                    leaps.into_iter().for_each(|leap| self.handles.sink.note(leap));
                    self.follow_decisions().await;
                }
                _ = conduct.tick() => self.settle_conduct(),
                _ = store.tick() => {
                    let now = self.handles.clock.moment().now;
                    memory::store(&self.handles.sink, &self.in_force.rulebook, now);
                }
            }
        }
    }

    /// Reloads as the operator asked for it, and tells the outcome.
    async fn reload_for(&mut self, requests: &mut Vec<Request>, notice: Notice) {
        self.file.mark_as_read();
        let by = requests.first().map_or_else(|| BY_RELOAD.to_owned(), |first| first.by.clone());
        let outcome = self.reload_with(&by, notice).await;
        if outcome == Outcome::Unchanged {
            self.handles.metrics.reload("unchanged");
            tracing::info!("policy unchanged");
            self.compare_origins();
        }
        self.lists.fetch_now();
        // An applied policy has fetched them already.
        if outcome != Outcome::Applied {
            self.origins.fetch_now();
        }
        requests.drain(..).for_each(|request| request.answer(outcome.clone()));
    }

    async fn reload_with(&mut self, by: &str, notice: Notice) -> Outcome {
        notice(Stage::Begin);
        let outcome = self.reload(by).await;
        if outcome == Outcome::Applied {
            self.compare_origins();
        }
        notice(Stage::End(&outcome));
        outcome
    }

    /// Reads the editions that the start left out, in the background.
    fn recall(&mut self, done: oneshot::Sender<Chronicle>) {
        let database = self.in_force.policy.violations.local_database().map(Path::to_owned);
        let (Some(unread), Some(database)) = (self.unread.take(), database) else { return };
        let now = self.handles.clock.moment().now;
        tracing::info!(
            until = %unread.until,
            "older editions of robots.txt are read in the background: until then, they excuse \
             crawlers that may use them"
        );
        tokio::task::spawn_blocking(move || {
            match memory::recall(&database, Some(unread), now) {
                // The server may have ended.
                Ok(older) => drop(done.send(older)),
                Err(error) => tracing::error!(
                    code = error.code(), %error,
                    "older editions of robots.txt can't be read: they excuse crawlers"
                ),
            }
        });
    }

    async fn take(&mut self, (site, event): News) {
        match event {
            // The event may come from before a reload, so this takes the present files.
            Event::Changed | Event::GivenUp { .. } => {
                tracing::debug!(site, "origin robots.txt changed");
                let files = sources::files(&self.in_force.policy, &self.origins);
                self.announce_and_publish(Change::Origin(files)).await;
            }
            Event::Held { id, since, file, .. } => {
                self.handles.sink.note(Quarantined {
                    site: site.as_str().into(),
                    id: id.into(),
                    bytes: file.bytes().cloned().unwrap_or_default(),
                    since,
                    accepted: None,
                    discarded: None,
                });
            }
            Event::Released { .. } => self.handles.sink.released(site.as_str().into()),
            Event::StillHeld { .. }
            | Event::Remarked(_)
            | Event::Failed { .. }
            | Event::Recovered { .. } => {}
        }
    }

    /// Moves times ahead of the clock to now, in fetches and editions.
    fn set_back(&mut self) {
        tracing::warn!(
            code = "clock.set_back",
            "clock set back: later publications and fetches count as now"
        );
        self.handles.conduct.ledger.set_back(self.handles.clock.moment().now);
        self.publish(Change::ClockSetBack);
    }

    /// Publishes quarantined files that the operator accepted, now or before a restart, and silences
    /// discarded ones.
    async fn follow_decisions(&mut self) {
        if self.origins.quarantine().is_empty() {
            return;
        }
        let database = self.in_force.policy.violations.local_database().map(Path::to_owned);
        let Some(database) = database else { return };
        // The next check retries an unreadable database.
        let read =
            move || Store::open_read_only(&database).and_then(|store| store.quarantine()).ok();
        let decisions = tokio::task::spawn_blocking(read).await.ok().flatten();
        for one in decisions.unwrap_or_default() {
            let (site, id) = (one.site.as_str(), one.id.as_str());
            if one.discarded.is_some() && self.origins.discard(site, id) {
                tracing::warn!(site, file = id, "quarantined robots.txt discarded");
            }
            if one.accepted.is_some()
                && let Some(file) = self.origins.accept(site, id)
            {
                tracing::warn!(site, file = id, "quarantined robots.txt accepted");
                self.announce_and_publish(Change::Accepted(site.to_owned(), file)).await;
            }
        }
    }

    fn settle_conduct(&self) {
        self.handles.show_loads();
        let published = self.handles.published.load_full();
        let moment = self.handles.clock.moment();
        for (site, served) in published.rulebook.sites().iter().zip(&published.sites) {
            let metrics = &self.handles.metrics;
            self.handles.conduct.settle((site, &served.conduct), moment, metrics);
        }
    }
}

fn look_up(publisher: &Publisher) -> impl Future<Output = ()> + Send + use<> {
    let addresses = Arc::clone(&publisher.addresses);
    let every = publisher.in_force.policy.server.timeouts.origin_lookup;
    async move {
        loop {
            sleep(every).await;
            addresses.look_up().await;
        }
    }
}

fn check(publisher: &Publisher) -> impl Future<Output = ()> + Send + use<> {
    let (handles, client) = (publisher.handles.clone(), publisher.clients.own.clone());
    let (clock, metrics) = (Arc::clone(&handles.clock), Arc::clone(&handles.metrics));
    let checked = move || {
        let published = handles.published.load();
        let checked = published.sites.iter().filter(|site| site.backend.health.check.is_some());
        checked.map(|site| Arc::clone(&site.servers)).collect()
    };
    servers::repeat(checked, move || clock.moment().steady, client, metrics)
}
