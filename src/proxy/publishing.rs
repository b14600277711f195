//! What the origins' own robots.txt say, put in force: a new edition when one changes, and files
//! that are held back until somebody accepts them.

use std::{
    collections::{HashMap, HashSet},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use tokio::sync::mpsc;

use crate::{
    diagnostic::Diagnostic,
    enforce::{self, History, Rulebook, Timeline},
    metrics::Metrics,
    policy::{self, Host, Policy, Source},
    robots::{self, OriginFile, closes_everything},
    violations::{Quarantined, Store},
};

use super::{
    Remembered,
    origin_rules::{self, Hosts, News, OriginRules, State},
    reload::{InForce, Reloader, Shared},
    remembered,
    serving::Serving,
};

/// How long a start or a reload waits for the origins' first answers.
const FIRST_ROUND: Duration = Duration::from_secs(3);
/// The same where one of them was silent before.
const FIRST_ROUND_OF_SILENT: Duration = Duration::from_millis(300);
/// How often it is looked whether a file that is held back was accepted.
const LOOK: Duration = Duration::from_secs(2);
/// How often the editions in force are written down again, should the database have been replaced.
const REPEAT: Duration = Duration::from_secs(3_600);

/// What the origins say, by the name of the site.
pub(super) type Told = HashMap<String, enforce::OriginRules>;

/// Begins to ask the origins of the sites that publish what these say, and waits a moment for the
/// first answers; `None` where there is no such site. `before` tells what is known already, and
/// whether the origin was silent when it was asked last: then a reload does not wait long for it.
///
/// # Errors
/// Where no HTTP client can be set up.
pub(super) async fn ask_origins(
    policy: &Policy,
    before: impl Fn(&str) -> (origin_rules::Remembered, bool),
    news: &mpsc::UnboundedSender<News>,
    metrics: &Arc<Metrics>,
) -> Result<Option<OriginRules>, Diagnostic> {
    let sites: Vec<origin_rules::Site> = sites(policy).map(site).collect();
    if sites.is_empty() {
        return Ok(None);
    }
    let hosts = Hosts::of(&policy.sites);
    let is_silent = sites.iter().any(|site| before(&site.name).1);
    let known = |site: &str| before(site).0;
    let asking = OriginRules::start(sites, hosts, known, news.clone(), metrics)?;
    asking.first_round(if is_silent { FIRST_ROUND_OF_SILENT } else { FIRST_ROUND }).await;
    Ok(Some(asking))
}

/// What is known of the origin of a site that was served before, whoever wrote its rules.
pub(super) fn before(timeline: Option<&Timeline>) -> origin_rules::Remembered {
    let edition = timeline.map(Timeline::current).filter(|edition| !edition.is_provisional());
    let was_open = edition.is_some_and(|edition| !closes_everything(edition.file()));
    origin_rules::Remembered::default().after(was_open)
}

/// What the origins have said so far.
pub(super) fn told(policy: &Policy, asking: Option<&OriginRules>) -> Told {
    let told = sites(policy).filter_map(|site| {
        let state = asking?.remembered(site.name())?.state;
        let rules = match state {
            State::Unknown => enforce::OriginRules::Unknown,
            State::NoRules => enforce::OriginRules::None,
            State::Rules(bytes) => enforce::OriginRules::Known(bytes.to_vec().into()),
        };
        Some((site.name().to_owned(), rules))
    });
    told.collect()
}

/// Compiles, and says what stood against it.
pub(super) fn compile(policy: &Policy, mut history: History<'_>) -> Rulebook {
    let rulebook = Rulebook::compile_with(policy, &mut history);
    for finding in &history.findings {
        let finding = format!("{finding:#}");
        tracing::error!(finding, "a robots.txt is not published; the one before stays in force");
    }
    let start = |site: &enforce::Site| history.moment.start_of(site.cache_window);
    for site in rulebook.sites() {
        if site.timeline.forgotten().is_some_and(|until| until > start(site)) {
            tracing::warn!(
                site = site.name,
                "robots.txt says something else too often: whoever has not been seen to read it is \
                 held to none of it for a while"
            );
        }
    }
    for site in rulebook.sites().iter().filter(|site| site.edition().is_provisional()) {
        tracing::error!(
            site = site.name,
            origin = %site.origin,
            "the origin's robots.txt is not known: nobody is held to its rules until it is"
        );
    }
    rulebook
}

/// The sites whose origins are asked.
fn sites(policy: &Policy) -> impl Iterator<Item = &policy::Site> {
    policy.sites.iter().filter(|site| site.robots_txt.source != Source::Policy)
}

fn site(site: &policy::Site) -> origin_rules::Site {
    let exact = site.hosts.iter().find(|host| matches!(host, Host::Exact(_)));
    origin_rules::Site {
        name: site.name().to_owned(),
        origin: site.origin.clone(),
        host: exact.map_or_else(|| site.name(), Host::as_str).to_owned(),
        accept_full_disallow: site.robots_txt.accept_full_disallow,
    }
}

impl Remembered {
    /// What is known of a site's origin: what it said last, never what the policy did.
    pub(super) fn origin(&self, site: &str) -> origin_rules::Remembered {
        let last = self.editions.iter().rev().find(|edition| edition.site.as_str() == site);
        let was_open = last.is_some_and(|last| !closes_everything(&robots::parse(&last.bytes).0));
        let state = last.map_or(State::Unknown, |last| match &last.origin_file {
            OriginFile::Absent => State::NoRules,
            OriginFile::Present(bytes) => State::Rules(bytes.clone()),
            OriginFile::Unknown if last.source.as_str() == Source::Origin.as_str() => {
                State::Rules(last.bytes.clone())
            }
            OriginFile::Unknown => State::Unknown,
        });
        let held = self.held.iter().find(|held| held.site.as_str() == site);
        let held = held.map(|held| held.bytes.clone());
        origin_rules::Remembered::new(state, held).after(was_open)
    }
}

impl Reloader {
    /// Puts in force what the origins say, as they say it, and what an operator accepts. For one
    /// task.
    pub async fn follow_origins(&self) {
        let Some(mut news) = self.inbox.lock().await.take() else { return };
        let mut looks = tokio::time::interval(LOOK);
        let mut repeats = tokio::time::interval(REPEAT);
        let mut set_backs = self.shared.clock.set_backs();
        loop {
            tokio::select! {
                one = news.recv() => {
                    let Some(one) = one else { return };
                    self.hear(one);
                    while let Ok(one) = news.try_recv() {
                        self.hear(one);
                    }
                    self.republish().await;
                }
                _ = looks.tick() => {
                    let so_far = self.shared.clock.set_backs();
                    if std::mem::replace(&mut set_backs, so_far) != so_far {
                        self.set_back().await;
                    }
                    self.look_for_acceptance().await;
                }
                _ = repeats.tick() => {
                    remembered::publish(&self.shared.sink, &self.shared.serving.load().rulebook);
                }
            }
        }
    }

    /// The rulebook that follows `previous` now.
    pub(super) fn compile(
        &self,
        policy: &Policy,
        state: &InForce,
        previous: &Rulebook,
    ) -> Rulebook {
        let moment = self.shared.clock.moment();
        let history = History {
            moment,
            origins: state.told.clone(),
            gone: state.gone(),
            ..History::after(Some(previous), moment.now)
        };
        compile(policy, history)
    }

    fn hear(&self, news: News) {
        match news {
            News::InForce { .. } => {}
            News::Held { site, id, file, at } => {
                self.shared.sink.quarantined(Quarantined {
                    site: site.as_str().into(),
                    id: id.into(),
                    bytes: file,
                    since: at,
                    accepted: None,
                });
            }
            News::Released { site, .. } => self.shared.sink.released(site.as_str().into()),
        }
    }

    /// Compiles anew where an origin says something else than before.
    async fn republish(&self) {
        let mut state = self.state.lock().await;
        let told = told(&state.policy, state.asking.as_ref());
        if told != state.told {
            state.told = told;
            self.swap(&state);
        }
    }

    /// The clock was put back: what lies ahead of it now was just now, in editions and fetches.
    async fn set_back(&self) {
        tracing::warn!(
            code = "clock.set_back",
            "the clock was put back: what was published and read later than now counts as now"
        );
        let state = self.state.lock().await;
        self.shared.ledger.set_back(self.shared.clock.moment().now);
        self.swap(&state);
    }

    /// Serves what policy and origins say now.
    fn swap(&self, state: &InForce) {
        let previous = self.shared.serving.load_full();
        let rulebook = self.compile(&state.policy, state, &previous.rulebook);
        let changed: Vec<&str> = rulebook
            .sites()
            .iter()
            .zip(previous.rulebook.sites())
            .filter(|(now, before)| now.edition().id() != before.edition().id())
            .map(|(now, _)| now.name.as_str())
            .collect();
        if !changed.is_empty() {
            let sites = changed.join(", ");
            tracing::info!(sites, "robots.txt changed with the origin's");
        }
        remembered::publish_given(&self.shared.sink, &previous.rulebook, &rulebook);
        remembered::publish(&self.shared.sink, &rulebook);
        let verifier = previous.verifier.clone();
        let Shared { origins, metrics, .. } = &self.shared;
        let serving = Serving::new(rulebook, Some(&previous), verifier, origins, metrics);
        self.shared.serving.store(Arc::new(serving));
    }

    /// Looks whether `beadle robots accept` was told of what is held back, here or before a restart.
    async fn look_for_acceptance(&self) {
        let state = self.state.lock().await;
        let Some(asking) = &state.asking else { return };
        if asking.holding().is_empty() {
            return;
        }
        let Some(database) = state.policy.violations.database.clone() else { return };
        let accepted = tokio::task::spawn_blocking(move || accepted(database)).await;
        for held in accepted.unwrap_or_default() {
            if asking.accept(&held.site, &held.id) {
                let (site, edition) = (held.site.as_str(), held.id.as_str());
                tracing::warn!(
                    site,
                    edition,
                    "the origin's robots.txt that closes the site is accepted"
                );
            }
        }
    }
}

/// What is held back and accepted. A database that can't be read just now is asked again.
fn accepted(database: PathBuf) -> Vec<Quarantined> {
    let held = Store::open_read_only(&database).and_then(|store| store.quarantine());
    held.unwrap_or_default().into_iter().filter(|held| held.accepted.is_some()).collect()
}

/// The files held back that nobody waits for any more.
pub(super) fn idle<'a>(
    policy: &'a Policy,
    held: &'a [Quarantined],
) -> impl Iterator<Item = &'a Quarantined> {
    let asked: HashSet<&str> = sites(policy).map(policy::Site::name).collect();
    held.iter().filter(move |held| !asked.contains(held.site.as_str()))
}
