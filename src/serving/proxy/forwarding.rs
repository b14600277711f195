//! A request on its way to an origin of its site, and perhaps to another one.

use std::{sync::Arc, time::Duration};

use pingora::{
    Error, ErrorSource,
    ErrorType::{HTTPStatus, InternalError, ReadTimedout, WriteTimedout},
    http::RequestHeader,
    protocols::ALPN,
    proxy::Session,
    upstreams::peer::HttpPeer,
};

use crate::{
    base::metrics::{Gauge, Metrics},
    rules::policy::{Protocol, Timeouts},
    serving::{
        edge::{Course, Guest},
        gate::Passage,
    },
    state::publication::{Attempts, Fault},
};

use super::upgrade::{self, Silence};

/// The state of one request through the phases.
#[derive(Debug)]
pub struct Exchange {
    _in_flight: InFlight,
    /// Its place among the requests at origins.
    pub(super) guest: Option<Guest>,
    pub(super) passage: Passage,
    /// Kept for the access log.
    pub(super) course: Option<Course>,
    attempts: Attempts,
    /// The limit of silence, on a connection that has one.
    silence: Option<Arc<Silence>>,
}

/// The count of one request in progress; ends on drop.
#[derive(Debug)]
struct InFlight(Gauge);

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.dec();
    }
}

impl Exchange {
    pub(super) fn begin(metrics: &Metrics, course: Option<Course>) -> Self {
        metrics.in_flight.inc();
        Self {
            _in_flight: InFlight(metrics.in_flight.clone()),
            guest: None,
            passage: Passage::default(),
            course,
            attempts: Attempts::default(),
            silence: None,
        }
    }

    pub(super) fn limits(&self) -> Timeouts {
        self.passage.served().map_or_else(Timeouts::default, |site| site.backend.timeouts)
    }

    /// The origin of the next attempt, with its limits; a time to keep the connection only if it is
    /// for this request alone.
    ///
    /// # Errors
    /// No origin is up, or it has no address.
    pub(super) fn peer(
        &mut self,
        request: &RequestHeader,
        now: impl FnOnce() -> Duration,
    ) -> pingora::Result<HttpPeer> {
        let Self { passage, attempts, silence, course, .. } = self;
        let site = passage
            .served()
            .ok_or_else(|| Error::explain(InternalError, "a request without a site"))?;
        let unavailable = |why: &'static str| Error::explain(HTTPStatus(503), why);
        let server = attempts.next(&site.servers, now);
        let server = server.ok_or_else(|| unavailable("no origin is up"))?;
        let address = server.addresses.pick();
        let address = address.ok_or_else(|| unavailable("the origin's name is not resolved"))?;
        if let Some(course) = course {
            course.origin = Some(address);
        }
        let (origin, limits) = (&server.origin, &site.backend.timeouts);
        let mut peer = HttpPeer::new(address, origin.tls, origin.host.clone());
        let options = &mut peer.options;
        let is_http_2 = site.backend.protocol == Protocol::Http2;
        options.alpn = if is_http_2 { ALPN::H2 } else { ALPN::H1 };
        options.connection_timeout = Some(limits.origin_connect);
        options.total_connection_timeout = Some(limits.origin_connect);
        options.read_timeout = Some(limits.origin_read);
        options.write_timeout = Some(limits.origin_write);
        if is_http_2 {
            // A call of gRPC may be silent for as long as a tunnel.
            if upgrade::is_call(request) {
                options.read_timeout = Some(limits.tunnel_idle);
            }
        } else if upgrade::is_requested(request) || upgrade::asks_for_events(request) {
            let limit = silence.insert(Arc::new(Silence::at_most(limits.origin_read)));
            options.custom_l4 = Some(Arc::new(upgrade::Connector(Arc::clone(limit))));
            options.read_timeout = None;
            options.idle_timeout = Some(Duration::ZERO);
            peer.group_key = upgrade::GROUP;
        }
        Ok(peer)
    }

    pub(super) fn note_response(&self, metrics: &Metrics) {
        if let Some(site) = self.passage.served() {
            self.attempts.succeeded(&site.servers, metrics);
        }
    }

    /// Notes that the origin of the present attempt failed. Returns whether another one may get the
    /// request.
    pub(super) fn note_failed(&mut self, fault: Fault, now: Duration, metrics: &Metrics) -> bool {
        let Self { passage, attempts, .. } = self;
        let served = passage.served();
        served.is_some_and(|site| attempts.failed(&site.servers, fault, now, metrics))
    }

    /// Notes an error after the connection. Returns whether the request may be sent again: only an
    /// idempotent one, if nothing of a response came and no time limit ended it (RFC 9110 §9.2.2).
    pub(super) fn may_try_again(
        &mut self,
        session: &Session,
        error: &Error,
        is_late: bool,
        now: Duration,
        metrics: &Metrics,
    ) -> bool {
        let may_repeat = session.req_header().method.is_idempotent()
            && !session.as_ref().retry_buffer_truncated();
        // A stale connection says nothing about its origin.
        if error.retry() && may_repeat {
            let served = self.passage.served();
            return served.is_some_and(|site| self.attempts.has_more(&site.servers));
        }
        let is_silent = self.is_silent(error);
        let of_origin = is_late || *error.esource() == ErrorSource::Upstream;
        if !of_origin || session.response_written().is_some() {
            return false;
        }
        let is_timeout =
            is_late || is_silent || matches!(error.etype(), ReadTimedout | WriteTimedout);
        self.note_failed(Fault::Response, now, metrics) && may_repeat && !is_timeout
    }

    /// Notes that a tunnel or a stream of events begins.
    pub(super) fn begin_tunnel(&self) {
        if let Some(silence) = &self.silence {
            silence.limit(self.limits().tunnel_idle);
        }
    }

    /// Whether this error is the end of a connection that was silent for too long.
    pub(super) fn is_silent(&self, error: &Error) -> bool {
        self.silence.as_ref().is_some_and(|silence| silence.is_over())
            && *error.esource() == ErrorSource::Upstream
    }
}
