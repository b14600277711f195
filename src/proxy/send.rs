//! Answers and tags on their way to the client.

use http::{HeaderName, Method, header};
use jiff::{Timestamp, fmt::rfc2822};
use pingora::{Error, ErrorSource, ErrorType, http::ResponseHeader, proxy::Session};

use crate::{enforce::TagFields, gate::Answer};

/// Sends an answer. HEAD gets only the header (RFC 9110 §9.3.2). The connection stays open if the
/// request and the answer allow it.
pub(super) async fn answer(
    session: &mut Session,
    answer: Answer,
    now: Timestamp,
) -> pingora::Result<()> {
    if answer.closes {
        session.set_keepalive(None);
    }
    let mut header = ResponseHeader::build(answer.status, Some(answer.fields.len() + 1))?;
    for (name, value) in answer.fields {
        header.append_header(spelling(&name), value)?;
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

/// The usual spelling of a field name, for clients and logs. (RFC 9110 §5.1 ignores the case.)
fn spelling(name: &HeaderName) -> String {
    if *name == header::ETAG {
        return "ETag".to_owned();
    }
    let words = name.as_str().split('-').map(|word| {
        let (first, rest) = word.split_at(word.len().min(1));
        first.to_ascii_uppercase() + rest
    });
    words.collect::<Vec<_>>().join("-")
}

/// Sets the tags of a response. `fields` already includes the origin's tags.
pub(super) fn set_tags(header: &mut ResponseHeader, fields: &TagFields) -> pingora::Result<()> {
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
