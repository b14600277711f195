//! The access log: a line for each request at its end.

use std::{
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::Instant,
};

use http::Version;
use pingora::proxy::Session;

use crate::{
    records::lines::Log,
    serving::gate::{Gate, Passage, Request, Served},
    state::publication::Clock,
};

#[derive(Clone, Debug)]
pub(crate) struct AccessLog {
    log: Arc<Log>,
    gate: Arc<Gate>,
    clock: Arc<Clock>,
}

/// The part of a response that a session doesn't know.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Course {
    pub(crate) started: Instant,
    /// The origin that was asked last.
    pub(crate) origin: Option<SocketAddr>,
}

impl AccessLog {
    pub(crate) fn new(log: Arc<Log>, gate: Arc<Gate>, clock: Arc<Clock>) -> Self {
        Self { log, gate, clock }
    }

    pub(crate) fn served(
        &self,
        session: &Session,
        passage: &Passage,
        request: &Request<'_>,
        (status, course): (u16, Course),
    ) {
        let served = Served {
            now: self.clock.moment().now,
            duration: course.started.elapsed(),
            protocol: protocol(session.req_header().version),
            status,
            bytes: session.body_bytes_sent() as u64,
            origin: course.origin,
        };
        let mut line = Vec::with_capacity(768);
        self.gate.log_access(passage, request, &served, &mut line);
        self.log.push(&line);
    }

    /// Logs a head that never became a request, by the peer and whether it used TLS, the code and the status
    /// of its refusal.
    pub(crate) fn refused(&self, peer: (IpAddr, bool), code: &'static str, status: u16) {
        let mut line = Vec::with_capacity(512);
        self.gate.log_broken_head(self.clock.moment().now, peer, (status, code), &mut line);
        self.log.push(&line);
    }
}

const fn protocol(version: Version) -> &'static str {
    match version {
        Version::HTTP_10 => "HTTP/1.0",
        Version::HTTP_2 => "HTTP/2.0",
        _ => "HTTP/1.1",
    }
}
