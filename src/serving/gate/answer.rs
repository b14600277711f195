//! An answer of Beadle's own: robots.txt, a refusal, a block page, the page for a silent origin.
//!
//! An answer is data that an edge sends. It needs neither the origin nor the store nor DNS.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method, StatusCode, header};
use jiff::{Timestamp, fmt::rfc2822};

use crate::{
    clients::conduct::Limited,
    rules::{
        enforce::{Moment, Site, UsageFields},
        policy,
    },
};

use super::request::{Refusal, Request};

/// The `max-age` of a provisional robots.txt, until the origin's file is known.
const PROVISIONAL_MAX_AGE: Duration = Duration::from_secs(60);
/// `Retry-After` of a robots.txt that is not known yet. Beadle fetches it more often.
const UNKNOWN_RETRY_SECONDS: u64 = 60;

/// `Retry-After` for a crawler that makes room for people.
pub(super) const LATER_SECONDS: u64 = 5;

const ROBOTS_TAG: HeaderName = HeaderName::from_static("robots-tag");
const X_ROBOTS_TAG: HeaderName = HeaderName::from_static("x-robots-tag");
const RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit");
const RATE_LIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");
const PLAIN: &str = "text/plain; charset=utf-8";

/// An answer that an edge sends unchanged, with `Date` added.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The status.
    pub status: StatusCode,
    /// The fields, in their order.
    pub fields: Vec<(HeaderName, HeaderValue)>,
    /// The body; a response to HEAD leaves it out.
    pub body: Bytes,
    /// Whether the edge closes the connection afterwards.
    pub closes: bool,
}

impl Answer {
    fn new(status: StatusCode, content_type: &str, body: impl Into<Bytes>) -> Self {
        let body = body.into();
        let length = body.len();
        let answer = Self { status, fields: Vec::with_capacity(8), body, closes: false };
        answer.with(header::CONTENT_TYPE, content_type).with(header::CONTENT_LENGTH, length)
    }

    /// The reservations of text and data mining (TDMRep), if this is their path.
    pub(super) fn tdmrep(usage: &UsageFields, request: &Request<'_>) -> Option<Self> {
        let text = usage.tdmrep.as_ref()?;
        let is_asked = request.target == b"/.well-known/tdmrep.json";
        is_asked.then(|| Self::new(StatusCode::OK, "application/json", text.clone()))
    }

    fn plain(status: StatusCode, body: &'static str) -> Self {
        Self::new(status, PLAIN, body).with(header::CACHE_CONTROL, "no-store")
    }

    fn empty(status: StatusCode) -> Self {
        Self { status, fields: Vec::with_capacity(6), body: Bytes::new(), closes: false }
    }

    /// The answer with another field. An invalid value is skipped; the policy and this file have none.
    fn with<V>(mut self, name: HeaderName, value: V) -> Self
    where
        HeaderValue: TryFrom<V>,
    {
        if let Ok(value) = HeaderValue::try_from(value) {
            self.fields.push((name, value));
        }
        self
    }

    pub(super) fn refusal(refusal: Refusal) -> Self {
        let status = StatusCode::from_u16(refusal.status()).unwrap_or(StatusCode::BAD_REQUEST);
        let answer = Self { closes: true, ..Self::plain(status, refusal.message()) };
        match refusal {
            Refusal::Trace | Refusal::Connect => {
                answer.with(header::ALLOW, "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS")
            }
            _ => answer,
        }
    }

    /// The answer to an authority's question for a token of an order (RFC 8555 §8.3).
    pub fn challenge(token: String) -> Self {
        let answer = Self::new(StatusCode::OK, "application/octet-stream", token);
        answer.with(header::CACHE_CONTROL, "no-store")
    }

    /// The way to the same target over HTTPS. Only GET and HEAD may become a GET (RFC 9110 §15.4).
    pub(super) fn to_https(request: &Request<'_>, host: &str) -> Self {
        let status = match *request.method {
            Method::GET | Method::HEAD => StatusCode::MOVED_PERMANENTLY,
            _ => StatusCode::PERMANENT_REDIRECT,
        };
        let target = if request.is_about_server() { &b"/"[..] } else { request.target };
        let host = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
        // An edge lets no octet pass that no field may have.
        let location = [b"https://", host.as_bytes(), target].concat();
        Self::new(status, PLAIN, "This site is at HTTPS.\n").with(header::LOCATION, location)
    }

    /// The answer where too many requests are at the origins.
    pub fn busy() -> Self {
        let answer = Self::plain(StatusCode::SERVICE_UNAVAILABLE, "Too many requests at a time.\n");
        answer.with(header::RETRY_AFTER, "1")
    }

    /// The way from another spelling of `/robots.txt` to the exact one.
    pub(super) fn exact_robots_txt() -> Self {
        let answer = Self::plain(StatusCode::PERMANENT_REDIRECT, "It is at /robots.txt.\n");
        answer.with(header::LOCATION, "/robots.txt")
    }

    /// The page for an origin that gave no response.
    pub fn origin_failure(status: StatusCode) -> Self {
        let body = match status {
            StatusCode::SERVICE_UNAVAILABLE => {
                "The server behind this site has no known address.\n"
            }
            StatusCode::GATEWAY_TIMEOUT => "The server behind this site took too long.\n",
            _ => "The server behind this site can't be reached.\n",
        };
        Self::plain(status, body)
    }

    /// The page of a site none of whose origins is up. The first one may be up after `retry_after`
    /// seconds.
    pub fn no_origin(retry_after: u64) -> Self {
        let body = "None of the servers behind this site can be reached.\n";
        Self::plain(StatusCode::SERVICE_UNAVAILABLE, body).with(header::RETRY_AFTER, retry_after)
    }

    /// robots.txt (RFC 9309 §2.3): for every client, with validators (RFC 9110 §8.8, §13). While the
    /// rules are unknown it is unreachable (§2.3.1.4): a file without rules would open the site.
    /// `host` is one of the site's hosts.
    pub(super) fn robots_txt(
        request: &Request<'_>,
        (site, host): (&Site, Option<&str>),
        moment: Moment,
    ) -> Self {
        if request.method == Method::OPTIONS {
            return Self::empty(StatusCode::NO_CONTENT).with(header::ALLOW, "GET, HEAD, OPTIONS");
        }
        if request.method != Method::GET && request.method != Method::HEAD {
            let body = "robots.txt can only be read.\n";
            let answer = Self::plain(StatusCode::METHOD_NOT_ALLOWED, body);
            return answer.with(header::ALLOW, "GET, HEAD, OPTIONS");
        }
        if site.is_withheld {
            let body = "The rules of this site are not known yet: its server has not answered.\n";
            let answer = Self::plain(StatusCode::SERVICE_UNAVAILABLE, body);
            return answer.with(header::RETRY_AFTER, UNKNOWN_RETRY_SECONDS);
        }
        let (edition, since) = (site.edition(), site.timeline.last_modified);
        let (bytes, id) = site.robots_txt(host);
        let entity_tag = format!("\"{id}\"");
        let answer = match is_fresh(request, &entity_tag, since) {
            true => Self::empty(StatusCode::NOT_MODIFIED),
            false => Self::new(StatusCode::OK, PLAIN, bytes),
        };
        let mut answer = answer.with(header::ETAG, entity_tag);
        // Editions that follow each other within a second have later times, and so has an edition
        // from before the clock was set back. No `Last-Modified` is later than `Date`
        // (RFC 9110 §8.8.2.1).
        let modified = since.min(moment.now);
        if let Ok(date) = rfc2822::DateTimePrinter::new().timestamp_to_rfc9110_string(&modified) {
            answer = answer.with(header::LAST_MODIFIED, date);
        }
        // Crawlers should fetch soon again after a provisional file.
        let max_age = match edition.is_provisional() {
            true => site.max_age.min(PROVISIONAL_MAX_AGE),
            false => site.max_age,
        };
        answer.with(header::CACHE_CONTROL, format!("public, max-age={}", max_age.as_secs()))
    }

    pub(super) fn block(block: &policy::Block, (body, content_type): (String, &str)) -> Self {
        let status = StatusCode::from_u16(block.status).unwrap_or(StatusCode::FORBIDDEN);
        let mut answer = Self::new(status, content_type, body).not_cached();
        for (name, value) in &block.fields {
            if let Ok(name) = HeaderName::from_bytes(name.as_bytes()) {
                answer = answer.with(name, value);
            }
        }
        answer
    }

    /// The answer to a request that comes too soon. The next one passes after `retry_after`
    /// seconds.
    pub(super) fn throttle(body: String, retry_after: u64) -> Self {
        let answer = Self::new(StatusCode::TOO_MANY_REQUESTS, PLAIN, body);
        answer.with(header::RETRY_AFTER, retry_after).not_cached()
    }

    /// The answer to a request beyond a limit, with the limit in fields
    /// (draft-ietf-httpapi-ratelimit-headers-10 §3, §4).
    pub(super) fn limited(body: String, Limited { applied, retry_after }: &Limited<'_>) -> Self {
        let answer = Self::throttle(body, *retry_after);
        let number = applied.number;
        let Some(pace) = applied.limit.pace else { return answer };
        let (quota, window) = (pace.requests(), pace.per().as_secs());
        let left = format!("\"{number}\";r=0;t={retry_after}");
        let policy = format!("\"{number}\";q={quota};w={window}");
        answer.with(RATE_LIMIT_POLICY, policy).with(RATE_LIMIT, left)
    }

    /// The answer to a crawler that makes room for people.
    pub(super) fn later(status: u16, body: String) -> Self {
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::SERVICE_UNAVAILABLE);
        Self { status, ..Self::throttle(body, LATER_SECONDS) }
    }

    fn not_cached(self) -> Self {
        self.with(header::CACHE_CONTROL, "no-store").with(header::VARY, "User-Agent")
    }

    /// The answer with the site's own tags for `path`.
    pub(super) fn tagged(self, site: &Site, path: &[u8]) -> Self {
        let content_type = self.fields.iter().find(|(name, _)| name == header::CONTENT_TYPE);
        let content_type = content_type.map(|(_, value)| value.as_bytes());
        let tags = site.tags.select(path, self.status.as_u16(), content_type);
        if let Some(tags) = tags {
            let lines = tags.x_robots_tag.iter().flatten().map(|line| (X_ROBOTS_TAG, line));
            let lines = tags.robots_tag.iter().map(|line| (ROBOTS_TAG, line)).chain(lines);
            return lines.fold(self, |answer, (name, line)| answer.with(name, line));
        }
        self
    }
}

/// Whether the client's copy is current: by `If-None-Match`, else by `If-Modified-Since`
/// (RFC 9110 §13.2.2). An invalid date has no effect.
fn is_fresh(request: &Request<'_>, entity_tag: &str, since: Timestamp) -> bool {
    let mut wanted = request.fields.get_all(header::IF_NONE_MATCH).iter().peekable();
    if wanted.peek().is_some() {
        return wanted.any(|value| {
            let mut tags = value.as_bytes().split(|&b| b == b',').map(<[u8]>::trim_ascii);
            tags.any(|tag| {
                tag == b"*" || tag.strip_prefix(b"W/").unwrap_or(tag) == entity_tag.as_bytes()
            })
        });
    }
    let date = request.fields.get(header::IF_MODIFIED_SINCE);
    date.and_then(|value| value.to_str().ok())
        .and_then(|text| rfc2822::DateTimeParser::new().parse_timestamp(text).ok())
        .is_some_and(|date| since.as_second() <= date.as_second())
}

#[cfg(test)]
mod tests {
    use http::HeaderMap;

    use super::*;

    fn is_fresh_with(fields: &[(HeaderName, &str)]) -> bool {
        let since: Timestamp = "2026-11-20T10:00:00.7Z".parse().unwrap();
        let mut map = HeaderMap::new();
        for (name, value) in fields {
            map.append(name, value.parse().unwrap());
        }
        let request = Request {
            method: &Method::GET,
            target: b"/robots.txt",
            authority: None,
            is_http_1_0: true,
            fields: &map,
            peer: [192, 0, 2, 1].into(),
            is_tls: false,
        };
        is_fresh(&request, "\"abc\"", since)
    }

    #[test]
    fn rfc9110_13_2_2_validators() {
        for (name, value, fresh) in [
            (header::IF_NONE_MATCH, "\"abc\"", true),
            (header::IF_NONE_MATCH, "W/\"abc\"", true),
            (header::IF_NONE_MATCH, "\"x\", \"abc\"", true),
            (header::IF_NONE_MATCH, "*", true),
            (header::IF_NONE_MATCH, "\"x\"", false),
            (header::IF_MODIFIED_SINCE, "Fri, 20 Nov 2026 10:00:00 GMT", true),
            (header::IF_MODIFIED_SINCE, "Fri, 20 Nov 2026 09:59:59 GMT", false),
            (header::IF_MODIFIED_SINCE, "yesterday", false),
        ] {
            assert_eq!(is_fresh_with(&[(name.clone(), value)]), fresh, "{name}: {value}");
        }
        let both = [
            (header::IF_NONE_MATCH, "\"x\""),
            (header::IF_MODIFIED_SINCE, "Fri, 20 Nov 2026 10:00:00 GMT"),
        ];
        assert!(!is_fresh_with(&both), "the entity tag decides");
    }
}
