//! One question, from its fields to the reply.

use std::{
    net::IpAddr,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::{Duration, Instant},
};

use http::{HeaderMap, Response, header};
use ipnet::IpNet;

use crate::{
    base::metrics::Metrics,
    rules::policy,
    serving::gate::{self, Gate, Reception},
    state::publication::{Clock, Handles},
};

use super::{
    question::{Fault, Question},
    reply::{self, Page},
};

#[derive(Debug)]
pub(super) struct Decider {
    gate: Arc<Gate>,
    clock: Arc<Clock>,
    metrics: Arc<Metrics>,
    trusted: Vec<IpNet>,
    refuse_status: Option<u16>,
    /// How long a server may keep an idle connection.
    pub(super) idle: Duration,
    /// The hour of the last warning about long tags.
    warned_in: AtomicI64,
}

impl Decider {
    pub(super) fn new(
        gate: Arc<Gate>,
        handles: &Handles,
        server: &policy::Server,
        settings: &policy::Decide,
    ) -> Self {
        Self {
            gate,
            clock: Arc::clone(&handles.clock),
            metrics: Arc::clone(&handles.metrics),
            trusted: server.trusted_proxies.clone(),
            refuse_status: settings.refuse_status,
            idle: server.timeouts.client_keepalive,
            warned_in: AtomicI64::new(0),
        }
    }

    pub(super) fn is_trusted(&self, peer: IpAddr) -> bool {
        gate::is_trusted(peer, &self.trusted)
    }

    /// Counts a peer that may not ask and gets no answer.
    pub(super) fn count_stranger(&self) {
        self.metrics.refusal(Fault::UntrustedPeer.code());
    }

    pub(super) fn reply(&self, mut fields: HeaderMap, peer: IpAddr) -> Response<Page> {
        if !self.is_trusted(peer) {
            return self.fail(Fault::UntrustedPeer);
        }
        // The client's own, where the server in front sends no X-Forwarded-For.
        fields.remove(header::FORWARDED);
        match Question::of(&fields, peer) {
            Ok(question) => self.decide(&question),
            Err(fault) => self.fail(fault),
        }
    }

    fn decide(&self, question: &Question<'_>) -> Response<Page> {
        let (request, moment) = (question.request(), self.clock.moment());
        let started = Instant::now();
        let Reception { answer, mut passage, .. } = self.gate.authorize(&request, moment);
        let is_judged = passage.served().is_some();
        if !request.is_about_server() && is_judged {
            self.metrics.decision_seconds.observe(started.elapsed().as_secs_f64());
        }
        let Some(answer) = answer else {
            // Another server answers, and its status is not known here.
            let nothing = HeaderMap::new();
            let usage = passage.usage(request.target, 200, &nothing);
            let tags = self.gate.response(&mut passage, request.target, 200, &nothing, || moment);
            let reply = reply::pass(tags.as_deref(), usage);
            drop(tags);
            self.gate.finish(passage, 0);
            return self.warned(reply);
        };
        // A server that needs another status can't pass on the page either.
        let fetches = is_judged && self.refuse_status.is_some();
        let mark = fetches.then(|| self.gate.hand_over(&answer, request.target, moment));
        self.gate.finish(passage, answer.status.as_u16());
        self.warned(reply::refuse(answer, self.refuse_status, mark.flatten()))
    }

    /// A reply, and a warning if it has no room for its tags: once an hour.
    fn warned(&self, (reply, has_all_tags): (Response<Page>, bool)) -> Response<Page> {
        if !has_all_tags {
            let hour = self.clock.moment().now.as_second() / 3_600;
            if self.warned_in.swap(hour, Ordering::Relaxed) != hour {
                tracing::warn!(
                    code = "decide.long_tags",
                    "robots tags left out of replies: more than servers can read; tag fewer crawlers by name"
                );
            }
            self.metrics.refusal("decide.long_tags");
        }
        reply
    }

    fn fail(&self, fault: Fault) -> Response<Page> {
        self.metrics.refusal(fault.code());
        reply::fail(fault, self.refuse_status)
    }
}
