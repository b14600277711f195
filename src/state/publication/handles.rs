//! The handles that the publisher shares with the request path.

use std::{collections::BTreeMap, sync::Arc};

use arc_swap::{ArcSwap, ArcSwapOption};
use jiff::Timestamp;
use parking_lot::Mutex;

use crate::{
    advice::fronts::Trouble,
    base::metrics::Metrics,
    clients::{
        conduct::Conduct,
        evidence::{OwnRequests, Verifier},
    },
    outside::{
        alerts::{ListTrouble, Refusal, State, Tally},
        tls::Certificates,
    },
    records::{
        record::Error,
        tally::Claimant,
        violations::{Health, Settings, Sink},
    },
    rules::{
        enforce::{self, Rulebook},
        policy::{ClientIp, Policy},
    },
};

use super::{
    addresses::AddressBook,
    change::InForce,
    clock::Clock,
    fellowship::Fellowship,
    memory::{self, Memory},
    origin_files::OriginReports,
    replacement::ReplacedBySite,
    snapshot::{PolicyInForce, Snapshot},
    wildcards::AskedHosts,
};

/// The handles that the publisher shares with the request path.
#[derive(Clone, Debug)]
pub struct Handles {
    pub(crate) published: Arc<ArcSwap<Snapshot>>,
    pub(crate) conduct: Arc<Conduct>,
    pub(crate) clock: Arc<Clock>,
    /// The queue of records, editions and fetches for the store.
    pub sink: Arc<Sink>,
    pub(crate) metrics: Arc<Metrics>,
    /// The refusal of the policy file as it is now.
    pub refused: Arc<ArcSwapOption<Refusal>>,
    pub(crate) certificates: Arc<Certificates>,
    pub(crate) origin_reports: OriginReports,
    pub(crate) fellowship: Arc<Fellowship>,
    pub(crate) replaced: Arc<ArcSwap<ReplacedBySite>>,
    /// Hosts below wildcards whose robots.txt a client asked for.
    pub asked: AskedHosts,
    /// The requests that Beadle sends to its own public addresses.
    pub own_requests: Arc<OwnRequests>,
    /// What is wrong with the lists of crawlers that the policy follows.
    pub list_troubles: ListTroubles,
    /// What fronts do to its answers.
    pub(crate) fronts: Arc<ArcSwap<Vec<Trouble>>>,
}

/// What is wrong with the last fetch of each list, by its URL.
#[derive(Clone, Debug, Default)]
pub struct ListTroubles(Arc<Mutex<BTreeMap<String, ListTrouble>>>);

impl ListTroubles {
    pub(crate) fn all(&self) -> Vec<ListTrouble> {
        self.0.lock().values().cloned().collect()
    }

    /// Notes a fetch. Whether its trouble is another one than before.
    pub(super) fn note(&self, url: &str, trouble: Option<&ListTrouble>) -> bool {
        let mut troubles = self.0.lock();
        let before = troubles.remove(url);
        troubles.extend(trouble.map(|trouble| (url.to_owned(), trouble.clone())));
        before.as_ref() != trouble
    }
}

impl Handles {
    /// The handles of a server at `now`, from a policy and its database, for explanations. It
    /// fetches, looks up and stores nothing. `with_evidence` verifies claims with the saved copies
    /// of evidence.
    pub fn at_rest(
        policy: &Policy,
        memory: &Memory,
        with_evidence: bool,
        now: Timestamp,
    ) -> Result<Self, Error> {
        let policy = &memory.with_hosts(policy.clone(), now);
        let rulebook = memory.rulebook(policy, now);
        Self::imagined(policy, rulebook, memory, with_evidence, now)
    }

    /// The handles of a server that publishes this rulebook of the policy, otherwise as
    /// [`Self::at_rest`].
    pub fn imagined(
        policy: &Policy,
        rulebook: Rulebook,
        memory: &Memory,
        with_evidence: bool,
        now: Timestamp,
    ) -> Result<Self, Error> {
        let metrics = Arc::new(Metrics::new());
        let rulebook = Arc::new(rulebook);
        let verifier = with_evidence.then(|| Verifier::at_rest(policy)).flatten().map(Arc::new);
        let in_force = PolicyInForce { policy: Arc::new(policy.clone()), since: now };
        let addresses = AddressBook::default();
        let published = Snapshot::new(in_force, rulebook, None, verifier, &addresses, &metrics);
        let (conduct, clock) = (Conduct::of(memory.ledger()), memory.clock(now));
        let sink = Arc::new(Sink::start(Settings::default())?);
        Ok(Self::new(published, conduct, Arc::new(clock), sink, metrics))
    }

    /// The handles of a state. The rest knows nothing yet.
    pub(super) fn new(
        published: Snapshot,
        conduct: Conduct,
        clock: Arc<Clock>,
        sink: Arc<Sink>,
        metrics: Arc<Metrics>,
    ) -> Self {
        Self {
            published: Arc::new(ArcSwap::from_pointee(published)),
            conduct: Arc::new(conduct),
            clock,
            sink,
            metrics,
            refused: Arc::default(),
            certificates: Arc::default(),
            origin_reports: OriginReports::default(),
            fellowship: Arc::default(),
            replaced: Arc::default(),
            asked: AskedHosts::default(),
            own_requests: Arc::default(),
            list_troubles: ListTroubles::default(),
            fronts: Arc::default(),
        }
    }

    /// Shows the load of the sites where people come first, in the metrics.
    pub fn show_loads(&self) {
        let published = self.published.load();
        let steady = self.clock.moment().steady;
        for (site, served) in published.rulebook.sites().iter().zip(&published.sites) {
            served.conduct.show_admission(site, steady, &self.metrics);
        }
    }

    /// The state of the program, for alerts and pages.
    pub fn state(&self) -> State {
        self.show_loads();
        let Self { metrics, sink, refused, .. } = self;
        let unwritten = |(destination, health)| match health {
            Health::Ok => None,
            Health::Degraded(reason) => Some((destination, reason)),
        };
        let unwritten = sink.destinations().into_iter().filter_map(unwritten);
        let troubles = unwritten.chain(metrics.unwritten_logs());
        let troubles = troubles.map(|(destination, reason)| (destination.to_owned(), reason));
        let published = self.published.load_full();
        let catalogue = &published.policy.policy.catalogue;
        let sites = published.rulebook.sites().iter();
        let quiet: Vec<_> = sites.filter(|site| !site.enforcement.quiet.is_empty()).collect();
        let is_quiet = |name: &str, token: &str| {
            let now = || self.clock.moment().now;
            let mut sites = quiet.iter().filter(|site| site.name == name);
            sites.any(|site| enforce::is_quiet(&site.enforcement, catalogue, token, now))
        };
        let tallies = metrics.requests_of_crawlers().into_iter().map(|one| Tally {
            is_impostor: Claimant::of(&one.standing) == Claimant::Impostor,
            is_quiet: false,
            site: one.site,
            product_token: one.product_token,
            requests: one.requests,
            violations: 0,
        });
        // Not by the action of a request: other forms of closed paths have one, and are no violations.
        let violations = metrics.violations_of_crawlers().into_iter().map(|one| Tally {
            is_quiet: !one.is_impostor && is_quiet(&one.site, &one.product_token),
            is_impostor: one.is_impostor,
            site: one.site,
            product_token: one.product_token,
            requests: 0,
            violations: one.violations,
        });
        let held = self.origin_reports.held().into_iter();
        let quarantined = held.map(|(site, hold)| (site, hold.reason()));
        let pending = catalogue.iter().filter(|crawler| crawler.is_pending());
        State {
            refused: refused.load().as_deref().cloned(),
            quarantined: quarantined.collect(),
            open_breakers: metrics.open_breakers(),
            crawlers_put_off: metrics.crawlers_put_off(),
            troubles: troubles.collect(),
            certificates: self.certificates.presented(),
            not_renewed: self.certificates.troubles(),
            fronts: self.fronts.load().to_vec(),
            lists: self.list_troubles.all(),
            pending: pending.map(|crawler| crawler.product_token().to_string()).collect(),
            lost: sink.counts().dropped,
            tallies: tallies.chain(violations).collect(),
        }
    }

    /// Gives the store the history, for a database that lacks it. `client_ip` is the form of
    /// addresses in records.
    pub fn remember(&self, client_ip: ClientIp) {
        let (published, conduct) = (Arc::clone(&self.published), Arc::clone(&self.conduct));
        let clock = Arc::clone(&self.clock);
        self.sink.remember(move || {
            let rulebook = Arc::clone(&published.load().rulebook);
            memory::history(&rulebook, &conduct.ledger, clock.leaps(), client_ip)
        });
    }

    /// Puts `after` in force in place of `before`: stores the editions, and swaps what requests are
    /// served by.
    pub fn publish(
        &self,
        before: &InForce,
        after: &InForce,
        verifier: Option<Arc<Verifier>>,
        addresses: &AddressBook,
    ) {
        memory::store_provisional(&self.sink, &before.rulebook, &after.rulebook);
        let now = self.clock.moment().now;
        memory::store(&self.sink, &after.rulebook, now);
        before.removed_sites(after).for_each(|site| memory::store_removal(&self.sink, site, now));
        let previous = self.published.load_full();
        let policy = previous.policy.followed_by(&after.policy, now);
        let rulebook = Arc::clone(&after.rulebook);
        let (metrics, previous) = (&self.metrics, Some(previous.as_ref()));
        let next = Snapshot::new(policy, rulebook, previous, verifier, addresses, metrics);
        self.published.store(Arc::new(next));
        before.removed_sites(after).for_each(|site| self.metrics.forget_site(site));
    }
}
