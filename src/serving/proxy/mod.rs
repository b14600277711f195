//! The requests on pingora: received, passed to the gate, and forwarded.
//!
//! ```text
//! edge::Edge           heads and chunks are screened before pingora parses them
//! request_filter       limits, admission ─▶ gate::Request ─▶ Gate::receive ─▶ answer, or forward
//! upstream_peer        an address of one of the site's origins, every timeout set
//! fail_to_connect, error_while_proxy   the origin's health; another attempt, or none
//! request_body_filter  after the last part: how long the origin may take for the head
//! response_filter      one framing, hop-by-hop fields out, tags in
//! logging              the access log; Gate::finish: counted and recorded with the final status
//! ```
//!
//! May use: edge, tls, gate, publication, policy, enforce, lines, connections, metrics, diagnostic, escape.
//! Must not know: admin, cli.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, AtomicU64, Ordering},
    },
    time::Instant,
};

use async_trait::async_trait;
use bytes::Bytes;
use http::{StatusCode, Version, header};
use pingora::{
    Error, ErrorType, Result,
    http::ResponseHeader,
    proxy::{FailToProxy, ProxyHttp, Session},
    upstreams::peer::HttpPeer,
};

use crate::{
    base::{escape, metrics::Metrics},
    outside::tls::Challenges,
    records::lines::Log,
    rules::policy::{self, Policy},
    serving::{
        edge::{self, AccessLog, Course},
        gate::{self, Answer, Gate, Reception},
    },
    state::publication::{Clock, Fault, Handles},
};

pub use self::server::{Running, start};
use self::{
    forwarding::Exchange,
    session::{is_tls, peer, request, status_of},
};

mod forwarding; // a request on its way to an origin
mod hop_fields; // header fields of one hop
mod server; // listeners, start and drain
mod session; // what a session says about its request
mod upgrade; // connections that switch protocols, and how long they may be silent

/// The proxy, with everything that its requests share.
#[derive(Debug)]
pub struct Proxy {
    gate: Arc<Gate>,
    access_log: Option<AccessLog>,
    clock: Arc<Clock>,
    metrics: Arc<Metrics>,
    settings: policy::Server,
    challenges: Arc<Challenges>,
    connections: Arc<edge::Connections>,
    /// The requests at origins.
    guests: edge::Guests,
    /// The time of the last warning about a failing origin, in seconds.
    warned_at: AtomicI64,
    /// The failures since then that were not logged.
    unlogged: AtomicU64,
}

impl Proxy {
    /// A proxy over the published state, with the settings of `policy` that need a restart. `log`
    /// takes the lines of the access log.
    pub fn new(gate: Arc<Gate>, handles: &Handles, policy: &Policy, log: Option<Arc<Log>>) -> Self {
        let access_log =
            log.map(|log| AccessLog::new(log, Arc::clone(&gate), Arc::clone(&handles.clock)));
        let (most, of_one) = policy.server.limits.at_origins();
        Self {
            gate,
            access_log,
            clock: Arc::clone(&handles.clock),
            metrics: Arc::clone(&handles.metrics),
            settings: policy.server.clone(),
            challenges: Arc::clone(&handles.certificates.challenges),
            connections: Arc::default(),
            guests: edge::Guests::new(most, of_one, policy.server.trusted_proxies.clone()),
            warned_at: AtomicI64::new(0),
            unlogged: AtomicU64::new(0),
        }
    }

    /// Brings a request into its one form and passes it to the gate.
    fn receive(&self, session: &mut Session) -> Reception {
        let most_fields = self.settings.limits.header_fields as usize;
        if let Err(refusal) = edge::admit(session.req_header_mut(), most_fields) {
            return self.gate.refuse(refusal);
        }
        let request = request(session);
        if let Some(answer) = self.challenges.answer(request.target) {
            return Reception::answered(Answer::challenge(answer));
        }
        if self.is_redirect(session) {
            return self.gate.redirect(&request);
        }
        let started = Instant::now();
        let reception = self.gate.receive(&request, self.clock.moment());
        if !request.is_about_server() && reception.passage.served().is_some() {
            self.metrics.decision_seconds.observe(started.elapsed().as_secs_f64());
        }
        reception
    }

    /// Keeps a crawler's request until there is room at the origin, or it has waited long enough.
    async fn wait(&self, session: &Session, mut reception: Reception) -> Reception {
        while reception.waits() {
            tokio::time::sleep(Reception::BETWEEN_LOOKS).await;
            let moment = self.clock.moment();
            reception = self.gate.receive_again(&request(session), moment, reception);
        }
        reception
    }

    /// Gives a request its place at the origins.
    ///
    /// # Errors
    /// The answer where its network, or all of them, have too many there.
    fn take_place(&self, session: &Session, exchange: &mut Exchange) -> Result<(), Answer> {
        let refuse = |code: &'static str| {
            self.metrics.refusal(code);
            Answer::busy()
        };
        let place = self.guests.place_now().ok_or_else(|| refuse("proxy.requests"))?;
        let guest = self.guests.admit(peer(session), place);
        exchange.guest = Some(guest.ok_or_else(|| refuse("proxy.requests_per_network"))?);
        Ok(())
    }

    /// Whether the connection comes through a listener that only sends requests to HTTPS.
    fn is_redirect(&self, session: &Session) -> bool {
        let local = || session.server_addr()?.as_inet();
        let takes = |one: &policy::Listener| local().is_some_and(|local| one.takes(*local));
        self.settings.listen.iter().any(|one| one.is_redirect && takes(one))
    }

    /// Warns of a failing origin, at most once a second, and counts the failures in between.
    fn warn_of_origin(&self, exchange: &Exchange, status: u16, error: &Error, fault: &str) {
        let now = self.clock.moment().now.as_second();
        if self.warned_at.swap(now, Ordering::Relaxed) != now {
            let origin = exchange.passage.served().map(|site| site.backend.urls());
            let error = escape::bounded(session::error_text(error).as_bytes(), 300);
            let unlogged = self.unlogged.swap(0, Ordering::Relaxed);
            tracing::warn!(origin, status, error, unlogged, "{fault}");
        } else {
            self.unlogged.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Prepares the request for the origin. Its judged target stays unchanged.
    fn forward(&self, session: &mut Session, exchange: &Exchange) -> Result<()> {
        let peer = peer(session);
        let backend = exchange.passage.served().map(|site| &site.backend);
        let forwarding = gate::Forwarding {
            is_trusted: gate::is_trusted(peer, &self.settings.trusted_proxies),
            underscore_fields: backend.is_some_and(|backend| backend.underscore_fields),
        };
        let via = backend.is_none_or(|backend| backend.via);
        let client = hop_fields::ClientSide { peer, is_tls: is_tls(session), forwarding, via };
        let request = session.req_header_mut();
        hop_fields::forward(request, &client)?;
        let Some(backend) = backend else { return Ok(()) };
        if backend.rewrite_location
            && !backend.first().tls
            && let Some(destination) = gate::plain_destination(&request.headers)
        {
            request.insert_header("destination", destination)?;
        }
        for (name, value) in &backend.request_fields {
            request.insert_header(name.clone(), value.as_str())?;
        }
        Ok(())
    }

    /// Ends the connection with the present answer, if the proxy is draining.
    fn close_if_draining(&self, session: &mut Session) {
        if self.connections.is_draining() {
            session.set_keepalive(None);
        }
    }
}

#[async_trait]
impl ProxyHttp for Proxy {
    type CTX = Exchange;

    fn new_ctx(&self) -> Exchange {
        self.connections.note_request();
        let started = || Course { started: Instant::now(), origin: None };
        let course = self.access_log.as_ref().map(|_| started());
        Exchange::begin(&self.metrics, course)
    }

    async fn request_filter(&self, session: &mut Session, exchange: &mut Exchange) -> Result<bool> {
        session::set_limits(session, &self.settings.timeouts);
        self.close_if_draining(session);
        let mut reception = self.receive(session);
        if reception.waits() {
            // Boxed: few requests wait, and all others would carry the room for it.
            reception = Box::pin(self.wait(session, reception)).await;
        }
        let Reception { answer, passage, .. } = reception;
        exchange.passage = passage;
        let answer = answer.or_else(|| self.take_place(session, exchange).err());
        match answer {
            Some(answer) => {
                let now = self.clock.moment().now;
                session::answer(session, answer, now).await.map(|()| true)
            }
            None => self.forward(session, exchange).map(|()| false),
        }
    }

    async fn upstream_peer(
        &self,
        session: &mut Session,
        exchange: &mut Exchange,
    ) -> Result<Box<HttpPeer>> {
        let now = || self.clock.moment().steady;
        let mut peer = exchange.peer(session.req_header(), now)?;
        peer.options.idle_timeout.get_or_insert(self.settings.timeouts.origin_keepalive);
        Ok(Box::new(peer))
    }

    async fn request_body_filter(
        &self,
        session: &mut Session,
        body: &mut Option<Bytes>,
        is_last: bool,
        exchange: &mut Exchange,
    ) -> Result<()> {
        // pingora writes an empty part as a last chunk, and the last chunk again behind it. The origin
        // takes the second one for the next request, and somebody else gets its answer.
        if is_last && body.as_ref().is_some_and(Bytes::is_empty) {
            *body = None;
        }
        // A tunnel has no head to wait for.
        let is_headless = is_last && status_of(session).is_none();
        if let Some(phase) = edge::phase(session).filter(|_| is_headless) {
            phase.wait.begin(exchange.limits().origin_read);
        }
        Ok(())
    }

    async fn response_filter(
        &self,
        session: &mut Session,
        response: &mut ResponseHeader,
        exchange: &mut Exchange,
    ) -> Result<()> {
        hop_fields::set_framing(response)?;
        // A proxy answers with its own version (RFC 9110 §2.5).
        if response.version == Version::HTTP_10 {
            response.set_version(Version::HTTP_11);
        }
        let phase = edge::phase(session);
        if response.status == StatusCode::SWITCHING_PROTOCOLS {
            if !hop_fields::is_asked_switch(session.req_header(), response) {
                let error = "a 101 that the client did not ask for";
                return Err(Error::explain(ErrorType::InvalidHTTPHeader, error).into_up());
            }
            if let Some(phase) = phase {
                phase.switch(self.connections.draining());
            }
            exchange.begin_tunnel();
            exchange.passage.note_head(101, self.clock.moment().steady);
            exchange.note_response(&self.metrics);
            // The limit of silence is for both directions.
            session.set_read_timeout(None);
            return Ok(());
        }
        if response.status.is_informational() {
            // The origin is still at work.
            if let Some(phase) = phase {
                phase.wait.go_on(exchange.limits().origin_read);
            }
            return Ok(());
        }
        if let Some(phase) = phase {
            phase.wait.finish();
        }
        exchange.note_response(&self.metrics);
        let content_type = response.headers.get(header::CONTENT_TYPE);
        if content_type.is_some_and(|value| upgrade::is_event_stream(value.as_bytes())) {
            exchange.begin_tunnel();
        }
        self.close_if_draining(session);
        if session.req_header().version == Version::HTTP_10
            && response.remove_header(&header::TRANSFER_ENCODING).is_some()
        {
            // The end of the connection is the end of the body (RFC 9112 §6.1 and §6.3).
            session.set_keepalive(None);
        }
        hop_fields::remove_hop_by_hop(response);
        let backend = exchange.passage.served().map(|site| &site.backend);
        if let Some(backend) = backend.filter(|backend| backend.rewrite_location) {
            let forwarded = &session.req_header().headers;
            for (name, value) in gate::renamed(&response.headers, &backend.origins, forwarded) {
                response.insert_header(name, value)?;
            }
        }
        let target = session.req_header().raw_path();
        let status = response.status.as_u16();
        let moment = || self.clock.moment();
        let passage = &mut exchange.passage;
        let usage = passage.usage(target, status, &response.headers);
        session::set_usage(response, usage)?;
        match self.gate.response(passage, target, status, &response.headers, moment) {
            Some(tags) => session::set_tags(response, &tags),
            None => Ok(()),
        }
    }

    fn fail_to_connect(
        &self,
        _session: &mut Session,
        _peer: &HttpPeer,
        exchange: &mut Exchange,
        mut error: Box<Error>,
    ) -> Box<Error> {
        // The origin has nothing of the request.
        let now = self.clock.moment().steady;
        error.set_retry(exchange.note_failed(Fault::Connection, now, &self.metrics));
        error
    }

    fn error_while_proxy(
        &self,
        peer: &HttpPeer,
        session: &mut Session,
        error: Box<Error>,
        exchange: &mut Exchange,
        is_reused: bool,
    ) -> Box<Error> {
        let mut error = error.more_context(format!("Peer: {peer}"));
        error.retry.decide_reuse(is_reused);
        let is_late = edge::phase(session).is_some_and(|phase| phase.wait.is_late());
        let now = self.clock.moment().steady;
        let again = exchange.may_try_again(session, &error, is_late, now, &self.metrics);
        error.set_retry(again);
        error
    }

    async fn fail_to_proxy(
        &self,
        session: &mut Session,
        error: &Error,
        exchange: &mut Exchange,
    ) -> FailToProxy {
        let phase = edge::phase(session);
        if let Some(phase) = phase {
            phase.wait.finish();
        }
        let status = match phase {
            Some(phase) if phase.refusal().is_some() => phase.refusal().unwrap_or(400),
            Some(phase) if phase.wait.is_late() => 504,
            _ if exchange.is_silent(error) => 504,
            _ => session::failure_status(error),
        };
        if let Some(answered) = status_of(session) {
            let is_tunnel = answered == StatusCode::SWITCHING_PROTOCOLS;
            if !is_tunnel && matches!(status, 502..=504) {
                let fault = "the origin's response ended early";
                self.warn_of_origin(exchange, answered.as_u16(), error, fault);
            }
            return FailToProxy { error_code: answered.as_u16(), can_reuse_downstream: false };
        }
        let of_origin = StatusCode::from_u16(status).ok().filter(|_| matches!(status, 502..=504));
        if of_origin.is_some() {
            let moment = self.clock.moment();
            if let Some(site) = exchange.passage.served() {
                site.count_origin_failure(moment.now);
            }
            exchange.passage.note_head(504, moment.steady);
            self.warn_of_origin(exchange, status, error, "the origin gave no response");
        }
        if status > 0 {
            session.set_keepalive(None);
            let sent = match of_origin {
                Some(status) => {
                    let moment = self.clock.moment();
                    let servers = exchange.passage.served().map(|site| &site.servers);
                    let answer = match servers.filter(|servers| servers.are_several()) {
                        Some(servers) if status == StatusCode::SERVICE_UNAVAILABLE => {
                            Answer::no_origin(servers.retry_after(moment.steady))
                        }
                        _ => Answer::origin_failure(status),
                    };
                    session::answer(session, answer, moment.now).await
                }
                None => session.respond_error(status).await,
            };
            if let Err(error) = sent {
                let error = session::error_text(&error);
                tracing::debug!(error, "the answer to a failed request could not be sent");
            }
        }
        FailToProxy { error_code: status, can_reuse_downstream: false }
    }

    async fn logging(&self, session: &mut Session, _: Option<&Error>, exchange: &mut Exchange) {
        let status = status_of(session).map_or(0, |status| status.as_u16());
        if let (Some(log), Some(course)) = (&self.access_log, exchange.course) {
            log.served(session, &exchange.passage, &request(session), (status, course));
        }
        self.gate.finish(std::mem::take(&mut exchange.passage), status);
        if let Some(phase) = edge::phase(session) {
            phase.end_request();
        }
    }
}
