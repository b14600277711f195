//! Requests that Beadle sends to its own public address. They get the answer of the client whose name they
//! use, and leave no trace.

use std::net::Ipv4Addr;

use http::{HeaderMap, HeaderValue, Method, header};

use crate::{
    clients::evidence::MARK,
    rules::{
        enforce::{Action, Decision, Moment},
        policy::{self, host_in_url},
    },
    state::publication::Snapshot,
};

use super::{
    Gate,
    answer::Answer,
    page,
    passage::{Passage, Reception, ServedAt},
    request::{Answering, Request},
    visit::{Examination, Visit},
};

impl Gate {
    pub(super) fn is_own(&self, request: &Request<'_>, moment: Moment) -> bool {
        let Some(mark) = request.fields.get(MARK) else { return false };
        let user_agent = request.user_agent().unwrap_or_default();
        self.handles.own_requests.takes(mark.as_bytes(), &user_agent, moment.now)
    }

    /// Whether a request of Beadle's own to a public address would be refused.
    pub fn refuses_own(
        &self,
        published: &Snapshot,
        (address, target): (&policy::Origin, &str),
        user_agent: &str,
        moment: Moment,
    ) -> bool {
        let Ok(user_agent) = HeaderValue::from_str(user_agent) else { return false };
        let authority = format!("{}:{}", host_in_url(&address.host), address.port);
        let request = Request {
            method: &Method::GET,
            target: target.as_bytes(),
            authority: Some(authority.as_bytes()),
            is_http_1_0: false,
            fields: &HeaderMap::from_iter([(header::USER_AGENT, user_agent)]),
            peer: Ipv4Addr::UNSPECIFIED.into(),
            is_tls: address.tls,
        };
        let visit = self.visit(published, &request, (moment, Examination::Own));
        visit.is_ok_and(|visit| visit.decide().action == Action::Block)
    }

    pub(super) fn answer_own(
        &self,
        visit: &Visit<'_>,
        decision: &Decision<'_>,
        answering: Answering,
        site: Option<ServedAt>,
    ) -> Reception {
        let answer = match (&decision.judgement, decision.action) {
            (Some(judgement), Action::Block) => {
                let (block, id) = (&visit.site.enforcement.block, self.recorder.id(visit.now()));
                let page = page::block(block, visit, judgement, decision.reason, &id);
                Some(Answer::block(block, page))
            }
            _ if visit.target.is_robots_txt() && answering == Answering::Beadle => {
                let site = (visit.site, visit.own_host());
                Some(Answer::robots_txt(visit.request, site, visit.moment()))
            }
            _ => None,
        };
        let answer = answer.map(|answer| answer.tagged(visit.site, visit.target.letter()));
        let (action, is_own) = (decision.action, true);
        let passage = Passage { site, action, is_own, ..Passage::default() };
        Reception { answer, passage, ..Reception::default() }
    }
}
