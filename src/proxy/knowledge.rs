//! What is known of the client of one request beside what it says: who it is, and what it has read.

use std::{cell::OnceCell, net::IpAddr};

use jiff::Timestamp;
use pingora::proxy::Session;

use crate::{
    crawlers::{Claim, Crawler, Name, Outcome, Standing},
    enforce::{Decision, Knowledge, KnownEditions, Moment, Rung, Site},
    policy::Policy,
    violations::RobotsRead,
};

use super::{
    Proxy, Remembered,
    conduct::Conduct,
    evidence::{Asker, Verifier},
    ledger::{Ledger, Reader},
    network::Network,
    serving::Serving,
};

/// The client of one request. Everything is looked up when it is asked for, once.
pub(super) struct Client<'a> {
    pub(super) proxy: &'a Proxy,
    pub(super) session: &'a Session,
    pub(super) serving: &'a Serving,
    pub(super) site: &'a Site,
    number: usize,
    asker: OnceCell<Asker<'a>>,
    moment: OnceCell<Moment>,
}

impl<'a> Client<'a> {
    pub(super) fn new(
        proxy: &'a Proxy,
        session: &'a Session,
        serving: &'a Serving,
        (number, site): (usize, &'a Site),
    ) -> Self {
        let (asker, moment) = (OnceCell::new(), OnceCell::new());
        Self { proxy, session, serving, site, number, asker, moment }
    }

    /// What was seen of the clients of its site.
    pub(super) fn conduct(&self) -> Option<&'a Conduct> {
        self.serving.site(self.number).map(|site| &site.conduct)
    }

    /// For whom a fetch under this name counts, and how far that is known: not for one whose name is
    /// only borrowed, nor where it is proven that somebody else asks.
    pub(super) fn read_for<'n>(
        &self,
        claim: &Claim<'n>,
        name: Name<'n>,
    ) -> Option<(Name<'n>, Standing)> {
        let standing = match name.known() {
            Some(crawler) if claim.is_borrowed(crawler) => return None,
            Some(crawler) => self.standing(crawler),
            None => Standing::UNVERIFIABLE,
        };
        (standing.outcome != Outcome::Contradicted).then_some((name, standing))
    }

    /// The client as a reader of robots.txt.
    pub(super) fn reader(&self, standing: Standing) -> Reader {
        let network = Network::of(self.proxy.client_ip(self.session));
        Reader { network, outcome: standing.outcome }
    }
}

impl Knowledge for Client<'_> {
    fn moment(&self) -> Moment {
        *self.moment.get_or_init(|| self.proxy.clock.moment())
    }

    fn rung(&self, name: Name<'_>, outcome: Outcome) -> Rung {
        self.conduct().map(|conduct| conduct.rung(name, outcome)).unwrap_or_default()
    }

    fn standing(&self, crawler: &Crawler) -> Standing {
        match &self.serving.verifier {
            Some(verifier) => {
                let asker = || self.proxy.asker(self.session, self.serving);
                verifier.standing(crawler, self.asker.get_or_init(asker))
            }
            None => Standing::unexamined(crawler),
        }
    }

    fn known_editions(
        &self,
        name: Name<'_>,
        standing: Standing,
        start: Timestamp,
    ) -> KnownEditions {
        self.proxy.ledger.known_editions(self.site, name, self.reader(standing), start)
    }
}

/// What is known of clients that don't ask just now, from what was written down: for explanations.
#[derive(Debug)]
pub struct Records {
    verifier: Option<Verifier>,
    ledger: Ledger,
    client_ip: Option<IpAddr>,
    now: Timestamp,
}

/// The same at one site.
#[derive(Debug)]
pub struct RecordsOf<'a> {
    records: &'a Records,
    site: &'a Site,
}

impl Records {
    /// What is known at `now` of a client with this address, if one is named.
    pub fn new(
        policy: &Policy,
        remembered: Remembered,
        client_ip: Option<IpAddr>,
        now: Timestamp,
    ) -> Self {
        // By the copies of what was fetched; nothing is looked up for an explanation.
        let verifier = client_ip.and_then(|_| Verifier::at_rest(policy));
        Self { verifier, ledger: Ledger::remembering(remembered.fetches), client_ip, now }
    }

    /// The same at one site.
    pub const fn of<'a>(&'a self, site: &'a Site) -> RecordsOf<'a> {
        RecordsOf { records: self, site }
    }
}

impl RecordsOf<'_> {
    /// What the client had read of the rules by which it is judged.
    pub fn read(&self, decision: &Decision<'_>, name: Option<Name<'_>>) -> RobotsRead {
        self.records.ledger.read_by(self.site, name, self.reader(decision.standing))
    }

    fn reader(&self, standing: Standing) -> Reader {
        let network = self.records.client_ip.map_or_else(|| Network::parse(""), Network::of);
        Reader { network, outcome: standing.outcome }
    }
}

impl Knowledge for RecordsOf<'_> {
    fn moment(&self) -> Moment {
        Moment::at(self.records.now)
    }

    fn standing(&self, crawler: &Crawler) -> Standing {
        match &self.records.verifier {
            Some(verifier) => verifier.standing(crawler, &Asker::new(self.records.client_ip, None)),
            None => Standing::unexamined(crawler),
        }
    }

    fn known_editions(
        &self,
        name: Name<'_>,
        standing: Standing,
        start: Timestamp,
    ) -> KnownEditions {
        self.records.ledger.known_editions(self.site, name, self.reader(standing), start)
    }
}
