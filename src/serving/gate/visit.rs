//! The visit of one request at its site, with the knowledge about its client.

use std::cell::{OnceCell, RefCell};

use http::Method;
use jiff::Timestamp;

use crate::{
    clients::{
        conduct::{Conduct, Network, Reader, Readings, Sighting},
        evidence::Sender,
    },
    formats::{
        robots::Target,
        signature::{Message, Scheme},
    },
    rules::{
        crawlers::{Claim, Class, Crawler, Name, Outcome, Purpose, Recent, Standing},
        enforce::{
            self, AppliedLimit, Case, Decision, Knowledge, KnownEditions, Moment, Rulebook, Rung,
            Site,
        },
        policy::Source,
    },
    state::publication::{ServedSite, Snapshot},
};

use super::{
    client::{Client, referring_operator},
    request::Request,
};

/// One request at its site. It looks up knowledge about its client once, when a rule needs it.
pub struct Visit<'a> {
    /// The request.
    pub request: &'a Request<'a>,
    /// The site with its rules.
    pub site: &'a Site,
    /// The claim of the User-Agent.
    pub claim: Claim<'a>,
    /// The requested target.
    pub target: Target<'a>,
    pub(super) served: &'a ServedSite,
    pub(super) client: Client<'a>,
    pub(super) number: usize,
    published: &'a Snapshot,
    conduct: &'a Conduct,
    moment: Moment,
    examination: Examination,
    sender: OnceCell<Sender<'a>>,
    readings: RefCell<Option<KnownReadings>>,
}

/// How far the claim of a request is examined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Examination {
    /// By all evidence. What is not in memory is looked up in the background.
    Whole,
    /// By what is in memory: the request is only imagined.
    FromMemory,
    /// Not at all: the request is only imagined, and comes from no address.
    Omitted,
    /// Its result is given: the request is only imagined.
    Supposed(Outcome),
    /// Beadle itself sent the request, and gets the answer of the client whose name it uses.
    Own,
}

/// The fetches of the last name, as a cache.
struct KnownReadings {
    name: Box<str>,
    outcome: Outcome,
    readings: Readings,
}

impl<'a> Visit<'a> {
    pub(super) fn new(
        request: &'a Request<'a>,
        client: Client<'a>,
        published: &'a Snapshot,
        number: usize,
        conduct: &'a Conduct,
        (moment, examination): (Moment, Examination),
    ) -> Option<Self> {
        let (site, served) = published.site(number)?;
        Some(Self {
            claim: claim(&published.rulebook, site, request),
            target: Target::read_by(request.target, site.reading_of(request.target)),
            request,
            site,
            served,
            client,
            number,
            published,
            conduct,
            moment,
            examination,
            sender: OnceCell::new(),
            readings: RefCell::default(),
        })
    }

    /// The decision about the request.
    pub fn decide(&self) -> Decision<'_> {
        enforce::decide(self.site, self.case(), self)
    }

    /// The limits of the operator that count the request.
    pub fn limits(&self) -> Vec<AppliedLimit<'_>> {
        enforce::applied_limits(self.site, self.case(), self)
    }

    /// The place of a crawler in the order of those that make room for people; `None` for people.
    pub fn rank(&self, order: &[Purpose]) -> Option<usize> {
        enforce::rank(self.site, self.case(), order, self)
    }

    fn case(&self) -> Case<'_, '_> {
        let is_nameless = self.request.user_agents().all(enforce::is_blank);
        Case { claim: &self.claim, is_nameless, target: &self.target }
    }

    /// Whether the client is a person: a browser, or an app that no catalogue and no rule knows.
    pub(super) fn is_of_person(&self, decision: &Decision<'_>) -> bool {
        match self.claim.class() {
            Class::Browser => true,
            Class::App => self.claim.is_empty() && decision.judgement.is_none(),
            _ => false,
        }
    }

    /// The name under which a request counts: the judged one, else the first.
    pub(super) fn counted_name<'s>(&'s self, decision: &Decision<'s>) -> Option<Name<'s>> {
        let judged = decision.judgement.and_then(|judgement| judgement.name);
        judged.or_else(|| self.claim.primary())
    }

    /// The fetches of robots.txt that count for the client under a name.
    pub fn readings(&self, name: Name<'_>, outcome: Outcome) -> Readings {
        let mut known = self.readings.borrow_mut();
        let is_known =
            |one: &&mut KnownReadings| one.outcome == outcome && *one.name == *name.as_str();
        if let Some(known) = known.as_mut().filter(is_known) {
            return known.readings.clone();
        }
        let readings = self.conduct.ledger.readings(self.site, name, self.reader(name, outcome));
        let name = name.as_str().into();
        *known = Some(KnownReadings { name, outcome, readings: readings.clone() });
        readings
    }

    /// The client as a reader of robots.txt under a name.
    pub(super) fn reader(&self, name: Name<'_>, outcome: Outcome) -> Reader {
        Reader { network: Network::of_client(self.client.address, Some(name)), outcome }
    }

    /// The standing with which a fetch of robots.txt counts for a name. `None` if the client only
    /// borrows the name or evidence contradicts it.
    pub(super) fn standing_as_reader(&self, name: Name<'_>) -> Option<Standing> {
        let standing = match name.known() {
            Some(crawler) if self.claim.is_borrowed(crawler) => return None,
            Some(crawler) => self.standing(crawler),
            None => Standing::UNVERIFIABLE,
        };
        (standing.outcome != Outcome::Contradicted).then_some(standing)
    }

    /// The site and the host, for weighing.
    pub(super) fn sighting(&self) -> Sighting<'_, 'a> {
        let host = self.client.host.as_deref();
        let is_named = |host: &&str| self.published.rulebook.site_of_host(host).is_some();
        Sighting {
            site: self.site,
            host: host.filter(is_named),
            conduct: &self.served.conduct,
            address: self.client.address,
            is_for_content: matches!(*self.request.method, Method::GET | Method::POST),
        }
    }

    pub(super) fn referrer(&self) -> Option<&str> {
        let rulebook = &self.published.rulebook;
        let is_own = |host: &str| {
            let (own, site) = (self.client.host.as_deref(), rulebook.site_of_host(host));
            own == Some(host) || site.is_some_and(|(number, _)| number == self.number)
        };
        referring_operator(rulebook.catalogue(), self.request.method, self.request.fields, is_own)
    }

    /// The requested host, if the site names it.
    pub(super) fn own_host(&self) -> Option<&str> {
        let host = self.client.host.as_deref()?;
        let named = self.published.rulebook.site_of_host(host);
        named.filter(|(number, _)| *number == self.number).map(|_| host)
    }

    /// The requested host, where the origin may have a file for it that is not the site's.
    pub(super) fn host_of_origin(&self) -> Option<&str> {
        let is_followed = self.site.source != Source::Policy;
        self.own_host().filter(|host| is_followed && *host != self.site.backend.host)
    }

    /// The requested host; else the site's name.
    pub(super) fn host(&self) -> &str {
        self.client.host.as_deref().unwrap_or(&self.site.name)
    }

    pub(super) fn now(&self) -> Timestamp {
        self.moment.now
    }

    pub(super) const fn moment(&self) -> Moment {
        self.moment
    }

    pub(super) const fn scheme(&self) -> &'static str {
        if self.client.is_https { "https" } else { "http" }
    }

    fn sender(&self) -> &Sender<'a> {
        self.sender.get_or_init(|| {
            // A signature covers one host. Another server may have received a request for a host
            // outside the policy and replayed it to the default site.
            let host = self.client.host.as_deref();
            let is_named =
                host.is_some_and(|host| self.published.rulebook.site_of_host(host).is_some());
            let message = Message {
                method: self.request.method.as_str(),
                scheme: if self.client.is_https { Scheme::Https } else { Scheme::Http },
                authority: self.request.authority.unwrap_or_default(),
                target: self.request.target,
                fields: self.request.fields,
            };
            let address = self.client.is_own_address.then_some(self.client.address);
            if self.examination != Examination::Whole {
                return Sender::imagined(address, self.moment.now);
            }
            Sender::new(address, is_named.then_some(message), self.moment.now)
        })
    }
}

impl Knowledge for Visit<'_> {
    fn moment(&self) -> Moment {
        self.moment
    }

    fn rung(&self, name: Name<'_>, outcome: Outcome) -> Rung {
        let network = Network::of_client(self.client.address, Some(name));
        self.served.conduct.rung(name, outcome, network)
    }

    fn standing(&self, crawler: &Crawler) -> Standing {
        match (self.examination, &self.published.verifier) {
            (Examination::Supposed(outcome), _) => Standing { outcome, evidence: None },
            (Examination::Whole | Examination::FromMemory, Some(verifier)) => {
                verifier.standing(crawler, self.sender())
            }
            (Examination::Own, Some(_)) if crawler.publishes_evidence() => {
                Standing { outcome: Outcome::Confirmed, evidence: None }
            }
            _ => Standing::unexamined(crawler),
        }
    }

    fn known_editions(&self, name: Name<'_>, standing: Standing, from: Timestamp) -> KnownEditions {
        self.readings(name, standing.outcome).known_editions(from)
    }

    fn may_miss_editions(&self) -> bool {
        self.conduct.excuses(self.moment)
    }
}

thread_local! {
    /// The claims of recent User-Agents.
    static RECENT: RefCell<Recent> = RefCell::default();
}

/// Makes this thread keep the claims of `places` recent User-Agents.
pub fn keep_claims(places: usize) {
    RECENT.set(Recent::of(places));
}

/// The claim of all `User-Agent` lines of a request.
fn claim<'a>(rulebook: &'a Rulebook, site: &'a Site, request: &Request<'a>) -> Claim<'a> {
    let lines = || request.user_agents();
    RECENT.with_borrow_mut(|recent| recent.identify_all(rulebook.catalogue(), lines, &site.names))
}
