//! The passage of a request, from the gate to the end of its response, with the decision that the access log
//! keeps of it, and its room at the origin.

use std::{net::IpAddr, sync::Arc, time::Duration};

use http::HeaderMap;
use jiff::Timestamp;

use crate::{
    clients::conduct::{Hop, Limited, PutOff, Seat, Stay, Waiting, Weighed},
    records::violations::Record,
    rules::{
        crawlers::{Class, Name},
        enforce::{self, Action, Reason},
    },
    state::publication::{ServedSite, Snapshot},
};

use super::{
    answer::Answer,
    page,
    request::Refusal,
    response::{Replaced, use_fields},
    visit::Visit,
};

/// The outcome of a request at the gate.
#[derive(Debug, Default)]
pub struct Reception {
    /// Beadle's own answer; `None` if the request goes on to the origin.
    pub answer: Option<Answer>,
    /// The passage that the edge hands back with the response.
    pub passage: Passage,
    pub(super) waiting: Option<Waiting>,
}

impl Reception {
    /// How often a request that waits is handed in again.
    pub const BETWEEN_LOOKS: Duration = Duration::from_millis(10);

    /// The reception of a request that gets this answer.
    pub fn answered(answer: Answer) -> Self {
        Self { answer: Some(answer), ..Self::default() }
    }

    /// Whether the request waits for room at the origin, and nothing of it counts yet. Whoever keeps
    /// it hands it in again.
    pub fn waits(&self) -> bool {
        self.waiting.is_some()
    }
}

/// A request between the gate and its response.
#[derive(Debug)]
pub struct Passage {
    /// Its site; `None` for a refused request.
    pub(super) site: Option<ServedAt>,
    pub(super) class: Class,
    pub(super) action: Action,
    /// The request, if it has a pace: a redirect makes the next one free.
    pub(super) hop: Option<Hop>,
    /// Its places at the origin, for limits of the operator.
    pub(super) seats: Vec<Seat>,
    /// The request at the origin, where people come first.
    pub(super) stay: Option<Stay>,
    /// The record of a violation, without its status.
    pub(super) record: Option<Box<Record>>,
    /// The reason why it was not judged.
    pub(super) refusal: Option<Refusal>,
    /// The decision, if requests are logged.
    pub(super) account: Option<Box<Account>>,
    /// Whether Beadle sent the request itself, so that it is in no count and in no log.
    pub(super) is_own: bool,
}

/// A site of the published state that serves a request.
#[derive(Debug)]
pub(super) struct ServedAt {
    pub(super) published: Arc<Snapshot>,
    pub(super) number: usize,
}

impl Default for Passage {
    fn default() -> Self {
        let (class, action) = (Class::None, Action::Pass);
        Self {
            site: None,
            class,
            action,
            hop: None,
            seats: Vec::new(),
            stay: None,
            record: None,
            refusal: None,
            account: None,
            is_own: false,
        }
    }
}

impl Passage {
    /// The served site; `None` for a refused request.
    pub fn served(&self) -> Option<&ServedSite> {
        self.site().map(|(_, served)| served)
    }

    /// Notes the status of the origin's response, 504 for none, by the steady clock.
    pub fn note_head(&mut self, status: u16, now: Duration) {
        if let Some(stay) = &mut self.stay {
            stay.head(status, now);
        }
    }

    /// The fields of the origin's final response that say what it may be used for.
    pub fn usage(&self, target: &[u8], status: u16, fields: &HeaderMap) -> Replaced {
        let site = self.site().map(|(site, _)| site);
        site.map(|site| use_fields(site, target, status, fields)).unwrap_or_default()
    }

    pub(super) fn site(&self) -> Option<(&enforce::Site, &ServedSite)> {
        let site = self.site.as_ref()?;
        site.published.site(site.number)
    }
}

/// The part of a decision that is logged.
#[derive(Debug)]
pub(super) struct Account {
    pub(super) time: Timestamp,
    pub(super) client: IpAddr,
    pub(super) product_token: Option<Box<str>>,
    pub(super) standing: &'static str,
    pub(super) verdict: &'static str,
    pub(super) reason: &'static str,
}

impl Account {
    pub(super) fn of(visit: &Visit<'_>, weighed: &Weighed<'_>) -> Self {
        let decision = &weighed.decision;
        let judged = decision.judgement.and_then(|judgement| judgement.name);
        let name = judged.or_else(|| visit.claim.primary());
        Self {
            time: visit.now(),
            client: visit.client.address,
            product_token: name.map(Name::as_str).map(Box::from),
            standing: decision.standing.outcome.as_str(),
            verdict: decision.access.as_str(),
            reason: decision.reason.as_str(),
        }
    }
}

/// What a request takes of the origin; free again on drop.
#[derive(Debug, Default)]
pub(super) struct Room {
    pub(super) seats: Vec<Seat>,
    pub(super) stay: Option<Stay>,
}

/// Why there is no room for a request.
#[derive(Clone, Copy, Debug)]
pub(super) enum NoRoom<'a> {
    /// It is beyond a limit of the operator.
    Limit(Limited<'a>),
    /// It has to come back later.
    PutOff(PutOff),
    /// It waits. Nothing of it counts.
    Waits,
}

impl NoRoom<'_> {
    /// The answer; none to a request that waits.
    pub(super) fn answer(&self, visit: &Visit<'_>) -> Option<Answer> {
        let rules = visit.site.enforcement.people_first.as_ref();
        match self {
            Self::Limit(one) => Some(Answer::limited(page::limit(one), one)),
            Self::PutOff(_) => Some(Answer::later(rules?.status, page::later(visit))),
            Self::Waits => None,
        }
    }

    pub(super) fn reason(&self) -> Reason {
        match self {
            Self::Limit(_) => Reason::Limit,
            Self::PutOff(_) | Self::Waits => Reason::PeopleFirst,
        }
    }
}
