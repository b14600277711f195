//! The gate: the path of every request to the origin or to an answer of Beadle's own.
//!
//! An edge builds a [`Request`]. [`Gate::receive`] returns an [`Answer`], or none if the request
//! goes on to the origin. It also returns a [`Passage`], which the edge hands back with the
//! response. An explanation calls [`Gate::imagine`] and the same [`Visit::decide`].
//!
//! ```text
//! admit ─▶ Request ─▶ visit: site, client, claim ─▶ decide ─▶ weigh ─▶ robots.txt | act: record ─▶ Answer
//!                                                                 └─▶ origin ─▶ tags ─▶ finish: status, store
//! ```
//! Nothing here waits for the disk, for DNS or for another request.
//!
//! May use: publication, conduct, evidence, record, tally, text, violations, enforce, policy, crawlers,
//! signature, framing, robots, usage, access_log, metrics, escape. Must not know: proxy, admin, cli, pingora,
//! sockets, any clock.

use std::{borrow::Cow, sync::Arc};

use http::{HeaderMap, HeaderValue, Method};
use ipnet::IpNet;

use crate::{
    clients::conduct::{self, Fetches, Waiting, Weighed},
    records::{
        tally::{Claimant, Detail},
        violations::Record,
    },
    rules::{
        crawlers::Outcome,
        enforce::{Action, Judgement, Moment, Reason, TagFields},
        policy::{AccessFormat, Policy},
    },
    state::publication::{Handles, Snapshot},
};

mod access; // a request in the access log
mod admission; // the one form of a message and of its target
mod answer; // an answer of Beadle's own
mod client; // the client of a request
mod counting; // a decision in the counts and metrics
mod fields; // the fields that go on to the origin
mod handover; // refusals that a server in front fetches
mod limit; // limits of the operator, and people first
mod location; // fields that name an origin by its address
mod own; // requests that Beadle sends itself
mod page; // texts for refused clients
mod passage; // a request from the gate to its response
mod past; // requests of the past
mod record; // rows for the store
mod request; // a request as data, and why it is refused before judging
mod response; // what a response says about use, and its tags
mod series; // a request in the counts by hour
#[cfg(test)]
mod tests;
mod visit; // one request at its site

pub use self::{
    access::Served,
    admission::{Admission, BadTarget, admit, encoded, one_length, received_target},
    answer::Answer,
    client::is_trusted,
    fields::Forwarding,
    handover::REFUSAL_MARK,
    location::{plain_destination, renamed},
    passage::{Passage, Reception},
    past::{Counted, Past},
    record::robots_read,
    request::{Refusal, Request},
    response::Replaced,
    visit::{Visit, keep_claims},
};
use self::{
    client::Client,
    handover::Handovers,
    passage::{Account, NoRoom, Room, ServedAt},
    record::{Broken, Recorder},
    request::Answering,
    response::tag_fields,
    visit::Examination,
};

/// The decisions about requests, over the published state.
#[derive(Debug)]
pub struct Gate {
    handles: Handles,
    trusted: Vec<IpNet>,
    recorder: Recorder,
    /// `None` where no server fetches refusals.
    handovers: Option<Handovers>,
    /// The format of the access log; `None` without one.
    access_log: Option<AccessFormat>,
}

impl Gate {
    /// A gate over the published state, with the settings of `policy` that need a restart.
    pub fn new(handles: &Handles, policy: &Policy) -> Self {
        Self {
            handles: handles.clone(),
            trusted: policy.server.trusted_proxies.clone(),
            recorder: Recorder::new(&policy.violations),
            handovers: policy
                .server
                .decide
                .and_then(|decide| decide.refuse_status)
                .map(|_| Handovers::default()),
            access_log: policy.server.access_log.as_ref().map(|log| log.format),
        }
    }

    /// The path of a request: its site, the decision, its weight, and the action.
    pub fn receive(&self, request: &Request<'_>, moment: Moment) -> Reception {
        match self.handed_over(request, moment) {
            Some(answer) => Reception::answered(answer),
            None => self.judge(request, moment, Answering::Beadle, Waiting::default()),
        }
    }

    /// The path of a request that waits for room at the origin. It may have to wait on.
    pub fn receive_again(
        &self,
        request: &Request<'_>,
        moment: Moment,
        reception: Reception,
    ) -> Reception {
        match reception.waiting {
            Some(waiting) if waiting.may_go(moment.steady) => {
                self.judge(request, moment, Answering::Beadle, waiting)
            }
            _ => reception,
        }
    }

    /// The decision about a request that another server answers. robots.txt passes as well, and this
    /// is no fetch of it: Beadle does not know the bytes that the client gets.
    pub fn authorize(&self, request: &Request<'_>, moment: Moment) -> Reception {
        self.judge(request, moment, Answering::Asker, Waiting::default())
    }

    /// Keeps a refusal for the server that asked, which may fetch it with this mark.
    pub fn hand_over(&self, answer: &Answer, target: &[u8], moment: Moment) -> Option<HeaderValue> {
        self.handovers.as_ref()?.keep(answer, target, moment.steady)
    }

    /// The refusal that a trusted proxy fetches.
    fn handed_over(&self, request: &Request<'_>, moment: Moment) -> Option<Answer> {
        let handovers = self.handovers.as_ref()?;
        let mark = request.fields.get(REFUSAL_MARK)?;
        let is_trusted = is_trusted(request.peer, &self.trusted);
        is_trusted.then(|| handovers.take(mark.as_bytes(), request.target, moment.steady)).flatten()
    }

    fn judge(
        &self,
        request: &Request<'_>,
        moment: Moment,
        answering: Answering,
        mut waiting: Waiting,
    ) -> Reception {
        let published = self.published();
        let is_own = self.is_own(request, moment);
        let examination = if is_own { Examination::Own } else { Examination::Whole };
        let visit = match self.visit(&published, request, (moment, examination)) {
            Ok(visit) => visit,
            Err(refusal) => return self.refuse(refusal),
        };
        let site = Some(ServedAt { published: Arc::clone(&published), number: visit.number });
        let class = visit.claim.class();
        if request.is_about_server() {
            let passage = Passage { site, ..Passage::default() };
            return Reception { passage, ..Reception::default() };
        }
        let decision = visit.decide();
        if is_own {
            return self.answer_own(&visit, &decision, answering, site);
        }
        let (mut weighed, room) = self.weigh(&visit, decision, answering, &mut waiting);
        if matches!(room, Err(NoRoom::Waits)) {
            return Reception { waiting: Some(waiting), ..Reception::default() };
        }
        self.count(&visit, &decision);
        self.count_crawler(&visit, &weighed.decision);
        let account = self.access_log.map(|_| Box::new(Account::of(&visit, &weighed)));
        let (hop, action) = (weighed.hop.take(), weighed.decision.action);
        let (answer, record) = match (&weighed.decision.judgement, action) {
            _ if weighed.decision.reason.is_limit() => {
                let key = series::of_limited(&visit, &weighed.decision);
                self.handles.sink.tally.count(visit.now(), &key);
                (None, None)
            }
            (Some(judgement), Action::Log | Action::Throttle | Action::Block) => {
                self.act(&visit, &weighed, judgement)
            }
            _ => {
                self.count_passed(&visit, &weighed.decision);
                let answer = match answering {
                    Answering::Beadle if !visit.target.is_robots_txt() => {
                        visit.site.usage.as_ref().and_then(|one| Answer::tdmrep(one, request))
                    }
                    _ if !visit.target.is_robots_txt() => None,
                    Answering::Beadle => Some(self.robots_txt(&visit)),
                    // The server in front sends crawlers here by the exact path.
                    Answering::Asker | Answering::Past => {
                        let path = request.target.split(|&octet| octet == b'?').next();
                        (path != Some(b"/robots.txt")).then(Answer::exact_robots_txt)
                    }
                };
                (answer, None)
            }
        };
        let (room, no_room) = match room {
            Ok(room) => (room, None),
            Err(no_room) => (Room::default(), no_room.answer(&visit)),
        };
        let no_room = no_room.map(|one| one.tagged(visit.site, visit.target.letter()));
        let (answer, Room { seats, stay }, passage) =
            (no_room.or(answer), room, Passage::default());
        let passage = Passage { site, class, action, hop, seats, stay, record, account, ..passage };
        Reception { answer, passage, waiting: None }
    }

    /// A request at its site, before the decision.
    fn visit<'a>(
        &'a self,
        published: &'a Snapshot,
        request: &'a Request<'a>,
        at: (Moment, Examination),
    ) -> Result<Visit<'a>, Refusal> {
        let client = Client::of(request, &self.trusted)?.with_port(request, &published.rulebook);
        let (number, _) =
            published.rulebook.site(client.host.as_deref()).ok_or(Refusal::UnknownHost)?;
        Visit::new(request, client, published, number, &self.handles.conduct, at)
            .ok_or(Refusal::UnknownHost)
    }

    /// A request that nobody sends, at its site, before the decision. Its claim is examined by the
    /// evidence in memory: no look-up begins, and nothing is counted. An unspecified peer (`0.0.0.0`)
    /// stands for a client without an address, whose claim is not examined.
    ///
    /// # Errors
    /// The request has no valid host, or no site has this host.
    pub fn imagine<'a>(
        &'a self,
        published: &'a Snapshot,
        request: &'a Request<'a>,
        moment: Moment,
    ) -> Result<Visit<'a>, Refusal> {
        let examination = match request.peer.is_unspecified() {
            true => Examination::Omitted,
            false => Examination::FromMemory,
        };
        self.visit(published, request, (moment, examination))
    }

    /// A request that nobody sends, of a client whose claim was checked with this result.
    ///
    /// # Errors
    /// The request has no valid host, or no site has this host.
    pub fn suppose<'a>(
        &'a self,
        published: &'a Snapshot,
        request: &'a Request<'a>,
        moment: Moment,
        outcome: Outcome,
    ) -> Result<Visit<'a>, Refusal> {
        self.visit(published, request, (moment, Examination::Supposed(outcome)))
    }

    /// The present published state.
    pub fn published(&self) -> Arc<Snapshot> {
        self.handles.published.load_full()
    }

    /// The reception of a request that Beadle does not judge.
    pub fn refuse(&self, refusal: Refusal) -> Reception {
        self.handles.metrics.refusal(refusal.code());
        let passage = Passage { refusal: Some(refusal), ..Passage::default() };
        Reception { passage, ..Reception::answered(Answer::refusal(refusal)) }
    }

    /// The reception of a request to a listener that only sends requests to HTTPS. Nothing is judged
    /// and nothing is recorded.
    pub fn redirect(&self, request: &Request<'_>) -> Reception {
        let host = match Client::of(request, &self.trusted) {
            Ok(client) => client.host,
            Err(refusal) => return self.refuse(refusal),
        };
        // A default site takes any name at its own listeners, but leads nobody to one.
        let is_ours =
            |host: &&str| self.handles.published.load().rulebook.site_of_host(host).is_some();
        match host.as_deref().filter(is_ours) {
            Some(host) => Reception::answered(Answer::to_https(request, host)),
            None => self.refuse(Refusal::UnknownHost),
        }
    }

    /// The tags for the origin's final response to a request for `target`; `None` leaves its own
    /// tags unchanged. A redirect gives a crawler with a pace a credit.
    pub fn response<'p>(
        &self,
        passage: &'p mut Passage,
        target: &[u8],
        status: u16,
        fields: &HeaderMap,
        moment: impl FnOnce() -> Moment,
    ) -> Option<Cow<'p, TagFields>> {
        let Passage { hop, stay, .. } = passage;
        if hop.is_some() || stay.is_some() {
            let moment = moment();
            if let Some(stay) = stay {
                stay.head(status, moment.steady);
            }
            if let Some(hop) = hop.take() {
                self.handles.conduct.responded(hop, status, || moment);
            }
        }
        let (site, served) = passage.site()?;
        let count_cut = || served.counters.count_cut_tags();
        tag_fields(site, target, status, fields, &self.handles.metrics, count_cut)
    }

    /// Counts and records a request with the status of its response; 0 is no response.
    pub fn finish(&self, mut passage: Passage, status: u16) {
        passage.seats.clear();
        if let Some(served) = passage.served().filter(|_| !passage.is_own) {
            served.counters.count(passage.class, passage.action);
        }
        if let Some(mut record) = passage.record.take() {
            record.violation.status = status;
            self.handles.sink.record(*record);
        }
    }

    /// robots.txt. Notes the fetch for the crawlers of the request.
    fn robots_txt(&self, visit: &Visit<'_>) -> Answer {
        let site = visit.site;
        self.note_fetch(visit).into_iter().for_each(|fetches| {
            self.handles.sink.note(self.recorder.fetch(fetches, visit.now()));
        });
        if let Some(host) = visit.host_of_origin() {
            self.handles.asked.push(host);
        }
        Answer::robots_txt(visit.request, (site, visit.own_host()), visit.moment())
            .tagged(site, b"/robots.txt")
    }

    /// Notes a fetch of robots.txt for the crawlers of the request. Returns the rows to store.
    fn note_fetch(&self, visit: &Visit<'_>) -> Vec<Fetches> {
        let site = visit.site;
        if visit.request.method != Method::GET || site.is_withheld {
            return Vec::new();
        }
        site.edition().was_given();
        let names = visit.claim.tokens().chain(visit.claim.programs());
        let noted = names.flat_map(|name| {
            let standing = visit.standing_as_reader(name)?;
            let reader = visit.reader(name, standing.outcome);
            Some(self.handles.conduct.fetched(site, name, reader, visit.now()))
        });
        noted.flatten().collect()
    }

    /// The record of a decision against a request, and the answer if Beadle refuses it. A violation
    /// beyond the number of full records has none, and is only counted.
    fn act(
        &self,
        visit: &Visit<'_>,
        weighed: &Weighed<'_>,
        judgement: &Judgement<'_>,
    ) -> (Option<Answer>, Option<Box<Record>>) {
        let (site, decision) = (visit.site, &weighed.decision);
        let (reason, action) = (decision.reason, decision.action);
        let (name, label) = (&site.name, conduct::label(judgement.name));
        let (why, what, metrics) = (reason.as_str(), action.as_str(), &self.handles.metrics);
        match (reason, Claimant::of(decision.standing.outcome.as_str())) {
            (Reason::Form, Claimant::Crawler) => metrics.other_form(name, label, what),
            (Reason::Form, Claimant::Impostor) => {}
            (_, Claimant::Crawler) => metrics.violation(name, label, why, what),
            (_, Claimant::Impostor) => metrics.impostor_violation(name, label, why, what),
        }
        let broken = Broken::of(site, judgement, weighed);
        let key = series::of_violation(visit, decision, judgement, &broken);
        let places = || self.recorder.places(visit);
        let id = self.recorder.id(visit.now());
        let answer = match (action, &weighed.early) {
            (Action::Block, _) => {
                let block = &site.enforcement.block;
                Some(Answer::block(block, page::block(block, visit, judgement, reason, &id)))
            }
            (Action::Throttle, Some(early)) => {
                let text = page::notice(visit, judgement, early, &id);
                Some(Answer::throttle(text, early.retry_after))
            }
            _ => None,
        };
        let answer = answer.map(|answer| answer.tagged(site, visit.target.letter()));
        let record = match self.handles.sink.tally.admit(visit.now(), &key, places) {
            Detail::Folded => None,
            Detail::Recorded(tallied) => {
                let violation = self.recorder.violation(id, visit, weighed, judgement, &broken);
                Some(Box::new(Record { violation, tallied }))
            }
        };
        (answer, record)
    }
}
