//! What a session of pingora says about its request and its answer.

use std::net::{IpAddr, Ipv4Addr};

use http::{HeaderName, Method, StatusCode, Version, header};
use jiff::{Timestamp, fmt::rfc2822};
use pingora::{
    BError, Error, ErrorSource, ErrorType, Result, http::ResponseHeader, proxy::Session,
};

use crate::{
    rules::{enforce::TagFields, policy::Timeouts},
    serving::gate::{self, Answer, Replaced},
};

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

/// Sends an answer. HEAD gets only the header (RFC 9110 §9.3.2). The connection stays open if the
/// request and the answer allow it.
pub(super) async fn answer(session: &mut Session, answer: Answer, now: Timestamp) -> Result<()> {
    if answer.closes {
        session.set_keepalive(None);
    }
    let mut header = ResponseHeader::build(answer.status, Some(answer.fields.len() + 1))?;
    for (name, value) in answer.fields {
        match spelling(&name) {
            Some(name) => header.append_header(name, value)?,
            None => header.append_header(name, value)?,
        };
    }
    let date = rfc2822::DateTimePrinter::new().timestamp_to_rfc9110_string(&now);
    header.insert_header("Date", date.unwrap_or_default())?;
    let header_only = session.req_header().method == Method::HEAD || answer.body.is_empty();
    session.write_response_header(Box::new(header), header_only).await?;
    if !header_only {
        session.write_response_body(Some(answer.body), true).await?;
    }
    Ok(())
}

/// The usual spelling of a field name that pingora writes in lower case. (RFC 9110 §5.1 ignores the
/// case; people read it.)
fn spelling(name: &HeaderName) -> Option<&'static str> {
    Some(match *name {
        header::ALLOW => "Allow",
        header::ETAG => "ETag",
        header::LINK => "Link",
        header::LAST_MODIFIED => "Last-Modified",
        header::LOCATION => "Location",
        header::RETRY_AFTER => "Retry-After",
        header::VARY => "Vary",
        _ => match name.as_str() {
            "content-usage" => "Content-Usage",
            "robots-tag" => "Robots-Tag",
            "x-robots-tag" => "X-Robots-Tag",
            _ => return None,
        },
    })
}

pub(super) fn set_usage(header: &mut ResponseHeader, fields: Replaced) -> Result<()> {
    for (name, lines) in fields {
        header.remove_header(&name);
        for line in lines {
            match spelling(&name) {
                Some(name) => header.append_header(name, line)?,
                None => header.append_header(name.clone(), line)?,
            };
        }
    }
    Ok(())
}

/// Sets the tags of a response. `fields` already includes the origin's tags.
pub(super) fn set_tags(header: &mut ResponseHeader, fields: &TagFields) -> Result<()> {
    match &fields.robots_tag {
        Some(value) => header.insert_header("Robots-Tag", value.as_str())?,
        None => drop(header.remove_header("robots-tag")),
    }
    if let Some(lines) = &fields.x_robots_tag {
        header.remove_header("x-robots-tag");
        for line in lines {
            header.append_header("X-Robots-Tag", line.as_str())?;
        }
    }
    Ok(())
}

/// The status for the client after an error; 0 if the client is gone.
pub(super) fn failure_status(error: &Error) -> u16 {
    match (error.etype(), error.esource()) {
        (ErrorType::HTTPStatus(status), _) => *status,
        (
            ErrorType::ConnectTimedout
            | ErrorType::ReadTimedout
            | ErrorType::WriteTimedout
            | ErrorType::TLSHandshakeTimedout,
            ErrorSource::Upstream,
        ) => 504,
        (_, ErrorSource::Upstream) => 502,
        (
            ErrorType::WriteError | ErrorType::ReadError | ErrorType::ConnectionClosed,
            ErrorSource::Downstream,
        ) => 0,
        (ErrorType::ReadTimedout, ErrorSource::Downstream) => 408,
        (_, ErrorSource::Downstream) => 400,
        (_, ErrorSource::Internal | ErrorSource::Unset) => 500,
    }
}

/// The text of an error for the log. pingora quotes a head that it can't parse, with its cookies, and
/// octets of a body. An error of such a type is named by its type alone.
pub(super) fn error_text(error: &Error) -> String {
    let mut link = error;
    loop {
        if may_quote(&link.etype) {
            return format!("{} {}", error.esource.as_str(), link.etype.as_str());
        }
        let cause = link.cause.as_ref().and_then(|cause| cause.downcast_ref::<BError>());
        let Some(cause) = cause else { return error.to_string() };
        link = cause;
    }
}

/// Whether an error of this type may quote a message. Errors of connections name addresses, sizes and
/// times.
const fn may_quote(kind: &ErrorType) -> bool {
    !matches!(
        kind,
        ErrorType::ConnectTimedout
            | ErrorType::ConnectRefused
            | ErrorType::ConnectNoRoute
            | ErrorType::TLSHandshakeFailure
            | ErrorType::TLSHandshakeTimedout
            | ErrorType::InvalidCert
            | ErrorType::HandshakeError
            | ErrorType::ConnectError
            | ErrorType::SocketError
            | ErrorType::ReadError
            | ErrorType::WriteError
            | ErrorType::ReadTimedout
            | ErrorType::WriteTimedout
            | ErrorType::ConnectionClosed
            | ErrorType::HTTPStatus(_)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_quotes_no_message() {
        let quoting =
            || Error::explain(ErrorType::InvalidHTTPHeader, "buf: Set-Cookie: secret").into_up();
        let reading = |cause| Error::because(ErrorType::ReadError, "while reading", cause);
        for (error, expected) in [
            (quoting(), "Upstream InvalidHTTPHeader"),
            (reading(quoting()), " InvalidHTTPHeader"),
            (reading(reading(quoting())), " InvalidHTTPHeader"),
            (
                Error::explain(ErrorType::ConnectRefused, "192.0.2.1:80").into_up(),
                "Upstream ConnectRefused context: 192.0.2.1:80",
            ),
        ] {
            assert_eq!(error_text(&error), expected);
        }
    }
}
