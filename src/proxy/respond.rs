//! Answers of our own: robots.txt, refusals, blocks and the pages for a silent origin.
//!
//! Each is made without the origin, the store or DNS, and none of them can fail.

use std::time::Duration;

use bytes::Bytes;
use http::{Method, StatusCode, header};
use jiff::{Timestamp, fmt::rfc2822};
use pingora::{
    Error, ErrorSource, ErrorType,
    http::{RequestHeader, ResponseHeader},
    proxy::Session,
};

use crate::{
    enforce::{Site, TagFields},
    policy,
};

use super::request::Refusal;

/// How long a crawler that is refused with 429 is asked to wait: as long as it may go by the rules
/// it has (RFC 9309 §2.4).
const RETRY_AFTER_SECONDS: &str = "86400";

/// For how long a robots.txt may be kept that only fills in.
const PROVISIONAL_MAX_AGE: Duration = Duration::from_secs(60);

/// An answer ready to be sent.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) header: ResponseHeader,
    pub(super) body: Bytes,
}

impl Answer {
    pub(super) fn new(
        status: u16,
        content_type: &str,
        body: impl Into<Bytes>,
    ) -> pingora::Result<Self> {
        let body = body.into();
        let mut header = ResponseHeader::build(status, Some(8))?;
        header.insert_header("Content-Type", content_type)?;
        header.insert_header("Content-Length", body.len())?;
        Ok(Self { header, body })
    }

    fn plain(status: u16, body: &'static str) -> pingora::Result<Self> {
        let mut answer = Self::new(status, "text/plain; charset=utf-8", body)?;
        answer.header.insert_header("Cache-Control", "no-store")?;
        Ok(answer)
    }

    fn empty(status: u16) -> pingora::Result<Self> {
        Ok(Self { header: ResponseHeader::build(status, Some(6))?, body: Bytes::new() })
    }

    /// The answer to a request that is refused before it is judged.
    pub(super) fn refusal(refusal: Refusal) -> pingora::Result<Self> {
        let mut answer = Self::plain(refusal.status(), refusal.message())?;
        if refusal == Refusal::Trace {
            answer.header.insert_header("Allow", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS")?;
        }
        Ok(answer)
    }

    /// The page for an origin that gave no answer.
    pub(super) fn origin_failure(status: u16) -> pingora::Result<Self> {
        Self::plain(
            status,
            match status {
                503 => "The server behind this site has no known address.\n",
                504 => "The server behind this site took too long.\n",
                _ => "The server behind this site can't be reached.\n",
            },
        )
    }

    /// robots.txt (RFC 9309 §2.3): for everybody, with validators (RFC 9110 §8.8, §13).
    pub(super) fn robots_txt(request: &RequestHeader, site: &Site) -> pingora::Result<Self> {
        if request.method == Method::OPTIONS {
            let mut answer = Self::empty(204)?;
            answer.header.insert_header("Allow", "GET, HEAD, OPTIONS")?;
            return Ok(answer);
        }
        if request.method != Method::GET && request.method != Method::HEAD {
            let mut answer = Self::plain(405, "robots.txt can only be read.\n")?;
            answer.header.insert_header("Allow", "GET, HEAD, OPTIONS")?;
            return Ok(answer);
        }
        let (edition, since) = (site.edition(), site.timeline.last_modified());
        let entity_tag = format!("\"{}\"", edition.id());
        let mut answer = if is_fresh(request, &entity_tag, since) {
            Self::empty(304)?
        } else {
            let body = Bytes::copy_from_slice(edition.bytes());
            Self::new(200, "text/plain; charset=utf-8", body)?
        };
        answer.header.insert_header("ETag", entity_tag)?;
        if let Ok(date) = rfc2822::DateTimePrinter::new().timestamp_to_rfc9110_string(&since) {
            answer.header.insert_header("Last-Modified", date)?;
        }
        // What only fills in until the origin's file is known shall be asked for again soon.
        let max_age = match edition.is_provisional() {
            true => site.max_age.min(PROVISIONAL_MAX_AGE),
            false => site.max_age,
        };
        let max_age = format!("public, max-age={}", max_age.as_secs());
        answer.header.insert_header("Cache-Control", max_age)?;
        Ok(answer)
    }

    /// The refusal of a request that the rules disallow.
    pub(super) fn block(block: &policy::Block, body: String) -> pingora::Result<Self> {
        let mut answer = Self::new(block.status, &block.content_type, body)?;
        answer.header.insert_header("Cache-Control", "no-store")?;
        answer.header.insert_header("Vary", "User-Agent")?;
        if answer.header.status == StatusCode::TOO_MANY_REQUESTS {
            answer.header.insert_header("Retry-After", RETRY_AFTER_SECONDS)?;
        }
        Ok(answer)
    }

    /// The answer to a request that comes too soon: after so many seconds the next will be let in.
    pub(super) fn throttle(body: String, retry_after: u64) -> pingora::Result<Self> {
        let mut answer = Self::new(429, "text/plain; charset=utf-8", body)?;
        answer.header.insert_header("Retry-After", retry_after)?;
        answer.header.insert_header("Cache-Control", "no-store")?;
        answer.header.insert_header("Vary", "User-Agent")?;
        Ok(answer)
    }

    /// The same with the site's own tags for `path`.
    pub(super) fn tagged(mut self, site: &Site, path: &[u8]) -> pingora::Result<Self> {
        let status = self.header.status.as_u16();
        let content_type = self.header.headers.get("content-type").map(|value| value.as_bytes());
        if let Some(tags) = site.tags.select(path, status, content_type) {
            set_tags(&mut self.header, &tags)?;
        }
        Ok(self)
    }

    /// Sends it; HEAD gets the header alone (RFC 9110 §9.3.2). The connection stays open where the
    /// request allows it.
    pub(super) async fn send(mut self, session: &mut Session) -> pingora::Result<()> {
        self.header.insert_header("Date", http_date(Timestamp::now()))?;
        let header_only = session.req_header().method == Method::HEAD || self.body.is_empty();
        session.write_response_header(Box::new(self.header), header_only).await?;
        if !header_only {
            session.write_response_body(Some(self.body), true).await?;
        }
        Ok(())
    }
}

/// Sets the tags of an answer; the origin's, if any, are in `fields` already.
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

/// The status that tells a client what went wrong; 0 where there is nobody left to tell.
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

fn http_date(at: Timestamp) -> String {
    rfc2822::DateTimePrinter::new().timestamp_to_rfc9110_string(&at).unwrap_or_default()
}

/// Whether the client's copy is good: `If-None-Match` before `If-Modified-Since`
/// (RFC 9110 §13.2.2). A date that is no date is ignored.
fn is_fresh(request: &RequestHeader, entity_tag: &str, since: Timestamp) -> bool {
    let mut wanted = request.headers.get_all(header::IF_NONE_MATCH).iter().peekable();
    if wanted.peek().is_some() {
        return wanted.any(|value| {
            let tags = value.as_bytes().split(|&b| b == b',').map(<[u8]>::trim_ascii);
            tags.into_iter().any(|tag| {
                tag == b"*" || tag.strip_prefix(b"W/").unwrap_or(tag) == entity_tag.as_bytes()
            })
        });
    }
    let date = request.headers.get(header::IF_MODIFIED_SINCE);
    date.and_then(|value| value.to_str().ok())
        .and_then(|text| rfc2822::DateTimeParser::new().parse_timestamp(text).ok())
        .is_some_and(|date| since.as_second() <= date.as_second())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rfc9110_13_2_2_validators() {
        let since: Timestamp = "2026-11-20T10:00:00.7Z".parse().unwrap();
        for (name, value, fresh) in [
            ("if-none-match", "\"abc\"", true),
            ("if-none-match", "W/\"abc\"", true),
            ("if-none-match", "\"x\", \"abc\"", true),
            ("if-none-match", "*", true),
            ("if-none-match", "\"x\"", false),
            ("if-modified-since", "Fri, 20 Nov 2026 10:00:00 GMT", true),
            ("if-modified-since", "Fri, 20 Nov 2026 09:59:59 GMT", false),
            ("if-modified-since", "yesterday", false),
        ] {
            let mut request = RequestHeader::build("GET", b"/robots.txt", None).unwrap();
            request.append_header(name, value).unwrap();
            assert_eq!(is_fresh(&request, "\"abc\"", since), fresh, "{name}: {value}");
        }
        let mut request = RequestHeader::build("GET", b"/robots.txt", None).unwrap();
        request.append_header("if-none-match", "\"x\"").unwrap();
        request.append_header("if-modified-since", "Fri, 20 Nov 2026 10:00:00 GMT").unwrap();
        assert!(!is_fresh(&request, "\"abc\"", since), "the entity tag decides");
    }
}
