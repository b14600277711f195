//! What a session of pingora says about its request and its answer.

use std::net::{IpAddr, Ipv4Addr};

use http::{StatusCode, Version, header};
use pingora::proxy::Session;

use crate::serving::gate;

/// The request of a session as data.
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
