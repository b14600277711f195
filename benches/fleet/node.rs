//! One node: the real judgement, with the time passed in.

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};

use beadle::{
    base::metrics::Metrics,
    clients::conduct::{Conduct, Network, Observations, Reader, Sighting, SiteConduct},
    formats::robots::Target,
    rules::{
        crawlers::{Claim, Crawler, Name, Outcome, Standing},
        enforce::{
            self, Action, Case, Edition, EditionId, Elsewhere, History, Knowledge, KnownEditions,
            Moment, Reason, Rulebook, Rung, Site,
        },
        policy::Policy,
    },
    state::{fleet::Clocks, publication::Clock},
};
use jiff::{SignedDuration, Timestamp};

/// The first second of every simulation.
const START: i64 = 1_790_000_000;

/// A client of the simulation.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    pub(crate) user_agent: String,
    pub(crate) network: Network,
    pub(crate) outcome: Outcome,
}

/// What a node knows of an edition at another node.
#[derive(Clone, Debug)]
pub(crate) struct Served {
    pub(crate) edition: Arc<Edition>,
    pub(crate) from: u64,
    pub(crate) until: Option<u64>,
}

/// A node of the fleet.
pub(crate) struct Node {
    pub(crate) conduct: Conduct,
    pub(crate) book: Rulebook,
    pub(crate) at_site: SiteConduct,
    policy: Arc<Policy>,
    clock: Clock,
    start: Instant,
    /// How far its wall clock is ahead, in milliseconds.
    wall_ahead: i64,
    /// How far the time by which it judges is ahead.
    ahead: i64,
    clocks: Clocks,
    /// How far its estimate of that is wrong.
    misjudged: i64,
    /// What it knows of the editions at each other node.
    pub(crate) known: BTreeMap<(usize, EditionId), Served>,
}

/// A request as the node sees it.
struct Visit<'a> {
    node: &'a Node,
    client: &'a Client,
    moment: Moment,
}

impl Node {
    pub(crate) fn new(
        policy: &Arc<Policy>,
        (ahead, misjudged): (i64, i64),
        metrics: &Metrics,
    ) -> Self {
        let book = Rulebook::compile(policy, wall(0, ahead), None);
        let at_site = SiteConduct::following(None, &book.sites()[0], metrics);
        let conduct = Conduct::default();
        conduct.start_collecting();
        let (clock, start) = (Clock::after(&[], wall(0, ahead)), Instant::now());
        clock.hold();
        Self {
            conduct,
            book,
            at_site,
            policy: Arc::clone(policy),
            clock,
            start,
            wall_ahead: ahead,
            ahead,
            clocks: Clocks::default(),
            misjudged,
            known: BTreeMap::new(),
        }
    }

    /// Sets its wall clock.
    pub(crate) fn set_clock(&mut self, ahead: i64) {
        self.wall_ahead = ahead;
    }

    /// Looks at its clock, as a node does at each exchange.
    pub(crate) fn look_at_clock(&mut self, now: u64, metrics: &Metrics) {
        let moment = self.moment(now);
        self.ahead = moment.now.as_millisecond() - wall(now, 0).as_millisecond();
        if self.clocks.has_stepped(-self.ahead - self.misjudged) {
            let unknown = Observations { forgotten: Some(moment.now), ..Observations::default() };
            self.conduct.learn("own clock", &|_| None, unknown, moment, metrics);
            // The periods of the others have other own times.
            self.publish(None, now);
        }
    }

    pub(crate) fn site(&self) -> &Site {
        &self.book.sites()[0]
    }

    /// The moment by its own clock.
    pub(crate) fn moment(&self, now: u64) -> Moment {
        let steady = Duration::from_millis(now);
        let read = self.clock.moment_of(self.start + steady, wall(now, self.wall_ahead));
        Moment { steady, ..read }
    }

    /// How far times by its own clock are ahead of those of the fleet, as far as it knows.
    pub(crate) fn ahead(&self) -> SignedDuration {
        SignedDuration::from_millis(self.ahead + self.misjudged)
    }

    /// A time of the fleet by its own clock, as far as it knows.
    pub(crate) fn local(&self, at: u64) -> Timestamp {
        wall(at, self.ahead + self.misjudged)
    }

    /// Puts the policy, and what it knows of other nodes, in force.
    pub(crate) fn publish(&mut self, policy: Option<Arc<Policy>>, now: u64) {
        self.policy = policy.unwrap_or_else(|| Arc::clone(&self.policy));
        let mut by_id: BTreeMap<EditionId, Elsewhere> = BTreeMap::new();
        for one in self.known.values() {
            let until = one.until.map(|until| self.local(until));
            let all = by_id.entry(one.edition.id()).or_insert_with(|| Elsewhere {
                site: self.site().name.clone(),
                edition: Arc::clone(&one.edition),
                from: self.local(one.from),
                until,
            });
            all.from = all.from.min(self.local(one.from));
            all.until = all.until.zip(until).map(|(a, b)| a.max(b));
        }
        let mut history = History::after(Some(&self.book), self.moment(now).now);
        let differs = history.chronicle.learn(by_id.into_values().collect());
        if differs || self.policy.fingerprint != self.book.fingerprint() {
            self.book = Rulebook::compile_with(&self.policy, &mut history);
        }
    }

    /// The edition of a policy.
    pub(crate) fn edition_of(policy: &Policy) -> Arc<Edition> {
        Arc::clone(Rulebook::compile(policy, wall(0, 0), None).sites()[0].timeline.current())
    }

    /// Serves robots.txt to a client. Returns the edition.
    pub(crate) fn serve(&self, client: &Client, now: u64) -> Arc<Edition> {
        let claim = self.claim(client);
        let reader = Reader { network: client.network, outcome: client.outcome };
        if let Some(name) = claim.primary() {
            let at = self.moment(now).now;
            let _ = self.conduct.fetched(self.site(), name, reader, at);
        }
        Arc::clone(self.site().timeline.current())
    }

    /// The action for a request for a page, and its reason.
    pub(crate) fn request(
        &self,
        client: &Client,
        path: &str,
        now: u64,
        metrics: &Metrics,
    ) -> (Action, Reason) {
        let visit = Visit { node: self, client, moment: self.moment(now) };
        let claim = self.claim(client);
        let target = Target::new(path.as_bytes());
        let case = Case { claim: &claim, is_nameless: false, target: &target };
        let decision = enforce::decide(self.site(), case, &visit);
        let sighting = Sighting {
            site: self.site(),
            host: Some("a.example"),
            conduct: &self.at_site,
            address: client.network.address().expect("a client has one network"),
            is_for_content: true,
        };
        let decision = self.conduct.weigh(sighting, decision, &visit, metrics).decision;
        (decision.action, decision.reason)
    }

    /// The rung of a client.
    pub(crate) fn rung(&self, client: &Client) -> Rung {
        let claim = self.claim(client);
        let rung = |name| self.at_site.rung(name, client.outcome, client.network);
        claim.primary().map(rung).unwrap_or_default()
    }

    /// Notes that it hears of the others until this time.
    pub(crate) fn keep_contact(&self, until: u64) {
        self.conduct.keep_contact(self.moment(until).steady, true);
    }

    fn claim<'a>(&'a self, client: &'a Client) -> Claim<'a> {
        self.book.catalogue().identify(client.user_agent.as_bytes(), &self.site().names)
    }
}

impl Knowledge for Visit<'_> {
    fn moment(&self) -> Moment {
        self.moment
    }

    fn standing(&self, _: &Crawler) -> Standing {
        Standing { outcome: self.client.outcome, evidence: None }
    }

    fn rung(&self, name: Name<'_>, outcome: Outcome) -> Rung {
        self.node.at_site.rung(name, outcome, self.client.network)
    }

    fn known_editions(
        &self,
        name: Name<'_>,
        standing: Standing,
        start: Timestamp,
    ) -> KnownEditions {
        let reader = Reader { network: self.client.network, outcome: standing.outcome };
        self.node.conduct.ledger.readings(self.node.site(), name, reader).known_editions(start)
    }

    fn may_miss_editions(&self) -> bool {
        self.node.conduct.excuses(self.moment)
    }
}

/// A time of a clock that is ahead by so many milliseconds.
fn wall(now: u64, ahead: i64) -> Timestamp {
    let since = i64::try_from(now).unwrap_or(i64::MAX).saturating_add(ahead);
    Timestamp::from_millisecond(START * 1_000 + since).unwrap_or(Timestamp::MAX)
}
