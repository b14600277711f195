//! Answers and tags on their way to the client.

use http::{HeaderName, Method, header};
use jiff::{Timestamp, fmt::rfc2822};
use pingora::{Error, ErrorSource, ErrorType, http::ResponseHeader, proxy::Session};

use crate::{
    rules::enforce::TagFields,
    serving::gate::{Answer, Replaced},
};

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

/// Sets what a response says about the use of its content.
pub(super) fn set_usage(header: &mut ResponseHeader, fields: Replaced) -> pingora::Result<()> {
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
