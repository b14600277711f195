//! The passage of a request, from the gate to the end of its response.

use std::{sync::Arc, time::Duration};

use http::HeaderMap;

use crate::{
    clients::conduct::{Hop, Seat, Stay, Waiting},
    records::violations::Record,
    rules::{
        crawlers::Class,
        enforce::{self, Action},
    },
    state::publication::{ServedSite, Snapshot},
};

use super::{
    access::Account,
    answer::Answer,
    request::Refusal,
    response::{Replaced, use_fields},
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
