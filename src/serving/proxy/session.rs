//! What a session of pingora says about its request and its answer.

use std::net::{IpAddr, Ipv4Addr};

use http::{StatusCode, Version, header};
use pingora::proxy::Session;

use crate::{rules::policy::Timeouts, serving::gate};

use super::upgrade;

pub(super) fn request(session: &Session) -> gate::Request<'_> {
    let header = session.req_header();
    let authority = header.headers.get(header::HOST).map(|value| value.as_bytes());
    let of_uri = || header.uri.authority().map(|authority| authority.as_str().as_bytes());
    gate::Request {
        method: &header.method,
        target: header.raw_path(),
        authority: authority.or_else(of_uri),
        is_http_1_0: header.version == Version::HTTP_10,
        fields: &header.headers,
        peer: peer(session),
        is_tls: is_tls(session),
    }
}

/// The status of the answer that the client has; `None` if it only has interim responses.
pub(super) fn status_of(session: &Session) -> Option<StatusCode> {
    let status = session.response_written()?.status;
    let is_final = !status.is_informational() || status == StatusCode::SWITCHING_PROTOCOLS;
    is_final.then_some(status)
}

/// The address at the other end of the connection.
pub(super) fn peer(session: &Session) -> IpAddr {
    session
        .client_addr()
        .and_then(|address| address.as_inet())
        .map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), std::net::SocketAddr::ip)
}

pub(super) fn is_tls(session: &Session) -> bool {
    session.digest().is_some_and(|digest| digest.ssl_digest.is_some())
}

/// Sets the timeouts of the client's connection.
pub(super) fn set_limits(session: &mut Session, timeouts: &Timeouts) {
    // Only if the request leaves the connection open. HTTP/1.0 closes it, and so does ambiguous
    // framing (Content-Length beside Transfer-Encoding).
    if session.get_keepalive().is_some() {
        session.set_keepalive(Some(timeouts.client_keepalive.as_secs()));
    }
    // Octets behind a request for another protocol are not of HTTP, or come too early.
    let is_plain = !upgrade::is_requested(session.req_header());
    session.set_pipelining_enabled(is_plain);
    // A client that has sent all it wants may close its side, and still read.
    session.set_abort_on_close(false);
    session.set_read_timeout(Some(timeouts.client_read));
    session.set_write_timeout(Some(timeouts.client_write));
}
